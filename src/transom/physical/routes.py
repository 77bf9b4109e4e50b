"""Which operators need the nodes in `lines`; a plan that has none of them does not import these."""

from __future__ import annotations

from transom.algebra.operator import Windows
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    TrackAggregation,
    WindowAggregation,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable
from transom.algebra.windows import Arrival, Between, Change, Coordinate, Every, Passing, Window
from transom.physical.context import Planning


def takes(op: Window) -> bool:
    """Whether a window needs the machine that follows keys: by time or by SNEEql's rows it does not."""
    if op.key or op.in_space or isinstance(op.slide, Arrival | Change | Passing):
        return True
    if not isinstance(op.slide, Every) or not isinstance(op.range, Between):
        return True
    return op.slide.coordinate is not op.range.coordinate


def by_changes(planner: Planning, op: Windows) -> bool:
    """Whether the changes of a relation come straight from a machine: conditions and columns apply to them too."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below):
            return by_changes(planner, below)
        case RelationJoin():
            return not by_time(planner, op)
        case Window(input=StoredTable(), slide=slide):
            return isinstance(slide, Change)
        case Window():
            return takes(op)
        case _:
            return False


def by_key(op: Windows) -> bool:
    """Whether a relation holds aggregates of the windows of each key: their machine may be able to compute them."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below):
            return by_key(below)
        case WindowAggregation(input=Window(key=key)) | TrackAggregation(input=Window(key=key)):
            return bool(key)
        case _:
            return False


def by_time(planner: Planning, op: RelationJoin) -> bool:
    """Whether both sides are windows by time that begin together: then it is the join of windows, natively."""
    return planner.start == 0 and _is_timed(op)


def _is_timed(op: Windows) -> bool:
    match op:
        case WindowSelect(input=below) | WindowProject(input=below):
            return _is_timed(below)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER):
            return _is_timed(left) and _is_timed(right)
        case Window(input=input, slide=Every(coordinate=Coordinate.TICK)):
            return not isinstance(input, StoredTable) and not takes(op)
        case _:
            return False
