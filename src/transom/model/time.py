"""Ticks: instants and durations as whole numbers (S3, S36, E2)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction

MICROSECOND = timedelta(microseconds=1)

_UNITS = {
    "us": 1,
    "ms": 1_000,
    "s": 1_000_000,
    "min": 60_000_000,
    "h": 3_600_000_000,
    "d": 86_400_000_000,
}
_SPELLINGS = {
    "us": ("us", "microsecond", "microseconds"),
    "ms": ("ms", "millisecond", "milliseconds"),
    "s": ("s", "sec", "secs", "second", "seconds"),
    "min": ("min", "mins", "minute", "minutes"),
    "h": ("h", "hour", "hours"),
    "d": ("d", "day", "days"),
}
UNITS = {spelling: _UNITS[unit] for unit, spellings in _SPELLINGS.items() for spelling in spellings}
"""Every spelling of a unit of time, in microseconds."""

_DURATION = re.compile(r"(\d{1,15})? {0,9}([A-Za-z]{1,12})")


def read_duration(text: str) -> int:
    """Parse a duration such as `5 min` to microseconds; raise ValueError if it is malformed.

    >>> read_duration("5 min")
    300000000
    """
    match = _DURATION.fullmatch(text.strip())
    if not match or match[2].lower() not in UNITS:
        raise ValueError(f"{text!r} is not a length of time such as '5 min'")
    return int(match[1] or 1) * UNITS[match[2].lower()]


@dataclass(frozen=True, slots=True)
class Calendar:
    """How ticks map to real time: the length of a tick in microseconds, and the instant at which tick 0 begins.

    `has_epoch` says whether the catalog declares the epoch.
    """

    length: int = 1_000_000
    epoch: datetime = datetime(1970, 1, 1, tzinfo=UTC)
    has_epoch: bool = field(default=False, compare=False)

    def ticks(self, microseconds: int) -> int | None:
        """Convert a duration in microseconds to ticks (event-time units); None if it is not a whole number of ticks."""
        count, remainder = divmod(microseconds, self.length)
        return None if remainder else count

    def tick_of(self, instant: datetime) -> int:
        """Return the number of the tick that contains an instant; an instant without a time zone counts as UTC (E2)."""
        moment = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
        return ((moment - self.epoch) // MICROSECOND) // self.length

    def instant_of(self, tick: int) -> datetime:
        """Return the instant at which a tick begins, in UTC."""
        return self.epoch + timedelta(microseconds=tick * self.length)

    def first_tick_from(self, instant: datetime) -> int:
        """The first tick that begins at an instant or later; an instant without a time zone counts as UTC.

        >>> Calendar().first_tick_from(datetime(1970, 1, 1, 0, 0, 59, 500_000))
        60
        """
        moment = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
        return -(-((moment - self.epoch) // MICROSECOND) // self.length)

    def describe(self, ticks: int) -> str:
        """Format a number of ticks as a duration, in seconds if these are whole, otherwise in milliseconds.

        >>> Calendar().describe(601)
        '601 s'
        """
        microseconds = ticks * self.length
        seconds = Fraction(microseconds, _UNITS["s"])
        return f"{seconds} s" if seconds.denominator == 1 else f"{Fraction(microseconds, _UNITS['ms'])} ms"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most `rows` rows in any span of `ticks` ticks."""

    rows: int
    ticks: int

    def within(self, span: int) -> int:
        """The most rows that can arrive in any `span` consecutive ticks at this rate."""
        return self.rows * -(-span // self.ticks)

    def __str__(self) -> str:
        """The rate as text, such as `20 per 5 ticks`."""
        return f"{self.rows} per {self.ticks} ticks" if self.ticks != 1 else f"{self.rows} per tick"
