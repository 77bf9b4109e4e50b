"""Which operators need `planner/relations.py` and its nodes; plans without them do not import these."""

from __future__ import annotations

from transom.algebra.operator import Windows
from transom.algebra.periods import EveryPeriod
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    TrackAggregation,
    WindowAggregation,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable
from transom.algebra.tree import walk
from transom.algebra.windows import Coordinate, CoordinateRange, Every, OnArrival, OnChange, OnRowCount, Window
from transom.physical.planner.context import Planning


def needs_keyed_window(op: Window) -> bool:
    """Whether a window must be built by the state machine of keyed windows, not by a simpler operator.

    Windows with a key need it, windows in space, and windows whose slide and range are of different kinds. The windows
    of SNEEql do not need it.
    """
    if op.key or op.in_space or isinstance(op.slide, OnArrival | OnChange | OnRowCount):
        return True
    if isinstance(op.slide, EveryPeriod):
        return False
    if not isinstance(op.slide, Every) or not isinstance(op.range, CoordinateRange):
        return True
    return op.slide.coordinate is not op.range.coordinate


def yields_changes(planner: Planning, op: Windows) -> bool:
    """Whether the planner plans a relation directly as insertions and retractions instead of as windows.

    This holds for keyed windows, joins, tables that change, and selections and projections of these.
    """
    match op:
        case WindowSelect(input=below) | WindowProject(input=below):
            return yields_changes(planner, below)
        case RelationJoin():
            return not joins_time_windows(planner, op)
        case Window(input=StoredTable(), slide=slide):
            return isinstance(slide, OnChange)
        case Window():
            return needs_keyed_window(op)
        case _:
            return False


def aggregates_keyed_windows(op: Windows) -> bool:
    """Whether a relation aggregates keyed windows, possibly below selections and projections."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below):
            return aggregates_keyed_windows(below)
        case WindowAggregation(input=Window(key=key)) | TrackAggregation(input=Window(key=key)):
            return bool(key)
        case _:
            return False


def joins_time_windows(planner: Planning, op: RelationJoin) -> bool:
    """Whether a join reads only time windows, so that it is planned as an interval join instead of as changes.

    The query must start at tick 0, and all windows must begin at one tick: before it, a join as changes has empty
    windows at the ticks of the earlier side.
    """
    return planner.start == 0 and _has_time_windows(op) and len(_first_boundaries(op)) == 1


def _first_boundaries(op: Windows) -> set[int]:
    """Return the first ticks, not before 0, at which the window operators below `op` create windows."""
    slides = (window.slide for window in walk(op) if isinstance(window, Window))
    return {slide.at_or_after(0) if isinstance(slide, EveryPeriod) else 0 for slide in slides}


def _has_time_windows(op: Windows) -> bool:
    """Whether a relation is a time window of a stream, an inner join of such windows, or a selection of these."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below):
            return _has_time_windows(below)
        case RelationJoin(left=left, right=right, join_type=JoinType.INNER):
            return _has_time_windows(left) and _has_time_windows(right)
        case Window(input=input, slide=Every(coordinate=Coordinate.TICK) | EveryPeriod()):
            return not isinstance(input, StoredTable) and not needs_keyed_window(op)
        case _:
            return False
