"""Arithmetic of SPARQL 1.1 on Spark, with its promotion of types: exact on integers and decimals; NULL is an error."""

from __future__ import annotations

import math
from collections.abc import Callable

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.rdf.values import DIGITS, PLACES, Kind
from transom.spark.term_values import EXACT, UNIT, Class, exact, known, packed
from transom.spark.types import aside, let

_HALF = 10 ** (DIGITS // 2)
_STEP = 6
"""A quotient is found so many places at a time."""

_WHOLE_FROM = 2.0**53
"""From here on every float is a whole number."""

Operation = Callable[[Column, Column], Column]


def _is(value: Column, kind: Kind) -> Column:
    return value["k"] == F.lit(int(kind))


def is_exact(value: Column) -> Column:
    """Whether a number is an integer or a decimal."""
    return value["k"] <= F.lit(int(Kind.DECIMAL))


def double(value: Column) -> Column:
    """A number as the nearest float of 64 bits."""
    point = F.concat(value["n"].cast("string"), F.lit(f"E-{PLACES}")).try_cast("double")
    return (
        F.when(_is(value, Kind.INTEGER), value["n"].cast("double"))
        .when(_is(value, Kind.DECIMAL), point)
        .otherwise(value["f"])
    )


def floating(value: Column, kind: Column) -> Column:
    """A number as a float of a kind."""
    return F.when(kind == int(Kind.FLOAT), double(value).cast("float").cast("double")).otherwise(double(value))


def scaled(value: Column) -> Column:
    """An exact number times 10^18; NULL beyond 38 digits."""
    return F.when(_is(value, Kind.INTEGER), F.try_multiply(value["n"], exact(UNIT))).otherwise(value["n"])


def kind_of(left: Column, right: Column) -> Column:
    """The kind that two numbers become; NULL where one of them is none."""
    return F.when(left["k"].isNotNull() & right["k"].isNotNull(), F.greatest(left["k"], right["k"]))


def _arithmetic(whole: Operation, point: Operation, floats: Operation) -> Operation:
    """An operation by the kind that its operands become."""

    def applied(left: Column, right: Column) -> Column:
        def by_kind(kind: Column) -> Column:
            found = let([floating(left, kind), floating(right, kind)], floats)
            return (
                F.when(kind == int(Kind.INTEGER), whole(left, right))
                .when(kind == int(Kind.DECIMAL), point(left, right))
                .when(
                    kind == int(Kind.FLOAT),
                    packed(Class.NUMBER, k=int(Kind.FLOAT), f=found.cast("float").cast("double")),
                )
                .when(kind == int(Kind.DOUBLE), packed(Class.NUMBER, k=int(Kind.DOUBLE), f=found))
            )

        return let([kind_of(left, right)], by_kind)

    return applied


def _known(kind: Kind, found: Column) -> Column:
    return let([found.try_cast(EXACT)], lambda own: known(kind, own))


def _summed(operation: Callable[[Column, Column], Column]) -> tuple[Operation, Operation]:
    return (
        lambda left, right: _known(Kind.INTEGER, operation(left["n"], right["n"])),
        lambda left, right: _known(Kind.DECIMAL, operation(scaled(left), scaled(right))),
    )


def _product(left: Column, right: Column) -> Column:
    """The product of two decimals, cut behind the 18th place: from halves, whose products Spark has exactly."""
    halves = exact(_HALF)

    def cut(value: Column) -> list[Column]:
        size = F.abs(value["n"])
        low = F.try_mod(size, halves)
        return [_quotient(size - low, halves).cast("decimal(19,0)"), low.cast("decimal(19,0)")]

    def joined(left_high: Column, left_low: Column, right_high: Column, right_low: Column) -> Column:
        cross = F.try_add(_wide(left_high * right_low), _wide(left_low * right_high))
        lowest = _wide(left_low * right_low)
        rest = _quotient(lowest - F.try_mod(lowest, exact(UNIT)), exact(UNIT))
        highest = F.try_multiply(_wide(left_high * right_high), exact(_HALF * _HALF // UNIT))
        return F.try_add(F.try_add(highest, _wide(F.try_multiply(cross, exact(10)))), rest)

    negative = (left["n"] < F.lit(0)) != (right["n"] < F.lit(0))
    size = let([*cut(left), *cut(right)], joined)
    return let([size], lambda own: F.when(negative, -own).otherwise(own))


def _wide(number: Column) -> Column:
    return number.try_cast(EXACT)


def _times(left: Column, right: Column) -> Column:
    """A product that is a decimal; that of an integer and a decimal has the places of the decimal."""
    simple = F.try_multiply(left["n"], right["n"])
    both = _is(left, Kind.DECIMAL) & _is(right, Kind.DECIMAL)
    return _known(Kind.DECIMAL, F.when(both, aside([left, right], _product)).otherwise(simple))


def _quotient(number: Column, divisor: Column) -> Column:
    """A quotient that is known to be whole, and below 10^32."""
    return F.try_divide(number, divisor).try_cast(EXACT)


def _divided(left: Column, right: Column) -> Column:
    """A quotient of exact numbers as a decimal, cut behind the 18th place; NULL where the divisor is 0."""

    def by_size(above: Column, below: Column) -> Column:
        # an integer beyond 10^20 has no room for places; it keeps its own, and the quotient gets as many as it lacks
        plain = above.isNotNull() & below.isNotNull()
        over = F.when(plain, above).otherwise(left["n"])
        under = F.when(plain, below).otherwise(right["n"])
        places = F.when(plain | (left["k"] == right["k"]), F.lit(PLACES)).otherwise(
            F.when(_is(left, Kind.DECIMAL), F.lit(0)).otherwise(F.lit(2 * PLACES))
        )
        negative = (over < F.lit(0)) != (under < F.lit(0))
        size = let([F.abs(over), F.abs(under), places], _long_division)
        return let([size], lambda own: F.when(negative, -own).otherwise(own))

    both_whole = _is(left, Kind.INTEGER) & _is(right, Kind.INTEGER)
    above = F.when(both_whole, left["n"]).otherwise(scaled(left))
    below = F.when(both_whole, right["n"]).otherwise(scaled(right))
    return _known(Kind.DECIMAL, F.when(right["n"] != F.lit(0), let([above, below], by_size)))


def _long_division(over: Column, under: Column, places: Column) -> Column:
    """The quotient of two numbers that are not negative, with places, as a whole number of the last place."""
    shift = exact(10**_STEP)

    def digits(quotient: Column, rest: Column) -> Column:
        def more(last: Column) -> Column:
            return _state(F.try_add(_wide(F.try_multiply(quotient, shift)), _quotient(rest - last, under)), last)

        return let([_wide(F.try_mod(rest, under))], more)

    def step(state: Column, _: Column) -> Column:
        return let([state["q"], _wide(F.try_multiply(state["r"], shift))], digits)

    rest = _wide(F.try_mod(over, under))
    start = let([rest], lambda own: _state(_quotient(over - own, under), own))
    steps = F.sequence(F.lit(1), F.call_function("div", places, F.lit(_STEP).cast("bigint")))
    run = F.when(places > 0, steps).otherwise(F.array().cast("array<bigint>"))
    return F.aggregate(run, start, step, lambda state: state["q"])


def _state(quotient: Column, rest: Column) -> Column:
    return F.struct(_wide(quotient).alias("q"), _wide(rest).alias("r"))


def _float_quotient(left: Column, right: Column) -> Column:
    minus = F.startswith(left.cast("string"), F.lit("-")) != F.startswith(right.cast("string"), F.lit("-"))
    endless = F.when(minus, F.lit(-math.inf)).otherwise(F.lit(math.inf))
    by_zero = F.when((left == 0) | F.isnan(left), F.lit(math.nan)).otherwise(endless)
    return F.when(right == 0, by_zero).otherwise(F.try_divide(left, right))


add = _arithmetic(*_summed(F.try_add), lambda left, right: left + right)
subtract = _arithmetic(*_summed(F.try_subtract), lambda left, right: left - right)
multiply = _arithmetic(
    lambda left, right: _known(Kind.INTEGER, F.try_multiply(left["n"], right["n"])),
    _times,
    lambda left, right: left * right,
)
divide = _arithmetic(
    lambda left, right: aside([left, right], _divided),
    lambda left, right: aside([left, right], _divided),
    _float_quotient,
)


def negated(value: Column) -> Column:
    """The number with the other sign."""
    return _with(value, F.negative(value["n"]), F.negative(value["f"]))


def absolute(value: Column) -> Column:
    """The number without its sign."""
    return _with(value, F.abs(value["n"]), F.abs(value["f"]))


def _with(value: Column, n: Column, f: Column) -> Column:
    return F.when(value["k"].isNotNull(), packed(Class.NUMBER, k=value["k"], n=n, f=f))


def floor(value: Column) -> Column:
    """The largest whole number that is not greater."""
    return _to_whole(value, lambda units: units - F.pmod(units, exact(UNIT)), lambda own: F.floor(own).cast("double"))


def ceiling(value: Column) -> Column:
    """The smallest whole number that is not less."""
    return _to_whole(
        value,
        lambda units: F.try_add(units, _wide(F.pmod(-units, exact(UNIT)))),
        lambda own: F.ceil(own).cast("double"),
    )


def rounded(value: Column) -> Column:
    """The nearest whole number; a half goes up."""

    def point(units: Column) -> Column:
        return let([_wide(F.pmod(units, exact(UNIT)))], lambda rest: _up(units, rest))

    def near(own: Column) -> Column:
        down = F.floor(own).cast("double")
        return F.when(own - down >= F.lit(0.5), down + F.lit(1.0)).otherwise(down)

    return _to_whole(value, point, near)


def _up(units: Column, rest: Column) -> Column:
    down = _wide(units - rest)
    return F.when(rest >= exact(UNIT // 2), F.try_add(down, exact(UNIT))).otherwise(down)


def _to_whole(value: Column, point: Callable[[Column], Column], floats: Callable[[Column], Column]) -> Column:
    small = F.when(F.abs(value["f"]) < F.lit(_WHOLE_FROM), value["f"])

    def by_kind(whole: Column) -> Column:
        minus = F.startswith(value["f"].cast("string"), F.lit("-"))
        signed = F.when((whole == 0) & minus, F.lit(-0.0)).otherwise(whole)
        return packed(Class.NUMBER, k=value["k"], f=F.when(whole.isNull(), value["f"]).otherwise(signed))

    return (
        F.when(_is(value, Kind.INTEGER), value)
        .when(_is(value, Kind.DECIMAL), _known(Kind.DECIMAL, point(value["n"])))
        .when(value["k"].isNotNull(), let([let([small], floats)], by_kind))
    )


def less(left: Column, right: Column) -> Column:
    """Whether the first number is less."""
    return _compared(left, right, lambda a, b: a < b, lambda a, b: (a < b) & ~F.isnan(a) & ~F.isnan(b))


def same(left: Column, right: Column) -> Column:
    """Whether two numbers are equal."""
    return _compared(left, right, lambda a, b: a == b, lambda a, b: (a == b) & ~F.isnan(a) & ~F.isnan(b))


def at_most(left: Column, right: Column) -> Column:
    """Whether the first number is less or equal."""
    return _compared(left, right, lambda a, b: a <= b, lambda a, b: (a <= b) & ~F.isnan(a) & ~F.isnan(b))


def _compared(left: Column, right: Column, whole: Operation, floats: Operation) -> Column:
    def points(above: Column, below: Column) -> Column:
        # an integer that has no room for places is farther out than any decimal
        plain = above.isNotNull() & below.isNotNull()
        return F.when(plain, whole(above, below)).otherwise(
            whole(
                F.coalesce(F.when(above.isNull(), left["n"]), exact(0)),
                F.coalesce(F.when(below.isNull(), right["n"]), exact(0)),
            )
        )

    def by_kind(kind: Column) -> Column:
        return (
            F.when(left["k"] + right["k"] == F.lit(2 * int(Kind.INTEGER)), whole(left["n"], right["n"]))
            .when(kind == int(Kind.DECIMAL), let([scaled(left), scaled(right)], points))
            .when(kind.isNotNull(), let([floating(left, kind), floating(right, kind)], floats))
        )

    return let([kind_of(left, right)], by_kind)


def is_true(value: Column) -> Column:
    """Whether a number is neither 0 nor NaN."""
    return F.when(is_exact(value), value["n"] != F.lit(0)).otherwise((value["f"] != F.lit(0.0)) & ~F.isnan(value["f"]))


def exactly(value: Column) -> Column:
    """Where a number lies among those that are the same as a float: its whole part, 18 places, and what is beyond.

    Of a float that is not whole the places are found from its 53 bits, as a whole number over a power of two.
    """

    def made(whole: Column, part: Column, beyond: Column) -> Column:
        return F.struct(_wide(whole).alias("whole"), _wide(part).alias("part"), beyond.cast("int").alias("beyond"))

    def point(units: Column) -> Column:
        return let(
            [_wide(F.pmod(units, exact(UNIT)))], lambda rest: made(_quotient_by_unit(units - rest), rest, F.lit(0))
        )

    return F.when(_is(value, Kind.INTEGER), made(value["n"], exact(0), F.lit(0))).when(
        _is(value, Kind.DECIMAL), point(value["n"])
    )


def _quotient_by_unit(units: Column) -> Column:
    return _wide(F.try_divide(units, exact(UNIT)))
