"""Positions, lengths and speeds: distances between the rows of an object in whole micrometres (C11, E9)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite, sqrt

from transom.model.geometry.geodesy import geodesic
from transom.model.types import Value

LONGEST_STEP = 2**53
"""The longest step in micrometres, nine million kilometres; longer steps on the plane count as this."""

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
MICROMETRES = {spelling: _UNITS[unit] for unit, spellings in _SPELLINGS.items() for spelling in spellings}
"""Every spelling of a unit of length, in micrometres."""

_LENGTH = re.compile(r"(\d{1,12}(?:\.\d{1,9})?|\.\d{1,9})? {0,9}([A-Za-z]{1,12}(?: [A-Za-z]{1,6})?)")


def read_distance(text: str) -> int:
    """Parse a length such as `50 km` to micrometres; raise ValueError if it is malformed or no whole number of them.

    >>> read_distance("50 km")
    50000000000
    """
    match = _LENGTH.fullmatch(text.strip())
    unit = MICROMETRES.get(match[2].lower()) if match else None
    if not match or unit is None:
        raise ValueError(f"{text!r} is not a length such as '50 km'")
    length = Fraction(match[1] or 1) * unit
    if length.denominator != 1:
        raise ValueError(f"{text!r} is no whole number of micrometres")
    return int(length)


@dataclass(frozen=True, slots=True)
class Position:
    """The columns that hold the position of a row.

    On the plane `x` and `y` are coordinates in units of `unit` micrometres; without `y` the position is a point of a
    line. If `geodesic`, `x` is a longitude and `y` a latitude, in degrees on the ellipsoid WGS 84.
    """

    x: str
    y: str | None
    geodesic: bool = False
    unit: int = _UNITS["m"]

    def point(self, x: Value, y: Value = 0) -> tuple[float, float] | None:
        """Convert the coordinates of a row to floats; None if one of them is NULL, not finite or out of range.

        A coordinate is not valid if it is NULL, not finite or not a number, a latitude beyond a pole, or a longitude of
        more than a full turn. A row without a position adds no distance.
        """
        if not isinstance(x, int | float) or not isinstance(y, int | float):
            return None
        a, b = float(x), float(y)
        if not isfinite(a) or not isfinite(b) or (self.geodesic and (abs(a) > 360.0 or abs(b) > 90.0)):
            return None
        return a, b


@dataclass(frozen=True, slots=True)
class Speed:
    """A speed limit: at most `length` micrometres in `ticks` ticks."""

    length: int
    ticks: int

    def allows(self, step: int, ticks: int) -> bool:
        """Whether the speed limit lets an object move `step` micrometres in `ticks` ticks; 0 ticks count as one."""
        return step * self.ticks <= self.length * max(ticks, 1)


def step_length(position: Position, start: tuple[float, float], end: tuple[float, float]) -> int:
    """Compute the distance between two positions of an object, in micrometres, in the geometry of `position` (E9).

    >>> step_length(Position("x", "y"), (0.0, 0.0), (3.0, 4.0))
    5000000
    """
    if position.geodesic:
        metres = geodesic(start[0], start[1], end[0], end[1])
        return round(metres * 1e6)
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = sqrt(dx * dx + dy * dy) * position.unit
    return round(length) if length < LONGEST_STEP else LONGEST_STEP
