"""Which engines run a query over RDF, found by planning it and without running anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from transom.algebra.rdf.expressions import Call
from transom.algebra.rdf.tree import walk_all
from transom.errors import Unsupported
from transom.languages.sparql.places import place_of
from transom.shown import ENGINES, Engine, Engines
from transom.spark.java_patterns import read_by_reference

if TYPE_CHECKING:
    from transom.rdf_query import RdfQuery


def of_rdf(query: RdfQuery) -> Engines:
    """The engines that run a query over RDF."""
    refusals: dict[Engine, Unsupported] = {}
    if (unread := _unread_pattern(query)) is not None:
        refusals["reference"] = unread
    try:
        query.physical()
    except Unsupported as gap:
        refusals["spark"] = gap
    return Engines(tuple(engine for engine in ENGINES if engine not in refusals), refusals)


def _unread_pattern(query: RdfQuery) -> Unsupported | None:
    """The refusal of the first constant regular expression that the reference engine does not read."""
    for call in walk_all(query.algebra):
        if isinstance(call, Call) and call.function in ("REGEX", "REPLACE"):
            try:
                read_by_reference(call)
            except Unsupported as gap:
                gap.span = place_of(query.syntax, call.function)
                gap.within(query.text, query.name)
                return gap
    return None
