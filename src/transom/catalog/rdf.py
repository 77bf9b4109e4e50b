"""RDF in a catalog: streams and stored graphs by their IRIs, and prefixes that queries may rely on (R27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from transom.catalog.extents import Extent, Kind
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

if TYPE_CHECKING:
    from transom.catalog.servers import Kafka

TERMS = ("s", "p", "o")
"""The columns of a statement: its subject, predicate and object."""


@dataclass(frozen=True, slots=True)
class StatementTemplate:
    """How the rows of an extent become statements: the IRI of the subject, and a predicate for each of some columns.

    `parts` of the subject's IRI have the values of `columns` between them.
    """

    extent: str
    parts: tuple[str, ...]
    columns: tuple[str, ...]
    predicates: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class RdfExtent(Extent):
    """A pushed extent of statements, or a stored graph, with the IRI by which queries name it.

    A graph without an IRI is part of the default graph, which queries without FROM read. `files` hold the statements;
    those of a stream may be in the messages of a topic instead, which is the `source`. `format` is how messages of a
    stream are written, `time` the IRI of the predicate that states their times. `local` says of a stream that all
    statements about a subject come in one message, at one instant. `predicates` are all that statements have, None
    where nobody says so. `query` is the file of a query that makes the statements of a stream, `template` makes them of
    the rows of an extent.
    """

    iri: str | None = None
    files: tuple[str, ...] = ()
    format: str | None = None
    time: str | None = None
    local: bool = False
    predicates: tuple[str, ...] | None = None
    query: str | None = None
    template: StatementTemplate | None = None

    @property
    def is_stream(self) -> bool:
        """Whether statements come while a query runs."""
        return self.kind is not Kind.STORED

    @property
    def runs_live(self) -> bool:
        """Stored graphs are read once."""
        return self.is_stream

    @property
    def topic(self) -> Kafka | None:
        """The topic whose messages hold the statements."""
        return self.source  # type: ignore[return-value]


def statements_of(name: str) -> Schema:
    """The schema of an extent of statements."""
    return Schema(tuple(Attribute(term, Type.TERM, name) for term in TERMS))


def rdf_stream(name: str, iri: str, topic: Kafka | None = None) -> RdfExtent:
    """A stream of statements, perhaps in the messages of a topic."""
    return RdfExtent(name, Kind.PUSHED, statements_of(name), source=topic, iri=iri)


def stored_graph(name: str, iri: str | None, files: tuple[str, ...] = ()) -> RdfExtent:
    """A stored graph; one without an IRI is part of the default graph."""
    return RdfExtent(name, Kind.STORED, statements_of(name), iri=iri, files=files)


@dataclass(frozen=True, slots=True)
class Rdf:
    """All that a catalog says about RDF."""

    extents: Mapping[str, RdfExtent] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def named(self, iri: str, *, stream: bool) -> RdfExtent | None:
        """The stream or the graph of that IRI."""
        found = (one for one in self.extents.values() if one.iri == iri and one.is_stream == stream)
        return next(found, None)
