"""Which engines run a query over rows, found by planning it and without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transom.catalog.sources import FromQuery
from transom.errors import Unsupported
from transom.physical import gaps
from transom.shown import Engines

if TYPE_CHECKING:
    from transom.query import Query


def of_rows(query: Query) -> Engines:
    """The engines that run a query over rows; the reference engine runs all of them."""
    from_rdf = [extent.name for extent in query.reads if isinstance(extent.source, FromQuery)]
    if from_rdf:
        from transom.languages.places import place_of

        gap = gaps.RDF_SOURCE.refusal()
        gap.span = place_of(query.syntax, gap.operator, from_rdf)
        gap.within(query.text, query.name)
        return Engines(("reference",), {"spark": gap})
    try:
        query.physical()
    except Unsupported as gap:
        refused = gap
    else:
        return Engines(("reference", "spark"))
    try:
        query.physical(given=None)
    except Unsupported:
        return Engines(("reference",), {"spark": refused})
    return Engines(("reference", "spark"), {"spark": refused}, replay_only=True)
