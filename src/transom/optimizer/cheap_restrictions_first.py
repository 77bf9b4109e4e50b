"""Conditions on time and values are checked before conditions on space, which cost more."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions.expression import Call, Expression, InRegion, conjunction, conjuncts, subexpressions
from transom.algebra.expressions.functions import SPACE_FUNCTIONS
from transom.algebra.operator import Operator
from transom.algebra.relations import (
    RelationJoin,
    WindowJoin,
    WindowSelect,
)
from transom.algebra.streams import StreamSelect
from transom.algebra.windows import CoordinateRange, RangeIntersection, RegionRange, Window
from transom.model.geometry.regions import Region
from transom.optimizer.rule import RuleContext

MEASURE_COST = 4
"""Cost of measuring a distance; comparisons cost nothing."""


def cheap_restrictions_first(op: Operator, context: RuleContext) -> Operator | None:
    """Test cheap conditions first: comparisons, distances, regions with few corners, then regions with many corners.

    All parts of a condition, and all ranges, must hold, so their order only changes the cost.
    """
    match op:
        case StreamSelect() | WindowSelect() | WindowJoin():
            conditions = conjuncts(op.predicate)
        case RelationJoin():
            conditions = conjuncts(op.predicate)
        case Window(range=RangeIntersection(parts=ranges)):
            ordered = tuple(sorted(ranges, key=cost_of_range))
            return None if ordered == ranges else replace(op, range=RangeIntersection(ordered))
        case _:
            return None
    by_cost = sorted(conditions, key=cost)
    return None if by_cost == conditions else replace(op, predicate=conjunction(by_cost))


def cost(expression: Expression) -> int:
    """Estimated cost of evaluating a condition on one tuple: 0 for comparisons, more for distances and regions."""
    return sum(map(cost_of_part, subexpressions(expression)))


def cost_of_part(part: Expression) -> int:
    """Estimate one node's cost in a condition on the scale of `cost`, without its operands; 0 unless it is spatial."""
    match part:
        case InRegion(region=region):
            return cost_of_region(region)
        case Call(function=function) if function.name in SPACE_FUNCTIONS:
            return MEASURE_COST if function.name in ("DISTANCE", "WITHIN", "SPEED", "HEADING") else 0
        case _:
            return 0


def cost_of_range(window_range: CoordinateRange | RegionRange) -> int:
    """Estimated cost of checking one tuple against a window's range: 0 unless the range is a region."""
    return cost_of_region(window_range.region) if isinstance(window_range, RegionRange) else 0


def cost_of_region(region: Region) -> int:
    """Estimated cost of checking whether a position is in a region; it grows with the number of corners."""
    return MEASURE_COST + sum(len(ring) for polygon in region.polygons for ring in polygon)
