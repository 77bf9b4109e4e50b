"""Parse the times of `--start` and `--until`, and print warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from transom.cli.output import say
from transom.errors import RunWarning
from transom.model.run_time import parse_time

if TYPE_CHECKING:
    from transom.query import Query


def parse_tick(text: str | None, option: str, query: Query[Any]) -> int | None:
    """Parse a time `option`'s `text` to a tick: number, duration since the epoch, ISO 8601 or `now`; None if absent."""
    return None if text is None else parse_time(text, option, query.catalog.calendar)


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
