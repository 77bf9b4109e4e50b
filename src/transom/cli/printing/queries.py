"""The queries of a served project as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import UTC

from transom.cli.output import say
from transom.cli.printing.answers import print_table
from transom.serving.http.reading import ListedChange, ListedQuery, ServedProject, StateSize

HEADER = (
    "query", "status", "since (UTC)", "restarts", "used", "late", "rejected", "lag", "delay", "state", "of at most",
)  # fmt: skip
_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))


def print_queries(served: ServedProject) -> None:
    """Print a served project: a line on all queries, a table of them, and a line for each error."""
    counts = Counter(query.status for query in served.queries)
    ready = "ready" if served.ready else "not ready"
    say(f"{served.address}: {', '.join([ready, *(f'{count} {status}' for status, count in counts.items())])}")
    if served.queries:
        say("")
        print_table([HEADER, *map(_row, served.queries)])
    for line in error_lines(served):
        say(line, "yellow" if line else "")


def error_lines(served: ServedProject) -> Iterator[str]:
    """Yield the first line of each error and of each change; an empty line comes first."""
    errors = [("project", served.error), *((query.name, query.error) for query in served.queries)]
    errors += [(query.name, _change_line(query.change)) for query in served.queries if query.change is not None]
    shown = [f"{name}: {error.splitlines()[0]}" for name, error in errors if error]
    yield from ["", *shown] if shown else []


def _change_line(change: ListedChange) -> str:
    """Return a line on the changed files of a query whose old run goes on."""
    state = "refused, and the old query goes on" if change.status == "refused" else "being checked"
    return f"its changed files are {state}{'' if change.error is None else f': {change.error}'}"


def _row(query: ListedQuery) -> tuple[str, ...]:
    """Return the row of a query; what is not known is empty."""
    rows, state = query.rows, query.state
    return (
        query.name,
        query.status,
        f"{query.since.astimezone(UTC):%Y-%m-%d %H:%M:%S}",
        str(query.restarts),
        *(("", "", "") if rows is None else (f"{rows.used:,}", f"{rows.late:,}", f"{rows.rejected:,}")),
        duration_text(query.lag_seconds),
        duration_text(query.watermark_delay_seconds),
        *(("", "") if state is None else (f"{state.rows:,}", _bound(state))),
    )


def _bound(state: StateSize) -> str:
    """Return the bound of a query's state: a number, or else the word unbounded, or a question mark for a formula."""
    if state.bound_rows is not None:
        return f"{state.bound_rows:,}"
    return "unbounded" if state.bound.startswith("unbounded") else "?"


def duration_text(seconds: float | None) -> str:
    """Return a duration for people, in a unit of which it has at least two; empty if it is not known."""
    if seconds is None:
        return ""
    for length, unit in _UNITS:
        if abs(seconds) >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{seconds:.1f} s" if seconds % 1 else f"{seconds:.0f} s"
