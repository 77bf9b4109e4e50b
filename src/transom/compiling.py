"""From a text to a query."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from transom.algebra.composed import Behind, rewritten
from transom.algebra.operator import Operator
from transom.catalog.catalog import Catalog
from transom.errors import ParseError, QueryWarning, Span, TransomError, UsageError
from transom.languages.known import language_called, language_of, translated
from transom.model.answer import Answer
from transom.model.types import Value
from transom.optimizer.pipeline import check_names
from transom.optimizer.pipeline import optimize as optimize_plan
from transom.query import Query
from transom.reference.expressions import constant

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.model.rdf.answer import RdfAnswer


@overload
def compile(
    text: str,
    catalog: Catalog,
    *,
    language: Literal["sparql"],
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str | None = None,
) -> Query[RdfAnswer]: ...
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
) -> Query[Answer]: ...
def compile(
    text: str,
    catalog: Catalog,
    *,
    language: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str | None = None,
) -> Query[Any]:
    """A query from its text: parsed, translated, checked against the catalog and optimised.

    `language` is sneeql, cql or sparql; if it is not given, the ending of `name` says it. `parameters`
    are the values of names that no source has. `without` switches optimizer rules off by name, `optimize=False` all of
    them. `name` is what messages call the text, for example its file name. Errors in the text are QueryErrors that
    point into it. What is legal and probably not meant is a QueryWarning, and is in the `warnings` of the query.
    """
    if not isinstance(text, str) or not isinstance(catalog, Catalog):
        raise UsageError("compile takes the text of a query and a catalog", hint="Catalog.load reads one from a file")
    spoken = language_of(name) if language is None else language_called(language)
    if isinstance(without, str) or not all(isinstance(rule, str) for rule in without):
        raise UsageError("without takes a list of rule names", hint="write without=['prune_columns']")
    if without and not spoken.optimized:
        raise UsageError(f"{spoken.name} has no optimizer rules", hint="leave out `without`")
    check_names(without)
    if parameters is not None and not isinstance(parameters, Mapping):
        raise UsageError("parameters are values by name", hint="write parameters={'mycar': 'o1'}")
    with _errors_within(text, name):
        syntax = spoken.parse(text)
        translation = translated(spoken, syntax, catalog, parameters)
        if optimize and not spoken.optimized:
            translation = replace(translation, plan=rewritten(translation.plan, _with_optimized_rows))
        steps = optimize_plan(translation.plan, constant, without=without) if optimize and spoken.optimized else ()
    query: Query[Any]
    query = Query(text, spoken.name, catalog, syntax, translation.plan, tuple(steps), translation.warnings, name)
    query = replace(query, warnings=(*query.warnings, *query.semantics.remarks()))
    _warn(query.warnings, text, name)
    return query


def _with_optimized_rows(op: Operator) -> Operator:
    """Statements made of rows, with the plan of the rows after the optimizer."""
    from transom.algebra.composed_sources import RowStatements

    if not isinstance(op, RowStatements):
        return op
    steps = optimize_plan(op.rows, constant)
    return replace(op, inner=Behind(steps[-1].plan)) if steps else op


def _warn(remarks: Sequence[Remark], text: str, name: str | None) -> None:
    """Issue warnings about a query to the caller of `compile`."""
    for remark in remarks:
        warnings.warn(remark.line(text, name), QueryWarning, stacklevel=3)


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
