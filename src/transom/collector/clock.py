"""Compare a log with the wall clock: a log whose latest tick is in the future cannot accept current rows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime

from transom.catalog.extent import Extent
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.writer import LogWriter
from transom.errors import DataError
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


class ClockWatch:
    """Detects that a log's latest tick is ahead of the clock, for example after the clock was set back.

    Current rows would be late for every reader of such a log. A log that is ahead by at most `max_ahead` waits for the
    clock; one that is further ahead is refused. `usual_lead` is how many ticks a log of the extent may normally be
    ahead.
    """

    def __init__(
        self, extent: Extent, log: LogWriter, calendar: Calendar, counts: Counter[str], *, allowed_lead_ticks: int = 0
    ) -> None:
        """Watch whether `log` is over `allowed_lead_ticks` ahead of the clock; count the gaps it logs in `counts`."""
        self.extent = extent
        self.log = log
        self.calendar = calendar
        self.counts = counts
        self.usual_lead = allowed_lead_ticks
        self._gap_logged = False
        self._first_lead = 0

    def lead(self, moment: datetime) -> int:
        """Return how many ticks the log's latest tick is ahead of the time `moment`; 0 within the allowed lead."""
        ahead = self.log.latest - self.calendar.tick_of(moment)
        excess = ahead if self.log.latest >= 0 and ahead > self.usual_lead else 0
        self._first_lead = (self._first_lead or excess) if excess else 0
        self._gap_logged = self._gap_logged and excess > 0
        return excess

    def too_far(self, moment: datetime) -> bool:
        """Whether the log's latest tick is more than `max_ahead` ahead of `moment`, so that it accepts no rows."""
        return self.lead(moment) > self.extent.max_ahead_ticks(self.calendar)

    def check(self, moment: datetime) -> None:
        """Raise DataError if the log's latest tick is more than `max_ahead` after `moment`, the clock's time."""
        if self.too_far(moment):
            hint = "set the clock right, or give the extent a new log: log: PATH"
            raise DataError(self._message(), hint=hint)

    def wait_reason(self, moment: datetime) -> str | None:
        """Return why collecting must wait until the clock reaches the log's latest tick; None if it need not wait.

        The first call of each wait writes a gap to the log.
        DataError if the log is ahead of `moment` by more than `max_ahead`.
        """
        if not self.lead(moment):
            return None
        message = self._message()
        if not self._gap_logged:
            self.log.append([LogRecord(LogRecordKind.GAP, None, moment, reason=RejectReason.CLOCK, detail=message)])
            self.counts[RejectReason.CLOCK.value] += 1
            self._gap_logged = True
        self.check(moment)
        return message

    def _message(self) -> str:
        """Return the message which tells users how far the log is ahead of the clock.

        It is the same until the clock catches up.
        """
        until, ahead = self.calendar.instant_of(self.log.latest).isoformat(), self.calendar.describe(self._first_lead)
        return f"the log {self.log.location} is {ahead} ahead of the clock: no rows before {until}"
