"""Arithmetic of SPARQL 1.1 with its promotion of types; None is an error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, Decimal, localcontext
from fractions import Fraction

from transom.model.rdf.terms import Literal, Term
from transom.model.rdf.values import DIGITS, Kind, Number, in_reach, nearest, number_literal, value_of


def number(term: Term) -> Number | None:
    """The number that a term stands for."""
    value = value_of(term) if isinstance(term, Literal) else None
    return value if isinstance(value, Number) else None


def literal(found: Number | None) -> Literal | None:
    """A result in canonical form; an error beyond the reach of its kind."""
    if found is not None and found.kind is Kind.FLOAT:
        found = found.to(Kind.FLOAT)
    reached = in_reach(found) if found is not None else None
    return number_literal(reached) if reached is not None else None


def _both(one: Term, other: Term) -> tuple[Number, Number] | None:
    left, right = number(one), number(other)
    if left is None or right is None:
        return None
    kind = max(left.kind, right.kind)
    return left.to(kind), right.to(kind)


def _exactly(left: Number, right: Number, sign: str) -> Number:
    with localcontext() as context:
        context.prec = 6 * DIGITS
        a, b = Decimal(left.value), Decimal(right.value)
        found = a + b if sign == "+" else a - b if sign == "-" else a * b
        return Number(left.kind, int(found) if left.kind is Kind.INTEGER else found)


def _by(one: Term, other: Term, sign: str) -> Literal | None:
    both = _both(one, other)
    if both is None:
        return None
    left, right = both
    if left.kind <= Kind.DECIMAL:
        return literal(_exactly(left, right, sign))
    a, b = left.as_float(), right.as_float()
    return literal(Number(left.kind, a + b if sign == "+" else a - b if sign == "-" else a * b))


def add(one: Term, other: Term) -> Literal | None:
    """`+`."""
    return _by(one, other, "+")


def total(terms: Sequence[Term]) -> Literal | None:
    """The sum; 0 of nothing.

    All numbers become the kind of the sum. Their exact sum is rounded once, so their order does not matter.
    """
    found = [number(term) for term in terms]
    numbers = [one for one in found if one is not None]
    if len(numbers) < len(found):
        return None
    kind = max((one.kind for one in numbers), default=Kind.INTEGER)
    values = [one.to(kind).value for one in numbers]
    endless = [value for value in values if isinstance(value, float) and not math.isfinite(value)]
    if endless:
        return literal(Number(kind, sum(endless)))
    exact = sum(map(Fraction, values), Fraction(0))
    if kind >= Kind.FLOAT:
        return literal(Number(kind, nearest(exact, kind)))
    with localcontext() as context:
        context.prec = 6 * DIGITS
        found_exactly = Decimal(exact.numerator) / Decimal(exact.denominator)
    return literal(Number(kind, exact.numerator if kind is Kind.INTEGER else found_exactly))


def subtract(one: Term, other: Term) -> Literal | None:
    """`-`."""
    return _by(one, other, "-")


def multiply(one: Term, other: Term) -> Literal | None:
    """`*`."""
    return _by(one, other, "*")


def divide(one: Term, other: Term) -> Literal | None:
    """`/`: two integers give a decimal, cut behind the 18th place; only floating point divides by 0."""
    both = _both(one, other)
    if both is None:
        return None
    left, right = both
    if left.kind <= Kind.DECIMAL:
        if right.value == 0:
            return None
        with localcontext() as context:
            context.prec, context.rounding = 6 * DIGITS, ROUND_DOWN
            return literal(Number(Kind.DECIMAL, Decimal(left.value) / Decimal(right.value)))
    a, b = left.as_float(), right.as_float()
    if b != 0:
        return literal(Number(left.kind, a / b))
    sign = math.copysign(1, a) * math.copysign(1, b)
    return literal(Number(left.kind, math.nan if a == 0 or math.isnan(a) else sign * math.inf))


def plus(one: Term) -> Literal | None:
    """The number itself."""
    return literal(number(one))


def negated(one: Term) -> Literal | None:
    """The number with the other sign."""
    found = number(one)
    return literal(Number(found.kind, -found.value)) if found is not None else None


def absolute(one: Term) -> Literal | None:
    """The number without its sign."""
    found = number(one)
    if found is None:
        return None
    below = found.value < 0 or (isinstance(found.value, float) and math.copysign(1, found.value) < 0)
    return literal(Number(found.kind, -found.value if below else found.value))


def floor(one: Term) -> Literal | None:
    """The largest whole number that is not greater."""
    return _whole(one, ROUND_FLOOR, Decimal(0))


def ceiling(one: Term) -> Literal | None:
    """The smallest whole number that is not less."""
    return _whole(one, ROUND_CEILING, Decimal(0))


def rounded(one: Term) -> Literal | None:
    """The nearest whole number; a half goes up."""
    return _whole(one, ROUND_FLOOR, Decimal("0.5"))


def _whole(one: Term, rounding: str, more: Decimal) -> Literal | None:
    found = number(one)
    if found is None or found.kind is Kind.INTEGER:
        return literal(found)
    if isinstance(found.value, float) and not math.isfinite(found.value):
        return literal(found)
    with localcontext() as context:
        context.prec = 800
        whole = (Decimal(found.value) + more).to_integral_value(rounding=rounding)
    if isinstance(found.value, float):
        return literal(Number(found.kind, math.copysign(float(whole), found.value if not whole else float(whole))))
    return literal(Number(found.kind, whole))
