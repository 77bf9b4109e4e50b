"""Selections move below projections, with columns replaced by their expressions."""

from __future__ import annotations

from transom.algebra.expressions.expression import Expression, NamedExpression, size, substitute
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowProject, WindowSelect
from transom.algebra.streams import StreamProject, StreamSelect
from transom.optimizer.rule import RuleContext

MAX_CONDITION_SIZE = 200
"""The largest condition, in nodes, that may be computed twice."""


def push_selection_below_projection(op: Operator, context: RuleContext) -> Operator | None:
    """Move a selection below a projection, unless the projected expressions make the condition too large."""
    match op:
        case StreamSelect(input=StreamProject(input=stream, items=items), predicate=predicate):
            inner = substituted_condition(predicate, items)
            return None if inner is None else StreamProject(StreamSelect(stream, inner), items)
        case WindowSelect(input=WindowProject(input=windows, items=items), predicate=predicate):
            inner = substituted_condition(predicate, items)
            return None if inner is None else WindowProject(WindowSelect(windows, inner), items)
        case _:
            return None


def substituted_condition(predicate: Expression, items: tuple[NamedExpression, ...]) -> Expression | None:
    """Replace projected columns in a condition by their expressions; None if the condition grows too large."""
    inner = substitute(predicate, items)
    return inner if size(inner) <= max(MAX_CONDITION_SIZE, size(predicate)) else None
