"""Aggregates in three steps, partial, merge and final, whose answers do not depend on how the rows are split.

A whole number is summed as its upper and its lower 32 bits, which no number of rows makes overflow. A float is summed
as the decimal number it prints as. Nearly every float of practice is a whole number of millionths with at most 15
digits: then the nearest whole number of millionths, divided by a million, gives the float again, and that is a proof,
because no two decimals of 15 digits are the same float and the printed one is the shortest. Such floats are summed as
whole numbers. The others are summed as decimals, by size: each size has its own number of places behind the point,
and room for ten thousand million rows.
"""

from __future__ import annotations

from functools import reduce
from operator import add, and_
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.expressions import Aggregate, AggregateFunction
from transom.errors import PlanError
from transom.model.types import Type
from transom.spark.floats import UNEVEN
from transom.spark.types import DECIMAL, aside, finite, let

RANGE_ERROR = "TRANSOM_FLOAT_SUM_RANGE"
"""How the message begins when a float is beyond what exact sums take."""

_SIZES = {
    "low": (1e-21, 1e-10, "decimal(38,38)"),
    "mid": (1e-10, 1e2, "decimal(28,26)"),
    "high": (1e2, 1e14, "decimal(28,14)"),
    "top": (1e14, 1e25, "decimal(28,3)"),
}
"""The sizes of floats, and the decimals that hold all 17 digits of these."""

_GROUP, _WHOLE_GROUPS, _PLACE_GROUPS = 18, 3, 7
"""How a mean is divided: so many digits at a time, before the point and after it."""

_UNIT = "decimal(1,0)"
_NEAR = "decimal(28,26)"


def _parts(aggregate: Aggregate, approximate: bool) -> tuple[str, ...]:
    """The columns that an aggregate keeps."""
    match aggregate.function:
        case AggregateFunction.COUNT:
            return ("n",)
        case AggregateFunction.MIN:
            return ("min",)
        case AggregateFunction.MAX:
            return ("max",)
        case AggregateFunction.SUM:
            return _sums(aggregate, approximate)
        case AggregateFunction.AVG:
            return (*_sums(aggregate, approximate), "n")
        case AggregateFunction.SAMPLE | AggregateFunction.GROUP_CONCAT:
            raise PlanError(f"{aggregate.function.value} is an aggregate of terms")
        case _:
            assert_never(aggregate.function)


def _sums(aggregate: Aggregate, approximate: bool) -> tuple[str, ...]:
    match _kind(aggregate):
        case Type.FLOAT:
            return ("sum",) if approximate else ("hi", "lo", *_SIZES)
        case Type.DECIMAL:
            return ("whole", "rest")
        case _:
            return ("hi", "lo")


def _kind(aggregate: Aggregate) -> Type:
    return aggregate.argument.type if aggregate.argument is not None else Type.INTEGER


def partial(
    aggregate: Aggregate, argument: Column | None, name: str, present: Column | None, approximate: bool
) -> list[Column]:
    """The aggregate expressions over rows, called `{name}_{part}`; rows where `present` is not true do not count.

    The argument is named several times: it should be a plain column.
    """
    value = F.lit(1) if argument is None else argument
    if present is not None:
        value = F.when(present, value)
    return [
        _over_rows(part, value, _kind(aggregate)).alias(f"{name}_{part}") for part in _parts(aggregate, approximate)
    ]


def merge(aggregate: Aggregate, name: str, approximate: bool) -> list[Column]:
    """The aggregate expressions over partial columns; they give columns of the same names."""
    merged = []
    for part in _parts(aggregate, approximate):
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
        merged.append(result.alias(f"{name}_{part}"))
    return merged


def final(aggregate: Aggregate, name: str, approximate: bool) -> Column:
    """The value of the aggregate from partial or merged columns."""
    columns = [F.col(f"{name}_{part}") for part in _parts(aggregate, approximate)]
    if aggregate.function is AggregateFunction.SUM:
        match _kind(aggregate):
            case Type.FLOAT:
                return finite(columns[0]) if approximate else _float_total(*columns)
            case Type.DECIMAL:
                return _decimal_total(*columns).try_cast(DECIMAL)
            case _:
                return _whole_total(*columns).try_cast("bigint")
    if aggregate.function is AggregateFunction.AVG:
        *sums, count = columns
        match _kind(aggregate):
            case Type.FLOAT:
                return finite(F.try_divide(sums[0], count)) if approximate else _float_mean(count, *sums)
            case Type.DECIMAL:
                return _quotient(_decimal_total(*sums), count)
            case _:
                return _whole_mean(count, *sums)
    return columns[0]


