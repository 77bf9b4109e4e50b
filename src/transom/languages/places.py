"""Where in the text of a SNEEql or CQL query something is written that an engine does not run."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass

from transom.errors import Span
from transom.languages.cql.scope import TRACKS
from transom.languages.cql.syntax import Source as CqlSource
from transom.languages.sneeql.syntax import Source as SneeqlSource
from transom.languages.sql.syntax import NOWHERE, CastTo, Function, TypedConstant
from transom.languages.sql.translate import AGGREGATES


def place_of(query: object, operator: str, extents: Collection[str] = ()) -> Span | None:
    """The first place of what an operator is written as, where it concerns one of `extents` if there are any."""
    found = (_place(part, operator, extents) for part in _parts(query))
    return next((span for span in found if span not in (None, NOWHERE)), None)


def _place(part: object, operator: str, extents: Collection[str]) -> Span | None:
    if operator == "Literal":
        return part.span if isinstance(part, CastTo | TypedConstant) else None
    if operator == "TrackAggregation":
        return part.span if isinstance(part, Function) and part.name in TRACKS else None
    if not isinstance(part, SneeqlSource | CqlSource):
        return None
    nested = not isinstance(part.input, str)
    if operator == "Window" and nested and part.window is not None:
        return part.window.span
    if operator == "WindowJoin" and nested and any(map(_aggregates, _parts(part.input))):
        return part.input_span
    return part.input_span if part.input in extents else None


def _aggregates(part: object) -> bool:
    return isinstance(part, Function) and part.name in AGGREGATES


def _parts(value: object) -> Iterator[object]:
    """A tree and everything in it, from the top."""
    if isinstance(value, tuple):
        for part in value:
            yield from _parts(part)
    elif is_dataclass(value) and not isinstance(value, Span | type):
        yield value
        for field in fields(value):
            yield from _parts(getattr(value, field.name))
