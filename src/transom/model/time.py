"""Ticks: how instants and lengths of time become whole numbers (S3, S36, E2)."""

from __future__ import annotations

import re
from dataclasses import dataclass
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
UNITS = {word: _UNITS[unit] for unit, words in _SPELLINGS.items() for word in words}
"""Every spelling of a unit of time, in microseconds."""

_DURATION = re.compile(r"(\d{1,15})? {0,9}([A-Za-z]{1,12})")


def read_duration(text: str) -> int:
    """A length of time such as `5 min` in microseconds; ValueError if it is none.

    >>> read_duration("5 min")
    300000000
    """
    found = _DURATION.fullmatch(text.strip())
    if not found or found[2].lower() not in UNITS:
        raise ValueError(f"{text!r} is not a length of time such as '5 min'")
    return int(found[1] or 1) * UNITS[found[2].lower()]


@dataclass(frozen=True, slots=True)
class Calendar:
    """How the ticks of a system lie in real time: the length of one, and the instant at which tick 0 begins."""

    length: int = 1_000_000
    epoch: datetime = datetime(1970, 1, 1, tzinfo=UTC)

    def ticks(self, microseconds: int) -> int | None:
        """A length of time in ticks, or None when it is no whole number of them."""
        count, rest = divmod(microseconds, self.length)
        return None if rest else count

    def tick_of(self, instant: datetime) -> int:
        """The tick that an instant lies in: floor((instant - epoch) / length) (E2)."""
        moment = instant.replace(tzinfo=UTC) if instant.tzinfo is None else instant
        return ((moment - self.epoch) // MICROSECOND) // self.length

    def instant_of(self, tick: int) -> datetime:
        """The instant at which a tick begins."""
        return self.epoch + timedelta(microseconds=tick * self.length)

    def describe(self, ticks: int) -> str:
        """A number of ticks in the largest unit of seconds that says it exactly.

        >>> Calendar().describe(601)
        '601 s'
        """
        micro = ticks * self.length
        seconds = Fraction(micro, _UNITS["s"])
        return f"{seconds} s" if seconds.denominator == 1 else f"{Fraction(micro, _UNITS['ms'])} ms"


@dataclass(frozen=True, slots=True)
class Rate:
    """At most so many rows in any span of so many ticks."""

    rows: int
    ticks: int

    def within(self, span: int) -> int:
        """The largest number of rows in a span of ticks."""
        return self.rows * -(-span // self.ticks)

    def __str__(self) -> str:
        return f"{self.rows} per {self.ticks} ticks" if self.ticks != 1 else f"{self.rows} per tick"
