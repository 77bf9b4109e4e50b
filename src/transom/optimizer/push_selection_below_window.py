"""A condition on the tuples of a time window is decided before the window."""

from __future__ import annotations

from dataclasses import replace

from transom.algebra.expressions import Column, Expression, Tag, rewrite
from transom.algebra.operator import Operator
from transom.algebra.relations import JoinType, RelationJoin, WindowDistinct, WindowGrown, WindowProject, WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.streams import DStream, IStream, StreamSelect
from transom.algebra.windows import Arrival, Between, Coordinate, Every, Everything, Inside, Range, Window, parts
from transom.optimizer.rule import Context


def push_selection_below_window(op: Operator, context: Context) -> Operator | None:
    """Filter the stream rather than each window, predicates on a tuple's tick included.

    Only where neither the slide nor the range counts rows or the way: a filter would change the count (S15). Without
    the other tuples a window on a region comes less often: where only those that have grown are asked for, or only
    changes are, that makes no difference. Nor where keys are forgotten: a filter would change when.
    """
    match op:
        case WindowGrown(input=Window(slide=Arrival(), range=Inside()) as window):
            return window
        case WindowSelect(
            input=Window(slide=Arrival(), range=Inside(), forget_after=None) as window, predicate=predicate
        ):
            grown = bool(context.above) and isinstance(context.above[-1], WindowGrown)
            return filtered(window, predicate) if grown or only_changes_count(context) else None
        case WindowSelect(input=Window(slide=Every(coordinate=Coordinate.TICK), key=()) as window, predicate=predicate):
            of_tuples = all(each_for_itself(part) for part in parts(window.range))
            return filtered(window, predicate) if of_tuples else None
        case _:
            return None


def each_for_itself(reach: Range) -> bool:
    """Whether a range takes a tuple for what it is, whatever other tuples there are."""
    match reach:
        case Between(coordinate=coordinate):
            return coordinate is Coordinate.TICK
        case Inside() | Everything():
            return True
        case _:
            return False


def only_changes_count(context: Context) -> bool:
    """Whether a relation that is the same function of time gives the same answer above, however often it is told."""
    for operator in reversed(context.above):
        if isinstance(operator, IStream | DStream):
            return True
        if isinstance(operator, RelationJoin) and operator.join_type is not JoinType.INNER:
            return False
        if not isinstance(operator, WindowSelect | WindowProject | WindowDistinct | RelationJoin):
            return False
    return False


def filtered(window: Window, predicate: Expression) -> Window:
    """The window over a filtered stream."""
    assert not isinstance(window.input, StoredTable)  # noqa: S101 - a table has no such slide
    stream = StreamSelect(window.input, rewrite(predicate, lambda part: untagged(part, window)))
    return replace(window, input=stream)


def untagged(part: Expression, window: Window) -> Expression:
    """A column that the window made from a tag is that tag again on the stream."""
    if isinstance(part, Column) and part.attribute in window.tags:
        return Tag("tick" if part.attribute.name == "tick" else "index")
    return part
