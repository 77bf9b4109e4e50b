"""RDF in a catalog: streams and stored graphs by their IRIs, and prefixes that queries may rely on (R27)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from transom.catalog.servers import Kafka


@dataclass(frozen=True, slots=True)
class RdfExtent:
    """A stream of statements, or a stored graph, and the IRI by which queries name it.

    A graph without an IRI is part of the default graph, which queries without FROM read. `files` hold the statements;
    those of a stream may be in the messages of a `topic` instead.
    `format` is how messages of a stream are written, `time` the IRI of the predicate that states their times.
    `local` says of a stream that all statements about a subject come in one message, at one instant. `lateness` is how
    many ticks a statement may come behind the latest one in a live run. `predicates` are all that statements have,
    None where nobody says so.
    """

    name: str
    iri: str | None
    is_stream: bool
    files: tuple[str, ...] = ()
    format: str | None = None
    time: str | None = None
    local: bool = False
    topic: Kafka | None = None
    lateness: int = 0
    predicates: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Rdf:
    """All that a catalog says about RDF."""

    extents: Mapping[str, RdfExtent] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)

    def named(self, iri: str, *, stream: bool) -> RdfExtent | None:
        """The stream or the graph of that IRI."""
        found = (one for one in self.extents.values() if one.iri == iri and one.is_stream == stream)
        return next(found, None)
