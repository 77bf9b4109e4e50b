"""A condition on computed columns is a condition on what they are computed from."""

from __future__ import annotations

from transom.algebra.expressions import Expression, Item, size, substitute
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowProject, WindowSelect
from transom.algebra.streams import StreamProject, StreamSelect
from transom.optimizer.rule import Context

LARGEST = 200
"""Parts of a condition that is still worth computing twice."""


def push_selection_below_projection(op: Operator, context: Context) -> Operator | None:
    """Select before projecting, with every column replaced by its expression, unless the condition grows too large."""
    match op:
        case StreamSelect(input=StreamProject(input=stream, items=items), predicate=predicate):
            inner = replaced(predicate, items)
            return None if inner is None else StreamProject(StreamSelect(stream, inner), items)
        case WindowSelect(input=WindowProject(input=windows, items=items), predicate=predicate):
            inner = replaced(predicate, items)
            return None if inner is None else WindowProject(WindowSelect(windows, inner), items)
        case _:
            return None


def replaced(predicate: Expression, items: tuple[Item, ...]) -> Expression | None:
    """The condition on what the columns are computed from, or None if that is much larger."""
    inner = substitute(predicate, items)
    return inner if size(inner) <= max(LARGEST, size(predicate)) else None
