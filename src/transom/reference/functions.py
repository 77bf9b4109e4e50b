"""What every scalar function computes; strict functions are never handed a NULL."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from transom.model.bag import value_key
from transom.model.time import Calendar
from transom.model.types import INTEGER_MAX, INTEGER_MIN, Value

Number = int | float | Decimal

DIGITS = Context(prec=38)
"""Decimals have 38 digits."""


def whole(value: int) -> int | None:
    """An integer if 64 bits hold it, else NULL."""
    return value if INTEGER_MIN <= value <= INTEGER_MAX else None


def finite(value: Number) -> Number | None:
    """A number if it has an answer: integers of 64 bits, finite floats; else NULL."""
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def _arithmetic(
    exact: Callable[[Any, Any], Any], decimal: Callable[[Decimal, Decimal], Decimal]
) -> Callable[..., Value]:
    def compute(left: Any, right: Any) -> Any:
        return decimal(left, right) if isinstance(left, Decimal) else finite(exact(left, right))

    return compute


def _subtract(left: Any, right: Any) -> Any:
    if isinstance(left, datetime):
        return (left - right) / timedelta(seconds=1)
    return DIGITS.subtract(left, right) if isinstance(left, Decimal) else finite(left - right)


def _divide(left: float, right: float) -> Value:
    return finite(left / right) if right else None


def _remainder(left: int, right: int) -> int | None:
    return int(math.copysign(1, left)) * (abs(left) % abs(right)) if right else None


def _quotient(left: int, right: int) -> int | None:
    if not right:
        return None
    size = abs(left) // abs(right)
    return whole(size if (left < 0) == (right < 0) else -size)


def _round(number: float, places: int = 0) -> Value:
    if abs(places) > 30:
        return number if places > 0 else 0.0
    return finite(float(Decimal(repr(number)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=400))))


def _power(base: float, exponent: float) -> Value:
    try:
        result = base**exponent
    except (OverflowError, ZeroDivisionError):
        return None
    return finite(result) if isinstance(result, float) else None


def _exp(number: float) -> float | None:
    try:
        return math.exp(number)
    except OverflowError:
        return None


def _substring(text: str, start: int, length: int | None = None) -> str | None:
    if length is not None and length < 0:
        return None
    end = len(text) + 1 if length is None else start + length
    return text[max(start, 1) - 1 : max(end, 1) - 1]


def _like(text: str, pattern: str) -> bool:
    wild = {"%": ".*", "_": "."}
    return re.fullmatch("".join(wild.get(c, re.escape(c)) for c in pattern), text, re.DOTALL) is not None


def _and(*values: bool | None) -> bool | None:
    if False in values:
        return False
    return None if None in values else True


def _or(*values: bool | None) -> bool | None:
    if True in values:
        return True
    return None if None in values else False


def _in(needle: Value, *options: Value) -> bool | None:
    return None if needle is None else _or(*(None if o is None else needle == o for o in options))


def _present(values: tuple[Value, ...]) -> list[Value]:
    return [value for value in values if value is not None]


def _blank(text: str) -> str:
    return text.strip(" ")


IMPLEMENTATIONS: dict[str, Callable[..., Any]] = {
    "AND": _and,
    "OR": _or,
    "NOT": lambda value: not value,
    "IS NULL": lambda value: value is None,
    "=": lambda left, right: left == right,
    "<>": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
    "IN": _in,
    "LIKE": _like,
    "+": _arithmetic(lambda left, right: left + right, DIGITS.add),
    "-": _subtract,
    "*": _arithmetic(lambda left, right: left * right, DIGITS.multiply),
    "/": _divide,
    "%": _remainder,
    "NEG": lambda value: finite(-value),
    "ABS": lambda value: finite(abs(value)),
    "SIGN": lambda value: (value > 0) - (value < 0),
    "FLOOR": lambda value: whole(math.floor(value)),
    "CEIL": lambda value: whole(math.ceil(value)),
    "ROUND": _round,
    "DIV": _quotient,
    "SQRT": lambda value: math.sqrt(value) if value >= 0 else None,
    "POWER": _power,
    "EXP": _exp,
    "LN": lambda value: math.log(value) if value > 0 else None,
    "LOG10": lambda value: math.log10(value) if value > 0 else None,
    "GREATEST": lambda *values: max(_present(values), key=value_key, default=None),
    "LEAST": lambda *values: min(_present(values), key=value_key, default=None),
    "COALESCE": lambda *values: next(iter(_present(values)), None),
    "NULLIF": lambda left, right: None if right is not None and left == right else left,
    "||": lambda left, right: left + right,
    "CONCAT": lambda *values: "".join(values),
    "UPPER": str.upper,
    "LOWER": str.lower,
    "LENGTH": len,
    "TRIM": _blank,
    "LTRIM": lambda text: text.lstrip(" "),
    "RTRIM": lambda text: text.rstrip(" "),
    "SUBSTRING": _substring,
    "LEFT": lambda text, count: text[: max(count, 0)],
    "RIGHT": lambda text, count: text[-count:] if count > 0 else "",
    "REPLACE": lambda text, old, new: text.replace(old, new) if old else text,
    "POSITION": lambda text, part: text.find(part) + 1,
    "STARTS_WITH": lambda text, part: text.startswith(part),
    "ENDS_WITH": lambda text, part: text.endswith(part),
    "INSTANT": lambda tick, length, epoch: Calendar(length, epoch).instant_of(tick),
    "TICK": lambda instant, length, epoch: Calendar(length, epoch).tick_of(instant),
    "YEAR": lambda instant: instant.year,
    "MONTH": lambda instant: instant.month,
    "DAY": lambda instant: instant.day,
    "HOUR": lambda instant: instant.hour,
    "MINUTE": lambda instant: instant.minute,
    "SECOND": lambda instant: instant.second,
}
"""By the name of the function; a test checks that every function has one."""
