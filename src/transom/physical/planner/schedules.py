"""The schedule of a relation: the ticks at which it has windows."""

from __future__ import annotations

from transom.algebra.operator import Windows
from transom.algebra.periods import EveryPeriod
from transom.algebra.relations import (
    RelationExcept,
    RelationIntersect,
    RelationJoin,
    RelationUnion,
    SuppressUnchanged,
    TrackAggregation,
    WindowAggregation,
    WindowCrossProduct,
    WindowDistinct,
    WindowJoin,
    WindowMerge,
    WindowProject,
    WindowSelect,
    WindowTopK,
)
from transom.algebra.tree import narrow
from transom.algebra.windows import AtStart, Coordinate, Every, Window
from transom.errors import PlanError
from transom.physical.planner import routes
from transom.physical.planner.context import Planning
from transom.physical.schedule import Schedule


def schedule_of(planner: Planning, op: Windows) -> Schedule | None:
    """Return the Schedule of the ticks at which `op` has windows; None if these ticks depend on the data."""
    match op := narrow(op):
        case Window(slide=AtStart()):
            return Schedule((), planner.start)
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step)):
            return Schedule.every(step, planner.start)
        case Window(slide=EveryPeriod() as slide):
            return Schedule.every_period(slide, planner.start)
        case Window():
            return None
        case WindowSelect(input=input) | WindowProject(input=input) | WindowAggregation(input=input):
            return schedule_of(planner, input)
        case TrackAggregation(input=input) | WindowDistinct(input=input) | WindowTopK(input=input):
            return schedule_of(planner, input)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            first, second = schedule_of(planner, left), schedule_of(planner, right)
            return first.merge(second) if first and second else None
        case RelationJoin(left=left, right=right) if routes.joins_time_windows(planner, op):
            first, second = schedule_of(planner, left), schedule_of(planner, right)
            return first.merge(second) if first and second else None
        case SuppressUnchanged() | WindowMerge() | RelationJoin() | RelationUnion():
            return None
        case RelationExcept() | RelationIntersect():
            return None
        case _:
            raise PlanError(f"{type(op).__name__} works on RDF terms, not on rows", detail=str(op))