def _over_rows(part: str, value: Column, kind: Type) -> Column:
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
            return F.sum(F.floor(value).cast("decimal(21,0)") if part == "whole" else _behind(value, "decimal(18,18)"))
        case _:
            return F.sum(F.when(_millionths(value).isNull(), _printed(part, value)))


def _millionths(number: Column) -> Column:
    """How many millionths a float prints as; NULL for a float with more digits."""
    fine, coarse = F.rint(number * F.lit(1e6)), F.rint(number * F.lit(1e3))
    return F.when((F.abs(fine) < 1e15) & (fine / F.lit(1e6) == number), fine.cast("bigint")).when(
        (F.abs(coarse) < 1e15) & (coarse / F.lit(1e3) == number), coarse.cast("bigint") * F.lit(1000)
    )


def _printed(part: str, number: Column) -> Column:
    """The decimal number that a float of a size prints as, NULL for one of another size.

    This is compiled into the loop over the rows, so it has to be short.
    """
    least, limit, kind = _SIZES[part]
    size = F.abs(number)
    printed = _few_digits(number, kind) if part == "top" else number.try_cast(kind)
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


def _few_digits(number: Column, kind: str) -> Column:
    """A large float as a decimal: with 15 digits if these give the float again, else as Java prints it."""
    unit = F.pow(F.lit(10.0), F.floor(F.log10(F.abs(number))) - F.lit(14))
    count = F.rint(number / unit)
    proven = (F.abs(count) < 1e15) & (count * unit == number)
    few = count.cast("decimal(15,0)") * unit.cast("decimal(12,0)")
    return F.when(proven, few.cast(kind)).otherwise(number.try_cast(kind))


def _behind(number: Column, kind: str) -> Column:
    """What a decimal has behind the point, counted up from the whole number below it."""
    return F.pmod(number, F.lit(1).cast(_UNIT)).cast(kind)


def _whole_total(hi: Column, lo: Column) -> Column:
    """The sum of whole numbers, as a decimal without places."""
    return hi.cast("decimal(19,0)") * F.lit(2**32).cast("decimal(10,0)") + lo.cast("decimal(19,0)")


def _decimal_total(whole: Column, rest: Column) -> Column:
    """The sum of decimals, as text."""
    return F.when(whole.isNotNull(), aside([whole, rest, F.lit(0).cast("decimal(38,38)")], _gathered))


def _whole_mean(count: Column, hi: Column, lo: Column) -> Column:
    """The mean of whole numbers, rounded once: floats hold a small sum and the count exactly."""
    exact = _whole_total(hi, lo).cast("string")
    return F.when(_small(hi, lo), F.try_divide(_small_total(hi, lo), count.cast("double"))).otherwise(
        _quotient(exact, count)
    )


def _float_mean(count: Column, hi: Column, lo: Column, *printed: Column) -> Column:
    """The mean of floats, rounded once: for few digits, one division of two numbers that floats hold exactly."""
    alone = reduce(and_, [part.isNull() for part in printed])
    exact = aside([_whole_total(hi, lo), *printed], _float_text)
    return F.when(
        alone & _small(hi, lo) & (count < F.lit(2**33)),
        F.try_divide(_small_total(hi, lo), count.cast("double") * F.lit(1e6)),
    ).otherwise(_quotient(exact, count))


def _small(hi: Column, lo: Column) -> Column:
    """Whether a float holds the sum of whole numbers exactly."""
    return hi.between(-(2**20), 2**20 - 1) & (lo < 2**52)


def _small_total(hi: Column, lo: Column) -> Column:
    return (F.shiftleft(hi, 32) + lo).cast("double")


def _quotient(total: Column, count: Column) -> Column:
    """A sum, written as text, divided by a count and rounded once; NULL without a sum.

    Long division by groups of digits, and one digit more that says whether there is a remainder. A sum has at most 38
    places after the point. So a quotient that is not half-way between two floats differs from half-way before the
    last place that is computed.
    """
    return F.when(total.isNotNull() & (count > 0), aside([total, count.cast("decimal(19,0)")], _divided))


