"""RDF in a catalog: streams and stored graphs by their IRIs, and prefixes for queries (R27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.sources import Source
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

TERM_COLUMNS = ("s", "p", "o")
"""The columns of a statement: subject, predicate and object."""


def statement_schema(name: str) -> Schema:
    """Return the schema of an extent of RDF statements: the columns s, p and o, which hold terms."""
    return Schema(tuple(Attribute(term, Type.TERM, name) for term in TERM_COLUMNS))


def rdf_stream(name: str, iri: str, source: Source | None = None) -> Extent:
    """Create the extent of the RDF stream with an IRI; without a `source`, the caller supplies its statements."""
    return Extent(name, ExtentKind.PUSHED, statement_schema(name), source=source, iri=iri)


def stored_graph(name: str, iri: str | None, source: Source | None = None) -> Extent:
    """Create the extent of a stored RDF graph; without an IRI, it is part of the default graph."""
    return Extent(name, ExtentKind.STORED, statement_schema(name), source=source, iri=iri)


@dataclass(frozen=True, slots=True)
class Rdf:
    """The RDF declarations of a catalog."""

    extents: Mapping[str, Extent] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def find(self, iri: str, *, stream: bool) -> Extent | None:
        """Find the RDF stream (if `stream`) or else the stored graph that has an IRI; None if there is none."""
        matches = (extent for extent in self.extents.values() if extent.iri == iri and extent.is_stream == stream)
        return next(matches, None)
