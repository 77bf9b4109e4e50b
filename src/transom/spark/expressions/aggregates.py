"""Aggregates in three steps (partial, merge, final) whose results do not depend on how the rows are partitioned.

An integer is summed as its upper and its lower 32 bits, which no number of rows makes overflow. A float is summed as
the decimal number that it prints as. In practice nearly every float is an integral number of millionths with at most 15
digits. Then the nearest integral number of millionths, divided by a million, gives the same float. This test is a
proof, because no two decimals of 15 digits are the same float, and the printed one is the shortest. Such floats are
summed as integers. The others are summed as decimals, by size: each size has its own number of decimal places, and
room for ten thousand million rows.
"""

from __future__ import annotations

from functools import reduce
from operator import add, and_
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import Aggregate, AggregateFunction
from transom.errors import PlanError
from transom.model.types import Type
from transom.spark.expressions.floats import UNEVEN
from transom.spark.expressions.types import DECIMAL, finite_or_null, let, let_interpreted

RANGE_ERROR = "TRANSOM_FLOAT_SUM_RANGE"
"""The prefix of the error message for a float outside the range of exact sums."""

_SIZES = {
    "low": (1e-21, 1e-10, "decimal(38,38)"),
    "mid": (1e-10, 1e2, "decimal(28,26)"),
    "high": (1e2, 1e14, "decimal(28,14)"),
    "top": (1e14, 1e25, "decimal(28,3)"),
}
"""Size classes of floats: lower and upper bound, and a decimal type that holds all 17 digits."""

_GROUP, _WHOLE_GROUPS, _PLACE_GROUPS = 18, 3, 7
"""Long division of a mean: digits per group, groups before the point, groups after it."""

_UNIT = "decimal(1,0)"
_NEAR = "decimal(28,26)"


def _parts(aggregate: Aggregate, inexact_sums: bool) -> tuple[str, ...]:
    """Return the suffixes, such as `hi`, of an aggregate's partial columns; a float sum has one if `inexact_sums`.

    With `inexact_sums`, a sum of floats has a single column.
    """
    match aggregate.function:
        case AggregateFunction.COUNT:
            return ("n",)
        case AggregateFunction.MIN:
            return ("min",)
        case AggregateFunction.MAX:
            return ("max",)
        case AggregateFunction.SUM:
            return _sum_parts(aggregate, inexact_sums)
        case AggregateFunction.AVG:
            return (*_sum_parts(aggregate, inexact_sums), "n")
        case AggregateFunction.SAMPLE | AggregateFunction.GROUP_CONCAT:
            raise PlanError(f"{aggregate.function.value} is an aggregate of terms")
        case _:
            assert_never(aggregate.function)


def _sum_parts(aggregate: Aggregate, inexact_sums: bool) -> tuple[str, ...]:
    """Return the suffixes, such as `hi`, of a SUM's partial columns; float sums have one if `inexact_sums`.

    With `inexact_sums`, a sum of floats has a single column.
    """
    match _argument_type(aggregate):
        case Type.FLOAT:
            return ("sum",) if inexact_sums else ("hi", "lo", *_SIZES)
        case Type.DECIMAL:
            return ("whole", "rest")
        case _:
            return ("hi", "lo")


def _argument_type(aggregate: Aggregate) -> Type:
    """The type of an aggregate's argument; INTEGER for COUNT(*)."""
    return aggregate.argument.type if aggregate.argument is not None else Type.INTEGER


def partial(
    aggregate: Aggregate, argument: Column | None, name: str, present: Column | None, inexact_sums: bool
) -> list[Column]:
    """Compute an aggregate's partial results `{name}_{part}`; `argument` None: COUNT(*); `present`: rows (None: all).

    Only rows in which `present` is true count; None means all rows. With `inexact_sums`, float sums vary with row
    order.

    The argument is used several times, so it should be a plain column.
    """
    value = F.lit(1) if argument is None else argument
    if present is not None:
        value = F.when(present, value)
    return [
        _partial_over_rows(part, value, _argument_type(aggregate)).alias(f"{name}_{part}")
        for part in _parts(aggregate, inexact_sums)
    ]


