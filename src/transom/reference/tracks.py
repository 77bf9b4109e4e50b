"""Aggregates along the places of tuples: what Section 2 of the CQL document calls the path of the monitored car."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import assert_never

from transom.algebra.tracks import Track, TrackFunction
from transom.model.bag import Row
from transom.model.schema import Schema
from transom.model.space import step
from transom.model.types import Line, Point, Value
from transom.reference.expressions import RowScope, value
from transom.reference.space_functions import kilometres_per_hour


def follow(track: Track, schema: Schema, rows: Sequence[Row]) -> Value:
    """A track over the tuples of a window or group, by tick, ties in their order (C24)."""
    ticks: list[int] = []
    places: list[Point] = []
    for tick, place in sorted(((_tick(track, schema, r), _place(track, schema, r)) for r in rows), key=lambda x: x[0]):
        ticks.append(tick)
        if place is not None:
            places.append(place)
    match track.function:
        case TrackFunction.AVGSPD:
            duration = track.span if track.span is not None else (ticks[-1] - ticks[0] if ticks else 0)
            if not rows or not duration:
                return None
            return kilometres_per_hour(way(track, places), duration, track.tick_length)
        case TrackFunction.PATHLENGTH:
            return way(track, places) / 1e6 if rows else None
        case TrackFunction.TRAJECTORY:
            return Line(places) if places else None
        case TrackFunction.PLACE:
            return places[-1] if places else None
        case _:
            assert_never(track.function)


def way(track: Track, places: Sequence[Point]) -> int:
    """The sum of the distances of consecutive places, in micrometres."""
    return sum(step(track.position, before, now) for before, now in pairwise(places))


def _tick(track: Track, schema: Schema, row: Row) -> int:
    tick = value(track.tick, RowScope(schema, row))
    assert isinstance(tick, int)  # noqa: S101 - a tick is never NULL
    return tick


def _place(track: Track, schema: Schema, row: Row) -> Point | None:
    place = value(track.place, RowScope(schema, row))
    return place if isinstance(place, Point) and track.position.place(*place) is not None else None
