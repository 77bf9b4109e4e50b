"""Track aggregates on Spark: path length, average speed, trajectory and latest place, from an array of rows."""

from __future__ import annotations

from itertools import pairwise
from typing import assert_never

import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions.tracks import TrackAggregate, TrackFunction
from transom.model.geometry.space import Position, step_length
from transom.spark.columns import TICK_NUMBER
from transom.spark.expressions.spatial import (
    DISTANCE_TYPE,
    kilometres_per_hour,
    on_globe,
    planar_distance,
    ticks_between,
)
from transom.spark.expressions.types import let


def lower_track(track: TrackAggregate, rows: Column) -> Column:
    """Compute a track aggregate, such as path length or speed, from an array of rows with tick and position."""
    match track.function:
        case TrackFunction.AVGSPD:
            ticks = F.transform(rows, lambda row: row[TICK_NUMBER])
            span = F.lit(track.span).cast("decimal(19,0)")
            duration = span if track.span is not None else ticks_between(F.array_min(ticks), F.array_max(ticks))
            return F.when(
                F.size(rows) > 0, kilometres_per_hour(_path_length(track.position, rows), duration, track.tick_length)
            )
        case TrackFunction.PATHLENGTH:
            return F.when(F.size(rows) > 0, _path_length(track.position, rows).cast("double") / F.lit(1e6))
        case TrackFunction.TRAJECTORY:
            return let([_ordered_points(track.position, rows)], lambda points: F.when(F.size(points) > 0, points))
        case TrackFunction.PLACE:
            return let([_ordered_points(track.position, rows)], lambda points: F.get(points, F.size(points) - 1))
        case _:
            assert_never(track.function)


def _ordered_points(position: Position, rows: Column) -> Column:
    """Return the points of an array of rows in time order, without NULL and without points off the globe."""
    points = F.transform(F.sort_array(rows), lambda row: row["place"])
    return F.filter(points, lambda point: on_globe(point) if position.geodesic else point.isNotNull())


def _path_length(position: Position, rows: Column) -> Column:
    """The length in micrometres of the path through the points of an array of rows, in time order."""
    points = _ordered_points(position, rows)
    if position.geodesic:
        return F.arrow_udf(_geodesic_path_lengths, DISTANCE_TYPE)(points)

    def along(path: Column) -> Column:
        """The length in micrometres of `path`, an array of points on the plane."""
        steps = F.zip_with(path, F.slice(path, 2, F.size(path)), lambda a, b: planar_distance(position.unit, a, b))
        return F.aggregate(
            steps,
            F.lit(0).cast(DISTANCE_TYPE),
            lambda total, step: (total + step.cast("decimal(16,0)")).cast(DISTANCE_TYPE),
        )

    return let([points], along)


def _geodesic_path_lengths(lines: pa.Array) -> pa.Array:
    """Compute the lengths of lines on the ellipsoid in micrometres, on Arrow arrays; 0 for NULL."""
    globe = Position("x", "y", geodesic=True)
    lengths = []
    for line in lines.to_pylist():
        points = [(point["x"], point["y"]) for point in line or ()]
        lengths.append(sum(step_length(globe, before, now) for before, now in pairwise(points)))
    return pa.array(lengths, pa.decimal128(38, 0))
