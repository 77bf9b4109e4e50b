"""Point-in-region tests on Spark: a grid decides most points natively, Python decides the rest exactly."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Expression
from transom.model.geometry.grid import BORDER, INSIDE, OUTSIDE, BoundingBox, Grid
from transom.model.geometry.regions import Region
from transom.spark.expressions.functions import bind_once
from transom.spark.expressions.types import let

_FULL_TURN = 360.0


def is_in_region(region: Region, expression: Expression, point: Column) -> Column:
    """Whether a point is in a region, border included: a grid decides most points, an exact Python test the others.

    `point` is the column of `expression`.

    Except for rectangles, all rows go to Python and back; for those that the grid decides, only the result is sent.
    """
    if is_rectangle(region):
        return bind_once([expression], [point], lambda bound: _in_rectangle(region, bound))

    def prepare(bound: Column) -> Column:
        """Build a struct for the point `bound`: the grid's answer, or x and y if Python must test the point."""
        return let([grid_code(region, bound)], lambda code: _known_or_coordinates(code, bound))

    return F.arrow_udf(_exact_function(region), "boolean")(bind_once([expression], [point], prepare))


def grid_code(region: Region, point: Column) -> Column:
    """Look up a point in the region's grid, as one byte: 0 outside, 1 inside, 2 undecided; NULL stays NULL."""
    grid = region.grid()
    code = _over_full_turns(region, point, lambda x: _cell(grid, x, point["y"]), _combine_codes)
    return F.when(point.isNotNull(), F.coalesce(code, _byte(OUTSIDE)))


def is_rectangle(region: Region) -> bool:
    """Whether a region is an axis-aligned rectangle, so that comparing with its bounding box is exact."""
    if len(region.areas) != 1 or len(region.areas[0].edges) != 4:
        return False
    box = region.box
    corners = {(box.left, box.bottom), (box.right, box.bottom), (box.left, box.top), (box.right, box.top)}
    end_points = {end for ax, ay, bx, by in region.areas[0].edges for end in ((ax, ay), (bx, by))}
    straight = all(ax == bx or ay == by for ax, ay, bx, by in region.areas[0].edges)
    return straight and end_points == corners


def _in_rectangle(region: Region, point: Column) -> Column:
    """Whether a point lies in a rectangular region, border included; NULL if the point is NULL."""
    is_inside = _over_full_turns(region, point, lambda x: _in_box(region.box, x, point["y"]), lambda a, b: a | b)
    return F.when(point.isNotNull(), F.coalesce(is_inside, F.lit(False)))


def _known_or_coordinates(code: Column, point: Column) -> Column:
    """Build a struct from a grid cell's `code`: `known` (is the point inside?) or, on the border, `x` and `y`."""
    undecided = code == _byte(BORDER)
    return F.struct(
        F.when(~undecided, code == _byte(INSIDE)).alias("known"),
        F.when(undecided, point["x"]).alias("x"),
        F.when(undecided, point["y"]).alias("y"),
    )


def _exact_function(region: Region) -> Callable[[pa.Array], pa.Array]:
    """Return the Arrow function that tests points for a region: the grid's answer or, if it has none, an exact test."""

    def decide(points: pa.Array) -> pa.Array:
        """Whether each point lies in the region: the grid's answer, or the exact test of the coordinates."""
        decided, x, y = (points.field(n) for n in range(3))
        is_open = x.is_valid()
        xs, ys = x.drop_null().to_pylist(), y.drop_null().to_pylist()
        if not xs:
            return decided
        return pc.replace_with_mask(decided, is_open, pa.array([region.covers(*point) for point in zip(xs, ys)]))

    return decide


def _over_full_turns(
    region: Region,
    point: Column,
    test: Callable[[Column], Column],
    combine: Callable[[Column, Column], Column],
) -> Column:
    """Test a point's x; on the globe, `combine` the tests of x and x + 360 if both are in the region's box.

    `combine` joins the results of several tests.

    Full turns are added one at a time, so that the floats are the same as in `Region.covers`.
    """
    if not region.geodesic:
        return test(point["x"])
    left, right = region.box.left, region.box.right

    def test_turns(x: Column) -> Column:
        """Test longitude `x` and, if the region's box contains it too, x + 360 degrees; combine both results."""
        twice = F.when(x + _FULL_TURN <= right, combine(test(x), test(x + _FULL_TURN)))
        return twice.otherwise(test(x)) if right - left >= _FULL_TURN else test(x)

    return F.when(F.abs(point["x"]) <= _FULL_TURN, let([_first_turn(point["x"], left)], test_turns))


def _first_turn(x: Column, left: float) -> Column:
    """Shift a longitude by full turns (360 degrees) to the smallest value that is at least `left`.

    `left` is the western edge of a region's box.
    """
    lower, low = [x], _FULL_TURN
    while low - _FULL_TURN >= left:
        low -= _FULL_TURN
        lower.append(lower[-1] - _FULL_TURN)
    chosen = F.when(lower[-1] >= left, lower[-1])
    for other in lower[-2::-1]:
        chosen = chosen.when(other >= left, other)
    higher, high = x, -_FULL_TURN
    while high < left:
        high += _FULL_TURN
        higher = higher + _FULL_TURN
        chosen = chosen.when(higher >= left, higher)
    return chosen


def _in_box(box: BoundingBox, x: Column, y: Column) -> Column:
    """Whether a point lies in a bounding box, border included."""
    return x.between(box.left, box.right) & y.between(box.bottom, box.top)


def _cell(grid: Grid, x: Column, y: Column) -> Column:
    """Look up the square of a region's grid that contains a point: one byte for outside, inside or undecided.

    Points beyond the grid are outside.
    """
    column = F.least(((x - grid.box.left) / grid.width).cast("int"), F.lit(grid.columns - 1))
    row = F.least(((y - grid.box.bottom) / grid.height).cast("int"), F.lit(grid.rows - 1))
    byte = F.substring(F.lit(grid.cells), row * grid.columns + column + 1, F.lit(1))
    return F.when(_in_box(grid.box, x, y), byte).otherwise(_byte(OUTSIDE))


def _combine_codes(left: Column, right: Column) -> Column:
    """Combine grid codes of a point and its 360 degree copy: inside if either is, else undecided if either is."""
    either = (left == _byte(INSIDE)) | (right == _byte(INSIDE))
    return F.when(either, _byte(INSIDE)).otherwise(F.greatest(left, right))


def _byte(code: int) -> Column:
    """Convert a grid code (0 outside, 1 inside, 2 undecided) to a constant column of one byte."""
    return F.lit(bytes([code]))
