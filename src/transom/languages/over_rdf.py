"""A SELECT query over RDF as an extent of other languages: its variables are attributes, by their place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.sources import FromQuery
from transom.errors import CatalogError, LanguageRule, Span, TransomError

if TYPE_CHECKING:
    from transom.algebra.rdf.operator import Solutions

ENDINGS = ("rq", "sparql")
"""The endings of files with such queries."""


def is_over_rdf(extent: Extent) -> bool:
    """Whether the rows of an extent are the answer of a query over RDF."""
    return isinstance(extent.source, FromQuery) and Path(extent.source.path).suffix.removeprefix(".").lower() in ENDINGS


def solutions_of(extent: Extent, catalog: Catalog, path: Path, text: str) -> Solutions:
    """What an extent's query means; errors point into its text."""
    from transom.algebra.rdf.forms import Ask, Construct, Describe
    from transom.languages.sparql.parse import parse
    from transom.languages.sparql.translate import translate

    try:
        plan = translate(parse(text), catalog).plan
        if isinstance(plan, Ask | Construct | Describe):
            raise LanguageRule(f"{extent.name} has no variables", span=Span(0, len(text.rstrip())), hint="use SELECT")
    except TransomError as error:
        raise error.within(text, str(path)) from None
    names = [f"?{variable.name}" for variable in plan.variables]
    if len(names) != len(extent.schema):
        raise CatalogError(
            f"the query of {extent.name} gives {len(names)} variables, not {len(extent.schema)}",
            hint=f"declare one attribute each for {', '.join(names)}",
        )
    return plan
