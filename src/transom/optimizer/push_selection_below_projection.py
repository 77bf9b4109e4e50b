"""A condition on computed columns is a condition on what they are computed from."""

from __future__ import annotations

from transom.algebra.expressions import Column, Expression, Item, rewrite
from transom.algebra.relations import WindowProject, WindowSelect
from transom.algebra.streams import StreamProject, StreamSelect
from transom.algebra.tree import Operator
from transom.optimizer.rule import Context


def push_selection_below_projection(op: Operator, context: Context) -> Operator | None:
    """Select before projecting, with every column replaced by its expression."""
    match op:
        case StreamSelect(input=StreamProject(input=stream, items=items), predicate=predicate):
            return StreamProject(StreamSelect(stream, substitute(predicate, items)), items)
        case WindowSelect(input=WindowProject(input=windows, items=items), predicate=predicate):
            return WindowProject(WindowSelect(windows, substitute(predicate, items)), items)
        case _:
            return None


def substitute(expression: Expression, items: tuple[Item, ...]) -> Expression:
    """The expression with the columns of a projection replaced by what they stand for."""
    meaning = {item.attribute: item.expression for item in items}
    return rewrite(expression, lambda part: meaning[part.attribute] if isinstance(part, Column) else part)
