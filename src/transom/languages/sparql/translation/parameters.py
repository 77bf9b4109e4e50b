"""Query parameters: variables that nothing in the query binds and that have a value (C8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

from transom.errors import ParseError, Span, UsageError
from transom.languages.sparql import syntax, terms
from transom.languages.sparql.remarks import binding_variables
from transom.languages.sparql.scope import find_nodes
from transom.languages.sparql.single_terms import read_node
from transom.model.rdf.terms import DATE_TIME, DOUBLE
from transom.model.types import Value

ParameterTerms = Mapping[str, terms.IriName | terms.LiteralTerm]


def with_parameters(
    query: syntax.SparqlQuery, passed: Mapping[str, Value], declared: Mapping[str, Value]
) -> syntax.SparqlQuery:
    """Replace a query's unbound variables by parameter values; `passed` values override `declared` ones.

    Raises UsageError if a passed parameter is not such a variable.
    """
    bound = {variable.name for variable in binding_variables(query.form)}
    free = {variable.name for variable in find_nodes(query.form, terms.Variable)} - bound
    for name in passed:
        if name not in free:
            raise UsageError(
                f"the query has no parameter {name}",
                detail=f"a pattern of the query binds ?{name}" if name in bound else None,
                hint=f"a parameter is a variable that nothing binds: it has {', '.join(sorted(free)) or 'none'}",
            )
    values = {name: _value_term(value) for name, value in {**declared, **passed}.items() if name in free}
    return _substitute(query, values) if values else query


def _substitute(part: Any, values: ParameterTerms) -> Any:
    """Replace variables by parameter values everywhere in a syntax node or tuple; SELECT columns keep their names."""
    match part:
        case terms.Variable(name=name) if name in values:
            return replace(values[name], span=part.span)
        case tuple():
            return tuple(_substitute(child, values) for child in part)
        case syntax.Select(items=items):
            return _with_fields(replace(part, items=tuple(_select_column(child, values) for child in items)), values)
        case syntax.AliasedExpression():
            return replace(part, expression=_substitute(part.expression, values))
        case _ if is_dataclass(part) and not isinstance(part, Span | type):
            return _with_fields(part, values)
        case _:
            return part


def _select_column(
    item: terms.Variable | syntax.AliasedExpression, values: ParameterTerms
) -> terms.Variable | syntax.AliasedExpression:
    """Return a SELECT item; a variable that is a parameter becomes `(value AS ?name)`, so that it keeps its name."""
    if isinstance(item, terms.Variable) and item.name in values:
        return syntax.AliasedExpression(values[item.name], item, item.span)
    return item


def _with_fields(part: Any, values: ParameterTerms) -> Any:
    """Return a copy of a syntax node in which parameter values replace the variables of all fields."""
    return replace(part, **{field.name: _substitute(getattr(part, field.name), values) for field in fields(part)})


def _value_term(value: Value) -> terms.IriName | terms.LiteralTerm:
    """Convert a parameter value to an RDF term; text that is not a term such as <iri> becomes a string literal."""
    match value:
        case bool():
            return terms.BooleanLiteral(value)
        case int() | Decimal():
            return terms.NumericLiteral(format(value, "f") if isinstance(value, Decimal) else str(value))
        case float():
            digits = {"inf": "INF", "-inf": "-INF", "nan": "NaN"}.get(repr(value), repr(value))
            return terms.StringLiteral(digits, datatype=terms.Iri(DOUBLE))
        case datetime():
            return terms.StringLiteral(value.isoformat().replace("+00:00", "Z"), datatype=terms.Iri(DATE_TIME))
        case str():
            try:
                node = read_node(value)
            except ParseError:
                return terms.StringLiteral(value)
            return terms.StringLiteral(value) if isinstance(node, terms.BlankNode) else node
        case _:
            raise UsageError(f"{value!r} is not an RDF term", hint="give a number, true or false, an instant or text")
