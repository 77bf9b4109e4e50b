"""Parse the times of `--start` and `--until`, and print warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from transom.cli.files import QuerySource, load_query
from transom.cli.output import fail_on_warnings, warn
from transom.errors import RunWarning
from transom.model.run_time import parse_time

if TYPE_CHECKING:
    from pathlib import Path

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
            warn(f"warning: {warning.message}")


def query_warnings(query: Query[Any]) -> list[str]:
    """The warnings of a query as lines, and one more if its state is unbounded."""
    lines = [remark.line(query.text, query.name, "warning: ") for remark in query.warnings]
    return lines if query.state.bounded else [*lines, f"warning: {unbounded_warning(query)}"]


def unbounded_warning(query: Query[Any]) -> str:
    """The warning about a query whose state has no bound."""
    return f"this query needs memory without limit: {query.state.formula}"


def print_query_warnings(query: Query[Any], *, err: bool = True) -> None:
    """Print the warnings of a query, on stderr if `err`, else on stdout."""
    for line in query_warnings(query):
        warn(line, err=err)


def load_checked(
    source: QuerySource, catalog: Path | None, parameters: list[str] | None, without: list[str] | None = None
) -> Query[Any]:
    """Compile a query and print its warnings; with `--strict` a warning ends the command before it reads any data."""
    query = load_query(source, catalog, parameters, without)
    print_query_warnings(query)
    fail_on_warnings()
    return query
