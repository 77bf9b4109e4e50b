"""A projection of a projection becomes one projection."""

from __future__ import annotations

from transom.algebra.expressions.expression import Column, Constant, NamedExpression, Tag, substitute
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowProject
from transom.algebra.streams import StreamProject
from transom.optimizer.rule import RuleContext


def merge_projections(op: Operator, context: RuleContext) -> Operator | None:
    """Merge two consecutive projections, if the inner one returns only columns, ticks, indexes and constants."""
    match op:
        case StreamProject(input=StreamProject(input=stream, items=inner), items=outer) if are_plain(inner):
            return StreamProject(stream, inline_items(outer, inner))
        case WindowProject(input=WindowProject(input=windows, items=inner), items=outer) if are_plain(inner):
            return WindowProject(windows, inline_items(outer, inner))
        case _:
            return None


def are_plain(items: tuple[NamedExpression, ...]) -> bool:
    """Whether a projection has only columns, ticks, row indexes and constants, which are cheap to repeat."""
    return all(isinstance(item.expression, Column | Tag | Constant) for item in items)


def inline_items(outer: tuple[NamedExpression, ...], inner: tuple[NamedExpression, ...]) -> tuple[NamedExpression, ...]:
    """Replace the columns in the items of an outer projection by their expressions in the inner projection."""
    return tuple(NamedExpression(substitute(item.expression, inner), item.attribute) for item in outer)
