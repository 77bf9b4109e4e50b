"""What the functions on places compute; they are never handed a NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from transom.model.geodesy import azimuth
from transom.model.space import Position, step
from transom.model.types import Line, Point, wkb


def measured(measure: int) -> Position:
    """How far places are apart by a measure: the micrometres of a unit of the plane, or 0 on the globe."""
    return Position("x", "y", geodesic=measure == 0, unit=measure or 1)


def apart(one: Point, other: Point, measure: int) -> int | None:
    """The micrometres between two places; NULL where a point is none, such as a latitude beyond a pole."""
    position = measured(measure)
    here, there = position.place(*one), position.place(*other)
    return None if here is None or there is None else step(position, here, there)


def kilometres_per_hour(micrometres: int, ticks: int, tick_length: int) -> float:
    """A way in some ticks as a speed: both numbers as floats, divided once."""
    return float(micrometres * 18) / float(ticks * tick_length * 5)


def _point(x: float, y: float = 0.0, measure: int = 1) -> Point | None:
    return None if measured(measure).place(x, y) is None else Point(x, y)


def _distance(one: Point, other: Point, measure: int) -> float | None:
    way = apart(one, other, measure)
    return None if way is None else way / 1e6


def _within(one: Point, other: Point, most: int, measure: int) -> bool | None:
    way = apart(one, other, measure)
    return None if way is None else way <= most


def _speed(one: Point, since: int, other: Point, until: int, measure: int, tick_length: int) -> float | None:
    way = apart(one, other, measure)
    if since == until or way is None:
        return None
    return kilometres_per_hour(way, abs(until - since), tick_length)


def _heading(one: Point, other: Point, measure: int) -> float | None:
    if one == other or apart(one, other, measure) is None:
        return None
    if measure == 0:
        return azimuth(one.x, one.y, other.x, other.y)
    return math.degrees(math.atan2(other.x - one.x, other.y - one.y)) % 360.0


def _text(geometry: Point | Line) -> str:
    return str(geometry)


def _binary(geometry: Point | Line) -> str:
    return wkb([geometry] if isinstance(geometry, Point) else geometry)


SPACE_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {
    "POINT": _point,
    "X": lambda place: place.x,
    "Y": lambda place: place.y,
    "DISTANCE": _distance,
    "WITHIN": _within,
    "SPEED": _speed,
    "HEADING": _heading,
    "WKT": _text,
    "WKB": _binary,
}
"""By the name of the function; a test checks that every function on places has one."""
