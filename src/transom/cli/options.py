"""Parse the times of `--start` and `--until`, and print warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from transom.cli.output import say
from transom.errors import RunWarning, UsageError
from transom.model.time import Calendar, read_duration

if TYPE_CHECKING:
    from transom.query import Query


def parse_tick(text: str | None, option: str, query: Query[Any]) -> int | None:
    """Parse a time `option`'s `text` to a tick: number, duration since the epoch, ISO 8601 or `now`; None if absent."""
    calendar = query.catalog.calendar
    if text is None:
        return None
    if text == "now":
        return calendar.tick_of(datetime.now(UTC))
    if text.isdecimal() and text.isascii() and len(text) < 19:
        return int(text)
    ticks = parse_duration_or_instant(text, calendar)
    if ticks is None:
        raise UsageError(
            f"{option} {text!r} is no number of ticks",
            hint=f"write 600, '10 min', now or an ISO 8601 instant; a tick lasts {calendar.describe(1)}",
        )
    return ticks


def parse_duration_or_instant(text: str, calendar: Calendar) -> int | None:
    """The tick of a duration since the epoch or of an ISO 8601 instant; None if the text is neither."""
    try:
        return calendar.ticks(read_duration(text))
    except ValueError:
        pass
    try:
        tick = calendar.tick_of(datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        return None
    return tick if tick >= 0 else None


@contextmanager
def report_warnings() -> Iterator[None]:
    """Print each RunWarning that the block issues as one line, after the block has ended."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, RunWarning):
            say(f"warning: {warning.message}", "yellow", err=True)


def print_query_warnings(query: Query[Any], *, err: bool = True) -> None:
    """Print the warnings of a query, and one more if its state is unbounded; on stderr if `err`, else on stdout."""
    for remark in query.warnings:
        say(remark.line(query.text, query.name, "warning: "), "yellow", err=err)
    if not query.state.bounded:
        say(f"warning: this query needs memory without limit: {query.state.formula}", "yellow", err=err)
