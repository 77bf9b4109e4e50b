"""Row accounting of a source: every row that is read must be accounted for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Balance:
    """Row counts of a source: every row read is used, late, rejected, or outside the ticks of the run.

    `rejected` counts by reason. Each count is taken where the decision is made, so that a lost row shows up in
    `missing`.
    """

    read: int = 0
    used: int = 0
    late: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    outside: int = 0

    def __add__(self, other: Balance) -> Balance:
        """Add two balances (row counts of a source) count by count, for instance those of two micro-batches."""
        return Balance(
            self.read + other.read,
            self.used + other.used,
            self.late + other.late,
            dict(Counter(self.rejected) + Counter(other.rejected)),
            self.outside + other.outside,
        )

    @property
    def missing(self) -> int:
        """The number of rows that were read but not accounted for; negative if rows were counted twice."""
        return self.read - self.used - self.late - sum(self.rejected.values()) - self.outside

    def __str__(self) -> str:
        """The balance as a sentence for users: `7 read = 5 used + 1 late + 1 rejected (1 not JSON)`."""
        parts = [f"{self.used:,} used", f"{self.late:,} late", f"{sum(self.rejected.values()):,} rejected"]
        if self.outside:
            parts.append(f"{self.outside:,} outside of --start and --until")
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.rejected.items()))
        return f"{self.read:,} read = {' + '.join(parts)}" + (f" ({reasons})" if reasons else "")
