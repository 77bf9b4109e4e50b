"""RDF in a catalog: streams and stored graphs by their IRIs, and prefixes that queries may rely on (R27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from transom.catalog.extents import Extent, Kind
from transom.catalog.sources import Source
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

TERMS = ("s", "p", "o")
"""The columns of a statement: its subject, predicate and object."""


def statements_of(name: str) -> Schema:
    """The schema of an extent of statements."""
    return Schema(tuple(Attribute(term, Type.TERM, name) for term in TERMS))


def rdf_stream(name: str, iri: str, source: Source | None = None) -> Extent:
    """A stream of statements."""
    return Extent(name, Kind.PUSHED, statements_of(name), source=source, iri=iri)


def stored_graph(name: str, iri: str | None, source: Source | None = None) -> Extent:
    """A stored graph; one without an IRI is part of the default graph."""
    return Extent(name, Kind.STORED, statements_of(name), source=source, iri=iri)


@dataclass(frozen=True, slots=True)
class Rdf:
    """All that a catalog says about RDF."""

    extents: Mapping[str, Extent] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def named(self, iri: str, *, stream: bool) -> Extent | None:
        """The stream or the graph of that IRI."""
        found = (one for one in self.extents.values() if one.iri == iri and one.is_stream == stream)
        return next(found, None)
