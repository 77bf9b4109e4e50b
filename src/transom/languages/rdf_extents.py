"""Extents defined by SPARQL queries: SELECT gives rows, CONSTRUCT and DESCRIBE give statements.

The variables of a SELECT become the attributes of the extent by position.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.catalog.sources import FromQuery
from transom.errors import CatalogError, LanguageRule, Span, TransomError

if TYPE_CHECKING:
    from transom.algebra.tree import RdfPlan

ENDINGS = ("rq", "sparql")
"""File extensions of SPARQL queries."""


def is_over_rdf(extent: Extent) -> bool:
    """Whether an extent (source or table) is defined by a SPARQL query, judged by the query's file extension."""
    return isinstance(extent.source, FromQuery) and Path(extent.source.path).suffix.removeprefix(".").lower() in ENDINGS


def check_is_sparql(extent: Extent, source: FromQuery) -> None:
    """Raise CatalogError if a source of RDF statements is defined by a query that is not in SPARQL."""
    if not is_over_rdf(extent):
        raise CatalogError(
            f"the query of {extent.name} is not in SPARQL: {source.path}",
            detail=f"the catalog reads the answer as statements: rdf.{extent.name}.query",
            hint="declare its rows as an extent with source: {query: ...}, and name that in a template",
        )


def compile_rdf_extent(extent: Extent, catalog: Catalog, path: Path, text: str) -> RdfPlan:
    """Translate the SPARQL query `text` from the file `path`, which defines an extent (source or table) of the catalog.

    `path` is the file of the query, for errors that point into it.

    Raises LanguageRule if the form does not fit: statements need CONSTRUCT or DESCRIBE, rows need SELECT. Raises
    CatalogError if the number of variables is not the number of declared attributes.
    """
    from transom.algebra.rdf.forms import Ask, Construct, Describe
    from transom.languages.sparql.parse import parse
    from transom.languages.sparql.translate import translate

    try:
        plan: RdfPlan = translate(parse(text), catalog).plan
    except TransomError as error:
        raise error.within(text, str(path)) from None
    if extent.holds_statements and not isinstance(plan, Construct | Describe):
        expected = ("statements", f"rdf.{extent.name}.query")
        hint = "use CONSTRUCT; or declare the rows of a SELECT as an extent, and name that in a template"
        raise _wrong_query_form(extent, *expected, text, hint).within(text, str(path))
    if extent.holds_statements:
        return plan
    if isinstance(plan, Ask | Construct | Describe):
        expected = ("rows", f"extents.{extent.name}.source.query")
        raise _wrong_query_form(extent, *expected, text, "use SELECT").within(text, str(path))
    names = [f"?{column.name}" for column in plan.schema]
    if len(names) != len(extent.schema):
        raise CatalogError(
            f"the query of {extent.name} gives {len(names)} variables, not {len(extent.schema)}",
            hint=f"declare one attribute each for {', '.join(names)}",
        )
    return plan


def _wrong_query_form(extent: Extent, rows_or_statements: str, catalog_path: str, text: str, hint: str) -> LanguageRule:
    """Return the error for a source whose query lacks the "rows" or "statements" that entry `catalog_path` requires.

    `catalog_path` is the entry of the catalog that requires it.
    """
    missing = "variables" if rows_or_statements == "rows" else rows_or_statements
    return LanguageRule(
        f"{extent.name} has no {missing}",
        detail=f"the catalog reads the answer as {rows_or_statements}: {catalog_path}",
        span=Span(0, len(text.rstrip())),
        hint=hint,
    )
