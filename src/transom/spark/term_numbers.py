"""Arithmetic of SPARQL 1.1 on Spark, with its promotion of types: exact on integers and decimals; NULL is an error."""

from __future__ import annotations

import math
from collections.abc import Callable

from transom.model.rdf.values import DIGITS, PLACES, Kind
from transom.spark.sql import F, Sql, aside, let
from transom.spark.term_values import EXACT, UNIT, Class, exact, known, opposite, packed, size_of

_HALF = 10 ** (DIGITS // 2)
_STEP = 6
"""A quotient is found so many places at a time."""

_WHOLE_FROM = 2.0**53
"""From here on every float is a whole number."""

Operation = Callable[[Sql, Sql], Sql]


def _is(value: Sql, kind: Kind) -> Sql:
    return value["k"] == F.lit(int(kind))


def is_exact(value: Sql) -> Sql:
    """Whether a number is an integer or a decimal."""
    return value["k"] <= F.lit(int(Kind.DECIMAL))


def double(value: Sql) -> Sql:
    """A number as the nearest float of 64 bits."""
    point = F.concat(value["n"].cast("string"), F.lit(f"E-{PLACES}")).try_cast("double")
    return (
        F.when(_is(value, Kind.INTEGER), value["n"].cast("double"))
        .when(_is(value, Kind.DECIMAL), point)
        .otherwise(value["f"])
    )


def floating(value: Sql, kind: Sql) -> Sql:
    """A number as a float of a kind."""
    return F.when(kind == int(Kind.FLOAT), double(value).cast("float").cast("double")).otherwise(double(value))


def scaled(value: Sql) -> Sql:
    """An exact number times 10^18; NULL beyond 38 digits."""
    return F.when(_is(value, Kind.INTEGER), F.try_multiply(value["n"], exact(UNIT))).otherwise(value["n"])


def kind_of(left: Sql, right: Sql) -> Sql:
    """The kind that two numbers become; NULL where one of them is none."""
    return F.when(left["k"].isNotNull() & right["k"].isNotNull(), F.greatest(left["k"], right["k"]))


def _arithmetic(whole: Operation, point: Operation, floats: Operation) -> Operation:
    """An operation by the kind that its operands become."""

    def applied(left: Sql, right: Sql) -> Sql:
        def by_kind(kind: Sql) -> Sql:
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


def _known(kind: Kind, found: Sql) -> Sql:
    return let([found.try_cast(EXACT)], lambda own: known(kind, own))


def _summed(operation: Callable[[Sql, Sql], Sql]) -> tuple[Operation, Operation]:
    return (
        lambda left, right: _known(Kind.INTEGER, operation(left["n"], right["n"])),
        lambda left, right: _known(Kind.DECIMAL, operation(scaled(left), scaled(right))),
    )


def _product(left: Sql, right: Sql) -> Sql:
    """The product of two decimals, cut behind the 18th place: from halves, whose products Spark has exactly."""
    halves = exact(_HALF)

    def cut(value: Sql) -> list[Sql]:
        size = size_of(value["n"])
        low = F.try_mod(size, halves)
        return [_quotient(size - low, halves).cast("decimal(19,0)"), low.cast("decimal(19,0)")]

    def joined(left_high: Sql, left_low: Sql, right_high: Sql, right_low: Sql) -> Sql:
        cross = F.try_add(_wide(left_high * right_low), _wide(left_low * right_high))
        lowest = _wide(left_low * right_low)
        rest = _quotient(lowest - F.try_mod(lowest, exact(UNIT)), exact(UNIT))
        highest = F.try_multiply(_wide(left_high * right_high), exact(_HALF * _HALF // UNIT))
        return F.try_add(F.try_add(highest, _wide(F.try_multiply(cross, exact(10)))), rest)

    negative = (left["n"] < F.lit(0)) != (right["n"] < F.lit(0))
    size = let([*cut(left), *cut(right)], joined)
    return let([size], lambda own: F.when(negative, opposite(own)).otherwise(own))


def _wide(number: Sql) -> Sql:
    return number.try_cast(EXACT)


def _times(left: Sql, right: Sql) -> Sql:
    """A product that is a decimal; that of an integer and a decimal has the places of the decimal."""
    simple = F.try_multiply(left["n"], right["n"])
    both = _is(left, Kind.DECIMAL) & _is(right, Kind.DECIMAL)
    return _known(Kind.DECIMAL, F.when(both, aside([left, right], _product)).otherwise(simple))


def _quotient(number: Sql, divisor: Sql) -> Sql:
    """A quotient that is known to be whole, and below 10^32."""
    return F.try_divide(number, divisor).try_cast(EXACT)


def _divided(left: Sql, right: Sql) -> Sql:
    """A quotient of exact numbers as a decimal, cut behind the 18th place; NULL where the divisor is 0."""

    def by_size(above: Sql, below: Sql) -> Sql:
        # an integer beyond 10^20 has no room for places; it keeps its own, and the quotient gets as many as it lacks
        plain = above.isNotNull() & below.isNotNull()
        over = F.when(plain, above).otherwise(left["n"])
        under = F.when(plain, below).otherwise(right["n"])
        places = F.when(plain | (left["k"] == right["k"]), F.lit(PLACES)).otherwise(
            F.when(_is(left, Kind.DECIMAL), F.lit(0)).otherwise(F.lit(2 * PLACES))
        )
        negative = (over < F.lit(0)) != (under < F.lit(0))
        size = let([size_of(over), size_of(under), places], _long_division)
        return let([size], lambda own: F.when(negative, opposite(own)).otherwise(own))

    both_whole = _is(left, Kind.INTEGER) & _is(right, Kind.INTEGER)
    above = F.when(both_whole, left["n"]).otherwise(scaled(left))
    below = F.when(both_whole, right["n"]).otherwise(scaled(right))
    return _known(Kind.DECIMAL, F.when(right["n"] != F.lit(0), let([above, below], by_size)))


def _long_division(over: Sql, under: Sql, places: Sql) -> Sql:
    """The quotient of two numbers that are not negative, with places, as a whole number of the last place."""
    fast = _by_steps(over, under, places, _STEP, lambda state: _shifted(state, under))
    slow = _by_steps(over, under, places, 1, lambda state: _added(state, under))
    return F.when(under < exact(10 ** (DIGITS - _STEP)), fast).otherwise(slow)


def _by_steps(over: Sql, under: Sql, places: Sql, step: int, more: Callable[[Sql], Sql]) -> Sql:
    """A quotient that gets so many places in each step."""
    rest = _wide(F.try_mod(over, under))
    start = let([rest], lambda own: _state(_quotient(over - own, under), own))
    steps = F.sequence(F.lit(1), F.div(places, F.lit(step)))
    run = F.when(places > 0, steps).otherwise(F.array().cast("array<bigint>"))
    return F.aggregate(run, start, lambda state, _: more(state), lambda state: state["q"])


def _shifted(state: Sql, under: Sql) -> Sql:
    """Some more places at once: there is room for a rest with as many zeros."""
    shift = exact(10**_STEP)

    def digits(quotient: Sql, rest: Sql) -> Sql:
        def more(last: Sql) -> Sql:
            return _state(F.try_add(_wide(F.try_multiply(quotient, shift)), _quotient(rest - last, under)), last)

        return let([_wide(F.try_mod(rest, under))], more)

    return let([state["q"], _wide(F.try_multiply(state["r"], shift))], digits)


def _added(state: Sql, under: Sql) -> Sql:
    """One more place where there is no room: ten times the rest, added up modulo the divisor."""

    def once(found: Sql, rest: Sql) -> Sql:
        over = found["r"] >= under - rest
        more = _state(F.try_add(found["q"], exact(1)), found["r"] - (under - rest))
        return F.when(over, more).otherwise(_state(found["q"], F.try_add(found["r"], rest)))

    start = _state(F.try_multiply(state["q"], exact(10)), exact(0))
    ten = F.sequence(F.lit(1), F.lit(10))
    return F.aggregate(ten, start, lambda found, _: once(found, state["r"]), lambda found: found)


def _state(quotient: Sql, rest: Sql) -> Sql:
    return F.struct(_wide(quotient).alias("q"), _wide(rest).alias("r"))


def _float_quotient(left: Sql, right: Sql) -> Sql:
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


def negated(value: Sql) -> Sql:
    """The number with the other sign."""
    return _with(value, opposite(value["n"]), F.negative(value["f"]))


def absolute(value: Sql) -> Sql:
    """The number without its sign."""
    return _with(value, size_of(value["n"]), F.abs(value["f"]))


def _with(value: Sql, n: Sql, f: Sql) -> Sql:
    return F.when(value["k"].isNotNull(), packed(Class.NUMBER, k=value["k"], n=n, f=f))


def floor(value: Sql) -> Sql:
    """The largest whole number that is not greater."""
    return _to_whole(
        value,
        lambda units: F.try_subtract(units, _wide(F.pmod(units, exact(UNIT)))),
        lambda own: F.floor(own).cast("double"),
    )


def ceiling(value: Sql) -> Sql:
    """The smallest whole number that is not less."""
    return _to_whole(
        value,
        lambda units: F.try_add(units, _wide(F.pmod(opposite(units), exact(UNIT)))),
        lambda own: F.ceil(own).cast("double"),
    )


def rounded(value: Sql) -> Sql:
    """The nearest whole number; a half goes up."""

    def point(units: Sql) -> Sql:
        return let([_wide(F.pmod(units, exact(UNIT)))], lambda rest: _up(units, rest))

    def near(own: Sql) -> Sql:
        down = F.floor(own).cast("double")
        return F.when(own - down >= F.lit(0.5), down + F.lit(1.0)).otherwise(down)

    return _to_whole(value, point, near)


def _up(units: Sql, rest: Sql) -> Sql:
    up = F.try_add(units, _wide(exact(UNIT) - rest))
    return F.when(rest >= exact(UNIT // 2), up).otherwise(F.try_subtract(units, rest))


def _to_whole(value: Sql, point: Callable[[Sql], Sql], floats: Callable[[Sql], Sql]) -> Sql:
    small = F.when(F.abs(value["f"]) < F.lit(_WHOLE_FROM), value["f"])

    def by_kind(whole: Sql) -> Sql:
        minus = F.startswith(value["f"].cast("string"), F.lit("-"))
        signed = F.when((whole == 0) & minus, F.lit(-0.0)).otherwise(whole)
        return packed(Class.NUMBER, k=value["k"], f=F.when(whole.isNull(), value["f"]).otherwise(signed))

    return (
        F.when(_is(value, Kind.INTEGER), value)
        .when(_is(value, Kind.DECIMAL), _known(Kind.DECIMAL, point(value["n"])))
        .when(value["k"].isNotNull(), let([let([small], floats)], by_kind))
    )


def less(left: Sql, right: Sql) -> Sql:
    """Whether the first number is less."""
    return _compared(left, right, lambda a, b: a < b, lambda a, b: (a < b) & ~F.isnan(a) & ~F.isnan(b))


def same(left: Sql, right: Sql) -> Sql:
    """Whether two numbers are equal."""
    return _compared(left, right, lambda a, b: a == b, lambda a, b: (a == b) & ~F.isnan(a) & ~F.isnan(b))


def at_most(left: Sql, right: Sql) -> Sql:
    """Whether the first number is less or equal."""
    return _compared(left, right, lambda a, b: a <= b, lambda a, b: (a <= b) & ~F.isnan(a) & ~F.isnan(b))


def _compared(left: Sql, right: Sql, whole: Operation, floats: Operation) -> Sql:
    def points(above: Sql, below: Sql) -> Sql:
        # an integer that has no room for places is farther out than any decimal
        plain = above.isNotNull() & below.isNotNull()
        return F.when(plain, whole(above, below)).otherwise(
            whole(
                F.coalesce(F.when(above.isNull(), left["n"]), exact(0)),
                F.coalesce(F.when(below.isNull(), right["n"]), exact(0)),
            )
        )

    def by_kind(kind: Sql) -> Sql:
        return (
            F.when(left["k"] + right["k"] == F.lit(2 * int(Kind.INTEGER)), whole(left["n"], right["n"]))
            .when(kind == int(Kind.DECIMAL), let([scaled(left), scaled(right)], points))
            .when(kind.isNotNull(), let([floating(left, kind), floating(right, kind)], floats))
        )

    return let([kind_of(left, right)], by_kind)


def is_true(value: Sql) -> Sql:
    """Whether a number is neither 0 nor NaN."""
    return F.when(is_exact(value), value["n"] != F.lit(0)).otherwise((value["f"] != F.lit(0.0)) & ~F.isnan(value["f"]))
