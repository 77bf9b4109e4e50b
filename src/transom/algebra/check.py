"""Validity checks that operators run when they are built; all raise PlanError."""

from __future__ import annotations

from collections.abc import Sequence

from transom.algebra.expressions.expression import Expression, NamedExpression, columns_read, tags_read
from transom.errors import PlanError
from transom.model.schema import Schema
from transom.model.types import Type


def check_reads(expression: Expression, schema: Schema, *, on_stream: bool) -> None:
    """Raise PlanError for a column that `schema` lacks or, unless `on_stream`, for a row's tick or index.

    Only the rows of a stream have a tick and an index.

    In a window a column of terms may be missing: it is NULL, or inside EXISTS a variable of the outer solution.
    """
    for attribute in columns_read(expression):
        if on_stream or attribute.type is not Type.TERM:
            schema.position(attribute)
    if not on_stream and tags_read(expression):
        raise PlanError("the tuples of a window carry no tags")


def check_boolean(expression: Expression) -> None:
    """Raise PlanError unless a condition has the type boolean.

    Callers cast an RDF term to its effective boolean value first.
    """
    if expression.type is not Type.BOOLEAN:
        raise PlanError(f"a predicate is boolean, not {expression.type}")


def check_predicate(expression: Expression, schema: Schema, *, on_stream: bool) -> None:
    """Raise PlanError unless a predicate is boolean and reads only columns (or, `on_stream`, tick and index).

    That is the columns of `schema` and, if `on_stream`, the tick and index of a row.
    """
    check_boolean(expression)
    check_reads(expression, schema, on_stream=on_stream)


def check_items(
    items: Sequence[NamedExpression], schema: Schema, *, on_stream: bool, may_be_empty: bool = False
) -> None:
    """Raise PlanError unless items, at least one unless `may_be_empty`, have distinct names and read only columns.

    That is the columns of `schema` and, if `on_stream`, the tick and index of a row. An empty list is an error, too,
    unless `may_be_empty`.
    """
    if not items and not may_be_empty:
        raise PlanError("a projection needs at least one column")
    for item in items:
        check_reads(item.expression, schema, on_stream=on_stream)
    Schema(tuple(item.attribute for item in items))


def check_same_types(left: Schema, right: Schema) -> None:
    """Raise PlanError unless two relations have columns of the same types in the same order."""
    if [a.type for a in left] != [a.type for a in right]:
        raise PlanError(f"{left} and {right} do not have columns of the same types")
