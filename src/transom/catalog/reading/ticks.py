"""Read durations, rates, instants and values as a catalog writes them, in ticks (S3, S36, E2)."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from decimal import Decimal

from transom.catalog.reading.wording import display_value
from transom.model.time import Calendar, Rate, read_duration
from transom.model.types import INTEGER_MAX, Type, Value, coerce_value, is_value_of, parse_value

_LONGEST_LENGTH = 80
_PYTHON_TYPES: dict[Type, type[int | str]] = {
    Type.INTEGER: int,
    Type.TIME: int,
    Type.STRING: str,
    Type.BOOLEAN: bool,
}
"""The Python types of values that need no conversion, the most common case."""

_RATE = re.compile(r"\s*([0-9]{1,15})\s*(?:per\b|/)\s*(.*)\Z", re.IGNORECASE | re.DOTALL)
_TICK = re.compile(r"\s*[-+]?[0-9]{1,25}\s*\Z", re.ASCII)  # the spaces that int() accepts: not \x1c to \x1f


ISO = "ISO 8601 such as 2009-03-01T12:00:00Z"
_A_TICK = f"write a whole number, or {ISO}"
_HINTS: dict[Type, str] = {
    **dict.fromkeys((Type.INTEGER, Type.TIME), "write a whole number of at most 64 bits"),
    **dict.fromkeys((Type.FLOAT, Type.DECIMAL), "write a number such as 1.5"),
    Type.BOOLEAN: "write true or false",
    Type.TIMESTAMP: f"write {ISO}",
    Type.STRING: "write text",
}


class HintedError(ValueError):
    """An invalid tick, duration or term, with a hint."""

    def __init__(self, message: str, hint: str) -> None:
        """Create an error about a value, with a message and a hint for users."""
        super().__init__(message)
        self.hint = hint


def accepted_hint(kind: Type) -> str:
    """Return a hint for users that shows how to write a value of a type."""
    return _HINTS[kind]


def read_microseconds(text: str) -> int:
    """Parse a duration such as `5 min` to microseconds; raise ValueError if it is invalid."""
    try:
        if len(text) > _LONGEST_LENGTH:
            raise ValueError("too long to be a length of time")
        return read_duration(text)
    except ValueError as error:
        raise ValueError(f"{display_value(text)} is not a length of time") from error


def read_length(text: str, calendar: Calendar) -> int:
    """Parse a duration to ticks, 0 or more; raise ValueError if it is invalid or not a whole number of ticks.

    >>> read_length("5 min", Calendar())
    300
    """
    ticks = calendar.ticks(read_microseconds(text))
    if ticks is None:
        tick_length = calendar.describe(1)
        raise HintedError(
            f"{display_value(text)} is not a whole number of ticks of {tick_length}",
            f"write a multiple of {tick_length}, or shorten `tick`",
        )
    if ticks > INTEGER_MAX:
        raise ValueError(f"{display_value(text)} is longer than {INTEGER_MAX} ticks")
    return ticks


def read_interval(text: str, calendar: Calendar) -> int:
    """Parse a duration to ticks, 1 or more; raise ValueError if it is invalid or not a whole number of ticks."""
    ticks = read_length(text, calendar)
    if ticks < 1:
        raise ValueError(f"{display_value(text)} is shorter than one tick")
    return ticks


def read_rate(text: str, calendar: Calendar) -> Rate:
    """Parse a rate such as `20 per min`, `20/min` or `20 per 5 s`; raise ValueError if it is invalid.

    >>> read_rate("20 per 5 s", Calendar())
    Rate(rows=20, ticks=5)
    """
    match = _RATE.match(text)
    if not match:
        raise ValueError(f"{display_value(text)} is not a rate")
    rows = int(match[1])
    if rows < 1:
        raise ValueError("a rate is one row or more")
    return Rate(rows, read_interval(match[2], calendar))


def read_instant(value: object) -> datetime:
    """Convert ISO 8601 text, a date or a datetime to an instant in UTC; without a zone, UTC is assumed.

    ValueError if it is invalid.
    """
    if isinstance(value, str):
        value = _from_iso(value)
    elif isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)
    if not isinstance(value, datetime):
        raise ValueError(f"{display_value(value)} is not an instant")
    try:
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{display_value(value)} lies outside the calendar") from error


def is_tick(text: str) -> bool:
    """Whether a text is a whole number, and so a tick rather than an instant."""
    return _TICK.match(text) is not None


def read_tick(value: object, calendar: Calendar) -> int:
    """Convert a whole number, its text, or an instant to a tick; raise HintedError if it is invalid or before tick 0.

    >>> read_tick("1970-01-01T00:01:00Z", Calendar())
    60
    """
    if isinstance(value, str) and is_tick(value):
        tick = int(value)
    elif isinstance(value, int) and not isinstance(value, bool):
        tick = value
    elif isinstance(value, float) and value.is_integer():
        tick = int(value)
    elif isinstance(value, str | date):
        try:
            tick = calendar.tick_of(read_instant(value))
        except ValueError as error:
            raise HintedError(str(error), _A_TICK) from error
        if tick < 0:
            raise HintedError(f"{display_value(value)} lies before tick 0", "set `epoch` in the catalog earlier")
    else:
        raise HintedError(f"{display_value(value)} is neither a tick nor an instant", _A_TICK)
    if tick < 0:
        raise HintedError(f"{display_value(value)} lies before tick 0", "ticks are whole numbers from 0")
    if tick > INTEGER_MAX:
        raise HintedError(f"{display_value(value)} is larger than any tick", f"the largest is {INTEGER_MAX}")
    return tick


def read_value(value: object, kind: Type) -> Value:
    """Convert a value in a catalog to a type; raise ValueError if it does not fit.

    Instants and decimals may be text.

    >>> read_value("2.50", Type.DECIMAL)
    Decimal('2.5')
    """
    if type(value) is _PYTHON_TYPES.get(kind) and is_value_of(value, kind):
        return value
    try:
        if kind is Type.TIMESTAMP and isinstance(value, str | date):
            return read_instant(value)
        if kind is Type.DECIMAL and isinstance(value, str):
            return parse_value(value, kind)
        if kind in (Type.INTEGER, Type.TIME) and isinstance(value, Decimal) and value == value.to_integral_value():
            return coerce_value(int(value), kind)
        return coerce_value(value, kind)
    except (ValueError, ArithmeticError) as error:
        raise ValueError(f"{display_value(value)} is not of type {kind}") from error


def _from_iso(text: str) -> datetime:
    """Parse ISO 8601 text; raise ValueError if it is invalid."""
    try:
        return datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ValueError(f"{display_value(text)} is not an instant") from error
