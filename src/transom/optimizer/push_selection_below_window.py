"""A condition on the tuples of a time window is decided before the window."""

from __future__ import annotations

from transom.algebra.expressions import Column, Expression, Tag, rewrite
from transom.algebra.relations import WindowSelect
from transom.algebra.sources import StoredTable
from transom.algebra.streams import StreamSelect
from transom.algebra.tree import Operator
from transom.algebra.windows import Between, Coordinate, Every, Window
from transom.optimizer.rule import Context


def push_selection_below_window(op: Operator, context: Context) -> Operator | None:
    """Filter the stream rather than each window, predicates on a tuple's tick included.

    Only where neither the slide nor the range counts rows: a filter would change the count (S15).
    """
    match op:
        case WindowSelect(input=Window(slide=slide, range=reach) as window, predicate=predicate):
            by_time = isinstance(slide, Every) and slide.coordinate is Coordinate.TICK
            of_time = isinstance(reach, Between) and reach.coordinate is Coordinate.TICK
            if isinstance(window.input, StoredTable) or not (by_time and of_time) or window.key:
                return None
            stream = StreamSelect(window.input, rewrite(predicate, lambda part: untagged(part, window)))
            return Window(stream, slide, reach, window.key, window.tags)
        case _:
            return None


def untagged(part: Expression, window: Window) -> Expression:
    """A column that the window made from a tag is that tag again on the stream."""
    if isinstance(part, Column) and part.attribute in window.tags:
        return Tag("tick" if part.attribute.name == "tick" else "index")
    return part