def merge(aggregate: Aggregate, name: str, inexact_sums: bool) -> list[Column]:
    """Merge columns `{name}_{part}` of panes' partial results; `inexact_sums`: float sums may depend on row order.

    With `inexact_sums`, float sums vary with row order.
    """
    columns = []
    for part in _parts(aggregate, inexact_sums):
        column = F.col(f"{name}_{part}")
        match part:
            case "min":
                result = F.min(column)
            case "max":
                result = F.max(column)
            case "n":
                result = F.coalesce(F.sum(column), F.lit(0).cast("bigint"))
            case _:
                result = F.sum(column)
        columns.append(result.alias(f"{name}_{part}"))
    return columns


def final(aggregate: Aggregate, name: str, inexact_sums: bool) -> Column:
    """Compute an aggregate's value from partial results `{name}_{part}`; `inexact_sums`: floats were added as floats.

    With `inexact_sums`, sums of floats are inexact.
    """
    columns = [F.col(f"{name}_{part}") for part in _parts(aggregate, inexact_sums)]
    if aggregate.function is AggregateFunction.SUM:
        match _argument_type(aggregate):
            case Type.FLOAT:
                return finite_or_null(columns[0]) if inexact_sums else _float_total(*columns)
            case Type.DECIMAL:
                return _decimal_total(*columns).try_cast(DECIMAL)
            case _:
                return _whole_total(*columns).try_cast("bigint")
    if aggregate.function is AggregateFunction.AVG:
        *sums, count = columns
        match _argument_type(aggregate):
            case Type.FLOAT:
                return finite_or_null(F.try_divide(sums[0], count)) if inexact_sums else _float_mean(count, *sums)
            case Type.DECIMAL:
                return _quotient(_decimal_total(*sums), count)
            case _:
                return _whole_mean(count, *sums)
    return columns[0]


def _partial_over_rows(part: str, value: Column, kind: Type) -> Column:
    """Return the Spark aggregation over `value` for one partial result (`part`), such as n (count), min or sum."""
    match part, kind:
        case "n", _:
            return F.count(value)
        case "min", _:
            return F.min(value)
        case "max", _:
            return F.max(value)
        case "sum", _:
            return F.sum(value)
        case (("hi" | "lo"), _):
            number = _millionths(value) if kind is Type.FLOAT else value.cast("bigint")
            return F.sum(F.shiftright(number, 32) if part == "hi" else number.bitwiseAND(F.lit(0xFFFFFFFF)))
        case _, Type.DECIMAL:
            return F.sum(
                F.floor(value).cast("decimal(21,0)") if part == "whole" else _fraction(value, "decimal(18,18)")
            )
        case _:
            return F.sum(F.when(_millionths(value).isNull(), _printed_decimal(part, value)))


def _millionths(number: Column) -> Column:
    """Convert a float to a 64-bit number of millionths, for exact sums; NULL if that would change its value."""
    millionths, thousandths = F.rint(number * F.lit(1e6)), F.rint(number * F.lit(1e3))
    return F.when((F.abs(millionths) < 1e15) & (millionths / F.lit(1e6) == number), millionths.cast("bigint")).when(
        (F.abs(thousandths) < 1e15) & (thousandths / F.lit(1e3) == number), thousandths.cast("bigint") * F.lit(1000)
    )


