"""Trajectory aggregates, over the path of a moving object (Section 2 of the CQL document)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.model.bag import Row
from transom.model.geometry.space import step_length
from transom.model.schema import Schema
from transom.model.types import Line, Point, Value
from transom.reference.expressions import RowContext, evaluate_expression
from transom.reference.space_functions import kilometres_per_hour


def evaluate_track(track: TrackAggregate, schema: Schema, rows: Sequence[Row]) -> Value:
    """Compute a trajectory aggregate over the rows of a window or group, in tick order (C24).

    Rows of the same tick keep their order.
    """
    ticks: list[int] = []
    points: list[Point] = []
    timed = ((_tick_of(track, schema, row), _point_of(track, schema, row)) for row in rows)
    for tick, point in sorted(timed, key=lambda pair: pair[0]):
        ticks.append(tick)
        if point is not None:
            points.append(point)
    match track.function:
        case TrackFunction.AVGSPD:
            duration = track.span if track.span is not None else (ticks[-1] - ticks[0] if ticks else 0)
            if not rows or not duration:
                return None
            return kilometres_per_hour(path_length(track, points), duration, track.tick_length)
        case TrackFunction.PATHLENGTH:
            return path_length(track, points) / 1e6 if rows else None
        case TrackFunction.TRAJECTORY:
            return Line(points) if points else None
        case TrackFunction.PLACE:
            return points[-1] if points else None
        case _:
            assert_never(track.function)


def path_length(track: TrackAggregate, points: Sequence[Point]) -> int:
    """Compute the length of the path through `points`, in micrometres, in the geometry of the aggregate's position."""
    return sum(step_length(track.position, start, end) for start, end in pairwise(points))


def _tick_of(track: TrackAggregate, schema: Schema, row: Row) -> int:
    """Return the tick of a row, which the trajectory aggregate's tick expression computes."""
    tick = evaluate_expression(track.tick, RowContext(schema, row))
    assert isinstance(tick, int)  # noqa: S101 - a tick is never NULL
    return tick


def _point_of(track: TrackAggregate, schema: Schema, row: Row) -> Point | None:
    """Compute the position of a row from the trajectory aggregate's point expression; None if NULL or invalid."""
    point = evaluate_expression(track.point, RowContext(schema, row))
    return point if isinstance(point, Point) and track.position.point(*point) is not None else None
