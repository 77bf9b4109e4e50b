"""Queries over RDF as extents: a SELECT as rows, whose variables are attributes by their place, or statements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.sources import FromQuery
from transom.errors import CatalogError, LanguageRule, Span, TransomError

if TYPE_CHECKING:
    from transom.algebra.tree import Question

ENDINGS = ("rq", "sparql")
"""The endings of files with such queries."""


def is_over_rdf(extent: Extent) -> bool:
    """Whether the rows of an extent are the answer of a query over RDF."""
    return isinstance(extent.source, FromQuery) and Path(extent.source.path).suffix.removeprefix(".").lower() in ENDINGS


def check_over_rdf(extent: Extent, source: FromQuery) -> None:
    """Refuse a query that makes no statements because of its language."""
    if not is_over_rdf(extent):
        raise CatalogError(
            f"the query of {extent.name} is not in SPARQL: {source.path}",
            detail=f"the catalog reads the answer as statements: rdf.{extent.name}.query",
            hint="declare its rows as an extent with source: {query: ...}, and name that in a template",
        )


def question_of(extent: Extent, catalog: Catalog, path: Path, text: str) -> Question:
    """What the query of an extent means: solutions, or what makes statements; errors point into its text."""
    from transom.algebra.rdf.forms import Ask, Construct, Describe
    from transom.languages.sparql.parse import parse
    from transom.languages.sparql.translate import translate

    try:
        plan: Question = translate(parse(text), catalog).plan
    except TransomError as error:
        raise error.within(text, str(path)) from None
    if extent.holds_statements and not isinstance(plan, Construct | Describe):
        told = ("statements", f"rdf.{extent.name}.query")
        hint = "use CONSTRUCT; or declare the rows of a SELECT as an extent, and name that in a template"
        raise _other_form(extent, *told, text, hint).within(text, str(path))
    if extent.holds_statements:
        return plan
    if isinstance(plan, Ask | Construct | Describe):
        told = ("rows", f"extents.{extent.name}.source.query")
        raise _other_form(extent, *told, text, "use SELECT").within(text, str(path))
    names = [f"?{column.name}" for column in plan.schema]
    if len(names) != len(extent.schema):
        raise CatalogError(
            f"the query of {extent.name} gives {len(names)} variables, not {len(extent.schema)}",
            hint=f"declare one attribute each for {', '.join(names)}",
        )
    return plan


def _other_form(extent: Extent, wanted: str, place: str, text: str, hint: str) -> LanguageRule:
    lacks = "variables" if wanted == "rows" else wanted
    return LanguageRule(
        f"{extent.name} has no {lacks}",
        detail=f"the catalog reads the answer as {wanted}: {place}",
        span=Span(0, len(text.rstrip())),
        hint=hint,
    )
