"""Evaluate expressions over one tuple with SQL's three-valued logic, and aggregates over many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, assert_never

from transom.algebra.expressions.expression import (
    Aggregate,
    AggregateFunction,
    Call,
    Case,
    Cast,
    Column,
    Constant,
    Exists,
    Expression,
    InRegion,
    Tag,
)
from transom.algebra.expressions.functions import Function
from transom.errors import PlanError
from transom.model.bag import Element, Row, value_key
from transom.model.rdf.terms import Term, boolean
from transom.model.schema import Attribute, Schema
from transom.model.types import Line, Point, Type, Value, coerce_value, parse_value
from transom.reference.functions import DECIMALS, IMPLEMENTATIONS, fit_number
from transom.reference.space_functions import SPACE_IMPLEMENTATIONS


class EvaluationContext:
    """What an expression can read: columns, tags, EXISTS patterns and functions of terms."""

    __slots__ = ()

    def cell(self, attribute: Attribute) -> Value:
        """Return the value of the column `attribute` in the current row.

        A context without columns raises PlanError.
        """
        raise PlanError(f"no column {attribute} in this expression")

    def tag(self, name: str) -> int:
        """Return the current stream element's tick (event time) if `name` is `tick`, its row number if it is `index`.

        A context without tags raises PlanError.
        """
        raise PlanError("the tuples of a window carry no tags")

    def exists(self, exists: Exists) -> bool:
        """Whether an EXISTS pattern has a solution for the current row; PlanError where EXISTS is not supported."""
        raise PlanError("EXISTS is not available in this expression")

    def term_function(self, name: str) -> Callable[..., Any]:
        """Return the Python function that implements a SPARQL function, by its name."""
        from transom.reference.rdf.functions import TERM_IMPLEMENTATIONS

        return TERM_IMPLEMENTATIONS[name]


@dataclass(frozen=True, slots=True)
class RowContext(EvaluationContext):
    """A tuple with its schema, and on a stream its tags."""

    schema: Schema
    row: Row
    tick: int | None = None
    index: int | None = None

    @staticmethod
    def of(schema: Schema, element: Element) -> RowContext:
        """Create the context for evaluating expressions over a stream element, including its tick and index."""
        return RowContext(schema, element.row, element.tick, element.index)

    def cell(self, attribute: Attribute) -> Value:
        """Return the value of the column `attribute` in the row of this context; raises PlanError if there is none."""
        return self.row[self.schema.position(attribute)]

    def tag(self, name: str) -> int:
        """Return the tick (event time) of this stream element if `name` is `tick`, its row number if it is `index`.

        Raises PlanError for a row of a window, which has neither.
        """
        tag = self.tick if name == "tick" else self.index
        if tag is None:
            raise PlanError("the tuples of a window carry no tags")
        return tag


ContextFactory: TypeAlias = Callable[[Schema], Callable[[Row], EvaluationContext]]
"""From a schema, a function that wraps a row as the context in which expressions are evaluated."""


def row_contexts(schema: Schema) -> Callable[[Row], EvaluationContext]:
    """Return a function that wraps a row as an evaluation context, which has no tick, row index or EXISTS."""
    return partial(RowContext, schema)


def constant_value(expression: Expression) -> Value:
    """Compute the value of an expression that reads no columns."""
    return evaluate_expression(expression, EvaluationContext())


def evaluate_expression(expression: Expression, scope: EvaluationContext) -> Value:
    """Evaluate an expression (None is NULL); `scope` supplies its columns, tick, row index and EXISTS."""
    match expression:
        case Constant(value=value):
            return value
        case Column(attribute=attribute):
            return scope.cell(attribute)
        case Tag(name=name):
            return scope.tag(name)
        case Call(function=function, arguments=arguments):
            values = [evaluate_expression(argument, scope) for argument in arguments]
            if function.strict:
                for operand in values:  # quicker than `None in values`, which compares terms
                    if operand is None:
                        return None
            result: Value = _implementation(function, scope)(*values)
            return result
        case Case(branches=branches, otherwise=otherwise):
            for condition, result_of_branch in branches:
                if evaluate_expression(condition, scope) is True:
                    return evaluate_expression(result_of_branch, scope)
            return evaluate_expression(otherwise, scope)
        case Cast(operand=operand, type=kind):
            return cast(evaluate_expression(operand, scope), kind)
        case InRegion(point=operand, region=region):
            point = evaluate_expression(operand, scope)
            return region.covers(point.x, point.y) if isinstance(point, Point) else None
        case Exists():
            return scope.exists(expression)
        case _:
            assert_never(expression)


def _implementation(function: Function, scope: EvaluationContext) -> Callable[..., Any]:
    """Return the Python function that computes an SQL, spatial or SPARQL function; `scope` supplies SPARQL's."""
    if function.family == "terms":
        return scope.term_function(function.name)
    return (IMPLEMENTATIONS if function.family == "values" else SPACE_IMPLEMENTATIONS)[function.name]


