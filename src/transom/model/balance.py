"""What became of the rows of a source: the balance that every run keeps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Balance:
    """Every row that was read is used, late, rejected, or outside of the ticks that the run was asked for.

    `rejected` counts by reason. Each term is counted where it is decided, so that a row that is lost on the way shows.
    """

    read: int = 0
    used: int = 0
    late: int = 0
    rejected: Mapping[str, int] = field(default_factory=dict)
    outside: int = 0

    def __add__(self, other: Balance) -> Balance:
        return Balance(
            self.read + other.read,
            self.used + other.used,
            self.late + other.late,
            dict(Counter(self.rejected) + Counter(other.rejected)),
            self.outside + other.outside,
        )

    @property
    def missing(self) -> int:
        """How many of the rows that were read are accounted for nowhere; negative if some are counted twice."""
        return self.read - self.used - self.late - sum(self.rejected.values()) - self.outside

    def __str__(self) -> str:
        parts = [f"{self.used:,} used", f"{self.late:,} late", f"{sum(self.rejected.values()):,} rejected"]
        if self.outside:
            parts.append(f"{self.outside:,} outside of --start and --until")
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(self.rejected.items()))
        return f"{self.read:,} read = {' + '.join(parts)}" + (f" ({reasons})" if reasons else "")
