"""Calendar periods: the days, weeks and months of a time zone, in ticks (E15).

A day is named by its date, the number of days since 1970-01-01. It begins with the first instant whose local date is
that day or a later one. Both engines use the table of this module, so that they agree on the rules of a time zone.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from enum import Enum
from functools import cached_property, lru_cache
from itertools import pairwise
from math import gcd
from typing import TYPE_CHECKING

from transom.errors import DataError
from transom.model.time import MICROSECOND, Calendar
from transom.record import Record

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

FIRST_YEAR, LAST_EPOCH_YEAR, END_YEAR = 1970, 2049, 2100
"""The years in which an epoch may be, and the year before which days are known."""

DAY_LENGTH = 86_400_000_000
"""The length of a day without a change of clocks, in microseconds."""

_UNIX_EPOCH = date(1970, 1, 1).toordinal()
_MONDAY = 3
"""The days from Monday, 1969-12-29, to 1970-01-01."""

_MARGIN = 2
"""The days in a table before that of tick 0."""

_FIRST_DATE = -1 - _MARGIN
"""The first date of which instants are computed: `_MARGIN` days before the earliest date of an epoch in 1970."""

_ORIGIN = datetime(1970, 1, 1, tzinfo=UTC)


class PeriodUnit(Enum):
    """A unit of calendar time; a year is twelve months."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    def count(self, amount: int) -> str:
        """Format a number of days, weeks or months as text, such as `3 days`; 24 months become `2 years`.

        >>> PeriodUnit.MONTH.count(24)
        '2 years'
        """
        name = self.value
        if self is PeriodUnit.MONTH and amount % 12 == 0 and amount:
            amount, name = amount // 12, "year"
        return f"{amount} {name}" if amount == 1 else f"{amount} {name}s"


class UnalignedDayError(ValueError):
    """A day of a time zone begins within a tick."""

    def __init__(self, instant: datetime) -> None:
        """Create the error from the first instant at which a day begins within a tick."""
        super().__init__(f"a day begins at {instant.isoformat()}, within a tick")
        self.instant = instant


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class LocalDays(Record):
    """The days of a time zone on a catalog's ticks: the zone's name, the length of a tick, and the epoch."""

    zone: str
    length: int
    epoch: datetime

    @staticmethod
    def of(zone: str, calendar: Calendar) -> LocalDays:
        """Return a time zone's days in ticks of a calendar; UnalignedDayError if a day begins within a tick."""
        days = LocalDays(zone, calendar.length, calendar.epoch)
        _ = days.table
        return days

    @property
    def table(self) -> DayTable:
        """The table of the ticks with which the zone's days begin, computed once per process."""
        return _day_table(self.zone, self.length, self.epoch)

    def period_at(self, unit: PeriodUnit, tick: int) -> int:
        """Return the number of the day, week or month that contains a tick; that of 1970-01-01 is 0."""
        return self.table.number_of(unit, self.table.date_at(tick))

    def begin_of(self, unit: PeriodUnit, number: int) -> int:
        """Return the tick at which day, week or month `number` begins; number 0 contains 1970-01-01."""
        return self.table.begin_of(self.table.first_date_of(unit, number))

    def longest(self, unit: PeriodUnit, count: int) -> int:
        """Return the most ticks that `count` consecutive days, weeks or months last; 0 if `count` is 0."""
        begins = self.table.period_begins(unit)
        count = min(count, len(begins) - 1)
        return max((end - begin for begin, end in zip(begins, begins[count:])), default=0) if count > 0 else 0

    def shortest(self, unit: PeriodUnit, count: int) -> int:
        """Return the fewest ticks that `count` consecutive days, weeks or months last."""
        begins = self.table.period_begins(unit)
        count = min(count, len(begins) - 1)
        return min(end - begin for begin, end in zip(begins, begins[count:]))