def _printed_decimal(part: str, number: Column) -> Column:
    """Convert a float in the size range named `part` to the decimal that it prints as; NULL for other floats.

    For the class `low`, the query fails if the float is in no size class.

    Spark compiles this into the loop over the rows, so it must be short.
    """
    least, limit, kind = _SIZES[part]
    size = F.abs(number)
    printed = _large_decimal(number, kind) if part == "top" else number.try_cast(kind)
    for value, spelling in UNEVEN:
        if least <= value < limit and part != "top":
            exact = F.lit(spelling).cast(kind)
            printed = F.when(number == value, exact).when(number == -value, -exact).otherwise(printed)
    within = F.when((size >= least) & (size < limit), printed)
    if part != "low":
        return within
    message = F.concat(
        F.lit(f"{RANGE_ERROR}: exact sums do not take "),
        number.cast("string"),
        F.lit(f", only 0 and sizes from {least} to {_SIZES['top'][1]}; use approximate_sums"),
    )
    return F.when((size < least) | (size >= _SIZES["top"][1]), F.raise_error(message).cast(kind)).otherwise(within)


def _large_decimal(number: Column, decimal_type: str) -> Column:
    """Convert a float from 1e14 on to the SQL type `decimal_type`, with 15 digits if these give the same float."""
    unit = F.pow(F.lit(10.0), F.floor(F.log10(F.abs(number))) - F.lit(14))
    count = F.rint(number / unit)
    is_exact = (F.abs(count) < 1e15) & (count * unit == number)
    short_decimal = count.cast("decimal(15,0)") * unit.cast("decimal(12,0)")
    return F.when(is_exact, short_decimal.cast(decimal_type)).otherwise(number.try_cast(decimal_type))


def _fraction(number: Column, decimal_type: str) -> Column:
    """Return the difference of a decimal and its floor, at least 0 and below 1, as the SQL type `decimal_type`."""
    return F.pmod(number, F.lit(1).cast(_UNIT)).cast(decimal_type)


def _whole_total(hi: Column, lo: Column) -> Column:
    """The exact sum of integers as a decimal, from the sums of their upper (`hi`) and lower (`lo`) 32 bits."""
    return hi.cast("decimal(19,0)") * F.lit(2**32).cast("decimal(10,0)") + lo.cast("decimal(19,0)")


def _decimal_total(integer_sum: Column, fraction_sum: Column) -> Column:
    """The exact sum of decimals as text, from the sum of their floors and the sum of their fractions."""
    return F.when(
        integer_sum.isNotNull(),
        let_interpreted([integer_sum, fraction_sum, F.lit(0).cast("decimal(38,38)")], _sum_text),
    )


def _whole_mean(count: Column, hi: Column, lo: Column) -> Column:
    """The mean of integers as a float, rounded only once, from the sums of their upper and lower 32 bits."""
    exact = _whole_total(hi, lo).cast("string")
    return F.when(_fits_float(hi, lo), F.try_divide(_float_of_total(hi, lo), count.cast("double"))).otherwise(
        _quotient(exact, count)
    )


def _float_mean(count: Column, hi: Column, lo: Column, *printed: Column) -> Column:
    """The mean of floats, rounded once, from count, sums of millionths (`hi`, `lo`) and decimals (`printed`).

    `hi` and `lo` are the sums of the upper and lower 32 bits of millionths; `printed` are the decimal sums by size
    class.
    """
    only_millionths = reduce(and_, [part.isNull() for part in printed])
    exact = let_interpreted([_whole_total(hi, lo), *printed], _float_text)
    return F.when(
        only_millionths & _fits_float(hi, lo) & (count < F.lit(2**33)),
        F.try_divide(_float_of_total(hi, lo), count.cast("double") * F.lit(1e6)),
    ).otherwise(_quotient(exact, count))


def _fits_float(hi: Column, lo: Column) -> Column:
    """Whether a sum of integers is exact as a float; `hi` and `lo` are the sums of their upper and lower 32 bits."""
    return hi.between(-(2**20), 2**20 - 1) & (lo < 2**52)


def _float_of_total(hi: Column, lo: Column) -> Column:
    """Convert a small sum of integers to a float; `hi` and `lo` are the sums of their upper and lower 32 bits."""
    return (F.shiftleft(hi, 32) + lo).cast("double")


