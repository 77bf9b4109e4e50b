"""Membership in a region on Spark: a grid decides most places natively, and Python the rest, exactly."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions import Expression
from transom.model.grid import INSIDE, OUTSIDE, UNSURE, Box, Grid
from transom.model.regions import Region
from transom.spark.functions import bound
from transom.spark.types import let

_TURN = 360.0


def inside(region: Region, expression: Expression, place: Column) -> Column:
    """Whether a place lies in a region, border included; NULL for no place.

    All rows cross to Python and back, but for a rectangle; of those that the grid decides, only the answer does.
    """
    if is_rectangle(region):
        return bound([expression], [place], lambda own: _exactly(region, own))

    def ready(own: Column) -> Column:
        return let([certain(region, own)], lambda code: _question(code, own))

    return F.arrow_udf(_asking(region), "boolean")(bound([expression], [place], ready))


def certain(region: Region, place: Column) -> Column:
    """What the grid says of a place, as one byte: 0 outside, 1 inside, 2 unsure; NULL for no place."""
    grid = region.grid()
    found = _somewhere(region, place, lambda x: _cell(grid, x, place["y"]), _worse)
    return F.when(place.isNotNull(), F.coalesce(found, _byte(OUTSIDE)))


def is_rectangle(region: Region) -> bool:
    """Whether a region is the box around it."""
    if len(region.areas) != 1 or len(region.areas[0].edges) != 4:
        return False
    box = region.box
    corners = {(box.left, box.bottom), (box.right, box.bottom), (box.left, box.top), (box.right, box.top)}
    found = {end for ax, ay, bx, by in region.areas[0].edges for end in ((ax, ay), (bx, by))}
    straight = all(ax == bx or ay == by for ax, ay, bx, by in region.areas[0].edges)
    return straight and found == corners


def _exactly(region: Region, place: Column) -> Column:
    found = _somewhere(region, place, lambda x: _in_box(region.box, x, place["y"]), lambda a, b: a | b)
    return F.when(place.isNotNull(), F.coalesce(found, F.lit(False)))


def _question(code: Column, place: Column) -> Column:
    """The answer, or the coordinates to ask Python for one."""
    unsure = code == _byte(UNSURE)
    return F.struct(
        F.when(~unsure, code == _byte(INSIDE)).alias("known"),
        F.when(unsure, place["x"]).alias("x"),
        F.when(unsure, place["y"]).alias("y"),
    )


def _asking(region: Region) -> Callable[[pa.Array], pa.Array]:
    def ask(questions: pa.Array) -> pa.Array:
        known, x, y = (questions.field(place) for place in range(3))
        open_ones = x.is_valid()
        xs, ys = x.drop_null().to_pylist(), y.drop_null().to_pylist()
        if not xs:
            return known
        return pc.replace_with_mask(known, open_ones, pa.array([region.covers(*place) for place in zip(xs, ys)]))

    return ask


def _somewhere(
    region: Region,
    place: Column,
    look: Callable[[Column], Column],
    both: Callable[[Column, Column], Column],
) -> Column:
    """What is found at a place; with longitudes, wherever full turns take it into the box. NULL where that is nowhere.

    The turns are made one by one, so that the floats are those of `Region.covers`.
    """
    if not region.geodesic:
        return look(place["x"])
    left, right = region.box.left, region.box.right

    def turned(x: Column) -> Column:
        twice = F.when(x + _TURN <= right, both(look(x), look(x + _TURN)))
        return twice.otherwise(look(x)) if right - left >= _TURN else look(x)

    return F.when(F.abs(place["x"]) <= _TURN, let([_first_turn(place["x"], left)], turned))


def _first_turn(x: Column, left: float) -> Column:
    """A longitude moved by full turns to the first place from the left of the box on."""
    lower, low = [x], _TURN
    while low - _TURN >= left:
        low -= _TURN
        lower.append(lower[-1] - _TURN)
    chosen = F.when(lower[-1] >= left, lower[-1])
    for other in lower[-2::-1]:
        chosen = chosen.when(other >= left, other)
    higher, high = x, -_TURN
    while high < left:
        high += _TURN
        higher = higher + _TURN
        chosen = chosen.when(higher >= left, higher)
    return chosen


def _in_box(box: Box, x: Column, y: Column) -> Column:
    return x.between(box.left, box.right) & y.between(box.bottom, box.top)


def _cell(grid: Grid, x: Column, y: Column) -> Column:
    """The byte of the cell of a place."""
    column = F.least(((x - grid.box.left) / grid.width).cast("int"), F.lit(grid.columns - 1))
    row = F.least(((y - grid.box.bottom) / grid.height).cast("int"), F.lit(grid.rows - 1))
    byte = F.substring(F.lit(grid.cells), row * grid.columns + column + 1, F.lit(1))
    return F.when(_in_box(grid.box, x, y), byte).otherwise(_byte(OUTSIDE))


def _worse(one: Column, other: Column) -> Column:
    """What two cells say together: inside if one does, or else unsure if one is."""
    either = (one == _byte(INSIDE)) | (other == _byte(INSIDE))
    return F.when(either, _byte(INSIDE)).otherwise(F.greatest(one, other))


def _byte(code: int) -> Column:
    return F.lit(bytes([code]))