@dataclass(frozen=True)
class DayTable:
    """The ticks with which the dates from `first` on begin; `day` is the ticks of a day without a change of clocks.

    A skipped date begins with the same tick as the next one.
    """

    zone: str
    first: int
    begins: tuple[int, ...]
    day: int
    skipped: tuple[int, ...]
    """The dates that the zone skips, from 1970 on; they have no instant."""

    @cached_property
    def stride(self) -> int:
        """The greatest common divisor of all ticks with which days begin."""
        return gcd(*self.begins)

    def begin_of(self, date_number: int) -> int:
        """Return the tick at which a date, in days since 1970, begins; beyond the table days are equally long."""
        position = date_number - self.first
        nearest = min(max(position, 0), len(self.begins) - 1)
        return self.begins[nearest] + (position - nearest) * self.day

    def date_at(self, tick: int) -> int:
        """Return the date of a tick, as days since 1970-01-01; raise DataError for a tick after the table."""
        if tick >= self.begins[-1]:
            raise DataError(
                end_message(self.zone), hint="check the times of the rows, and the tick at which the run ends"
            )
        position = bisect_right(self.begins, tick) - 1
        return self.first + position if position >= 0 else self.first + (tick - self.begins[0]) // self.day

    def number_of(self, unit: PeriodUnit, date_number: int) -> int:
        """Return the number of the day, week or month of a date: 0 for 1970-01-01; skipped days do not count.

        Weeks begin on Monday (ISO 8601).
        """
        match unit:
            case PeriodUnit.DAY:
                return date_number - sum(skipped < date_number for skipped in self.skipped)
            case PeriodUnit.WEEK:
                return (date_number + _MONDAY) // 7
            case PeriodUnit.MONTH:
                day = date.fromordinal(date_number + _UNIX_EPOCH)
                return (day.year - 1970) * 12 + day.month - 1

    def first_date_of(self, unit: PeriodUnit, number: int) -> int:
        """Return the first date, as days since 1970-01-01, of the day, week or month with this number."""
        match unit:
            case PeriodUnit.DAY:
                return number + sum(skipped - n <= number for n, skipped in enumerate(self.skipped))
            case PeriodUnit.WEEK:
                return number * 7 - _MONDAY
            case PeriodUnit.MONTH:
                years, months = divmod(number, 12)
                return date(1970 + years, months + 1, 1).toordinal() - _UNIX_EPOCH

    def period_begins(self, unit: PeriodUnit) -> list[int]:
        """Return the ticks with which the days, weeks or months of the table begin, in order."""
        if unit is PeriodUnit.DAY:
            return sorted(set(self.begins))
        first = self.number_of(unit, self.first) + 1
        last = self.number_of(unit, self.first + len(self.begins) - 1)
        return [self.begin_of(self.first_date_of(unit, number)) for number in range(first, last + 1)]


def end_message(zone: str) -> str:
    """Return the message of the error for a row after the last day in the table of days of a time zone."""
    return f"calendar windows of {zone} end with the year {END_YEAR - 1}"


@lru_cache(maxsize=64)
def _day_table(zone_name: str, length: int, epoch: datetime) -> DayTable:
    """Map a zone's days to ticks of `length` microseconds; raise UnalignedDayError if one begins within a tick."""
    from zoneinfo import ZoneInfo

    days = _days_since_1970(zone_name)
    skipped = tuple(_FIRST_DATE + n for n, (begin, end) in enumerate(pairwise(days)) if begin == end)
    first = epoch.astimezone(ZoneInfo(zone_name)).date().toordinal() - _UNIX_EPOCH - _MARGIN
    origin = (epoch - _ORIGIN) // MICROSECOND
    distances = [instant - origin for instant in days[first - _FIRST_DATE :]]
    within = next((distance for distance in distances if distance % length), None)
    if within is not None:
        raise UnalignedDayError(epoch + within * MICROSECOND)
    begins = [distance // length for distance in distances]
    return DayTable(zone_name, first, tuple(begins), DAY_LENGTH // length, skipped)


@lru_cache(maxsize=64)
def _days_since_1970(zone_name: str) -> tuple[int, ...]:
    """Return when a zone's days begin, in microseconds since 1970 UTC; the first is that of the date _FIRST_DATE."""
    from zoneinfo import ZoneInfo

    zone = ZoneInfo(zone_name)
    dates = range(_UNIX_EPOCH + _FIRST_DATE, date(END_YEAR, 1, 1).toordinal() + 1)
    return tuple((_begin_of_day(datetime.fromordinal(ordinal), zone) - _ORIGIN) // MICROSECOND for ordinal in dates)


def _begin_of_day(midnight: datetime, zone: ZoneInfo) -> datetime:
    """Return the instant of a local midnight (the first of two), or the first one after it if clocks skip it."""
    offset = midnight.replace(tzinfo=zone).utcoffset()
    later_offset = midnight.replace(tzinfo=zone, fold=1).utcoffset()
    assert offset is not None and later_offset is not None  # noqa: S101, PT018 - zones have offsets
    begin = midnight.replace(tzinfo=UTC) - offset
    if later_offset <= offset:  # a midnight that exists, also twice: the first one
        return begin
    low = midnight.replace(tzinfo=UTC) - later_offset
    while begin - low > timedelta(seconds=1):  # a midnight that is skipped: the change of clocks
        middle = low + timedelta(seconds=(begin - low) // timedelta(seconds=2))
        if middle.astimezone(zone).replace(tzinfo=None) >= midnight:
            begin = middle
        else:
            low = middle
    return begin
