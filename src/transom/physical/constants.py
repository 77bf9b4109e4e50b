"""Constants of a query that a column of Spark cannot hold."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal

from transom.algebra.expressions import Literal
from transom.algebra.operator import Operator
from transom.physical import gaps

BEFORE, AFTER = 19, 18
"""The most digits of a decimal constant before the point and after it; Spark's type is decimal(38,18)."""


def fits(value: Decimal) -> bool:
    """Whether Spark can hold a decimal exactly."""
    exponent = value.as_tuple().exponent
    return value.adjusted() < BEFORE and not (isinstance(exponent, int) and exponent < -AFTER)


def refuse_long_decimals(plan: Operator) -> None:
    """Refuse a plan with a decimal constant that Spark cannot hold."""
    for literal in _literals(plan):
        if isinstance(literal.value, Decimal) and not fits(literal.value):
            raise gaps.LONG_DECIMAL.refusal(detail=f"the constant is {literal.value:f}")


def _literals(value: object) -> Iterator[Literal]:
    if isinstance(value, Literal):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _literals(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _literals(getattr(value, field.name))
