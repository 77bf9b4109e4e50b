"""Implementations of the scalar functions; strict functions never receive NULL."""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from transom.model.bag import value_key
from transom.model.time import Calendar
from transom.model.types import DIGITS, INTEGER_MAX, INTEGER_MIN, Type, Value, is_value_of, normalize_decimal

Number = int | float | Decimal

DECIMALS = Context(prec=DIGITS, traps=[])
"""Decimals have 38 digits; an undefined result is not finite, and becomes NULL."""


def fit_integer(value: int) -> int | None:
    """Return the integer itself, or NULL if 64 bits cannot hold it."""
    return value if INTEGER_MIN <= value <= INTEGER_MAX else None


def fit_number(value: Number) -> Number | None:
    """Return the number itself, or NULL if its type cannot hold it.

    Types hold 64-bit integers, finite floats and decimals of 38 digits.
    """
    if isinstance(value, int):
        return fit_integer(value)
    if isinstance(value, float):
        return value + 0.0 if math.isfinite(value) else None  # -0.0 is 0.0
    if not value.is_finite():
        return None
    number = normalize_decimal(value)
    return number if is_value_of(number, Type.DECIMAL) else None


def _arithmetic(
    exact: Callable[[Any, Any], Any], decimal: Callable[[Decimal, Decimal], Decimal]
) -> Callable[..., Value]:
    """Build an SQL operation, NULL if out of range, from `exact` (integers, floats) and `decimal` functions.

    `exact` computes with integers and floats, `decimal` with decimals.
    """

    def compute(left: Any, right: Any) -> Any:
        """Apply the arithmetic operation to two numbers of one type; NULL if the result is out of its range."""
        return fit_number(decimal(left, right) if isinstance(left, Decimal) else exact(left, right))

    return compute


def _subtract(left: Any, right: Any) -> Any:
    """SQL `-`: the difference of two numbers or times, NULL if out of range.

    The difference of two timestamps is in seconds, as a float.
    """
    if isinstance(left, datetime):
        return (left - right) / timedelta(seconds=1)
    return fit_number(DECIMALS.subtract(left, right) if isinstance(left, Decimal) else left - right)


def _divide(left: float, right: float) -> Value:
    """SQL `/`: the quotient as a float; NULL for a divisor of 0."""
    return fit_number(left / right) if right else None


def _remainder(left: int, right: int) -> int | None:
    """SQL `%`: the remainder with the sign of the dividend; NULL for a divisor of 0."""
    return int(math.copysign(1, left)) * (abs(left) % abs(right)) if right else None


def _quotient(left: int, right: int) -> int | None:
    """SQL DIV: the integer quotient, truncated towards zero; NULL for a divisor of 0."""
    if not right:
        return None
    magnitude = abs(left) // abs(right)
    return fit_integer(magnitude if (left < 0) == (right < 0) else -magnitude)


def _round(number: Number, decimals: int = 0) -> Value:
    """SQL ROUND: the number rounded to `decimals` places, halves away from zero; a float unless it is a decimal."""
    if isinstance(number, Decimal):
        return _round_decimal(number, decimals)
    number = float(number)
    if decimals > 330 or not number:
        return number
    if decimals < -310:
        return 0.0
    nearest = Decimal(repr(number)).quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=700))
    return fit_number(float(nearest))


def _round_decimal(number: Decimal, decimals: int) -> Value:
    """The decimal rounded to `decimals` places, halves away from zero; NULL if it has too many digits."""
    if decimals >= DIGITS:
        return number
    if decimals < -2 * DIGITS:
        return Decimal(0)
    return fit_number(number.quantize(Decimal(1).scaleb(-decimals), ROUND_HALF_UP, Context(prec=700)))


def _power(base: float, exponent: float) -> Value:
    """SQL POWER: the base to the power of the exponent; NULL if undefined or too large."""
    try:
        result = base**exponent
    except (OverflowError, ZeroDivisionError):
        return None
    return fit_number(result) if isinstance(result, float) else None


def _exp(number: float) -> float | None:
    """SQL EXP: e to the power of a number; NULL if too large."""
    try:
        return math.exp(number)
    except OverflowError:
        return None


def _substring(text: str, start: int, length: int | None = None) -> str | None:
    """SQL SUBSTRING: `length` characters (None: all) from `start`, counted from 1; NULL if `length` is negative."""
    if length is not None and length < 0:
        return None
    end = len(text) + 1 if length is None else start + length
    return text[max(start, 1) - 1 : max(end, 1) - 1]


def _like(text: str, pattern: str) -> bool:
    """SQL LIKE: whether a string matches a pattern with `%` (any characters) and `_` (one character)."""
    p, t, star, resume = 0, 0, -1, -1  # indexes in pattern and text, of the last % and of the text after its match
    while t < len(text):
        if p < len(pattern) and pattern[p] == "%":
            star, resume = p, t
            p += 1
        elif p < len(pattern) and pattern[p] in ("_", text[t]):
            p, t = p + 1, t + 1
        elif star >= 0:
            resume += 1
            p, t = star + 1, resume
        else:
            return False
    return set(pattern[p:]) <= {"%"}


def _instant(tick: int, length: int, epoch: datetime) -> datetime | None:
    """INSTANT: when a tick begins, with ticks of `length` microseconds from `epoch`; NULL outside years 1 to 9999."""
    try:
        return Calendar(length, epoch).instant_of(tick)
    except OverflowError:
        return None


def _and(*values: bool | None) -> bool | None:
    """SQL AND of any number of values, where NULL is unknown."""
    if False in values:
        return False
    return None if None in values else True


def _or(*values: bool | None) -> bool | None:
    """SQL OR of any number of values, where NULL is unknown."""
    if True in values:
        return True
    return None if None in values else False


def _in(needle: Value, *options: Value) -> bool | None:
    """SQL IN: whether `needle` equals an option; NULL if no option is equal, but `needle` or an option is NULL."""
    return None if needle is None else _or(*(None if o is None else needle == o for o in options))


def _non_null(values: tuple[Value, ...]) -> list[Value]:
    """Return the arguments that are not NULL, for functions such as COALESCE and GREATEST."""
    return [value for value in values if value is not None]


def _trim_spaces(text: str) -> str:
    """SQL TRIM: the text without spaces at both ends."""
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
    "NEG": lambda value: fit_number(DECIMALS.minus(value) if isinstance(value, Decimal) else -value),
    "ABS": lambda value: fit_number(DECIMALS.abs(value) if isinstance(value, Decimal) else abs(value)),
    "SIGN": lambda value: (value > 0) - (value < 0),
    "FLOOR": lambda value: fit_integer(math.floor(value)),
    "CEIL": lambda value: fit_integer(math.ceil(value)),
    "ROUND": _round,
    "DIV": _quotient,
    "SQRT": lambda value: math.sqrt(value) if value >= 0 else None,
    "POWER": _power,
    "EXP": _exp,
    "LN": lambda value: math.log(value) if value > 0 else None,
    "LOG10": lambda value: math.log10(value) if value > 0 else None,
    "GREATEST": lambda *values: max(_non_null(values), key=value_key, default=None),
    "LEAST": lambda *values: min(_non_null(values), key=value_key, default=None),
    "COALESCE": lambda *values: next(iter(_non_null(values)), None),
    "NULLIF": lambda left, right: None if right is not None and left == right else left,
    "||": lambda left, right: left + right,
    "CONCAT": lambda *values: "".join(values),
    "UPPER": str.upper,
    "LOWER": str.lower,
    "LENGTH": len,
    "TRIM": _trim_spaces,
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
"""Implementations by function name; a test checks that every function has one."""
