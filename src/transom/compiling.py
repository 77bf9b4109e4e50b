"""From a text to a query: `compile` chooses by the language what becomes of it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Literal, overload

from transom.catalog.extents import Catalog
from transom.errors import ParseError, Span, TransomError, UsageError
from transom.languages.over_rdf import ENDINGS
from transom.languages.sparql.parse import parse
from transom.languages.sparql.translate import translate
from transom.model.types import Value
from transom.query import Query
from transom.query import compile as compile_rows
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
    point into it.
    """
    if language is None or language not in OVER_RDF:
        return compile_rows(
            text, catalog, language=language, parameters=parameters, optimize=optimize, without=without, name=name
        )
    if not isinstance(text, str) or not isinstance(catalog, Catalog):
        raise UsageError("compile takes the text of a query and a catalog", hint="Catalog.load reads one from a file")
    if without or parameters:
        raise UsageError("SPARQL has no optimizer rules and no parameters", hint="leave out `without` and `parameters`")
    try:
        syntax = parse(text)
        translation = translate(syntax, catalog)
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
    return RdfQuery(text, language, catalog, syntax, translation.plan, translation.warnings, name)
