"""From a text to a query: `compile` chooses by the language what becomes of it."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, overload

from transom.algebra.composed import rewritten
from transom.algebra.operator import AnyOperator
from transom.catalog.catalog import Catalog
from transom.errors import ParseError, QueryWarning, Span, TransomError, UsageError
from transom.languages.known import composed, language_called, language_of, translated
from transom.languages.over_rdf import ENDINGS
from transom.model.types import Value
from transom.optimizer.pipeline import check_names
from transom.optimizer.pipeline import optimize as optimize_plan
from transom.query import Query
from transom.reference.expressions import constant

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.rdf_query import RdfQuery

OVER_RDF = {"sparql": ENDINGS}
"""The languages over RDF, with the endings of their files; the others answer with rows."""


def over_rdf(file: Path) -> str | None:
    """The language over RDF that the ending of a file names."""
    ending = file.suffix.removeprefix(".").lower()
    return next((language for language, endings in OVER_RDF.items() if ending in endings), None)


@overload
def compile(
    text: str,
    catalog: Catalog,
    *,
    language: Literal["sneeql", "cql"] | None = None,
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str | None = None,
) -> Query: ...
@overload
def compile(text: str, catalog: Catalog, *, language: Literal["sparql"], name: str | None = None) -> RdfQuery: ...
def compile(
    text: str,
    catalog: Catalog,
    *,
    language: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str | None = None,
) -> Query | RdfQuery:
    """A query from its text: parsed, translated, checked against the catalog and optimised; SPARQL gives an RdfQuery.

    `language` is sneeql, cql or sparql; if it is not given, the ending of `name` tells sneeql from cql. `parameters`
    are the values of names that no source has. `without` switches optimizer rules off by name, `optimize=False` all of
    them. `name` is what messages call the text, for example its file name. Errors in the text are QueryErrors that
    point into it. What is legal and probably not meant is a QueryWarning, and is in the `warnings` of the query.
    """
    if not isinstance(text, str) or not isinstance(catalog, Catalog):
        raise UsageError("compile takes the text of a query and a catalog", hint="Catalog.load reads one from a file")
    if language is not None and language in OVER_RDF:
        if without or parameters:
            hint = "leave out `without` and `parameters`"
            raise UsageError("SPARQL has no optimizer rules and no parameters", hint=hint)
        query = _over_rdf(text, catalog, language, name)
        query = replace(query, warnings=(*query.warnings, *query.undeclared()))
        _warn(query.warnings, text, name)
        return query
    if isinstance(without, str) or not all(isinstance(rule, str) for rule in without):
        raise UsageError("without takes a list of rule names", hint="write without=['prune_columns']")
    check_names(without)
    spoken = language_of(name) if language is None else language_called(language)
    if parameters is not None and not isinstance(parameters, Mapping):
        raise UsageError("parameters are values by name", hint="write parameters={'mycar': 'o1'}")
    with _errors_within(text, name):
        syntax = spoken.parse(text)
        translation = translated(spoken, syntax, catalog, parameters)
        steps = optimize_plan(translation.plan, constant, without=without) if optimize else []
    _warn(translation.warnings, text, name)
    return Query(text, spoken.name, catalog, syntax, translation.plan, tuple(steps), translation.warnings, name)


def _with_optimized_rows(op: AnyOperator) -> AnyOperator:
    """Statements made of rows, with the plan of the rows after the optimizer."""
    from transom.algebra.composed_sources import RowStatements

    if not isinstance(op, RowStatements):
        return op
    steps = optimize_plan(op.input, constant)
    return replace(op, input=steps[-1].plan) if steps else op  # type: ignore[arg-type]


def _warn(remarks: Sequence[Remark], text: str, name: str | None) -> None:
    """Issue warnings about a query to the caller of `compile`."""
    for remark in remarks:
        warnings.warn(remark.line(text, name), QueryWarning, stacklevel=3)


def _over_rdf(text: str, catalog: Catalog, language: str, name: str | None) -> RdfQuery:
    from transom.languages.sparql.parse import parse
    from transom.languages.sparql.translate import translate
    from transom.rdf_query import RdfQuery

    with _errors_within(text, name):
        syntax = parse(text)
        translation = translate(syntax, catalog)
        plan = rewritten(composed(translation.plan, catalog), _with_optimized_rows)
    return RdfQuery(text, language, catalog, syntax, plan, translation.warnings, name)


@contextmanager
def _errors_within(text: str, name: str | None) -> Iterator[None]:
    """Let errors point into the text of the query."""
    try:
        yield
    except TransomError as error:
        raise error.within(text, name) from None
    except RecursionError:
        raise ParseError(
            "nested too deeply",
            span=Span(0, len(text)),
            text=text,
            source=name,
            hint="compute the inner parts in a subquery",
        ) from None
