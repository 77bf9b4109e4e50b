"""Relations that are evaluated at the same ticks are joined as windows are."""

from __future__ import annotations

from transom.algebra.operator import Operator, Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    TrackAggregation,
    WindowAggregation,
    WindowDistinct,
    WindowFirst,
    WindowJoin,
    WindowProject,
    WindowSelect,
)
from transom.algebra.windows import Coordinate, Every, Window
from transom.optimizer.rule import Context


def relations_in_step(op: Operator, context: Context) -> Operator | None:
    """Make a join of relations one of windows, where both sides have one window at the same ticks.

    The two differ only before both sides have started (C16, S8), and here both start at once.
    """
    match op:
        case RelationJoin(left=left, right=right, predicate=predicate, join_type=JoinType.INNER):
            same = beat(left)
            return WindowJoin(left, right, predicate) if same is not None and same == beat(right) else None
        case _:
            return None


def beat(windows: Windows) -> tuple[int, int] | None:
    """The step and the first of the ticks at which windows come, one at each; None where that does not say it."""
    match windows:
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step, first=first), key=()):
            return step, first
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return beat(below)
        case TrackAggregation(input=below) | WindowDistinct(input=below) | WindowFirst(input=below):
            return beat(below)
        case WindowJoin(left=left, right=right):
            return beat(left) if beat(left) == beat(right) else None
        case _:
            return None
