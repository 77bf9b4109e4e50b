"""Places, lengths and steps: how far an object went from one row to the next, in whole micrometres (C11, E9)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, sqrt

from transom.model.geodesy import geodesic
from transom.model.types import Value

LONGEST_STEP = 2**53
"""A step counts as at most so many micrometres, which is nine million kilometres: more is not measured."""

_UNITS = {
    "um": 1,
    "mm": 1_000,
    "cm": 10_000,
    "m": 1_000_000,
    "km": 1_000_000_000,
    "ft": 304_800,
    "yd": 914_400,
    "mi": 1_609_344_000,
    "nmi": 1_852_000_000,
}
_SPELLINGS = {
    "um": ("um", "micrometre", "micrometres", "micrometer", "micrometers"),
    "mm": ("mm", "millimetre", "millimetres", "millimeter", "millimeters"),
    "cm": ("cm", "centimetre", "centimetres", "centimeter", "centimeters"),
    "m": ("m", "metre", "metres", "meter", "meters"),
    "km": ("km", "kms", "kilometre", "kilometres", "kilometer", "kilometers"),
    "ft": ("ft", "foot", "feet"),
    "yd": ("yd", "yds", "yard", "yards"),
    "mi": ("mi", "mile", "miles"),
    "nmi": ("nmi", "nm", "nautical mile", "nautical miles"),
}
MICROMETRES = {word: _UNITS[unit] for unit, words in _SPELLINGS.items() for word in words}
"""Every spelling of a unit of length, in micrometres."""

_LENGTH = re.compile(r"(\d{1,12}(?:\.\d{1,9})?|\.\d{1,9})? {0,9}([A-Za-z]{1,12}(?: [A-Za-z]{1,6})?)")


def read_distance(text: str) -> int:
    """A length such as `50 km` or `1.5 mi` in micrometres; ValueError if it is none, or no whole number of them.

    >>> read_distance("50 km")
    50000000000
    """
    found = _LENGTH.fullmatch(text.strip())
    unit = MICROMETRES.get(found[2].lower()) if found else None
    if not found or unit is None:
        raise ValueError(f"{text!r} is not a length such as '50 km'")
    length = Fraction(found[1] or 1) * unit
    if length.denominator != 1:
        raise ValueError(f"{text!r} is no whole number of micrometres")
    return int(length)


@dataclass(frozen=True, slots=True)
class Position:
    """The columns that hold the place of a row.

    On the plane `x` and `y` are coordinates of `unit` micrometres each, and without `y` the place is a point of a
    line. If `geodesic`, `x` is a longitude and `y` a latitude, in degrees on the ellipsoid WGS 84.
    """

    x: str
    y: str | None
    geodesic: bool = False
    unit: int = _UNITS["m"]

    def place(self, x: Value, y: Value = 0) -> tuple[float, float] | None:
        """The place that two values stand for; None for a row without one, which moves nothing.

        That is a coordinate that is NULL, not finite or no number, a latitude beyond a pole, and a longitude of more
        than a full turn.
        """
        if not isinstance(x, int | float) or not isinstance(y, int | float):
            return None
        a, b = float(x), float(y)
        if not isfinite(a) or not isfinite(b) or (self.geodesic and (abs(a) > 360.0 or abs(b) > 90.0)):
            return None
        return a, b


@dataclass(frozen=True, slots=True)
class Speed:
    """At most so many micrometres in so many ticks."""

    length: int
    ticks: int

    def allows(self, step: int, ticks: int) -> bool:
        """Whether an object can have gone a step within some ticks; within one tick, as far as in a whole one."""
        return step * self.ticks <= self.length * max(ticks, 1)


def step(position: Position, before: tuple[float, float], now: tuple[float, float]) -> int:
    """How far it is from one place to another, in whole micrometres, halves to even (E9).

    >>> step(Position("x", "y"), (0.0, 0.0), (3.0, 4.0))
    5000000
    """
    if position.geodesic:
        metres = geodesic(before[0], before[1], now[0], now[1])
        return round(metres * 1e6)
    dx, dy = now[0] - before[0], now[1] - before[1]
    length = sqrt(dx * dx + dy * dy) * position.unit
    return round(length) if length < LONGEST_STEP else LONGEST_STEP
