"""Text positions of SPARQL constructs that an engine cannot run, for error messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from transom.errors import Span
from transom.languages.sparql.syntax import (
    Aggregate,
    BuiltinCall,
    Construct,
    ElementWindow,
    Exists,
    FixedWindow,
    Modifiers,
    RangeWindow,
    SparqlQuery,
)
from transom.languages.sparql.terms import RepeatedPath
from transom.languages.sql.syntax import NOWHERE

_KINDS: dict[str, tuple[type, ...]] = {
    "Aggregation": (Aggregate,),
    "PathPattern": (RepeatedPath,),
    "Exists": (Exists,),
    "Construct": (Construct,),
    "RangeWindow": (RangeWindow, FixedWindow),
    "ElementWindow": (ElementWindow,),
}
"""The syntax nodes that become each operator."""


def operator_span(query: SparqlQuery, operator: str) -> Span | None:
    """Return the span of the first syntax node that becomes the plan operator named `operator`, or None.

    A call of a function of that name counts as well.
    """
    for node in _walk_syntax(query):
        span = getattr(node, "span", NOWHERE)
        if operator == "Aggregation" and isinstance(node, Modifiers) and node.group_by:
            span = node.group_by[0].span
        elif not isinstance(node, _KINDS.get(operator, ())) and not _is_call_of(node, operator):
            continue
        if span != NOWHERE:
            return span
    return None


def _is_call_of(node: object, function: str) -> bool:
    """Whether a syntax node is a call of the built-in function named `function`."""
    return isinstance(node, BuiltinCall) and node.name == function.upper()


def _walk_syntax(tree: object) -> Iterator[object]:
    """Yield every node of a SPARQL syntax tree, parents before children."""
    if isinstance(tree, tuple):
        for child in tree:
            yield from _walk_syntax(child)
    elif is_dataclass(tree) and not isinstance(tree, Span):
        yield tree
        for field in fields(tree):
            yield from _walk_syntax(getattr(tree, field.name))
