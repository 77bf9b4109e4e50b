"""Times of a run, such as `until`: the command line and Python read them with the same function."""

from __future__ import annotations

import operator
from datetime import UTC, date, datetime, time, timedelta
from typing import SupportsIndex, TypeAlias

from transom.errors import UsageError
from transom.model.time import MICROSECOND, Calendar, read_duration
from transom.model.types import INTEGER_MAX

TimeLike: TypeAlias = int | str | date | timedelta
"""A time of a run: a tick, a duration since the epoch, or an instant; durations and instants may be text."""


def parse_time(value: TimeLike, name: str, calendar: Calendar) -> int:
    """Convert a tick, duration, instant or text to a tick; UsageError, which names the setting `name`, if invalid.

    A time is a tick, a duration since the epoch (a timedelta, or text such as `10 min`), or an instant (a datetime or
    a date, ISO 8601 text, or `now`). Instants without a time zone are in UTC.

    >>> parse_time("10 min", "until", Calendar()), parse_time(timedelta(hours=1), "until", Calendar())
    (600, 3600)
    """
    try:
        tick = _tick_of_text(value, calendar) if isinstance(value, str) else _tick_of_value(value, calendar)
    except (ValueError, TypeError, OverflowError):
        raise UsageError(
            f"{name}: {value!r} is not a time",
            hint=f"give a tick such as 600, '10 min', now or an ISO 8601 instant; a tick lasts {calendar.describe(1)}",
        ) from None
    if tick is None:
        raise UsageError(
            f"{name}: {value!r} is not a whole number of ticks", hint=f"a tick lasts {calendar.describe(1)}"
        )
    if tick < 0:
        raise UsageError(f"{name}: {value!r} lies before tick 0", hint=f"tick 0 begins at {calendar.epoch.isoformat()}")
    if tick > INTEGER_MAX:
        raise UsageError(f"{name}: {value!r} is larger than any tick", hint=f"the largest is {INTEGER_MAX}")
    return tick


def _tick_of_text(text: str, calendar: Calendar) -> int | None:
    """Convert text (number, duration, instant, `now`) to a tick; None if a duration is no whole number of ticks."""
    text = text.strip()
    if text == "now":
        return calendar.tick_of(datetime.now(UTC))
    if text.isascii() and text.removeprefix("-").isdecimal() and len(text) <= 20:
        return int(text)
    try:
        return calendar.ticks(read_duration(text))
    except ValueError:
        return calendar.tick_of(datetime.fromisoformat(text))


def _tick_of_value(value: object, calendar: Calendar) -> int | None:
    """Convert an integer, duration or instant to a tick; None for a duration of no whole number of ticks."""
    match value:
        case bool():
            raise TypeError("a boolean is no tick")
        case timedelta():
            return calendar.ticks(value // MICROSECOND)
        case datetime():
            return calendar.tick_of(value)
        case date():
            return calendar.tick_of(datetime.combine(value, time(), UTC))
        case SupportsIndex():  # integers, those of numpy included
            return operator.index(value)
        case _:
            raise TypeError("neither a number nor a time")
