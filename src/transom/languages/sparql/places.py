"""Where in a query's text stands what an engine does not run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from transom.errors import Span
from transom.languages.sparql.syntax import (
    Aggregate,
    Builtin,
    Construct,
    ElementWindow,
    Exists,
    FixedWindow,
    Modifiers,
    Query,
    RangeWindow,
)
from transom.languages.sparql.terms import Repeat
from transom.languages.sql.syntax import NOWHERE

_KINDS: dict[str, tuple[type, ...]] = {
    "Aggregation": (Aggregate,),
    "PathPattern": (Repeat,),
    "Exists": (Exists,),
    "Construct": (Construct,),
    "RangeWindow": (RangeWindow, FixedWindow),
    "ElementWindow": (ElementWindow,),
}
"""What each operator is written as."""


def place_of(query: Query, operator: str) -> Span | None:
    """The first place in the text of what an operator or a function is written as; None where nothing says it."""
    for found in _parts(query):
        span = getattr(found, "span", NOWHERE)
        if operator == "Aggregation" and isinstance(found, Modifiers) and found.group_by:
            span = found.group_by[0].span
        elif not isinstance(found, _KINDS.get(operator, ())) and not _called(found, operator):
            continue
        if span != NOWHERE:
            return span
    return None


def _called(found: object, function: str) -> bool:
    return isinstance(found, Builtin) and found.name == function.upper()


def _parts(value: object) -> Iterator[object]:
    """A tree and all that it holds, from the top."""
    if isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
    elif is_dataclass(value) and not isinstance(value, Span):
        yield value
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
