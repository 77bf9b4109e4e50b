"""Lower scalar expressions to native Spark columns, with the same values as in the reference engine.

Nothing here depends on ANSI mode or on the session's time zone. Two limits come from Spark's types: a decimal has 18
digits after the point and at most 19 before it (more digits after it are rounded, half away from zero; a larger
result is NULL), and a timestamp is parsed only in the usual forms of ISO 8601. `spatial` has one more limit.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import assert_never

from pyspark.sql import Column as SparkColumn
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Call, Case, Cast, Column, Constant, Exists, Expression, InRegion, Tag
from transom.errors import PlanError
from transom.model.schema import Attribute
from transom.model.types import Line, Point, Type, Value
from transom.physical import gaps
from transom.physical.constants import fits_spark_decimal
from transom.spark.expressions.floats import LIMIT, printed_digits
from transom.spark.expressions.functions import LOWERINGS, REPEATING, bind_once, in_long_range
from transom.spark.expressions.regions import is_in_region
from transom.spark.expressions.spatial import SPACE_LOWERINGS, constant_line, constant_point
from transom.spark.expressions.types import DECIMAL, let, null_of, read_text, spark_type

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def lower(
    expression: Expression,
    column_of: Callable[[Attribute], SparkColumn],
    tag_column: Callable[[str], SparkColumn],
) -> SparkColumn:
    """Translate an expression to a column; `column_of` gives an attribute's column, `tag_column` tick or index."""
    match expression:
        case Constant(value=constant, type=kind):
            return literal(constant, kind)
        case Column(attribute=attribute):
            return column_of(attribute)
        case Tag(name=name):
            return tag_column(name)
        case Call(arguments=arguments):
            return _apply(expression, [lower(argument, column_of, tag_column) for argument in arguments])
        case Case(branches=branches, otherwise=otherwise):
            last = lower(otherwise, column_of, tag_column)
            if not branches:
                return last
            first, *rest = [(lower(c, column_of, tag_column), lower(r, column_of, tag_column)) for c, r in branches]
            chosen = F.when(*first)
            for condition, result in rest:
                chosen = chosen.when(condition, result)
            return chosen.otherwise(last)
        case Cast(operand=operand, type=kind):
            return cast(
                lower(operand, column_of, tag_column), operand.type, kind, bind=isinstance(operand, Call | Case | Cast)
            )
        case InRegion(point=point, region=region):
            return is_in_region(region, point, lower(point, column_of, tag_column))
        case Exists():
            raise PlanError("the planner replaces EXISTS by a join")
        case _:
            assert_never(expression)


def _apply(call: Call, arguments: list[SparkColumn]) -> SparkColumn:
    """Translate a call to a Spark column, from the columns of its arguments.

    Long arguments that the column repeats become lambda variables first.
    """
    name = call.function.name
    if name in SPACE_LOWERINGS:
        return SPACE_LOWERINGS[name](call, arguments)
    if name not in REPEATING and not (name == "*" and call.type is Type.DECIMAL):
        return LOWERINGS[name](call, arguments)
    return bind_once(call.arguments, arguments, lambda *bound: LOWERINGS[name](call, list(bound)))


def holds(
    expression: Expression,
    column_of: Callable[[Attribute], SparkColumn],
    tag_column: Callable[[str], SparkColumn],
) -> SparkColumn:
    """Whether a predicate is true (NULL: false); `column_of` gives an attribute's column, `tag_column` tick or index.

    `column_of` and `tag_column` return the columns of attributes and tags.
    """
    return F.coalesce(lower(expression, column_of, tag_column), F.lit(False))


def literal(value: Value, kind: Type) -> SparkColumn:
    """Convert a Python constant to a column of type `kind`; raise Unsupported for a decimal that Spark cannot hold."""
    if value is None:
        return null_of(kind)
    if isinstance(value, Decimal):
        if not fits_spark_decimal(value):
            raise gaps.LONG_DECIMAL.refusal(detail=f"the constant is {value:f}")
        return F.lit(format(value, "f")).cast(DECIMAL)
    if isinstance(value, datetime):
        return F.timestamp_micros(F.lit((value - _EPOCH) // timedelta(microseconds=1)).cast("bigint"))
    if isinstance(value, Point):
        return constant_point(value)
    if isinstance(value, Line):
        return constant_line(value)
    return F.lit(value + 0.0 if isinstance(value, float) else value).cast(spark_type(kind))


def cast(value: SparkColumn, source: Type, target: Type, bind: bool = True) -> SparkColumn:
    """Cast a column from `source` to `target`, NULL if impossible; `bind` computes a costly column only once.

    `bind` is False if the column is cheap to repeat.
    """
    if source is Type.NULL:
        return null_of(target)
    if source is target:
        return value
    repeating = (source is Type.STRING and target is not Type.TIMESTAMP) or source is Type.FLOAT
    if bind and repeating:
        return let([value], lambda bound: cast(bound, source, target, bind=False))
    match source, target:
        case Type.STRING, _:
            return read_text(value, target)
        case Type.DECIMAL, Type.STRING:
            # unlike cast, try_cast writes 0.0000001 without an exponent in every mode
            return F.regexp_replace(value.try_cast("string"), r"\.?0+\z", "")
        case Type.FLOAT, Type.INTEGER:
            return in_long_range(value, value.cast("bigint"))
        case Type.FLOAT, Type.DECIMAL:
            size = F.abs(value)
            return F.when((size < LIMIT) & ((size >= 1e-38) | (size == 0)), printed_digits(value)).try_cast(DECIMAL)
        case ((Type.INTEGER | Type.DECIMAL | Type.TIME | Type.BOOLEAN), _):
            return value.try_cast(spark_type(target))
        case _:
            raise PlanError(f"no cast from {source} to {target}")
