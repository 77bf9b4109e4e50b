"""Conditions on the tuples of a time window are evaluated before the window."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions.expression import Column, Expression, Tag, rewrite
from transom.algebra.operator import Operator
from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.relations import (
    JoinType,
    RelationJoin,
    SuppressUnchanged,
    WindowDistinct,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable
from transom.algebra.streams import DStream, IStream, StreamSelect
from transom.algebra.windows import (
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    Range,
    RegionRange,
    UnboundedRange,
    Window,
    range_parts,
)
from transom.optimizer.rule import RuleContext


def push_selection_below_window(op: Operator, context: RuleContext) -> Operator | None:
    """Move a selection below a window, so that each tuple of the stream is tested once and not in every window.

    This holds only if neither the slide nor the range depends on row counts or distance, which a filter would change
    (S15). Over a filtered stream a window on a region is emitted less often: that makes no difference if unchanged
    windows are suppressed, or if only changes matter above. It does not hold if keys are forgotten: a filter would
    change when.
    """
    match op:
        case SuppressUnchanged(input=Window(slide=OnArrival(), range=RegionRange()) as window):
            return window
        case WindowSelect(
            input=Window(slide=OnArrival(), range=RegionRange(), forget_after=None) as window, predicate=predicate
        ):
            suppresses_unchanged = bool(context.ancestors) and isinstance(context.ancestors[-1], SuppressUnchanged)
            return (
                with_filtered_input(window, predicate) if suppresses_unchanged or only_changes_matter(context) else None
            )
        case WindowSelect(
            input=Window(slide=Every(coordinate=Coordinate.TICK) | EveryPeriod(), key=()) as window, predicate=predicate
        ):
            per_tuple = all(is_per_tuple(part) for part in range_parts(window.range))
            return with_filtered_input(window, predicate) if per_tuple else None
        case _:
            return None


def is_per_tuple(window_range: Range) -> bool:
    """Whether a window's range includes each row independently of other rows, as ranges of ticks and regions do."""
    match window_range:
        case CoordinateRange(coordinate=coordinate):
            return coordinate is Coordinate.TICK
        case RegionRange() | UnboundedRange() | PeriodRange():
            return True
        case _:
            return False


def only_changes_matter(context: RuleContext) -> bool:
    """Whether the operators above depend only on how the relation changes, not on how often it is emitted."""
    for operator in reversed(context.ancestors):
        if isinstance(operator, IStream | DStream):
            return True
        if isinstance(operator, RelationJoin) and operator.join_type is not JoinType.INNER:
            return False
        if not isinstance(operator, WindowSelect | WindowProject | WindowDistinct | RelationJoin):
            return False
    return False


def with_filtered_input(window: Window, predicate: Expression) -> Window:
    """Filter a window's input stream instead of its output; the condition may read a tuple's tick or row index."""
    assert not isinstance(window.input, StoredTable)  # noqa: S101 - a table has no such slide
    stream = StreamSelect(window.input, rewrite(predicate, lambda part: column_to_tag(part, window)))
    return replace(window, input=stream)


def column_to_tag(part: Expression, window: Window) -> Expression:
    """Replace a column that a window made from a tag (tick or index) by the tag; return other expressions unchanged."""
    if isinstance(part, Column) and part.attribute in window.tags:
        return Tag("tick" if part.attribute.name == "tick" else "index")
    return part