def _divided(total: Column, count: Column) -> Column:
    digits = F.ltrim(total, F.lit("-"))
    whole = F.lpad(F.substring_index(digits, ".", 1), _WHOLE_GROUPS * _GROUP, "0")
    places = F.when(F.contains(digits, F.lit(".")), F.substring_index(digits, ".", -1)).otherwise(F.lit(""))
    text = F.concat(whole, F.rpad(places, _PLACE_GROUPS * _GROUP, "0"))
    groups = [
        F.substring(text, start * _GROUP + 1, _GROUP).cast("decimal(18,0)")
        for start in range(_WHOLE_GROUPS + _PLACE_GROUPS)
    ]
    zero, scale = F.lit(0).cast("decimal(19,0)"), F.lit(10**_GROUP).cast("decimal(19,0)")
    begin = F.struct(F.lit("").alias("digits"), zero.alias("left"))

    def step(done: Column, group: Column) -> Column:
        return let([(done["left"] * scale).cast("decimal(37,0)") + group, done["digits"]], divide)

    def divide(part: Column, before: Column) -> Column:
        return let([part, F.call_function("div", part, count), before], joined)

    def joined(part: Column, found: Column, before: Column) -> Column:
        left = part - found.cast("decimal(18,0)") * count
        written = F.concat(before, F.lpad(found.cast("string"), _GROUP, "0"))
        return F.struct(written.alias("digits"), left.cast("decimal(19,0)").alias("left"))

    def finish(done: Column) -> Column:
        remainder = F.when(done["left"] > 0, F.lit("1")).otherwise(F.lit(""))
        exponent = F.lit(f"E-{_PLACE_GROUPS * _GROUP}")
        more = F.concat(done["digits"], F.lit("."), remainder, F.lit("0"), exponent).cast("double")
        return F.when(total.startswith("-"), -more).otherwise(more) + F.lit(0.0)

    return F.aggregate(F.array(*groups), begin, step, finish)


def _float_total(hi: Column, lo: Column, *printed: Column) -> Column:
    """The sum of floats, rounded once."""
    millionths = _whole_total(hi, lo)
    alone = reduce(and_, [part.isNull() for part in printed])
    return (
        F.when(alone & _small(hi, lo), _small_total(hi, lo) / F.lit(1e6))
        .when(alone, F.concat(millionths.cast("string"), F.lit("E-6")).cast("double"))
        .otherwise(aside([millionths, *printed], _float_text).cast("double"))
    )


def _float_text(millionths: Column, low: Column, mid: Column, high: Column, top: Column) -> Column:
    """The parts of a sum of floats as the text of one decimal number: first the whole numbers, then what is behind."""
    zero = F.lit(0).cast(_UNIT)
    count = F.coalesce(millionths, zero).cast("decimal(31,0)")
    rest = F.pmod(count, F.lit(10**6).cast("decimal(7,0)"))
    wholes = [F.concat((count - rest).cast("string"), F.lit("E-6")).cast("decimal(31,0)")]
    behind = [F.concat(rest.cast("string"), F.lit("E-6")).cast(_NEAR)]
    for part in (mid, high, top):
        wholes.append(F.coalesce(F.floor(part), zero))
        behind.append(F.coalesce(_behind(part, _NEAR), zero.cast(_NEAR)))
    far = F.coalesce(low, zero.cast("decimal(38,38)"))
    return let([reduce(add, wholes).cast("decimal(38,0)"), reduce(add, behind).cast("decimal(34,26)"), far], _gathered)


def _gathered(whole: Column, near: Column, low: Column) -> Column:
    """A whole number, a decimal of 26 places and one of 38, added up as text."""
    places = F.substring_index(low.try_cast("string"), ".", -1)
    upper, lower = F.substring(places, 1, 26).cast("decimal(27,0)"), F.substring(places, 27, 12).cast("bigint")
    borrowed = (low < 0) & (lower > 0)
    one = F.lit(1).cast(_UNIT)
    signed = F.when(borrowed, -upper - one).when(low < 0, -upper).otherwise(upper)
    moved = F.concat(signed.cast("string"), F.lit("E-26")).cast("decimal(28,26)")
    total = (near.cast("decimal(36,26)") + moved).cast("decimal(37,26)")
    far = F.when(borrowed, F.lit(10**12) - lower).otherwise(lower)
    return let([whole, total, far], _carried)


def _carried(whole: Column, near: Column, far: Column) -> Column:
    return let([(whole + F.floor(near)).cast("decimal(38,0)"), _behind(near, _NEAR), far], _spelled)


def _spelled(whole: Column, near: Column, far: Column) -> Column:
    """A whole number and what is to be added to it, as text; below zero, what is to be added counts back."""
    one = F.lit(1).cast(_UNIT)
    added = near + F.when(far > 0, F.lit("1E-26").cast(_NEAR)).otherwise(F.lit(0).cast(_NEAR))
    back_far = F.when(far > 0, F.lit(10**12) - far).otherwise(far)
    back_near = F.when(added > 0, one - added).otherwise(added)
    back_whole = F.when(added > 0, -whole - one).otherwise(-whole)
    return F.when(whole >= 0, _written(whole, near, far)).otherwise(
        F.concat(F.lit("-"), _written(back_whole, back_near, back_far))
    )


def _written(whole: Column, near: Column, far: Column) -> Column:
    places = F.substring(near.cast(_NEAR).try_cast("string"), 3, 26)
    return F.concat(whole.cast("decimal(38,0)").cast("string"), F.lit("."), places, F.lpad(far.cast("string"), 12, "0"))