def _quotient(total: Column, count: Column) -> Column:
    """Divide a sum, as decimal text, by a count, and round the float only once; NULL without a sum or for count 0.

    Long division by groups of digits, with one more digit that marks a remainder. A sum has at most 38 decimal places.
    So a quotient that is not half-way between two floats differs from half-way before the last computed place.
    """
    return F.when(
        total.isNotNull() & (count > 0), let_interpreted([total, count.cast("decimal(19,0)")], _long_division)
    )


def _long_division(total: Column, count: Column) -> Column:
    """Divide a decimal, as text, by a count with long division in groups of digits, and round the float only once."""
    digits = F.ltrim(total, F.lit("-"))
    integer_digits = F.lpad(F.substring_index(digits, ".", 1), _WHOLE_GROUPS * _GROUP, "0")
    decimal_digits = F.when(F.contains(digits, F.lit(".")), F.substring_index(digits, ".", -1)).otherwise(F.lit(""))
    text = F.concat(integer_digits, F.rpad(decimal_digits, _PLACE_GROUPS * _GROUP, "0"))
    groups = [
        F.substring(text, start * _GROUP + 1, _GROUP).cast("decimal(18,0)")
        for start in range(_WHOLE_GROUPS + _PLACE_GROUPS)
    ]
    zero, scale = F.lit(0).cast("decimal(19,0)"), F.lit(10**_GROUP).cast("decimal(19,0)")
    initial = F.struct(F.lit("").alias("digits"), zero.alias("left"))

    def step(state: Column, group: Column) -> Column:
        """Return the next state (remainder `left`, digits so far) after dividing one more group of digits."""
        return let([(state["left"] * scale).cast("decimal(37,0)") + group, state["digits"]], divide)

    def divide(part: Column, earlier_digits: Column) -> Column:
        """Divide `part` by the count; return the new state, with the quotient added to `earlier_digits`."""
        return let([part, F.call_function("div", part, count), earlier_digits], appended)

    def appended(part: Column, quotient: Column, earlier_digits: Column) -> Column:
        """Return the next division state: `earlier_digits` with `quotient` appended, and the remainder of `part`."""
        left = part - quotient.cast("decimal(18,0)") * count
        digits_so_far = F.concat(earlier_digits, F.lpad(quotient.cast("string"), _GROUP, "0"))
        return F.struct(digits_so_far.alias("digits"), left.cast("decimal(19,0)").alias("left"))

    def finish(state: Column) -> Column:
        """Build the quotient as a float from the final state (remainder `left`, `digits`) and the sum's sign."""
        remainder = F.when(state["left"] > 0, F.lit("1")).otherwise(F.lit(""))
        exponent = F.lit(f"E-{_PLACE_GROUPS * _GROUP}")
        magnitude = F.concat(state["digits"], F.lit("."), remainder, F.lit("0"), exponent).cast("double")
        return F.when(total.startswith("-"), -magnitude).otherwise(magnitude) + F.lit(0.0)

    return F.aggregate(F.array(*groups), initial, step, finish)


def _float_total(hi: Column, lo: Column, *printed: Column) -> Column:
    """Return a float total from the sums of millionths (upper bits `hi`, 32 lower `lo`) and decimals `printed`.

    `hi` and `lo` are the sums of the upper and lower 32 bits of millionths; `printed` are the decimal sums by size
    class.
    """
    millionths = _whole_total(hi, lo)
    only_millionths = reduce(and_, [part.isNull() for part in printed])
    return (
        F.when(only_millionths & _fits_float(hi, lo), _float_of_total(hi, lo) / F.lit(1e6))
        .when(only_millionths, F.concat(millionths.cast("string"), F.lit("E-6")).cast("double"))
        .otherwise(let_interpreted([millionths, *printed], _float_text).cast("double"))
    )


