"""Parse the times of `--start` and `--until`, and print warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Any

from transom.cli.arguments import TimeStyle
from transom.cli.files import QuerySource, load_query
from transom.cli.output import STRICT_MESSAGE, is_quiet, is_strict, warn
from transom.errors import QueryError, RunWarning, UsageError
from transom.model.run_time import parse_time

if TYPE_CHECKING:
    from pathlib import Path

    from transom.model.view import PrintOptions
    from transom.query import Query

_GRAPH_FORMATS = ("nq", "jsonld")
"""Formats in which the interval of a triple is the name of a graph."""


def parse_tick(text: str | None, option: str, query: Query[Any]) -> int | None:
    """Parse the time of an option to a tick; it is a number, a duration, ISO 8601 text or `now`; None if absent.

    A duration counts from the epoch.
    """
    return None if text is None else parse_time(text, option, query.catalog.calendar)


def parse_first_shown(text: str | None, query: Query[Any]) -> int:
    """Parse `--from`, a tick or a time (rounded up to a tick), to the first tick to print; 0 without `--from`."""
    if text is None:
        return 0
    try:
        instant = None if text.isdecimal() else datetime.fromisoformat(text)
    except ValueError:
        instant = None
    if instant is None:
        return parse_tick(text, "--from", query) or 0
    return max(0, query.catalog.calendar.first_tick_from(instant))


def refuse_time_style(time: TimeStyle | None, answer_format: str, *, is_folder: bool = False) -> None:
    """Raise UsageError if `--time` is given but `answer_format` has fixed times; `is_folder`: a replay's into a folder.

    `answer_format` is a format of `simulate`, or with `is_folder` what a replay writes into a folder.
    """
    if time is None or answer_format == "json" or (not is_folder and answer_format not in _GRAPH_FORMATS):
        return
    is_graph = answer_format in _GRAPH_FORMATS
    detail = (
        "names of graphs contain ticks" if is_graph else "files contain event times, the instants at which ticks end"
    )
    raise UsageError(f"--time does not change {answer_format} output", detail=detail, hint="leave out --time")


def answer_view(
    query: Query[Any], time: TimeStyle | None, first_shown: str | None = None, *, show_empty_windows: bool = True
) -> PrintOptions:
    """Build print options: instants or ticks (`time` None: instants if there is an epoch), from `first_shown` on.

    The choices are those of `--time`, `--from` and `--no-empty`.
    """
    from transom.model.view import PrintOptions

    calendar = query.catalog.calendar
    instants = calendar.has_epoch if time is None else time is TimeStyle.instant
    return PrintOptions(calendar if instants else None, parse_first_shown(first_shown, query), show_empty_windows)


@contextmanager
def report_warnings() -> Iterator[None]:
    """Open a context that collects RunWarnings, and print each as one line when the block has ended."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", RunWarning)
        yield
    for warning in caught:
        if issubclass(warning.category, RunWarning):
            warn(f"warning: {warning.message}")


def query_warnings(query: Query[Any]) -> list[str]:
    """Return the warnings about a query as lines, with one more if its state is unbounded or very large."""
    lines = [remark.line(query.text, query.name, "warning: ") for remark in query.warnings]
    return [*lines, *(f"warning: {text}" for _, text in state_warnings(query))]


def state_warnings(query: Query[Any]) -> Iterator[tuple[str, str]]:
    """Yield a warning about the state of a query, as a code and a text, if it has no bound or a very large one."""
    state, unit = query.state, query.semantics.unit
    if not state.bounded:
        yield "UnboundedState", f"this query needs memory without limit: {state.formula}"
    elif state.is_excessive:
        size = f"this query may have to keep {state.rows:,} {unit} in memory"
        remedy = "shorten the windows, or declare smaller rates and sizes if the data keep them"
        yield "LargeState", f"{size}; the largest part is {state.largest}; {remedy}"


def short_warnings(query: Query[Any]) -> list[str]:
    """Return the warnings about a query as short lines, for commands that evaluate or run it.

    A very large state bound gives one line without its formula, and none if the command is quiet and not strict.
    """
    if not query.state.is_excessive:
        return query_warnings(query)
    lines = [remark.line(query.text, query.name, "warning: ") for remark in query.warnings]
    if is_quiet() and not is_strict():
        return lines
    magnitude = len(str(query.state.rows)) - 1
    size = f"more than 10^{magnitude} {query.semantics.unit} in memory"
    return [*lines, f"warning: this query may have to keep {size}; `transom check` says why"]


def load_checked(
    source: QuerySource,
    catalog: Path | None,
    name_value_pairs: list[str] | None,
    disabled_rules: list[str] | None = None,
) -> Query[Any]:
    """Compile a query with parameters NAME=VALUE and print its warnings; `--strict` turns them into QueryError.

    So the command fails before any data is read.
    """
    query = load_query(source, catalog, name_value_pairs, disabled_rules)
    lines = short_warnings(query)
    for line in lines:
        warn(line)
    if is_strict() and lines:
        raise QueryError(STRICT_MESSAGE, source=query.name)
    return query
