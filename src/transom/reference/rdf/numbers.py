"""Arithmetic of SPARQL 1.1 with its type promotion; None is an error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from transom.model.rdf.terms import Literal, Term
from transom.model.rdf.values import (
    DIGITS,
    NumericKind,
    NumericValue,
    fit_decimal,
    number_literal,
    to_floating_point,
    value_of,
)


def numeric_value(term: Term) -> NumericValue | None:
    """The value of a numeric literal; None for other terms."""
    value = value_of(term) if isinstance(term, Literal) else None
    return value if isinstance(value, NumericValue) else None


def result_literal(number: NumericValue | None) -> Literal | None:
    """Convert a number to a canonical literal; None if it is None or out of range for its kind."""
    if number is not None and number.kind is NumericKind.FLOAT:
        number = number.to(NumericKind.FLOAT)
    fitted = fit_decimal(number) if number is not None else None
    return number_literal(fitted) if fitted is not None else None


def _promoted_pair(first: Term, second: Term) -> tuple[NumericValue, NumericValue] | None:
    """Convert two numeric literals to values of the wider of their kinds; None if a term is not a number."""
    left, right = numeric_value(first), numeric_value(second)
    if left is None or right is None:
        return None
    kind = max(left.kind, right.kind)
    return left.to(kind), right.to(kind)


def _exact_result(left: NumericValue, right: NumericValue, sign: str) -> NumericValue:
    """Compute `+`, `-` or `*`, by `sign`, on two integers or two decimals, exactly."""
    with localcontext() as context:
        context.prec = 6 * DIGITS
        a, b = Decimal(left.value), Decimal(right.value)
        result = a + b if sign == "+" else a - b if sign == "-" else a * b
        return NumericValue(left.kind, int(result) if left.kind is NumericKind.INTEGER else result)


def _compute(first: Term, second: Term, sign: str) -> Literal | None:
    """Compute SPARQL `+`, `-` or `*`, by `sign`; None if a term is not a number or the result is out of range."""
    pair = _promoted_pair(first, second)
    if pair is None:
        return None
    left, right = pair
    if left.kind <= NumericKind.DECIMAL:
        return result_literal(_exact_result(left, right, sign))
    a, b = left.as_float(), right.as_float()
    return result_literal(NumericValue(left.kind, a + b if sign == "+" else a - b if sign == "-" else a * b))


def add(first: Term, second: Term) -> Literal | None:
    """SPARQL `+`: the sum of two numbers; None if a term is not a number or the sum is out of range."""
    return _compute(first, second, "+")


def sum_terms(terms: Sequence[Term]) -> Literal | None:
    """SPARQL SUM: the sum of numbers; 0 for no terms, None (an error) if a term is not a number.

    All numbers are promoted to the kind of the sum. Their exact sum is rounded once, so their order does not matter.
    """
    numbers = [number for term in terms if (number := numeric_value(term)) is not None]
    if len(numbers) < len(terms):
        return None
    kind = max((number.kind for number in numbers), default=NumericKind.INTEGER)
    values = [number.to(kind).value for number in numbers]
    not_finite = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    if not_finite:
        return result_literal(NumericValue(kind, sum(not_finite)))
    exact = sum(map(Fraction, values), Fraction(0))
    if kind >= NumericKind.FLOAT:
        return result_literal(NumericValue(kind, to_floating_point(exact, kind)))
    with localcontext() as context:
        context.prec = 6 * DIGITS
        decimal = Decimal(exact.numerator) / Decimal(exact.denominator)
    return result_literal(NumericValue(kind, exact.numerator if kind is NumericKind.INTEGER else decimal))


def subtract(first: Term, second: Term) -> Literal | None:
    """SPARQL `-`: the difference of two numbers; None if a term is not a number or the result is out of range."""
    return _compute(first, second, "-")


def multiply(first: Term, second: Term) -> Literal | None:
    """SPARQL `*`: the product of two numbers; None if a term is not a number or the product is out of range."""
    return _compute(first, second, "*")


def divide(first: Term, second: Term) -> Literal | None:
    """SPARQL `/`: the quotient, a decimal for two integers; None for other terms, or if an exact divisor is 0."""
    pair = _promoted_pair(first, second)
    if pair is None:
        return None
    left, right = pair
    if left.kind <= NumericKind.DECIMAL:
        if right.value == 0:
            return None
        with localcontext() as context:
            context.prec, context.rounding = 6 * DIGITS, ROUND_DOWN
            return result_literal(NumericValue(NumericKind.DECIMAL, Decimal(left.value) / Decimal(right.value)))
    a, b = left.as_float(), right.as_float()
    if b != 0:
        return result_literal(NumericValue(left.kind, a / b))
    sign = math.copysign(1, a) * math.copysign(1, b)
    return result_literal(NumericValue(left.kind, math.nan if a == 0 or math.isnan(a) else sign * math.inf))


def unary_plus(term: Term) -> Literal | None:
    """SPARQL unary `+`: the number in canonical form; None for other terms."""
    return result_literal(numeric_value(term))


def negate(term: Term) -> Literal | None:
    """SPARQL unary `-`: the number with the opposite sign; None for other terms."""
    number = numeric_value(term)
    return result_literal(NumericValue(number.kind, -number.value)) if number is not None else None


def absolute_value(term: Term) -> Literal | None:
    """SPARQL ABS: the absolute value of a number; None for other terms."""
    number = numeric_value(term)
    if number is None:
        return None
    negative = number.value < 0 or (isinstance(number.value, float) and math.copysign(1, number.value) < 0)
    return result_literal(NumericValue(number.kind, -number.value if negative else number.value))


def floor(term: Term) -> Literal | None:
    """SPARQL FLOOR: the largest whole number that is not greater than a number; None for other terms."""
    return _round_to_integer(term, ROUND_FLOOR, Decimal(0))


def ceiling(term: Term) -> Literal | None:
    """SPARQL CEIL: the smallest whole number that is not less than a number; None for other terms."""
    return _round_to_integer(term, ROUND_CEILING, Decimal(0))


def round_half_up(term: Term) -> Literal | None:
    """SPARQL ROUND: the nearest whole number of the same kind, halves rounded up; None for other terms."""
    return _round_to_integer(term, ROUND_FLOOR, Decimal("0.5"))


def _round_to_integer(term: Term, rounding_mode: str, offset: Decimal) -> Literal | None:
    """Add `offset` to a number and round by a mode of `decimal` such as ROUND_FLOOR; None for other terms."""
    number = numeric_value(term)
    if number is None or number.kind is NumericKind.INTEGER:
        return result_literal(number)
    if isinstance(number.value, float) and not math.isfinite(number.value):
        return result_literal(number)
    with localcontext() as context:
        context.prec = 800
        whole = (Decimal(number.value) + offset).to_integral_value(rounding=rounding_mode)
    if isinstance(number.value, float):
        return result_literal(
            NumericValue(number.kind, math.copysign(float(whole), number.value if not whole else float(whole)))
        )
    return result_literal(NumericValue(number.kind, whole))
