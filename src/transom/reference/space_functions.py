"""What the functions on places compute; they are never handed a NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from transom.model.space import Position, step
from transom.model.types import Line, Point


def measured(measure: int) -> Position:
    """How far places are apart by a measure: the micrometres of a unit of the plane, or 0 on the globe."""
    return Position("x", "y", geodesic=measure == 0, unit=measure or 1)


def apart(one: Point, other: Point, measure: int) -> int:
    """The micrometres between two places."""
    return step(measured(measure), one, other)


def kilometres_per_hour(micrometres: int, ticks: int, tick_length: int) -> float:
    """A way in some ticks as a speed: both numbers as floats, divided once."""
    return float(micrometres * 18) / float(ticks * tick_length * 5)


def _point(x: float, y: float = 0.0) -> Point:
    return Point(x, y)


def _distance(one: Point, other: Point, measure: int) -> float:
    return apart(one, other, measure) / 1e6


def _within(one: Point, other: Point, most: int, measure: int) -> bool:
    return apart(one, other, measure) <= most


def _speed(one: Point, since: int, other: Point, until: int, measure: int, tick_length: int) -> float | None:
    if since == until:
        return None
    return kilometres_per_hour(apart(one, other, measure), abs(until - since), tick_length)


def _heading(one: Point, other: Point, measure: int) -> float | None:
    if one == other:
        return None
    east, north = other.x - one.x, other.y - one.y
    if measure == 0:
        here, there, turn = math.radians(one.y), math.radians(other.y), math.radians(east)
        east = math.sin(turn) * math.cos(there)
        north = math.cos(here) * math.sin(there) - math.sin(here) * math.cos(there) * math.cos(turn)
    return math.degrees(math.atan2(east, north)) % 360.0


def _text(geometry: Point | Line) -> str:
    return str(geometry)


SPACE_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {
    "POINT": _point,
    "X": lambda place: place.x,
    "Y": lambda place: place.y,
    "DISTANCE": _distance,
    "WITHIN": _within,
    "SPEED": _speed,
    "HEADING": _heading,
    "WKT": _text,
}
"""By the name of the function; a test checks that every function on places has one."""
