"""Two projections, one on the other, become one."""

from __future__ import annotations

from transom.algebra.expressions import Column, Item, Literal, Tag, substitute
from transom.algebra.operator import Operator
from transom.algebra.relations import WindowProject
from transom.algebra.streams import StreamProject
from transom.optimizer.rule import Context


def merge_projections(op: Operator, context: Context) -> Operator | None:
    """Compute the outer columns directly, where the inner ones are plain and nothing is computed twice."""
    match op:
        case StreamProject(input=StreamProject(input=stream, items=inner), items=outer) if plain(inner):
            return StreamProject(stream, merged(outer, inner))
        case WindowProject(input=WindowProject(input=windows, items=inner), items=outer) if plain(inner):
            return WindowProject(windows, merged(outer, inner))
        case _:
            return None


def plain(items: tuple[Item, ...]) -> bool:
    """Whether all columns are columns, tags or constants."""
    return all(isinstance(item.expression, Column | Tag | Literal) for item in items)


def merged(outer: tuple[Item, ...], inner: tuple[Item, ...]) -> tuple[Item, ...]:
    """The outer columns in terms of what the inner ones are computed from."""
    return tuple(Item(substitute(item.expression, inner), item.attribute) for item in outer)
