"""Parameters of a query: variables that nothing binds, and that have a value (C8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from transom.errors import ParseError, Span, UsageError
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.remarks import giving
from transom.languages.sparql.scope import found
from transom.languages.sparql.written import read_node
from transom.model.rdf.terms import DATE_TIME, DOUBLE
from transom.model.types import Value

Values = Mapping[str, terms.IriName | terms.LiteralTerm]


def with_parameters(query: syntax.Query, given: Mapping[str, Value], declared: Mapping[str, Value]) -> syntax.Query:
    """The query with the values of its parameters: those that are given, else those that the catalog declares."""
    bound = {variable.name for variable in giving(query.form)}
    free = {variable.name for variable in found(query.form, terms.Variable)} - bound
    for name in given:
        if name not in free:
            raise UsageError(
                f"the query has no parameter {name}",
                detail=f"a pattern of the query binds ?{name}" if name in bound else None,
                hint=f"a parameter is a variable that nothing binds: it has {', '.join(sorted(free)) or 'none'}",
            )
    values = {name: _node(value) for name, value in {**declared, **given}.items() if name in free}
    return _replaced(query, values) if values else query


def _replaced(part: Any, values: Values) -> Any:
    """A part of a syntax tree with values in place of variables; a column of SELECT keeps its name."""
    match part:
        case terms.Variable(name=name) if name in values:
            return replace(values[name], span=part.span)
        case tuple():
            return tuple(_replaced(one, values) for one in part)
        case syntax.Select(items=items):
            return _with_fields(replace(part, items=tuple(_column(one, values) for one in items)), values)
        case syntax.Named():
            return replace(part, expression=_replaced(part.expression, values))
        case _ if is_dataclass(part) and not isinstance(part, Span | type):
            return _with_fields(part, values)
        case _:
            return part


def _column(item: terms.Variable | syntax.Named, values: Values) -> terms.Variable | syntax.Named:
    if isinstance(item, terms.Variable) and item.name in values:
        return syntax.Named(values[item.name], item, item.span)
    return item


def _with_fields(part: Any, values: Values) -> Any:
    return replace(part, **{field.name: _replaced(getattr(part, field.name), values) for field in fields(part)})


def _node(value: Value) -> terms.IriName | terms.LiteralTerm:
    """A value as a term: text as SPARQL writes terms, and if it writes none, a string."""
    match value:
        case bool():
            return terms.Boolean(value)
        case int() | Decimal():
            return terms.Number(format(value, "f") if isinstance(value, Decimal) else str(value))
        case float():
            digits = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(value), repr(value))
            return terms.Text(digits, datatype=terms.Iri(DOUBLE))
        case datetime():
            return terms.Text(value.isoformat().replace("+00:00", "Z"), datatype=terms.Iri(DATE_TIME))
        case str():
            try:
                node = read_node(value)
            except ParseError:
                return terms.Text(value)
            return terms.Text(value) if isinstance(node, terms.BlankNode) else node
        case _:
            raise UsageError(f"{value!r} is no term", hint="a parameter is a number, a truth value, an instant or text")
