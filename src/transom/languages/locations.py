"""Text positions of SNEEql and CQL constructs that an engine cannot run, for error messages."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import fields, is_dataclass

from transom.errors import Span
from transom.languages.cql.scope import TRACKS
from transom.languages.cql.syntax import Source as CqlSource
from transom.languages.sneeql.syntax import Source as SneeqlSource
from transom.languages.sql.syntax import NOWHERE, CastTo, FunctionCall, TypedLiteral
from transom.languages.sql.translate import AGGREGATES


def operator_span(query: object, operator: str, extents: Collection[str] = ()) -> Span | None:
    """Return the span of the first syntax node that becomes operator `operator` or reads one of `extents`, or None."""
    spans = (_span_in(node, operator, extents) for node in _walk_syntax(query))
    return next((span for span in spans if span not in (None, NOWHERE)), None)


def _span_in(node: object, operator: str, extents: Collection[str]) -> Span | None:
    """Return a node's span if it becomes the plan operator called `operator` or reads one of `extents`, else None."""
    if operator == "Constant":
        return node.span if isinstance(node, CastTo | TypedLiteral) else None
    if operator == "TrackAggregation":
        return node.span if isinstance(node, FunctionCall) and node.name in TRACKS else None
    if not isinstance(node, SneeqlSource | CqlSource):
        return None
    if operator == "PeriodWindow":
        return node.window.span if isinstance(node, CqlSource) and node.window and node.window.zone else None
    nested = not isinstance(node.input, str)
    if operator == "Window" and nested and node.window is not None:
        return node.window.span
    if operator == "WindowJoin" and nested and any(map(_is_aggregate_call, _walk_syntax(node.input))):
        return node.input_span
    return node.input_span if node.input in extents else None


def _is_aggregate_call(node: object) -> bool:
    """Whether a syntax node is a call of an aggregate function."""
    return isinstance(node, FunctionCall) and node.name in AGGREGATES


def _walk_syntax(tree: object) -> Iterator[object]:
    """Yield every node of a SNEEql or CQL syntax tree, parents before children."""
    if isinstance(tree, tuple):
        for child in tree:
            yield from _walk_syntax(child)
    elif is_dataclass(tree) and not isinstance(tree, Span | type):
        yield tree
        for field in fields(tree):
            yield from _walk_syntax(getattr(tree, field.name))
