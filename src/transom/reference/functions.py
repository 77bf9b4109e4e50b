"""What every scalar function computes; strict functions are never handed a NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from transom.model.bag import value_key
from transom.model.time import Calendar
from transom.model.types import DIGITS, INTEGER_MAX, INTEGER_MIN, Type, Value, fits, one_form

Number = int | float | Decimal

DECIMALS = Context(prec=DIGITS, traps=[])
"""Decimals have 38 digits; what has no answer is not finite, and so NULL."""


def whole(value: int) -> int | None:
    """An integer if 64 bits hold it, else NULL."""
    return value if INTEGER_MIN <= value <= INTEGER_MAX else None


def finite(value: Number) -> Number | None:
    """A number if its type holds it: integers of 64 bits, finite floats, decimals of 38 digits; else NULL."""
    if isinstance(value, int):
        return whole(value)
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None  # -0.0 is 0.0
    if not value.is_finite():
        return None
    number = one_form(value)
    return number if fits(number, Type.DECIMAL) else None


def _arithmetic(
    exact: Callable[[Any, Any], Any], decimal: Callable[[Decimal, Decimal], Decimal]
) -> Callable[..., Value]:
    def compute(left: Any, right: Any) -> Any:
        return finite(decimal(left, right) if isinstance(left, Decimal) else exact(left, right))

    return compute


def _subtract(left: Any, right: Any) -> Any:
    if isinstance(left, datetime):
        return (left - right) / timedelta(seconds=1)
    return finite(DECIMALS.subtract(left, right) if isinstance(left, Decimal) else left - right)


def _divide(left: float, right: float) -> Value:
    return finite(left / right) if right else None


def _remainder(left: int, right: int) -> int | None:
    return int(math.copysign(1, left)) * (abs(left) % abs(right)) if right else None


def _quotient(left: int, right: int) -> int | None:
    if not right:
        return None
    size = abs(left) // abs(right)
    return whole(size if (left < 0) == (right < 0) else -size)


def _round(number: Number, places: int = 0) -> Value:
    if isinstance(number, Decimal):
        return _round_decimal(number, places)
    number = float(number)
    if places > 330 or not number:
        return number
    if places < -310:
        return 0.0
    nearest = Decimal(repr(number)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=700))
    return finite(float(nearest))


def _round_decimal(number: Decimal, places: int) -> Value:
    if places >= DIGITS:
        return number
    if places < -2 * DIGITS:
        return Decimal(0)
    return finite(number.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP, Context(prec=700)))


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
    """Whether a text matches a pattern: the last % seen takes one character more whenever the rest does not fit."""
    at, place, star, resume = 0, 0, -1, -1
    while place < len(text):
        if at < len(pattern) and pattern[at] == "%":
            star, resume = at, place
            at += 1
        elif at < len(pattern) and pattern[at] in ("_", text[place]):
            at, place = at + 1, place + 1
        elif star >= 0:
            resume += 1
            at, place = star + 1, resume
        else:
            return False
    return set(pattern[at:]) <= {"%"}


def _instant(tick: int, length: int, epoch: datetime) -> datetime | None:
    try:
        return Calendar(length, epoch).instant_of(tick)
    except OverflowError:
        return None


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
    "+": _arithmetic(lambda left, right: left + right, DECIMALS.add),
    "-": _subtract,
    "*": _arithmetic(lambda left, right: left * right, DECIMALS.multiply),
    "/": _divide,
    "%": _remainder,
    "NEG": lambda value: finite(DECIMALS.minus(value) if isinstance(value, Decimal) else -value),
    "ABS": lambda value: finite(DECIMALS.abs(value) if isinstance(value, Decimal) else abs(value)),
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
    "INSTANT": _instant,
    "TICK": lambda instant, length, epoch: Calendar(length, epoch).tick_of(instant),
    "YEAR": lambda instant: instant.year,
    "MONTH": lambda instant: instant.month,
    "DAY": lambda instant: instant.day,
    "HOUR": lambda instant: instant.hour,
    "MINUTE": lambda instant: instant.minute,
    "SECOND": lambda instant: instant.second,
}
"""By the name of the function; a test checks that every function has one."""
