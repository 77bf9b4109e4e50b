"""Scalar expressions as native Spark columns, with the values that the reference engine gives.

Nothing here depends on ANSI mode or on the session's time zone. Two limits come from Spark's types: a decimal has 18
digits behind the point and at most 19 before it (more digits behind are rounded, half away from zero; a larger
result is NULL), and a text is read as an instant only in the usual forms of ISO 8601. Places have one more limit.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import assert_never

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from transom.algebra.expressions import Call, Case, Cast, Column, Exists, Expression, InRegion, Literal, Tag
from transom.errors import PlanError
from transom.model.schema import Attribute
from transom.model.types import Line, Point, Type, Value
from transom.physical import gaps
from transom.physical.constants import fits
from transom.spark.floats import LIMIT, digits
from transom.spark.functions import LOWERINGS, REPEATING, bound, whole
from transom.spark.places import SPACE_LOWERINGS, constant, constant_line
from transom.spark.regions import inside
from transom.spark.types import DECIMAL, let, nothing, read_text, spark_type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def lower(
    expression: Expression,
    column: Callable[[Attribute], SparkColumn],
    tag: Callable[[str], SparkColumn],
) -> SparkColumn:
    """The Spark column that has an expression's value; `column` and `tag` say where attributes and tags are."""
    match expression:
        case Literal(value=constant, type=kind):
            return literal(constant, kind)
        case Column(attribute=attribute):
            return column(attribute)
        case Tag(name=name):
            return tag(name)
        case Call(arguments=arguments):
            return _apply(expression, [lower(argument, column, tag) for argument in arguments])
        case Case(branches=branches, otherwise=otherwise):
            last = lower(otherwise, column, tag)
            if not branches:
                return last
            first, *rest = [(lower(c, column, tag), lower(r, column, tag)) for c, r in branches]
            chosen = F.when(*first)
            for condition, result in rest:
                chosen = chosen.when(condition, result)
            return chosen.otherwise(last)
        case Cast(operand=operand, type=kind):
            return cast(lower(operand, column, tag), operand.type, kind, bind=isinstance(operand, Call | Case | Cast))
        case InRegion(place=place, region=region):
            return inside(region, place, lower(place, column, tag))
        case Exists():
            raise PlanError("the planner replaces EXISTS by a join")
        case _:
            assert_never(expression)


def _apply(call: Call, arguments: list[SparkColumn]) -> SparkColumn:
    """A function applied; what it names more than once is bound first, unless it is as short as a name."""
    name = call.function.name
    if name in SPACE_LOWERINGS:
        return SPACE_LOWERINGS[name](call, arguments)
    if name not in REPEATING and not (name == "*" and call.type is Type.DECIMAL):
        return LOWERINGS[name](call, arguments)
    return bound(call.arguments, arguments, lambda *named: LOWERINGS[name](call, list(named)))


def holds(
    expression: Expression,
    column: Callable[[Attribute], SparkColumn],
    tag: Callable[[str], SparkColumn],
) -> SparkColumn:
    """Whether a predicate is true; unknown is false."""
    return F.coalesce(lower(expression, column, tag), F.lit(False))


def literal(value: Value, kind: Type) -> SparkColumn:
    """A constant of a type."""
    if value is None:
        return nothing(kind)
    if isinstance(value, Decimal):
        if not fits(value):
            raise gaps.LONG_DECIMAL.refusal(detail=f"the constant is {value:f}")
        return F.lit(format(value, "f")).cast(DECIMAL)
    if isinstance(value, datetime):
        return F.timestamp_micros(F.lit((value - _EPOCH) // timedelta(microseconds=1)).cast("bigint"))
    if isinstance(value, Point):
        return constant(value)
    if isinstance(value, Line):
        return constant_line(value)
    return F.lit(value + 0.0 if isinstance(value, float) else value).cast(spark_type(kind))


def cast(value: SparkColumn, given: Type, wanted: Type, bind: bool = True) -> SparkColumn:
    """A value as a value of another type; NULL where there is none. A column that is only a name needs no binding."""
    if given is Type.NULL:
        return nothing(wanted)
    if given is wanted:
        return value
    repeating = (given is Type.STRING and wanted is not Type.TIMESTAMP) or given is Type.FLOAT
    if bind and repeating:
        return let([value], lambda bound: cast(bound, given, wanted, bind=False))
    match given, wanted:
        case Type.STRING, _:
            return read_text(value, wanted)
        case Type.DECIMAL, Type.STRING:
            # try_cast alone writes 0.0000001 without an exponent in every mode
            return F.regexp_replace(value.try_cast("string"), r"\.?0+\z", "")
        case Type.FLOAT, Type.INTEGER:
            return whole(value, value.cast("bigint"))
        case Type.FLOAT, Type.DECIMAL:
            size = F.abs(value)
            return F.when((size < LIMIT) & ((size >= 1e-38) | (size == 0)), digits(value)).try_cast(DECIMAL)
        case ((Type.INTEGER | Type.DECIMAL | Type.TIME | Type.BOOLEAN), _):
            return value.try_cast(spark_type(wanted))
        case _:
            raise PlanError(f"no cast from {given} to {wanted}")
