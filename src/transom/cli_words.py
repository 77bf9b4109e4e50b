"""What people write on the command line as times, and warnings as they are shown."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from transom.cli_lines import say
from transom.errors import RunWarning, UsageError
from transom.model.time import Calendar, read_duration

if TYPE_CHECKING:
    from transom.query import Query


def tick_of(words: str | None, option: str, query: Query[Any]) -> int | None:
    """The tick that `--until` or `--start` names."""
    calendar = query.catalog.calendar
    if words is None:
        return None
    if words == "now":
        return calendar.tick_of(datetime.now(UTC))
    if words.isdecimal() and words.isascii() and len(words) < 19:
        return int(words)
    ticks = length_or_instant(words, calendar)
    if ticks is None:
        raise UsageError(
            f"{option} {words!r} is no number of ticks",
            hint=f"write 600, '10 min', now or an ISO 8601 instant; a tick lasts {calendar.describe(1)}",
        )
    return ticks


def length_or_instant(words: str, calendar: Calendar) -> int | None:
    """The tick after a length of time from the epoch, or the one that an instant lies in."""
    try:
        return calendar.ticks(read_duration(words))
    except ValueError:
        pass
    try:
        tick = calendar.tick_of(datetime.fromisoformat(words))
    except (ValueError, OverflowError):
        return None
    return tick if tick >= 0 else None


@contextmanager
def said_warnings() -> Iterator[None]:
    """Say what is warned of while a query is answered, each in one line."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        yield
    for one in caught:
        if issubclass(one.category, RunWarning):
            say(f"warning: {one.message}", "yellow", err=True)


def show_warnings(query: Query[Any], *, err: bool = True) -> None:
    """What is legal and probably not meant."""
    for remark in query.warnings:
        say(remark.line(query.text, query.name, "warning: "), "yellow", err=err)
    if not query.state.bounded:
        say(f"warning: this query needs memory without limit: {query.state.formula}", "yellow", err=err)
