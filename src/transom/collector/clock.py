"""The wall clock against a log: a log whose latest tick is in the future cannot take rows of now."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from transom.catalog.extents import Extent
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.writing import Writer
from transom.errors import DataError
from transom.model.reasons import Reason
from transom.model.time import Calendar


def now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


class ClockWatch:
    """Notices that the latest tick of a log is ahead of the clock: it was ahead before, or was set back.

    Rows of now would be late for every reader of such a log. A log that is ahead by at most `max_ahead` waits for the
    clock; one that is further ahead is refused. `usual` is how many ticks a log of the extent may be ahead when nothing
    is wrong.
    """

    def __init__(
        self, extent: Extent, log: Writer, calendar: Calendar, counts: Counter[str], *, usual: int = 0
    ) -> None:
        self.extent = extent
        self.log = log
        self.calendar = calendar
        self.counts = counts
        self.usual = usual
        self._noted = False
        self._first = 0

    def lead(self, moment: datetime) -> int:
        """How many ticks the log is ahead of the clock, 0 if by no more than is usual."""
        ahead = self.log.latest - self.calendar.tick_of(moment)
        found = ahead if self.log.latest >= 0 and ahead > self.usual else 0
        self._first = (self._first or found) if found else 0
        self._noted = self._noted and found > 0
        return found

    def too_far(self, moment: datetime) -> bool:
        """Whether the log is further ahead of the clock than `max_ahead`."""
        return self.lead(moment) > self.extent.most_ahead(self.calendar)

    def check(self, moment: datetime) -> None:
        """DataError if the log is too far ahead of the clock."""
        if self.too_far(moment):
            hint = "set the clock right, or give the extent a new log: log: PATH"
            raise DataError(self._words(), hint=hint)

    def wait(self, moment: datetime) -> str | None:
        """Why readings cannot be taken now, None if they can; DataError if the log is too far ahead.

        What is missed until the clock has caught up is put down in the log, once.
        """
        if not self.lead(moment):
            return None
        words = self._words()
        if not self._noted:
            self.log.append([Entry(Entered.GAP, None, moment, reason=Reason.CLOCK, words=words)])
            self.counts[Reason.CLOCK.value] += 1
            self._noted = True
        self.check(moment)
        return words

    def _words(self) -> str:
        """The same words as long as the clock has not caught up: how far the log was ahead when that was noticed."""
        until, ahead = self.calendar.instant_of(self.log.latest).isoformat(), self.calendar.describe(self._first)
        return f"the log {self.log.place} is {ahead} ahead of the clock: no rows before {until}"
