"""Joins of relations that have windows at the same ticks become window joins."""

from __future__ import annotations

from transom.algebra.operator import Operator, Windows
from transom.algebra.periods import EveryPeriod
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    TrackAggregation,
    WindowAggregation,
    WindowDistinct,
    WindowJoin,
    WindowProject,
    WindowSelect,
    WindowTopK,
)
from transom.algebra.windows import Coordinate, Every, Window
from transom.optimizer.rule import RuleContext


def relations_in_step(op: Operator, context: RuleContext) -> Operator | None:
    """Turn an inner join of relations into a window join, if both inputs create their windows at the same ticks.

    The two joins differ only before both sides have started (C16, S8), and here both sides start at the same tick.
    """
    match op:
        case RelationJoin(left=left, right=right, predicate=predicate, join_type=JoinType.INNER):
            same = tick_schedule(left)
            return WindowJoin(left, right, predicate) if same is not None and same == tick_schedule(right) else None
        case _:
            return None


def tick_schedule(windows: Windows) -> tuple[int, int] | EveryPeriod | None:
    """Return (step, first tick) if windows are created at regular ticks, or their calendar period; else None.

    Windows of calendar periods return their slide.
    """
    match windows:
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step, first=first), key=()):
            return step, first
        case Window(slide=EveryPeriod() as slide, key=()):
            return slide
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return tick_schedule(below)
        case TrackAggregation(input=below) | WindowDistinct(input=below) | WindowTopK(input=below):
            return tick_schedule(below)
        case WindowJoin(left=left, right=right):
            return tick_schedule(left) if tick_schedule(left) == tick_schedule(right) else None
        case _:
            return None
