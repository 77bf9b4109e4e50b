"""The value of an expression for one tuple, with SQL's three-valued logic; and of an aggregate over many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from typing import assert_never

from transom.algebra.expressions import (
    Aggregate,
    AggregateFunction,
    Call,
    Case,
    Cast,
    Column,
    Expression,
    InRegion,
    Literal,
    Tag,
)
from transom.errors import PlanError
from transom.model.bag import Element, Row, value_key
from transom.model.schema import Schema
from transom.model.types import Line, Point, Type, Value, read_text, tidy
from transom.reference.functions import DECIMALS, IMPLEMENTATIONS, finite
from transom.reference.space_functions import SPACE_IMPLEMENTATIONS


@dataclass(frozen=True, slots=True)
class Scope:
    """What an expression can see: a tuple with its schema, and on a stream its tags."""

    schema: Schema
    row: Row
    tick: int | None = None
    index: int | None = None

    @staticmethod
    def of(schema: Schema, element: Element) -> Scope:
        """The scope of a tagged tuple."""
        return Scope(schema, element.row, element.tick, element.index)


def constant(expression: Expression) -> Value:
    """The value of an expression that reads nothing."""
    return value(expression, Scope(Schema(()), ()))


def value(expression: Expression, scope: Scope) -> Value:
    """The value of an expression."""
    match expression:
        case Literal(value=written):
            return written
        case Column(attribute=attribute):
            return scope.row[scope.schema.position(attribute)]
        case Tag(name=name):
            tag = scope.tick if name == "tick" else scope.index
            if tag is None:
                raise PlanError("the tuples of a window carry no tags")
            return tag
        case Call(function=function, arguments=arguments):
            values = [value(argument, scope) for argument in arguments]
            if function.strict and None in values:
                return None
            compute = IMPLEMENTATIONS.get(function.name) or SPACE_IMPLEMENTATIONS[function.name]
            result: Value = compute(*values)
            return result
        case Case(branches=branches, otherwise=otherwise):
            for condition, result_of_branch in branches:
                if value(condition, scope) is True:
                    return value(result_of_branch, scope)
            return value(otherwise, scope)
        case Cast(operand=operand, type=kind):
            return cast(value(operand, scope), kind)
        case InRegion(place=place, region=region):
            where = value(place, scope)
            return region.covers(where.x, where.y) if isinstance(where, Point) else None
        case _:
            assert_never(expression)


def holds(predicate: Expression, scope: Scope) -> bool:
    """Whether a predicate is true; unknown is not true."""
    return value(predicate, scope) is True


def cast(given: Value, kind: Type) -> Value:
    """A value as a value of another type; NULL where there is none."""
    if given is None:
        return None
    try:
        if isinstance(given, str):
            return read_text(given, kind)
        if kind is Type.STRING:
            if isinstance(given, bool):
                return "true" if given else "false"
            return format(given, "f") if isinstance(given, Decimal) else str(given)
        if kind is Type.BOOLEAN:
            return bool(given)
        if kind in (Type.INTEGER, Type.TIME) and not isinstance(given, datetime | Point | Line):
            return tidy(int(given), kind)
        return tidy(given, kind)
    except (ValueError, OverflowError):
        return None


def aggregate(column: Aggregate, schema: Schema, rows: Sequence[Row]) -> Value:
    """An aggregate over the tuples of a window or group; NULLs do not count, and over nothing it is NULL or 0."""
    if column.argument is None:
        return len(rows)
    argument = column.argument
    values = [v for v in (value(argument, Scope(schema, row)) for row in rows) if v is not None]
    match column.function:
        case AggregateFunction.COUNT:
            return len(values)
        case AggregateFunction.SUM:
            return total(values, argument.type)
        case AggregateFunction.AVG:
            return mean(values)
        case AggregateFunction.MIN:
            return min(values, key=value_key, default=None)
        case AggregateFunction.MAX:
            return max(values, key=value_key, default=None)
        case _:
            assert_never(column.function)


def exact(number: Value) -> Fraction:
    """The number that a value means; a float means the decimal number it prints as."""
    if isinstance(number, float):
        return Fraction(repr(number))
    assert isinstance(number, int | Decimal)  # noqa: S101 - the planner lets only numbers in
    return Fraction(number)


def total(values: Sequence[Value], kind: Type) -> Value:
    """The exact sum, rounded once; NULL over nothing or where the type cannot hold it."""
    if not values:
        return None
    result = sum(map(exact, values), Fraction(0))
    if kind is Type.FLOAT:
        return rounded(result)
    if kind is Type.DECIMAL:
        return finite(DECIMALS.divide(Decimal(result.numerator), Decimal(result.denominator)))
    return finite(result.numerator)


def mean(values: Sequence[Value]) -> Value:
    """The exact sum divided by the count, rounded once to a float; NULL over nothing."""
    return rounded(sum(map(exact, values), Fraction(0)) / len(values)) if values else None


def rounded(number: Fraction) -> float | None:
    """The nearest float, or NULL beyond the largest."""
    try:
        return float(number)
    except OverflowError:
        return None
