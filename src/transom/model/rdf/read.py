"""RDF from text: N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD, read by Oxigraph (the extra `rdf`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transom.errors import DataError, UsageError
from transom.model.rdf.terms import IRI, BlankNode, Literal, Term, Triple
from transom.model.rdf.well_formed import check_text

FORMATS = {
    "nt": "N_TRIPLES",
    "nq": "N_QUADS",
    "ttl": "TURTLE",
    "trig": "TRIG",
    "rdf": "RDF_XML",
    "jsonld": "JSON_LD",
}
"""The formats by the endings of their files, each with Oxigraph's name for it."""


@dataclass(frozen=True, slots=True)
class Quad:
    """A statement and the name of the graph that it stands in, None for the default graph."""

    triple: Triple
    graph: IRI | BlankNode | None = None


def read_quads(text: str | bytes, format: str, *, base: str | None = None, nodes: str | None = None) -> Iterator[Quad]:
    """The statements of a text, in its order; DataError where it is broken.

    With `nodes`, blank nodes are numbered behind that word in the order in which they come: the same text gives the
    same nodes, and two texts with two words never share one.
    """
    oxigraph = _oxigraph()
    if format not in FORMATS:
        raise UsageError(f"no such format of RDF: {format}", hint=f"one of {', '.join(FORMATS)}")
    check_text(text, format)
    labels: dict[str, str] | None = None if nodes is None else {}

    def term(found: Any) -> Any:
        if labels is not None and isinstance(found, oxigraph.BlankNode):
            return BlankNode(labels.setdefault(found.value, f"{nodes}{len(labels)}"))
        return _term(found)

    try:
        for quad in oxigraph.parse(text, getattr(oxigraph.RdfFormat, FORMATS[format]), base_iri=base):
            named = not isinstance(quad.graph_name, oxigraph.DefaultGraph)
            statement = Triple(term(quad.subject), term(quad.predicate), term(quad.object))
            yield Quad(statement, term(quad.graph_name) if named else None)
    except (SyntaxError, ValueError) as broken:
        why = getattr(broken, "msg", None) or str(broken)
        raise DataError("this is not well-formed RDF", detail=why) from None


def read_triples(text: str | bytes, format: str, *, base: str | None = None, nodes: str | None = None) -> list[Triple]:
    """The statements of a text, each once, whatever graphs they stand in."""
    return list(dict.fromkeys(quad.triple for quad in read_quads(text, format, base=base, nodes=nodes)))


def _term(found: Any) -> Term:
    """A term of Oxigraph's as ours."""
    oxigraph = _oxigraph()
    if isinstance(found, oxigraph.NamedNode):
        return IRI(found.value)
    if isinstance(found, oxigraph.BlankNode):
        return BlankNode(found.value)
    if isinstance(found, oxigraph.Literal):
        return Literal(found.value, found.datatype.value, found.language or "")
    raise DataError("a statement about a statement is no RDF 1.1", detail=str(found))


def _oxigraph() -> Any:
    try:
        import pyoxigraph
    except ImportError:
        raise UsageError(
            "reading RDF needs pyoxigraph", hint="in a checkout of Transom: pip install '.[rdf]'"
        ) from None
    return pyoxigraph
