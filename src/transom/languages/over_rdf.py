"""Queries over RDF as extents: a SELECT as rows, whose variables are attributes by their place, or statements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.sources import FromQuery
from transom.errors import CatalogError, LanguageRule, Span, TransomError, UsageError

if TYPE_CHECKING:
    from transom.algebra.rdf.forms import Construct, Describe
    from transom.algebra.rdf.operator import Solutions
    from transom.algebra.rdf.tree import Question

ENDINGS = ("rq", "sparql")
"""The endings of files with such queries."""


def is_over_rdf(extent: Extent) -> bool:
    """Whether the rows of an extent are the answer of a query over RDF."""
    return isinstance(extent.source, FromQuery) and Path(extent.source.path).suffix.removeprefix(".").lower() in ENDINGS


def solutions_of(extent: Extent, catalog: Catalog, path: Path, text: str) -> Solutions:
    """What an extent's query means; errors point into its text."""
    from transom.algebra.rdf.forms import Ask, Construct, Describe

    plan = _translated(catalog, path, text)
    if isinstance(plan, Ask | Construct | Describe):
        raise LanguageRule(
            f"{extent.name} has no variables",
            detail=f"the catalog reads the answer as rows: extents.{extent.name}.source.query",
            span=Span(0, len(text.rstrip())),
            hint="use SELECT",
        ).within(text, str(path))
    names = [f"?{variable.name}" for variable in plan.variables]
    if len(names) != len(extent.schema):
        raise CatalogError(
            f"the query of {extent.name} gives {len(names)} variables, not {len(extent.schema)}",
            hint=f"declare one attribute each for {', '.join(names)}",
        )
    return plan


def statements_of(extent: Extent, catalog: Catalog) -> Construct | Describe:
    """What the query of a stream of statements means; errors point into its text."""
    from transom.algebra.rdf.forms import Construct, Describe

    assert isinstance(extent.source, FromQuery)  # noqa: S101 - the caller looked
    path = (catalog.folder or Path()) / extent.source.path
    place = f"rdf.{extent.name}.query"
    if path.suffix.removeprefix(".").lower() not in ENDINGS:
        raise CatalogError(
            f"the query of {extent.name} is not in SPARQL: {extent.source.path}",
            detail=f"the catalog reads the answer as statements: {place}",
            hint="declare its rows as an extent with source: {query: ...}, and name that in a template",
        )
    try:
        text = path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        hint = "a path is relative to the catalog"
        raise UsageError(f"cannot read the query of {extent.name}", detail=str(error), hint=hint) from error
    plan = _translated(catalog, path, text)
    if not isinstance(plan, Construct | Describe):
        raise LanguageRule(
            f"{extent.name} has no statements",
            detail=f"the catalog reads the answer as statements: {place}",
            span=Span(0, len(text.rstrip())),
            hint="use CONSTRUCT; or declare the rows of a SELECT as an extent, and name that in a template",
        ).within(text, str(path))
    return plan


def _translated(catalog: Catalog, path: Path, text: str) -> Question:
    from transom.languages.sparql.parse import parse
    from transom.languages.sparql.translate import translate

    try:
        return translate(parse(text), catalog).plan
    except TransomError as error:
        raise error.within(text, str(path)) from None
