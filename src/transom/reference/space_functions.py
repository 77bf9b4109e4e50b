"""Implementations of the spatial functions; they never receive NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from transom.model.geometry.geodesy import azimuth
from transom.model.geometry.space import Position, step_length
from transom.model.types import Line, Point, wkb


def position_of_measure(measure: int) -> Position:
    """Return a Position for distances: a globe if `measure` is 0, else a plane of `measure` micrometres/unit.

    `measure` is 0 for the globe, else the micrometres per unit of a plane.
    """
    return Position("x", "y", geodesic=measure == 0, unit=measure or 1)


def distance_between(first: Point, second: Point, measure: int) -> int | None:
    """Return two points' distance in micrometres, None if invalid; `measure` is a plane's unit, 0 on the globe.

    `measure` is 0 for the globe, else the micrometres per unit of a plane.
    """
    position = position_of_measure(measure)
    start, end = position.point(*first), position.point(*second)
    return None if start is None or end is None else step_length(position, start, end)


def kilometres_per_hour(micrometres: int, ticks: int, tick_length: int) -> float:
    """Compute the speed in km/h over a distance in a number of ticks of `tick_length` microseconds."""
    return float(micrometres * 18) / float(ticks * tick_length * 5)


def _point(x: float, y: float = 0.0, measure: int = 1) -> Point | None:
    """SQL POINT: the point with two coordinates, on the globe if `measure` is 0; NULL if it is invalid."""
    return None if position_of_measure(measure).point(x, y) is None else Point(x, y)


def _distance(first: Point, second: Point, measure: int) -> float | None:
    """SQL DISTANCE: the distance of two points in metres, on the globe if `measure` is 0; NULL if one is invalid."""
    distance = distance_between(first, second, measure)
    return None if distance is None else distance / 1e6


def _within(first: Point, second: Point, limit: int, measure: int) -> bool | None:
    """SQL WITHIN: whether two points are at most `limit` micrometres apart; NULL if one is invalid.

    `measure` is 0 for the globe, else the micrometres per unit of a plane.
    """
    distance = distance_between(first, second, measure)
    return None if distance is None else distance <= limit


def _speed(first: Point, start_tick: int, second: Point, end_tick: int, measure: int, tick_length: int) -> float | None:
    """SQL SPEED in km/h between points at two ticks; `measure` 0: globe; NULL for equal ticks or a bad point.

    `measure` is 0 for the globe; a tick has `tick_length` microseconds.
    """
    distance = distance_between(first, second, measure)
    if start_tick == end_tick or distance is None:
        return None
    return kilometres_per_hour(distance, abs(end_tick - start_tick), tick_length)


def _heading(first: Point, second: Point, measure: int) -> float | None:
    """SQL HEADING: degrees from north, between points; `measure` 0 means globe; NULL if equal or invalid.

    `measure` is 0 for the globe.
    """
    if first == second or distance_between(first, second, measure) is None:
        return None
    if measure == 0:
        return azimuth(first.x, first.y, second.x, second.y)
    return math.degrees(math.atan2(second.x - first.x, second.y - first.y)) % 360.0


def _text(geometry: Point | Line) -> str:
    """SQL WKT: the well-known text of a point or line."""
    return str(geometry)


def _binary(geometry: Point | Line) -> str:
    """SQL WKB: the well-known binary of a point or line, as hexadecimal digits."""
    return wkb([geometry] if isinstance(geometry, Point) else geometry)


SPACE_IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {
    "POINT": _point,
    "X": lambda point: point.x,
    "Y": lambda point: point.y,
    "DISTANCE": _distance,
    "WITHIN": _within,
    "SPEED": _speed,
    "HEADING": _heading,
    "WKT": _text,
    "WKB": _binary,
}
"""Implementations by function name; a test checks that every spatial function has one."""
