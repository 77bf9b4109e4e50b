"""The counts of a log since its first entry: what arrived, and what became of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from transom.errors import LostRows
from transom.model.reject_reason import RejectReason

if TYPE_CHECKING:
    from transom.connectors.log.columns import LogRecord


def count_entries(entries: Iterable[LogRecord]) -> Counter[str]:
    """Count what log entries stand for: rows under "rows", rejected and missing ones by reason; omit heartbeats."""
    counts: Counter[str] = Counter()
    for entry in entries:
        if entry.kind.value != "beat":
            counts["rows" if entry.reason is None else entry.reason.value] += entry.readings
    return counts


def last_arrival(entries: Iterable[LogRecord]) -> datetime | None:
    """Return when the newest row among log entries arrived; None if there is no row."""
    return max((entry.at for entry in entries if entry.kind.value == "row"), default=None)


MISSED_REASONS = tuple(RejectReason)[list(RejectReason).index(RejectReason.DEADLINE) :]
"""The reasons why there is no reading; the others are reasons to reject one."""


class LogTotals(NamedTuple):
    """The counts of a log since its first entry: readings and messages that arrived, and what became of them.

    `read` counts where they arrive, `outcomes` where they are written: rows, and reasons why there is no row. Both are
    written with the entries, so that a repeated write counts once. `first` is the number of the first counted entry.
    """

    read: int = 0
    outcomes: Mapping[str, int] = MappingProxyType({})
    first: int = 0

    def after(self, entries: Iterable[LogRecord], arrived: int | None) -> LogTotals:
        """Return new totals that include `entries`, for which `arrived` readings arrived (None: not counted)."""
        outcomes = count_entries(entries)
        arrived = outcomes.total() if arrived is None else arrived
        return LogTotals(self.read + arrived, dict(Counter(self.outcomes) + outcomes), self.first)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as JSON values."""
        return {"read": self.read, "outcomes": dict(self.outcomes), "first": self.first}

    @staticmethod
    def from_json(values: Mapping[str, Any] | None, first: int) -> LogTotals:
        """Read a log's row counts from JSON; for None (an old log), zeros that count from entry `first`."""
        if values is None:
            return LogTotals(first=first)
        return LogTotals(values["read"], values["outcomes"], values["first"])

    def check(self, log: str) -> None:
        """Raise LostRows unless as many readings arrived as the log has rows, rejections and missed readings."""
        missing = self.read - sum(self.outcomes.values())
        if missing:
            raise LostRows(
                f"the rows of the log {log} do not add up: {self}",
                detail=f"rows missing: {missing:,}",
                hint="this is a fault of Transom: report it, and give the extent a new log: log: PATH",
            )

    @property
    def missed(self) -> int:
        """The readings that were not taken: the collector was down, or the device was not asked or did not answer."""
        return sum(self.outcomes.get(reason.value, 0) for reason in MISSED_REASONS)

    def __str__(self) -> str:
        """The row counts of a log as an equation: `9 read = 6 rows + 1 late + 0 rejected + 2 missed (2 refused)`."""
        rows, late = self.outcomes.get("rows", 0), self.outcomes.get(RejectReason.LATE.value, 0)
        rejected = sum(self.outcomes.values()) - rows - late - self.missed
        reasons = ", ".join(
            f"{count:,} {reason}"
            for reason, count in sorted(self.outcomes.items())
            if count and reason not in ("rows", RejectReason.LATE.value)
        )
        balance = f"{self.read:,} read = {rows:,} rows + {late:,} late + {rejected:,} rejected + {self.missed:,} missed"
        return balance + (f" ({reasons})" if reasons else "")
