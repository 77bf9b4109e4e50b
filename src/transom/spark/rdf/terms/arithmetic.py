"""SPARQL 1.1 arithmetic on Spark with type promotion; exact for integers and decimals; a NULL result is an error."""

from __future__ import annotations

import math
from collections.abc import Callable

from transom.model.rdf.values import DIGITS, PLACES, NumericKind
from transom.spark.expressions.sql import F, Sql, let, let_interpreted
from transom.spark.rdf.terms.values import (
    EXACT,
    UNIT,
    NumberStruct,
    ScaledDecimal,
    ValueClass,
    exact,
    exact_number,
    magnitude,
    opposite,
    value_struct,
)

_HALF = 10 ** (DIGITS // 2)
_STEP = 6
"""Decimal places of a quotient computed per step of the long division."""

_WHOLE_FROM = 2.0**53
"""From this magnitude on, every float is an integer."""

Operation = Callable[[Sql, Sql], Sql]


def _is_kind(value: NumberStruct, kind: NumericKind) -> Sql:
    """Whether a number struct (kind, exact value, float value) is of this kind: integer, decimal, float or double."""
    return value["k"] == F.lit(int(kind))


def is_exact(value: NumberStruct) -> Sql:
    """Whether a number struct (kind, exact value, float value) is an integer or a decimal."""
    return value["k"] <= F.lit(int(NumericKind.DECIMAL))


def double(value: NumberStruct) -> Sql:
    """Convert a number struct (kind, exact value, float value) of any kind to the nearest 64-bit float."""
    point = F.concat(value["n"].cast("string"), F.lit(f"E-{PLACES}")).try_cast("double")
    return (
        F.when(_is_kind(value, NumericKind.INTEGER), value["n"].cast("double"))
        .when(_is_kind(value, NumericKind.DECIMAL), point)
        .otherwise(value["f"])
    )


def floating(value: NumberStruct, kind: Sql) -> Sql:
    """Convert a number struct (kind, exact value, float value) to a float; round to 32 bits if `kind` is FLOAT."""
    return F.when(kind == int(NumericKind.FLOAT), double(value).cast("float").cast("double")).otherwise(double(value))


def scaled_decimal(value: NumberStruct) -> ScaledDecimal:
    """Convert an integer or a decimal (parsed value) to units of 10^-18; NULL beyond 38 digits."""
    return F.when(_is_kind(value, NumericKind.INTEGER), F.try_multiply(value["n"], exact(UNIT))).otherwise(value["n"])


def kind_of(left: NumberStruct, right: NumberStruct) -> Sql:
    """The kind, such as decimal, to which two number structs are promoted; NULL if one of them is not a number."""
    return F.when(left["k"].isNotNull() & right["k"].isNotNull(), F.greatest(left["k"], right["k"]))


def _arithmetic(on_integers: Operation, on_decimals: Operation, on_floats: Operation) -> Operation:
    """Build an operation on number structs (kind, exact, float) from operations on integers, decimals and floats."""

    def applied(left: NumberStruct, right: NumberStruct) -> NumberStruct:
        """Apply the outer operation to two number structs, promoted to a common kind; NULL on error."""

        def by_kind(kind: Sql) -> Sql:
            """Apply the enclosing operation to its operands, promoted to the numeric kind `kind`."""
            result = let([floating(left, kind), floating(right, kind)], on_floats)
            return (
                F.when(kind == int(NumericKind.INTEGER), on_integers(left, right))
                .when(kind == int(NumericKind.DECIMAL), on_decimals(left, right))
                .when(
                    kind == int(NumericKind.FLOAT),
                    value_struct(
                        ValueClass.NUMBER, kind=int(NumericKind.FLOAT), float_number=result.cast("float").cast("double")
                    ),
                )
                .when(
                    kind == int(NumericKind.DOUBLE),
                    value_struct(ValueClass.NUMBER, kind=int(NumericKind.DOUBLE), float_number=result),
                )
            )

        return let([kind_of(left, right)], by_kind)

    return applied


def _exact_or_null(kind: NumericKind, result: Sql) -> NumberStruct:
    """Build a number struct (kind, exact value, float value) of an integer or decimal; NULL beyond 38 digits."""
    return let([result.try_cast(EXACT)], lambda number: exact_number(kind, number))


def _sum_operations(operation: Callable[[Sql, Sql], Sql]) -> tuple[Operation, Operation]:
    """Return two functions on number structs, for integers and for decimals, made of `try_add` or `try_subtract`."""
    return (
        lambda left, right: _exact_or_null(NumericKind.INTEGER, operation(left["n"], right["n"])),
        lambda left, right: _exact_or_null(NumericKind.DECIMAL, operation(scaled_decimal(left), scaled_decimal(right))),
    )


def _product(left: NumberStruct, right: NumberStruct) -> NumberStruct:
    """Multiply two parsed decimals, and truncate the product to units of 10^-18.

    The product is built from halves of the digits, which Spark multiplies exactly.
    """
    half_unit = exact(_HALF)

    def halves_of(value: NumberStruct) -> list[Sql]:
        """Return the upper and the lower 19 digits of the absolute value of a decimal (field `n` of the struct)."""
        size = magnitude(value["n"])
        lower = F.try_mod(size, half_unit)
        return [_quotient(size - lower, half_unit).cast("decimal(19,0)"), lower.cast("decimal(19,0)")]

    def joined(left_high: Sql, left_low: Sql, right_high: Sql, right_low: Sql) -> Sql:
        """Multiply two absolute values, given as upper and lower 19 digits; return the product in units of 10^-18."""
        cross = F.try_add(_wide_decimal(left_high * right_low), _wide_decimal(left_low * right_high))
        lowest = _wide_decimal(left_low * right_low)
        lowest_part = _quotient(lowest - F.try_mod(lowest, exact(UNIT)), exact(UNIT))
        highest = F.try_multiply(_wide_decimal(left_high * right_high), exact(_HALF * _HALF // UNIT))
        return F.try_add(F.try_add(highest, _wide_decimal(F.try_multiply(cross, exact(10)))), lowest_part)

    negative = (left["n"] < F.lit(0)) != (right["n"] < F.lit(0))
    size = let([*halves_of(left), *halves_of(right)], joined)
    return let(
        [size],
        lambda product: F.when(negative, opposite(product)).otherwise(product),
    )


def _wide_decimal(number: Sql) -> Sql:
    """Cast an integral number to decimal(38,0); NULL if it has more than 38 digits."""
    return number.try_cast(EXACT)


def _decimal_product(left: NumberStruct, right: NumberStruct) -> NumberStruct:
    """Multiply two parsed exact numbers, at least one of which is a decimal; return a parsed decimal."""
    simple = F.try_multiply(left["n"], right["n"])
    both = _is_kind(left, NumericKind.DECIMAL) & _is_kind(right, NumericKind.DECIMAL)
    return _exact_or_null(NumericKind.DECIMAL, F.when(both, let_interpreted([left, right], _product)).otherwise(simple))


def _quotient(number: Sql, divisor: Sql) -> Sql:
    """Divide two numbers to decimal(38,0); the caller ensures that the quotient is an integer below 10^32."""
    return F.try_divide(number, divisor).try_cast(EXACT)


def _decimal_quotient(left: NumberStruct, right: NumberStruct) -> NumberStruct:
    """Divide two parsed exact numbers; return a decimal, truncated after 18 places, or NULL for divisor 0."""

    def by_size(left_units: ScaledDecimal, right_units: ScaledDecimal) -> Sql:
        """Divide two numbers in units of 10^-18; if one is too large for this (NULL), divide unscaled values."""
        # an integer beyond 10^20 cannot be scaled by 10^18; it stays unscaled, and the number of places makes up for it
        are_scaled = left_units.isNotNull() & right_units.isNotNull()
        dividend = F.when(are_scaled, left_units).otherwise(left["n"])
        divisor = F.when(are_scaled, right_units).otherwise(right["n"])
        scale = F.when(are_scaled | (left["k"] == right["k"]), F.lit(PLACES)).otherwise(
            F.when(_is_kind(left, NumericKind.DECIMAL), F.lit(0)).otherwise(F.lit(2 * PLACES))
        )
        negative = (dividend < F.lit(0)) != (divisor < F.lit(0))
        size = let([magnitude(dividend), magnitude(divisor), scale], _long_division)
        return let([size], lambda quotient: F.when(negative, opposite(quotient)).otherwise(quotient))

    both_whole = _is_kind(left, NumericKind.INTEGER) & _is_kind(right, NumericKind.INTEGER)
    above = F.when(both_whole, left["n"]).otherwise(scaled_decimal(left))
    below = F.when(both_whole, right["n"]).otherwise(scaled_decimal(right))
    return _exact_or_null(NumericKind.DECIMAL, F.when(right["n"] != F.lit(0), let([above, below], by_size)))


def _long_division(dividend: Sql, divisor: Sql, scale: Sql) -> Sql:
    """Compute `dividend` * 10^scale / `divisor` for nonnegative numbers, truncated to an integer."""
    fast = _by_steps(dividend, divisor, scale, _STEP, lambda state: _more_places(state, divisor))
    slow = _by_steps(dividend, divisor, scale, 1, lambda state: _one_more_place(state, divisor))
    return F.when(divisor < exact(10 ** (DIGITS - _STEP)), fast).otherwise(slow)


def _by_steps(dividend: Sql, divisor: Sql, scale: Sql, step: int, add_places: Callable[[Sql], Sql]) -> Sql:
    """Return the quotient times 10^`scale`, by long division; `add_places` extends its state by `step` places."""
    remainder = _wide_decimal(F.try_mod(dividend, divisor))
    start = let(
        [remainder], lambda bound_remainder: _state(_quotient(dividend - bound_remainder, divisor), bound_remainder)
    )
    steps = F.sequence(F.lit(1), F.div(scale, F.lit(step)))
    chosen_steps = F.when(scale > 0, steps).otherwise(F.array().cast("array<bigint>"))
    return F.aggregate(chosen_steps, start, lambda state, _: add_places(state), lambda state: state["q"])


def _more_places(state: Sql, divisor: Sql) -> Sql:
    """Extend a long division's state (quotient, remainder) by 6 (`_STEP`) places, if the divisor is small enough."""
    shift = exact(10**_STEP)

    def digits(quotient: Sql, shifted_remainder: Sql) -> Sql:
        """Return the next state of the long division, from its quotient and its remainder times 10^`_STEP`."""

        def more(remainder: Sql) -> Sql:
            """Return the next state of a long division: the quotient with more digits, and `remainder`."""
            return _state(
                F.try_add(
                    _wide_decimal(F.try_multiply(quotient, shift)), _quotient(shifted_remainder - remainder, divisor)
                ),
                remainder,
            )

        return let([_wide_decimal(F.try_mod(shifted_remainder, divisor))], more)

    return let([state["q"], _wide_decimal(F.try_multiply(state["r"], shift))], digits)


def _one_more_place(state: Sql, divisor: Sql) -> Sql:
    """Append one digit to the quotient of a long division; `state` holds quotient `q` and remainder `r`."""

    def add_remainder(sums: Sql, remainder: Sql) -> Sql:
        """Add `remainder` to `r` of the struct `sums` (q, r); if `r` reaches the divisor, carry 1 to `q`."""
        overflows = sums["r"] >= divisor - remainder
        carried = _state(F.try_add(sums["q"], exact(1)), sums["r"] - (divisor - remainder))
        return F.when(overflows, carried).otherwise(_state(sums["q"], F.try_add(sums["r"], remainder)))

    start = _state(F.try_multiply(state["q"], exact(10)), exact(0))
    ten = F.sequence(F.lit(1), F.lit(10))
    return F.aggregate(ten, start, lambda sums, _: add_remainder(sums, state["r"]), lambda sums: sums)


def _state(quotient: Sql, remainder: Sql) -> Sql:
    """Build the state of a long division, a struct of its quotient `q` and its remainder `r`."""
    return F.struct(_wide_decimal(quotient).alias("q"), _wide_decimal(remainder).alias("r"))


def _float_quotient(left: Sql, right: Sql) -> Sql:
    """Divide floats; division by 0 gives an infinity, or NaN for the dividends 0 and NaN."""
    is_negative = F.startswith(left.cast("string"), F.lit("-")) != F.startswith(right.cast("string"), F.lit("-"))
    infinity = F.when(is_negative, F.lit(-math.inf)).otherwise(F.lit(math.inf))
    by_zero = F.when((left == 0) | F.isnan(left), F.lit(math.nan)).otherwise(infinity)
    return F.when(right == 0, by_zero).otherwise(F.try_divide(left, right))


add = _arithmetic(*_sum_operations(F.try_add), lambda left, right: left + right)
subtract = _arithmetic(*_sum_operations(F.try_subtract), lambda left, right: left - right)
multiply = _arithmetic(
    lambda left, right: _exact_or_null(NumericKind.INTEGER, F.try_multiply(left["n"], right["n"])),
    _decimal_product,
    lambda left, right: left * right,
)
divide = _arithmetic(
    lambda left, right: let_interpreted([left, right], _decimal_quotient),
    lambda left, right: let_interpreted([left, right], _decimal_quotient),
    _float_quotient,
)


def negated(value: NumberStruct) -> NumberStruct:
    """Negate a number struct (kind, exact value, float value), and keep its kind."""
    return _with_number(value, opposite(value["n"]), F.negative(value["f"]))


def absolute(value: NumberStruct) -> NumberStruct:
    """Compute the absolute value of a number struct (kind, exact value, float value), and keep its kind."""
    return _with_number(value, magnitude(value["n"]), F.abs(value["f"]))


def _with_number(value: NumberStruct, exact_value: Sql, float_value: Sql) -> Sql:
    """Replace the exact value and the float value of a number struct, and keep its kind; NULL stays NULL."""
    return F.when(
        value["k"].isNotNull(),
        value_struct(ValueClass.NUMBER, kind=value["k"], number=exact_value, float_number=float_value),
    )


def floor(value: NumberStruct) -> NumberStruct:
    """Compute FLOOR: the largest integer that is not above a number struct (kind, exact, float); the kind stays."""
    return _to_whole(
        value,
        lambda units: F.try_subtract(units, _wide_decimal(F.pmod(units, exact(UNIT)))),
        lambda number: F.floor(number).cast("double"),
    )


def ceiling(value: NumberStruct) -> NumberStruct:
    """Compute CEIL: the smallest integer that is not below a number struct (kind, exact, float); the kind stays."""
    return _to_whole(
        value,
        lambda units: F.try_add(units, _wide_decimal(F.pmod(opposite(units), exact(UNIT)))),
        lambda number: F.ceil(number).cast("double"),
    )


def rounded(value: NumberStruct) -> NumberStruct:
    """Compute ROUND: the integer nearest to a number struct (kind, exact, float), halves up; the kind stays."""

    def round_units(units: ScaledDecimal) -> Sql:
        """Round a decimal in units of 10^-18 to the nearest integer, halves up; the result has the same units."""
        return let([_wide_decimal(F.pmod(units, exact(UNIT)))], lambda fraction: _round_up(units, fraction))

    def round_float(number: Sql) -> Sql:
        """Round a float to the nearest integer, halves up."""
        down = F.floor(number).cast("double")
        return F.when(number - down >= F.lit(0.5), down + F.lit(1.0)).otherwise(down)

    return _to_whole(value, round_units, round_float)


def _round_up(units: ScaledDecimal, fraction: Sql) -> Sql:
    """Round a decimal in units of 10^-18 to an integer, halves up; `fraction` is its fraction in these units."""
    up = F.try_add(units, _wide_decimal(exact(UNIT) - fraction))
    return F.when(fraction >= exact(UNIT // 2), up).otherwise(F.try_subtract(units, fraction))


def _to_whole(value: NumberStruct, on_units: Callable[[Sql], Sql], on_floats: Callable[[Sql], Sql]) -> Sql:
    """Apply FLOOR, CEIL or ROUND to a number struct: `on_units` to decimals in 10^-18, `on_floats` to floats."""
    small = F.when(F.abs(value["f"]) < F.lit(_WHOLE_FROM), value["f"])

    def by_kind(rounded_float: Sql) -> Sql:
        """Build the number struct of a rounded float; where `rounded_float` is NULL, the old float is whole and kept.

        A zero keeps the sign of the number.
        """
        is_negative = F.startswith(value["f"].cast("string"), F.lit("-"))
        signed = F.when((rounded_float == 0) & is_negative, F.lit(-0.0)).otherwise(rounded_float)
        return value_struct(
            ValueClass.NUMBER,
            kind=value["k"],
            float_number=F.when(rounded_float.isNull(), value["f"]).otherwise(signed),
        )

    return (
        F.when(_is_kind(value, NumericKind.INTEGER), value)
        .when(_is_kind(value, NumericKind.DECIMAL), _exact_or_null(NumericKind.DECIMAL, on_units(value["n"])))
        .when(value["k"].isNotNull(), let([let([small], on_floats)], by_kind))
    )


def less(left: NumberStruct, right: NumberStruct) -> Sql:
    """Whether one number struct (kind, exact, float) is below another; false for NaN, NULL if one is not a number."""
    return _compare(left, right, lambda a, b: a < b, lambda a, b: (a < b) & ~F.isnan(a) & ~F.isnan(b))


def equal(left: NumberStruct, right: NumberStruct) -> Sql:
    """Whether two number structs (kind, exact, float) are equal; false for NaN, NULL if one is not a number."""
    return _compare(left, right, lambda a, b: a == b, lambda a, b: (a == b) & ~F.isnan(a) & ~F.isnan(b))


def less_or_equal(left: NumberStruct, right: NumberStruct) -> Sql:
    """Whether one number struct (kind, exact, float) is at most another; false for NaN, NULL if one is not a number."""
    return _compare(left, right, lambda a, b: a <= b, lambda a, b: (a <= b) & ~F.isnan(a) & ~F.isnan(b))


def _compare(left: NumberStruct, right: NumberStruct, on_exact: Operation, on_floats: Operation) -> Sql:
    """Compare two number structs: integers and decimals by `on_exact`, others by `on_floats`.

    The result is NULL if one of them is not a number.
    """

    def compare_units(left_units: ScaledDecimal, right_units: ScaledDecimal) -> Sql:
        """Apply the outer comparison to units of 10^-18; a NULL side is an integer of larger size than the other."""
        # an integer that cannot be scaled by 10^18 has a larger magnitude than any decimal
        are_scaled = left_units.isNotNull() & right_units.isNotNull()
        return F.when(are_scaled, on_exact(left_units, right_units)).otherwise(
            on_exact(
                F.coalesce(F.when(left_units.isNull(), left["n"]), exact(0)),
                F.coalesce(F.when(right_units.isNull(), right["n"]), exact(0)),
            )
        )

    def by_kind(kind: Sql) -> Sql:
        """Compare the enclosing numbers after promotion to `kind`; NULL if `kind` is NULL (not numbers)."""
        return (
            F.when(left["k"] + right["k"] == F.lit(2 * int(NumericKind.INTEGER)), on_exact(left["n"], right["n"]))
            .when(kind == int(NumericKind.DECIMAL), let([scaled_decimal(left), scaled_decimal(right)], compare_units))
            .when(kind.isNotNull(), let([floating(left, kind), floating(right, kind)], on_floats))
        )

    return let([kind_of(left, right)], by_kind)


def is_true(value: NumberStruct) -> Sql:
    """The boolean value of a number struct (kind, exact value, float value): whether it is neither 0 nor NaN."""
    return F.when(is_exact(value), value["n"] != F.lit(0)).otherwise((value["f"] != F.lit(0.0)) & ~F.isnan(value["f"]))
