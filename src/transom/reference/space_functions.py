"""Implementations of the spatial functions; they never receive NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from transom.model.geometry.geodesy import azimuth
from transom.model.geometry.space import Position, step_length
from transom.model.types import Line, Point, wkb


def position_of_measure(micrometres_per_unit: int) -> Position:
    """Return the Position that measures distances on a plane with a unit of so many micrometres, 0: on the globe."""
    return Position("x", "y", geodesic=micrometres_per_unit == 0, unit=micrometres_per_unit or 1)


def distance_between(first: Point, second: Point, micrometres_per_unit: int) -> int | None:
    """Return two points' distance in micrometres, None if invalid; `micrometres_per_unit` is 0 on the globe."""
    position = position_of_measure(micrometres_per_unit)
    start, end = position.point(*first), position.point(*second)
    return None if start is None or end is None else step_length(position, start, end)


def kilometres_per_hour(micrometres: int, ticks: int, tick_microseconds: int) -> float:
    """Compute the speed in km/h over a distance that takes a number of ticks."""
    return float(micrometres * 18) / float(ticks * tick_microseconds * 5)


def _point(x: float, y: float = 0.0, micrometres_per_unit: int = 1) -> Point | None:
    """SQL POINT: the point with two coordinates, on the globe if `micrometres_per_unit` is 0; NULL if invalid."""
    return None if position_of_measure(micrometres_per_unit).point(x, y) is None else Point(x, y)


def _distance(first: Point, second: Point, micrometres_per_unit: int) -> float | None:
    """SQL DISTANCE in metres, on the globe if `micrometres_per_unit` is 0; NULL if a point is invalid."""
    distance = distance_between(first, second, micrometres_per_unit)
    return None if distance is None else distance / 1e6


def _within(first: Point, second: Point, limit_micrometres: int, micrometres_per_unit: int) -> bool | None:
    """SQL WITHIN: whether two points are at most a limit apart; `micrometres_per_unit` 0: globe; NULL if invalid."""
    distance = distance_between(first, second, micrometres_per_unit)
    return None if distance is None else distance <= limit_micrometres


def _speed(
    first: Point, start_tick: int, second: Point, end_tick: int, micrometres_per_unit: int, tick_microseconds: int
) -> float | None:
    """SQL SPEED in km/h between two points; `micrometres_per_unit` 0: globe; NULL for equal ticks or invalid points."""
    distance = distance_between(first, second, micrometres_per_unit)
    if start_tick == end_tick or distance is None:
        return None
    return kilometres_per_hour(distance, abs(end_tick - start_tick), tick_microseconds)


def _heading(first: Point, second: Point, micrometres_per_unit: int) -> float | None:
    """SQL HEADING: degrees clockwise from north; `micrometres_per_unit` 0: globe; NULL for equal or invalid points."""
    if first == second or distance_between(first, second, micrometres_per_unit) is None:
        return None
    if micrometres_per_unit == 0:
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
