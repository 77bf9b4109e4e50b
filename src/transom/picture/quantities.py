"""Lengths, speeds and times as short text: round steps, exact units, and instants that leave out what is the same."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from transom.model.geometry.space import MICROMETRES
from transom.model.time import MICROSECOND, Calendar

_EXACT_UNITS = ("km", "nmi", "mi", "m", "mm", "um")
_METRIC_UNITS = ("km", "m", "mm")
_CLOCK_FACTORS = (
    (1_000_000, (1, 2, 5, 10, 15, 30)),
    (60_000_000, (1, 2, 5, 10, 15, 30)),
    (3_600_000_000, (1, 2, 3, 6, 12, 24)),
)
_DURATION_UNITS = (("d", 86_400_000_000), ("h", 3_600_000_000), ("min", 60_000_000), ("s", 1_000_000), ("ms", 1000))


def format_length(micrometres: int) -> str:
    """Format a length as text, in the largest unit in which it is an integer.

    >>> format_length(50_000_000_000), format_length(185_200_000_000)
    ('50 km', '100 nmi')
    """
    unit = next(unit for unit in _EXACT_UNITS if micrometres % MICROMETRES[unit] == 0)
    return f"{micrometres // MICROMETRES[unit]} {unit}"


def round_step(least: float) -> float:
    """Return the smallest of the numbers 1, 2 and 5 times a power of ten that is not below `least`.

    >>> round_step(30.0), round_step(0.7)
    (50.0, 1.0)
    """
    size = 10.0 ** math.floor(math.log10(least))
    return next(factor * size for factor in (1, 2, 5, 10) if factor * size >= least * (1 - 1e-9))


def class_width(most: float) -> float:
    """Return a round width for classes of speed: 1, 2, 2.5 or 5 times a power of ten, at most `most`.

    >>> class_width(27.0), class_width(0.9)
    (25.0, 0.5)
    """
    size = 10.0 ** math.floor(math.log10(most) + 1e-9)
    return max(factor * size for factor in (1, 2, 2.5, 5) if factor * size <= most * (1 + 1e-9))


def round_numbers(low: float, high: float, count: int = 6) -> Iterator[float]:
    """Yield about `count` round numbers between `low` and `high`, at which a map has grid lines."""
    size = round_step((high - low) / count)
    for multiple in range(math.ceil(low / size), math.floor(high / size) + 1):
        yield round(multiple * size, 12)


@dataclass(frozen=True, slots=True)
class LengthUnit:
    """A unit in which lengths are written: its name and how many units of the coordinates it is long."""

    name: str
    size: float

    @staticmethod
    def for_span(span: float, micrometres_per_unit: int) -> LengthUnit:
        """Choose the unit that a map `span` coordinate units wide or high shows: km, m, mm or an imperial unit.

        Coordinates have a unit of `micrometres_per_unit` micrometres and spread over `span`.
        """
        names = [name for name in ("ft", "yd", "mi", "nmi") if MICROMETRES[name] == micrometres_per_unit]
        if names:
            return LengthUnit(names[0], 1.0)
        fitting = (name for name in _METRIC_UNITS if span * micrometres_per_unit >= 2 * MICROMETRES[name])
        name = next(fitting, "mm")
        return LengthUnit(name, MICROMETRES[name] / micrometres_per_unit)


@dataclass(frozen=True, slots=True)
class Clock:
    """Writes ticks as times: the clock of a catalog with an epoch, otherwise the time since tick 0.

    `first` and `last` are the ticks that a picture shows; a date is written only if they are on different days.
    """

    calendar: Calendar
    first: int
    last: int

    @property
    def has_instants(self) -> bool:
        """Whether ticks can be shown as instants, because the catalog has an epoch."""
        return self.calendar.epoch != Calendar().epoch

    @property
    def is_one_day(self) -> bool:
        """Whether all ticks of the picture are on one day."""
        return self.calendar.instant_of(self.first).date() == self.calendar.instant_of(self.last).date()

    def round_ticks(self, low: int, high: int, count: int) -> list[int]:
        """Choose ticks from `low` to `high`, about `count` at most, at round times such as full minutes."""
        step = next(step for step in axis_steps(self.calendar) if step * count >= high - low)
        offset = 0
        if self.has_instants:
            midnight = self.calendar.epoch.replace(hour=0, minute=0, second=0, microsecond=0)
            offset = (self.calendar.epoch - midnight) // MICROSECOND // self.calendar.length
        return list(range(-(-(low + offset) // step) * step - offset, high + 1, step))

    def text(self, tick: int) -> str:
        """Format a tick as a time: `07:14`, `2 Mar 07:14:30`, or without an epoch `1 h 14 min`.

        >>> Clock(Calendar(), 0, 9).text(90)
        '1 min 30 s'
        """
        if not self.has_instants:
            return format_ticks(tick, self.calendar)
        instant = self.calendar.instant_of(tick)
        day = "" if self.is_one_day else f"{instant.day} {instant:%b} "
        return day + _clock_text(instant)

    def full(self, tick: int) -> str:
        """Format a tick in full: `07:14 UTC on 2 March 2026 (tick 74)`; without an epoch `tick 90 (1 min 30 s)`."""
        if not self.has_instants:
            return f"tick {tick} ({format_ticks(tick, self.calendar)})"
        return f"{_clock_text(self.calendar.instant_of(tick))} UTC on {self.day(tick)} (tick {tick})"

    def day(self, tick: int) -> str:
        """Format the date of a tick, such as `2 March 2026`."""
        instant = self.calendar.instant_of(tick)
        return f"{instant.day} {instant:%B %Y}"


def axis_steps(calendar: Calendar) -> Iterator[int]:
    """Yield numbers of ticks, ascending, that are round lengths of time: 1, 2 or 5 s, 10, 15 or 30 min, days."""
    lengths = [factor * 10**power for power in range(6) for factor in (1, 2, 5)]
    lengths += [factor * unit for unit, factors in _CLOCK_FACTORS for factor in factors]
    steps = [step for length in lengths if (step := calendar.ticks(length))]
    yield from steps
    unit = steps[-1] if steps else 1
    while True:
        yield from (factor * unit for factor in ((2, 5, 10) if steps else (1, 2, 5)))
        unit *= 10


def _clock_text(instant: datetime) -> str:
    """Format the time of day of an instant, with seconds and fractions only if they are not zero."""
    if instant.microsecond:
        digits = f"{instant:%f}"
        return f"{instant:%H:%M:%S}.{digits[:3] if digits.endswith('000') else digits}"
    return f"{instant:%H:%M:%S}" if instant.second else f"{instant:%H:%M}"


def format_ticks(ticks: int, calendar: Calendar) -> str:
    """Format a number of ticks as a duration with at most two units, such as `1 min 30 s`.

    >>> format_ticks(90, Calendar())
    '1 min 30 s'
    """
    rest, parts = abs(ticks) * calendar.length, []
    for name, length in _DURATION_UNITS:
        count, rest = divmod(rest, length)
        if count:
            parts.append(f"{count} {name}")
    if rest or not parts:
        parts.append(f"{rest} us" if rest else "0")
    return ("-" if ticks < 0 else "") + " ".join(parts[:2])