def is_true(predicate: Expression, scope: EvaluationContext) -> bool:
    """Whether a predicate is true for the row in `scope`; NULL counts as not true."""
    return evaluate_expression(predicate, scope) is True


def cast(value: Value, kind: Type) -> Value:
    """SQL CAST: convert a value to a type; NULL if not possible; an RDF term becomes its effective boolean value."""
    if value is None:
        return None
    if isinstance(value, Term):
        from transom.model.rdf.compare import effective_boolean_value  # only SPARQL needs it

        return effective_boolean_value(value)
    if kind is Type.TERM:
        return boolean(bool(value))
    try:
        if isinstance(value, str):
            return parse_value(value, kind)
        if kind is Type.STRING:
            if isinstance(value, bool):
                return "true" if value else "false"
            return format(value, "f") if isinstance(value, Decimal) else str(value)
        if kind is Type.BOOLEAN:
            return bool(value)
        if kind in (Type.INTEGER, Type.TIME) and not isinstance(value, datetime | Point | Line):
            return coerce_value(int(value), kind)
        return coerce_value(value, kind)
    except (ValueError, OverflowError):
        return None


def aggregate(column: Aggregate, schema: Schema, rows: Sequence[Row], scopes: ContextFactory = row_contexts) -> Value:
    """Compute an aggregate over the rows of a window or group; `scopes` wraps rows as evaluation contexts."""
    argument, scope = column.argument, scopes(schema)
    return aggregate_values(
        column, rows if argument is None else [evaluate_expression(argument, scope(row)) for row in rows]
    )


def aggregate_values(column: Aggregate, members: Sequence[Any]) -> Value:
    """Aggregate `members`: argument values without NULLs, or rows for COUNT(*); none give NULL, or 0 for COUNT."""
    members = list(dict.fromkeys(members)) if column.distinct else members
    if column.attribute.type is Type.TERM:
        from transom.reference.rdf.aggregates import term_aggregate

        return term_aggregate(column.function, members, column.separator)
    values = [member for member in members if member is not None]
    match column.function:
        case AggregateFunction.COUNT:
            return len(values)
        case AggregateFunction.SUM:
            return exact_sum(values, column.attribute.type)
        case AggregateFunction.AVG:
            return mean(values)
        case AggregateFunction.MIN:
            return min(values, key=value_key, default=None)
        case AggregateFunction.MAX:
            return max(values, key=value_key, default=None)
        case AggregateFunction.SAMPLE | AggregateFunction.GROUP_CONCAT:
            raise PlanError(f"{column.function.value} is an aggregate of terms")
        case _:
            assert_never(column.function)


def to_fraction(number: Value) -> Fraction:
    """Convert a number to an exact fraction; a float counts as the decimal number that it prints as."""
    if isinstance(number, float):
        return Fraction(repr(number))
    assert isinstance(number, int | Decimal)  # noqa: S101 - the planner lets only numbers in
    return Fraction(number)


def exact_sum(values: Sequence[Value], kind: Type) -> Value:
    """SUM: the exact sum of numbers, rounded once to `kind`; NULL over no values or if the type cannot hold it."""
    if not values:
        return None
    result = sum(map(to_fraction, values), Fraction(0))
    if kind is Type.FLOAT:
        return to_float(result)
    if kind is Type.DECIMAL:
        return fit_number(DECIMALS.divide(Decimal(result.numerator), Decimal(result.denominator)))
    return fit_number(result.numerator)


def mean(values: Sequence[Value]) -> Value:
    """AVG: the exact sum divided by the count, rounded once to a float; NULL over no values."""
    return to_float(sum(map(to_fraction, values), Fraction(0)) / len(values)) if values else None


def to_float(number: Fraction) -> float | None:
    """Convert a fraction to the nearest float; NULL if it is too large."""
    try:
        return float(number)
    except OverflowError:
        return None
