"""The value of an expression for one tuple, with SQL's three-valued logic; and of an aggregate over many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any, TypeAlias, assert_never

from transom.algebra.expressions import (
    Aggregate,
    AggregateFunction,
    Call,
    Case,
    Cast,
    Column,
    Exists,
    Expression,
    InRegion,
    Literal,
    Tag,
)
from transom.algebra.functions import Function
from transom.errors import PlanError
from transom.model.bag import Element, Row, value_key
from transom.model.rdf.terms import Term, boolean
from transom.model.schema import Attribute, Schema
from transom.model.types import Line, Point, Type, Value, read_text, tidy
from transom.reference.functions import DECIMALS, IMPLEMENTATIONS, finite
from transom.reference.space_functions import SPACE_IMPLEMENTATIONS


class Scope:
    """What an expression can see."""

    __slots__ = ()

    def cell(self, attribute: Attribute) -> Value:
        """The value of an attribute."""
        raise PlanError(f"no column {attribute} here")

    def tag(self, name: str) -> int:
        """The tick or the index of a tuple."""
        raise PlanError("the tuples of a window carry no tags")

    def exists(self, exists: Exists) -> bool:
        """Whether the pattern of an EXISTS has a solution at the same instant."""
        raise PlanError("there is no pattern to be asked here")

    def term_function(self, name: str) -> Callable[..., Any]:
        """What a function of terms computes."""
        from transom.reference.rdf.functions import TERM_IMPLEMENTATIONS

        return TERM_IMPLEMENTATIONS[name]


@dataclass(frozen=True, slots=True)
class RowScope(Scope):
    """A tuple with its schema, and on a stream its tags."""

    schema: Schema
    row: Row
    tick: int | None = None
    index: int | None = None

    @staticmethod
    def of(schema: Schema, element: Element) -> RowScope:
        """The scope of a tagged tuple."""
        return RowScope(schema, element.row, element.tick, element.index)

    def cell(self, attribute: Attribute) -> Value:
        """The value of an attribute."""
        return self.row[self.schema.position(attribute)]

    def tag(self, name: str) -> int:
        """The tick or the index of a tuple on a stream."""
        tag = self.tick if name == "tick" else self.index
        if tag is None:
            raise PlanError("the tuples of a window carry no tags")
        return tag


Scopes: TypeAlias = Callable[[Schema], Callable[[Row], Scope]]
"""What expressions see of the rows of a schema."""


def of_tuples(schema: Schema) -> Callable[[Row], Scope]:
    """Expressions that see a tuple and nothing else."""
    return partial(RowScope, schema)


def constant(expression: Expression) -> Value:
    """The value of an expression that reads nothing."""
    return value(expression, Scope())


def value(expression: Expression, scope: Scope) -> Value:
    """The value of an expression."""
    match expression:
        case Literal(value=written):
            return written
        case Column(attribute=attribute):
            return scope.cell(attribute)
        case Tag(name=name):
            return scope.tag(name)
        case Call(function=function, arguments=arguments):
            values = [value(argument, scope) for argument in arguments]
            if function.strict:
                for one in values:  # quicker than `None in values`, which compares terms
                    if one is None:
                        return None
            result: Value = _implementation(function, scope)(*values)
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
        case Exists():
            return scope.exists(expression)
        case _:
            assert_never(expression)


def _implementation(function: Function, scope: Scope) -> Callable[..., Any]:
    if function.family == "terms":
        return scope.term_function(function.name)
    return (IMPLEMENTATIONS if function.family == "values" else SPACE_IMPLEMENTATIONS)[function.name]


def holds(predicate: Expression, scope: Scope) -> bool:
    """Whether a predicate is true; unknown is not true."""
    return value(predicate, scope) is True


def cast(given: Value, kind: Type) -> Value:
    """A value as a value of another type; NULL where there is none. A term is its effective boolean value."""
    if given is None:
        return None
    if isinstance(given, Term):
        from transom.model.rdf.compare import truth  # only SPARQL needs it

        return truth(given)
    if kind is Type.TERM:
        return boolean(bool(given))
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


def aggregate(column: Aggregate, schema: Schema, rows: Sequence[Row], scopes: Scopes = of_tuples) -> Value:
    """An aggregate over the tuples of a window or group."""
    argument, scope = column.argument, scopes(schema)
    return aggregated(column, rows if argument is None else [value(argument, scope(row)) for row in rows])


def aggregated(column: Aggregate, given: Sequence[Any]) -> Value:
    """An aggregate of the values of its argument, or of rows; NULLs do not count, and over nothing it is NULL or 0."""
    members = list(dict.fromkeys(given)) if column.distinct else given
    if column.attribute.type is Type.TERM:
        from transom.reference.rdf.aggregates import term_aggregate

        return term_aggregate(column.function, members, column.separator)
    values = [member for member in members if member is not None]
    match column.function:
        case AggregateFunction.COUNT:
            return len(values)
        case AggregateFunction.SUM:
            return total(values, column.attribute.type)
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
