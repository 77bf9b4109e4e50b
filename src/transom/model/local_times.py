"""Local times of a time zone, and the instants that they denote.

A change of clocks skips local times, or repeats them. Both engines use the table of this module, so that they agree on
the rules of a time zone.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum
from functools import lru_cache
from zoneinfo import ZoneInfo

from transom.model.periods import DAY_LENGTH, END_YEAR, FIRST_YEAR
from transom.model.time import MICROSECOND
from transom.record import Record

_ORIGIN = datetime(1970, 1, 1)
_SECOND = 1_000_000
BEGIN = 0
"""The first local time of the table, in microseconds from 1970-01-01T00:00 on."""
END = (datetime(END_YEAR, 1, 1) - _ORIGIN) // MICROSECOND
"""The end of the table, in the same unit."""


class ClockProblem(Enum):
    """Why a local time denotes no instant, or more than one."""

    SKIPPED = "is skipped in {zone}, where clocks go forward"
    TWICE = "occurs twice in {zone}, where clocks go back"
    UNKNOWN = f"is outside of the years {FIRST_YEAR} to {END_YEAR - 1}, for which the rules of {{zone}} are known"

    def text(self, zone: str) -> str:
        """Return why a local time of `zone` is not one instant, as words that follow the time in a message."""
        return self.value.format(zone=zone)


@dataclass(frozen=True, slots=True)
class LocalSpan:
    """Local times from `start` on, in microseconds since 1970: the offset of the zone, or why there is none."""

    start: int
    offset: int | None
    problem: ClockProblem | None = None


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class LocalTimes(Record):
    """The local times of the time zone with this name."""

    zone: str

    @property
    def spans(self) -> tuple[LocalSpan, ...]:
        """The spans of local times from `BEGIN` to `END`, each with its offset from UTC or why it has none."""
        return _spans(self.zone)

    def instant_of(self, local: datetime) -> datetime:
        """Return the instant of a local time; raise ValueError with a problem in words if there is not exactly one."""
        micros = (local - _ORIGIN) // MICROSECOND
        span = LocalSpan(micros, None, ClockProblem.UNKNOWN)
        if BEGIN <= micros < END:
            span = self.spans[bisect_right(self.spans, micros, key=lambda span: span.start) - 1]
        if span.offset is None:
            raise ValueError((span.problem or ClockProblem.UNKNOWN).text(self.zone))
        return (local - timedelta(microseconds=span.offset)).replace(tzinfo=UTC)


@lru_cache(maxsize=16)
def _spans(name: str) -> tuple[LocalSpan, ...]:
    """Compute the spans of a zone's local times from 1970 to 2099, each with its offset or why it has none."""
    zone = ZoneInfo(name)

    def offset_at(instant: int) -> int:
        """Return the zone's offset from UTC in microseconds; `instant` is in microseconds since 1970."""
        moment = (_ORIGIN + timedelta(microseconds=instant)).replace(tzinfo=UTC).astimezone(zone)
        return (moment.utcoffset() or timedelta()) // MICROSECOND

    day = BEGIN - 2 * DAY_LENGTH
    before = offset_at(day)
    spans = [LocalSpan(day, before)]
    while day < END + 2 * DAY_LENGTH:
        after = offset_at(day + DAY_LENGTH)
        if after != before:
            change = _change(offset_at, day, day + DAY_LENGTH)
            first, last = sorted((change + before, change + after))
            problem = ClockProblem.SKIPPED if after > before else ClockProblem.TWICE
            spans += [LocalSpan(first, None, problem), LocalSpan(last, after)]
        day, before = day + DAY_LENGTH, after
    known = [span for span in spans if span.start < END]
    earliest = max(n for n, span in enumerate(known) if span.start <= BEGIN)
    first_span = LocalSpan(BEGIN, known[earliest].offset, known[earliest].problem)
    return (first_span, *known[earliest + 1 :])


def _change(offset_at: Callable[[int], int], low: int, high: int) -> int:
    """Return the instant after `low`, up to `high`, at which the offset from UTC changes, to the full second."""
    offset = offset_at(low)
    while high - low > _SECOND:
        middle = (low + high) // (2 * _SECOND) * _SECOND
        low, high = (middle, high) if offset_at(middle) == offset else (low, middle)
    return high