def _float_text(millionths: Column, low: Column, mid: Column, high: Column, top: Column) -> Column:
    """The exact sum of floats as text, from the sum of millionths and the decimal sums of four size ranges."""
    zero = F.lit(0).cast(_UNIT)
    count = F.coalesce(millionths, zero).cast("decimal(31,0)")
    remainder = F.pmod(count, F.lit(10**6).cast("decimal(7,0)"))
    integers = [F.concat((count - remainder).cast("string"), F.lit("E-6")).cast("decimal(31,0)")]
    fractions = [F.concat(remainder.cast("string"), F.lit("E-6")).cast(_NEAR)]
    for part in (mid, high, top):
        integers.append(F.coalesce(F.floor(part), zero))
        fractions.append(F.coalesce(_fraction(part, _NEAR), zero.cast(_NEAR)))
    low_part = F.coalesce(low, zero.cast("decimal(38,38)"))
    return let(
        [reduce(add, integers).cast("decimal(38,0)"), reduce(add, fractions).cast("decimal(34,26)"), low_part],
        _sum_text,
    )


def _sum_text(integer: Column, near: Column, low: Column) -> Column:
    """Return the exact sum as decimal text of an integer and decimals with 26 (`near`) and 38 places (`low`)."""
    digits = F.substring_index(low.try_cast("string"), ".", -1)
    upper, lower = F.substring(digits, 1, 26).cast("decimal(27,0)"), F.substring(digits, 27, 12).cast("bigint")
    borrowed = (low < 0) & (lower > 0)
    unit = F.lit(1).cast(_UNIT)
    signed = F.when(borrowed, -upper - unit).when(low < 0, -upper).otherwise(upper)
    upper_part = F.concat(signed.cast("string"), F.lit("E-26")).cast("decimal(28,26)")
    total = (near.cast("decimal(36,26)") + upper_part).cast("decimal(37,26)")
    low_digits = F.when(borrowed, F.lit(10**12) - lower).otherwise(lower)
    return let([integer, total, low_digits], _carry_over)


def _carry_over(integer: Column, near: Column, low_digits: Column) -> Column:
    """Add `near` (26 decimal places) to `integer`; return decimal text with `low_digits` (places 27 to 38).

    `low_digits` are the decimal places 27 to 38 of the sum.
    """
    return let([(integer + F.floor(near)).cast("decimal(38,0)"), _fraction(near, _NEAR), low_digits], _signed_text)


def _signed_text(integer: Column, near: Column, low_digits: Column) -> Column:
    """Write `integer` + fraction (>= 0) as decimal text; `near` has 26 places of it, the integer `low_digits` 12 more.

    The first 26 places of the fraction are in `near`, 12 more in `low_digits`.
    """
    unit = F.lit(1).cast(_UNIT)
    added = near + F.when(low_digits > 0, F.lit("1E-26").cast(_NEAR)).otherwise(F.lit(0).cast(_NEAR))
    negated_low = F.when(low_digits > 0, F.lit(10**12) - low_digits).otherwise(low_digits)
    negated_near = F.when(added > 0, unit - added).otherwise(added)
    negated_integer = F.when(added > 0, -integer - unit).otherwise(-integer)
    return F.when(integer >= 0, _unsigned_text(integer, near, low_digits)).otherwise(
        F.concat(F.lit("-"), _unsigned_text(negated_integer, negated_near, negated_low))
    )


def _unsigned_text(integer: Column, near: Column, low_digits: Column) -> Column:
    """Write a number as text: `integer`, a point, the first 26 decimals from `near`, 12 more from `low_digits`.

    The first 26 places of the fraction are in `near`, 12 more in `low_digits`.
    """
    digits = F.substring(near.cast(_NEAR).try_cast("string"), 3, 26)
    return F.concat(
        integer.cast("decimal(38,0)").cast("string"), F.lit("."), digits, F.lpad(low_digits.cast("string"), 12, "0")
    )
