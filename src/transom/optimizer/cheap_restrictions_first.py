"""Restrictions in time and by value come before those in space, which cost more."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions import Call, Expression, InRegion, conjunction, conjuncts, parts
from transom.algebra.functions import SPACE_FUNCTIONS
from transom.algebra.operator import Operator
from transom.algebra.relations import (
    RelationJoin,
    WindowJoin,
    WindowSelect,
)
from transom.algebra.streams import StreamSelect
from transom.algebra.windows import Between, Inside, Together, Window
from transom.model.regions import Region
from transom.optimizer.rule import Context

MEASURE = 4
"""What it costs to measure a way, beside a comparison that costs nothing."""


def cheap_restrictions_first(op: Operator, context: Context) -> Operator | None:
    """Ask what is cheap first: a comparison before a way that is measured, and that before a region, few corners first.

    All parts of a condition must hold, and all ranges together, so their order changes nothing but the effort.
    """
    match op:
        case StreamSelect() | WindowSelect() | WindowJoin():
            given = conjuncts(op.predicate)
        case RelationJoin():
            given = conjuncts(op.predicate)
        case Window(range=Together(parts=ranges)):
            ordered = tuple(sorted(ranges, key=cost_of_range))
            return None if ordered == ranges else replace(op, range=Together(ordered))
        case _:
            return None
    cheap = sorted(given, key=cost)
    return None if cheap == given else replace(op, predicate=conjunction(cheap))


def cost(expression: Expression) -> int:
    """What a condition costs for one tuple, beside comparisons."""
    return sum(map(cost_of_part, parts(expression)))


def cost_of_part(part: Expression) -> int:
    """What one step of an expression costs."""
    match part:
        case InRegion(region=region):
            return cost_of_region(region)
        case Call(function=function) if function.name in SPACE_FUNCTIONS:
            return MEASURE if function.name in ("DISTANCE", "WITHIN", "SPEED", "HEADING") else 0
        case _:
            return 0


def cost_of_range(reach: Between | Inside) -> int:
    """What a range costs for one tuple."""
    return cost_of_region(reach.region) if isinstance(reach, Inside) else 0


def cost_of_region(region: Region) -> int:
    """What it costs to say whether a place lies in a region: it grows with the corners."""
    return MEASURE + sum(len(ring) for polygon in region.polygons for ring in polygon)
