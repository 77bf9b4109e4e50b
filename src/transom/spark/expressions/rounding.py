"""ROUND on Spark: decimals and floats, to a constant or variable number of places, halves away from zero."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Call, Constant
from transom.model.types import Type
from transom.spark.expressions.floats import LIMIT, printed_digits
from transom.spark.expressions.types import DECIMAL, PRECISION, SCALE, finite_or_null, let, let_interpreted, null_of


def round_number(call: Call, arguments: list[Column]) -> Column:
    """Compute ROUND of a decimal or float, to a constant or variable number of places; halves go away from zero."""
    is_decimal = call.arguments[0].type is Type.DECIMAL
    round_constant, round_by_column = (
        (_round_decimal, _round_decimal_by_column) if is_decimal else (_round_float, _round_float_by_column)
    )
    number = arguments[0] if is_decimal else arguments[0].cast("double")
    if len(arguments) == 1:
        return round_constant(number, 0)
    scale = call.arguments[1]
    if isinstance(scale, Constant):
        return round_constant(number, scale.value) if isinstance(scale.value, int) else null_of(call.type)
    return round_by_column(number, arguments[1])


def _round_decimal(number: Column, scale: int) -> Column:
    """Round a decimal to `scale` decimal places (negative: before the point); NULL if too large for Spark."""
    if scale >= SCALE:
        return number
    if scale < SCALE - PRECISION:
        return F.when(number.isNotNull(), F.lit(0).cast(DECIMAL))
    return F.round(number, scale).try_cast(DECIMAL)


def _round_decimal_by_column(number: Column, scale: Column) -> Column:
    """Round a decimal to a number of places that varies by row; Spark's own ROUND takes only a constant."""
    lowest, highest = SCALE - PRECISION - 1, SCALE

    def chosen(value: Column, count: Column) -> Column:
        """Build a CASE that rounds a decimal to `count` decimal places, with a branch for each possible `count`."""
        cases = F.when(count == lowest, _round_decimal(value, lowest))
        for candidate in range(lowest + 1, highest + 1):
            cases = cases.when(count == candidate, _round_decimal(value, candidate))
        return cases

    return let_interpreted([number, clamp(scale, lowest, highest)], chosen)


def _round_float(number: Column, scale: int) -> Column:
    """Round a float to `scale` decimal places (negative: before the point), halves away from zero."""
    if scale > 330:
        return number
    if scale < -310:
        return F.when(number.isNotNull(), F.lit(0.0))
    if scale >= 0:
        return finite_or_null(F.round(number, scale))
    return _round_float_by_column(number, F.lit(scale))


def _round_float_by_column(number: Column, scale: Column) -> Column:
    """Round a float to a number of places that varies by row, by integer arithmetic on its digits."""
    return finite_or_null(let_interpreted([number, clamp(scale, -1000, 1000)], _round_signed))


def _round_signed(number: Column, scale: Column) -> Column:
    """Round a float to `scale` places by rounding its absolute value, so that halves go away from zero."""
    size = F.abs(number)
    text = F.when(size < LIMIT, printed_digits(size)).otherwise(size.cast("string"))
    return let([_round_digits(size, text, scale)], lambda rounded: F.when(number < 0, -rounded).otherwise(rounded))


def _round_digits(size: Column, text: Column, scale: Column) -> Column:
    """Round a nonnegative float (`size`, whose shortest digits are `text`) to `scale` decimal places."""
    mantissa, exponent_text = F.regexp_extract(text, r"\A([^Ee]*)", 1), F.regexp_extract(text, r"[Ee]\+?(.*)\z", 1)
    decimals = F.length(F.regexp_extract(mantissa, r"\.(.*)\z", 1))
    count = F.replace(mantissa, F.lit("."), F.lit("")).cast("bigint")
    exponent = F.coalesce(exponent_text.try_cast("int"), F.lit(0)) - decimals
    return let([size, count, -scale - exponent, scale], _drop_digits)


def _drop_digits(size: Column, count: Column, dropped: Column, scale: Column) -> Column:
    """Round a float `size`, whose digits are the integer `count`, to `scale` places by dropping `dropped` digits.

    `size` is `count` units of its last digit; `dropped` is the number of digits to drop.
    """
    unit = F.rpad(F.lit("1"), clamp(dropped, 1, 18) + 1, F.lit("0")).cast("bigint")
    half = F.call_function("div", unit, F.lit(2).cast("bigint"))
    quotient = let([unit, half], lambda whole_unit, half_unit: F.call_function("div", count + half_unit, whole_unit))
    rounded = F.concat(quotient.cast("string"), F.lit("E"), (-scale).cast("string")).cast("double")
    return F.when(dropped <= 0, size).when(dropped > 18, F.lit(0.0)).when(dropped > 0, rounded)


def clamp(number: Column, low: int, high: int) -> Column:
    """Clamp an integer to the range from `low` to `high`; NULL stays NULL, unlike with GREATEST and LEAST."""
    return F.when(number < low, F.lit(low)).when(number > high, F.lit(high)).otherwise(number).cast("int")
