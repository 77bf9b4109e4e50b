"""Check that Spark columns can hold the constants of a query."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from decimal import Decimal

from transom.algebra.expressions.expression import Constant
from transom.algebra.operator import Operator
from transom.physical import gaps

INTEGER_DIGITS, FRACTION_DIGITS = 19, 18
"""The most digits of a decimal constant before and after the point; Spark's type is decimal(38,18)."""


def fits_spark_decimal(value: Decimal) -> bool:
    """Whether Spark's decimal(38,18) can hold a decimal exactly."""
    exponent = value.as_tuple().exponent
    return value.adjusted() < INTEGER_DIGITS and not (isinstance(exponent, int) and exponent < -FRACTION_DIGITS)


def refuse_long_decimals(plan: Operator) -> None:
    """Raise Unsupported if a query plan contains a decimal constant that Spark's decimal(38,18) cannot hold."""
    for constant in _constants(plan):
        if isinstance(constant.value, Decimal) and not fits_spark_decimal(constant.value):
            raise gaps.LONG_DECIMAL.refusal(detail=f"the constant is {constant.value:f}")


def _constants(value: object) -> Iterator[Constant]:
    """Yield all constants inside a plan, an expression or a tuple of these, by visiting all dataclass fields."""
    if isinstance(value, Constant):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _constants(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _constants(getattr(value, field.name))
