"""`compile`: from the text of a query to a Query."""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

from transom.algebra.composition.composed_source import InnerQuery, rewrite_composed
from transom.algebra.operator import Operator
from transom.catalog.catalog import Catalog
from transom.errors import ParseError, QueryWarning, Span, TransomError, UsageError
from transom.languages.registry import language_by_name, language_of_file, translate_query
from transom.model.types import Value
from transom.optimizer.pipeline import check_names
from transom.optimizer.pipeline import optimize as optimize_plan
from transom.query import Query
from transom.reference.expressions import constant_value

if TYPE_CHECKING:
    from transom.languages.sql.select import Remark
    from transom.model.answer import Answer
    from transom.model.rdf.answer import RdfAnswer

CatalogLike: TypeAlias = Catalog | str | os.PathLike[str] | Mapping[str, object]
"""A catalog, the path of its YAML file, or a dictionary of the same shape."""


@overload
def compile(
    text: str,
    catalog: CatalogLike,
    *,
    language: Literal["sparql"],
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str | None = None,
) -> Query[RdfAnswer]:
    """Compile a Streaming SPARQL query; `parameters` bind variables, `without` (optimizer rules) must be empty."""


@overload
def compile(
    text: str,
    catalog: CatalogLike,
    *,
    language: Literal["sneeql", "cql"],
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str | None = None,
) -> Query[Answer]:
    """Compile a query in SNEEql or CQL; `parameters` bind names, and `without` disables optimizer rules."""


@overload
def compile(
    text: str,
    catalog: CatalogLike,
    *,
    language: None = None,
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: None = None,
) -> Query[Answer]:
    """Compile a query in SNEEql; `parameters` bind names, and `without` disables optimizer rules."""


@overload
def compile(
    text: str,
    catalog: CatalogLike,
    *,
    language: None = None,
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str,
) -> Query[Any]:
    """Compile a query in the language that the extension of file `name` means; `parameters` bind names."""


def compile(
    text: str,
    catalog: CatalogLike,
    *,
    language: str | None = None,
    parameters: Mapping[str, Value] | None = None,
    optimize: bool = True,
    without: Collection[str] = (),
    name: str | None = None,
) -> Query[Any]:
    """Compile a query; raise QueryError if it is invalid.

    A part of the query that is legal but suspicious causes a QueryWarning. The attribute `warnings` of the query lists
    these warnings.

    Args:
        text: The text of the query.
        catalog: A Catalog, the path of a YAML file, or a dictionary for `Catalog.from_dict`.
        language: sneeql, cql or sparql. By default, the suffix of `name` decides: .sneeql, .cql, .rq or .sparql. If
            there is no such suffix, the language is SNEEql.
        parameters: Values for names that are not columns (CQL), or for variables that the query does not bind (SPARQL).
        optimize: Whether the optimizer rewrites the plan.
        without: Names of optimizer rules to leave out.
        name: The name of the text in messages, for example its file.

    Examples:
        >>> import transom
        >>> catalog = {"extents": {"a": "pushed (x:integer)"}}
        >>> transom.compile("SELECT x FROM a", catalog)
        <Query sneeql: tagged-tuples (x)>
        >>> transom.compile("SELECT IStream(x) FROM a [RANGE '1 minute']", catalog, name="latest.cql")
        <Query latest.cql: stream (x)>
    """
    if not isinstance(text, str):
        raise UsageError("compile takes the text of a query", hint="read a file with Path('q.sneeql').read_text()")
    catalog = _as_catalog(catalog)
    chosen = language_of_file(name) if language is None else language_by_name(language)
    if isinstance(without, str) or not all(isinstance(rule, str) for rule in without):
        raise UsageError("without takes a list of rule names", hint="write without=['prune_columns']")
    if without and not chosen.optimized:
        raise UsageError(f"{chosen.name} has no optimizer rules", hint="leave out `without`")
    check_names(without)
    if parameters is not None and not isinstance(parameters, Mapping):
        raise UsageError("parameters are values by name", hint="write parameters={'mycar': 'o1'}")
    with _locate_errors(text, name):
        syntax = chosen.parse(text)
        translation = translate_query(chosen, syntax, catalog, parameters)
        if optimize and not chosen.optimized:
            translation = replace(translation, plan=rewrite_composed(translation.plan, _with_optimized_rows))
        steps = (
            optimize_plan(translation.plan, constant_value, without=without) if optimize and chosen.optimized else ()
        )
    query: Query[Any]
    query = Query(text, chosen.name, catalog, syntax, translation.plan, tuple(steps), translation.warnings, name)
    query = replace(query, warnings=(*query.warnings, *query.semantics.remarks()))
    _issue_warnings(query.warnings, text, name)
    return query


def _as_catalog(catalog: CatalogLike) -> Catalog:
    """Return a catalog as it is, or read it from a file or a dictionary; raise UsageError for anything else."""
    if isinstance(catalog, Catalog):
        return catalog
    if isinstance(catalog, Mapping):
        return Catalog.from_dict(catalog)
    if isinstance(catalog, str) and "\n" in catalog:
        raise UsageError("the catalog is a path, not YAML text", hint="Catalog.read reads YAML text")
    if isinstance(catalog, str | os.PathLike):
        return Catalog.load(catalog)
    raise UsageError(
        f"{type(catalog).__name__} is no catalog", hint="give a Catalog, the path of a YAML file, or a dictionary"
    )


def _with_optimized_rows(op: Operator) -> Operator:
    """Optimize the row query of a source whose rows become RDF statements; return other operators unchanged."""
    from transom.algebra.composition.sources import RowStatements

    if not isinstance(op, RowStatements):
        return op
    steps = optimize_plan(op.rows, constant_value)
    return replace(op, inner=InnerQuery(steps[-1].plan)) if steps else op


def _issue_warnings(remarks: Sequence[Remark], text: str, name: str | None) -> None:
    """Issue a QueryWarning for each remark on the text of query file `name`, attributed to the caller of `compile`."""
    for remark in remarks:
        warnings.warn(remark.line(text, name), QueryWarning, stacklevel=3)


@contextmanager
def _locate_errors(text: str, name: str | None) -> Iterator[None]:
    """Add the query text and its file `name` to errors raised in the block, and turn RecursionError into ParseError."""
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
