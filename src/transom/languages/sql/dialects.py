"""Functions of other dialects, and hints on what to write instead."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from dataclasses import dataclass

from transom.algebra.expressions.functions import SPACE_FUNCTIONS
from transom.errors import Span
from transom.languages.sql.syntax import FunctionCall, SqlLiteral
from transom.model.time import read_duration

FOREIGN_FUNCTIONS = {
    **dict.fromkeys(
        ("STDDEV", "STDEV", "VARIANCE", "VAR", "MEDIAN", "MODE", "FIRST", "LAST", "FIRST_VALUE", "LAST_VALUE"),
        "aggregates are COUNT, SUM, AVG, MIN and MAX",
    ),
    **dict.fromkeys(("MEAN", "AVERAGE"), "did you mean AVG?"),
    **dict.fromkeys(("NVL", "IFNULL", "ISNULL"), "did you mean COALESCE?"),
    "NOW": "a query has no wall clock: write tick, the time of the row",
}
"""Functions of other dialects, and hints on what to write instead."""

WINDOW_FUNCTIONS = frozenset({"WINDOW", "TUMBLE", "HOP", "CUMULATE", "SESSION", "SESSION_WINDOW"})
"""Functions that make windows in Spark SQL and Flink SQL."""


@dataclass(frozen=True, slots=True)
class HalfOpenWindow:
    """A window of Spark SQL or Flink SQL, which includes its start and excludes its end; lengths in microseconds."""

    width: int
    slide: int


def function_hint(name: str, known_functions: Iterable[str], known_aggregates: Collection[str]) -> str:
    """Return a hint for an unknown function: a similar function, or what replaces a function of another dialect.

    >>> function_hint("MEAN", [], [])
    'did you mean AVG?'
    """
    if name in FOREIGN_FUNCTIONS:
        return FOREIGN_FUNCTIONS[name]
    if name.startswith("ST_") or name == "INSIDE" or name in SPACE_FUNCTIONS:
        return "CQL has spatial functions such as INSIDE, WITHIN and DISTANCE; SNEEql has none"
    matches = difflib.get_close_matches(name, [*known_functions, *known_aggregates], 1, 0.6)
    return f"did you mean {matches[0]}?" if matches else "docs/sneeql.md lists all functions, under Functions"


def window_of_call(call: FunctionCall) -> HalfOpenWindow | None:
    """Return the window of a Spark SQL call such as `window(time, '10 minutes', '5 minutes')`; None for other calls."""
    if call.name != "WINDOW":
        return None
    try:
        lengths = [read_duration(a.value) for a in call.arguments[1:] if isinstance(a, SqlLiteral)]  # type: ignore[arg-type]
    except (AttributeError, ValueError):
        return None
    return HalfOpenWindow(lengths[0], lengths[-1]) if len(lengths) in (1, 2) and lengths[-1] else None


def name_span(call: FunctionCall) -> Span:
    """Return the span of the function's name in a call."""
    return Span(call.span.start, call.span.start + len(call.name))
