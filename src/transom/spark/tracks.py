"""Aggregates along the places of rows on Spark: way, speed, line and newest place, from an array of the rows."""

from __future__ import annotations

from itertools import pairwise
from typing import assert_never

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.tracks import Track, TrackFunction
from transom.model.space import Position, step
from transom.spark.places import WAY, kilometres_per_hour, on_globe, planar_step, ticks_between
from transom.spark.types import let


def track(track: Track, rows: Column) -> Column:
    """A track over rows, an array of struct<t: tick, o: what orders rows of one tick, place: struct<x, y> or NULL>."""
    match track.function:
        case TrackFunction.AVGSPD:
            ticks = F.transform(rows, lambda row: row["t"])
            span = F.lit(track.span).cast("decimal(19,0)")
            passed = span if track.span is not None else ticks_between(F.array_min(ticks), F.array_max(ticks))
            return F.when(F.size(rows) > 0, kilometres_per_hour(_way(track.position, rows), passed, track.tick_length))
        case TrackFunction.PATHLENGTH:
            return F.when(F.size(rows) > 0, _way(track.position, rows).cast("double") / F.lit(1e6))
        case TrackFunction.TRAJECTORY:
            return let([_places(track.position, rows)], lambda places: F.when(F.size(places) > 0, places))
        case TrackFunction.PLACE:
            return let([_places(track.position, rows)], lambda places: F.get(places, F.size(places) - 1))
        case _:
            assert_never(track.function)


def _places(position: Position, rows: Column) -> Column:
    """The places of rows in the order of time; what is no place is left out."""
    places = F.transform(F.sort_array(rows), lambda row: row["place"])
    return F.filter(places, lambda place: on_globe(place) if position.geodesic else place.isNotNull())


def _way(position: Position, rows: Column) -> Column:
    """The sum of the steps from place to place, in micrometres."""
    places = _places(position, rows)
    if position.geodesic:
        return F.arrow_udf(_ways, WAY)(places)

    def along(own: Column) -> Column:
        steps = F.zip_with(own, F.slice(own, 2, F.size(own)), lambda a, b: planar_step(position.unit, a, b))
        return F.aggregate(steps, F.lit(0).cast(WAY), lambda total, one: (total + one.cast("decimal(16,0)")).cast(WAY))

    return let([places], along)


def _ways(lines: pa.Array) -> pa.Array:
    """The ways along lines on the ellipsoid."""
    globe = Position("x", "y", geodesic=True)
    found = []
    for line in lines.to_pylist():
        places = [(place["x"], place["y"]) for place in line or ()]
        found.append(sum(step(globe, before, now) for before, now in pairwise(places)))
    return pa.array(found, pa.decimal128(38, 0))
