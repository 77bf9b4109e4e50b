"""What must hold for an operator to mean anything; checked when it is built."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.expressions import Expression, Item, columns, tags
from transom.errors import PlanError
from transom.model.schema import Schema
from transom.model.types import Type


def check_reads(expression: Expression, schema: Schema, *, on_stream: bool) -> None:
    """An expression reads only columns that are there, and tags only on a stream.

    In a window a column of terms may be missing: it is NULL, or inside EXISTS a variable of the solution around it.
    """
    for attribute in columns(expression):
        if on_stream or attribute.type is not Type.TERM:
            schema.position(attribute)
    if not on_stream and tags(expression):
        raise PlanError("the tuples of a window carry no tags")


def check_boolean(expression: Expression) -> None:
    """A condition is boolean; that of a term is its effective boolean value, by a cast."""
    if expression.type is not Type.BOOLEAN:
        raise PlanError(f"a predicate is boolean, not {expression.type}")


def check_predicate(expression: Expression, schema: Schema, *, on_stream: bool) -> None:
    """A predicate is a boolean expression over the input."""
    check_boolean(expression)
    check_reads(expression, schema, on_stream=on_stream)


def check_items(items: Sequence[Item], schema: Schema, *, on_stream: bool, may_be_empty: bool = False) -> None:
    """The columns of a projection read the input and have names of their own."""
    if not items and not may_be_empty:
        raise PlanError("a projection needs at least one column")
    for item in items:
        check_reads(item.expression, schema, on_stream=on_stream)
    Schema(tuple(item.attribute for item in items))
