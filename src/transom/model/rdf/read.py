"""Parse RDF with Oxigraph (the extra `rdf`): N-Triples, N-Quads, Turtle, TriG, RDF/XML and JSON-LD."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from transom.errors import DataError, UsageError, install_hint
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
"""File extensions of the formats, each with Oxigraph's name for it."""


@dataclass(frozen=True, slots=True)
class Quad:
    """A statement and the name of its graph, None for the default graph."""

    triple: Triple
    graph: IRI | BlankNode | None = None


def read_quads(
    text: str | bytes, format: str, *, base: str | None = None, label_prefix: str | None = None
) -> Iterator[Quad]:
    """Parse RDF text in a `format` such as ttl; `base` resolves IRIs, `label_prefix` renames blank nodes.

    Raises DataError if the text is malformed. With `label_prefix`, the labels of blank nodes become this prefix and a
    number, in order of occurrence: the same text gives the same nodes, and texts with different prefixes never share
    one.
    """
    oxigraph = _oxigraph()
    if format not in FORMATS:
        raise UsageError(f"no such format of RDF: {format}", hint=f"one of {', '.join(FORMATS)}")
    check_text(text, format)
    labels: dict[str, str] | None = None if label_prefix is None else {}

    def convert(parsed: Any) -> Any:
        """Convert a term of the Oxigraph parser; blank nodes get new labels if `label_prefix` is set."""
        if labels is not None and isinstance(parsed, oxigraph.BlankNode):
            return BlankNode(labels.setdefault(parsed.value, f"{label_prefix}{len(labels)}"))
        return _convert_term(parsed)

    try:
        for quad in oxigraph.parse(text, getattr(oxigraph.RdfFormat, FORMATS[format]), base_iri=base):
            is_named = not isinstance(quad.graph_name, oxigraph.DefaultGraph)
            statement = Triple(convert(quad.subject), convert(quad.predicate), convert(quad.object))
            yield Quad(statement, convert(quad.graph_name) if is_named else None)
    except (SyntaxError, ValueError) as error:
        detail = getattr(error, "msg", None) or str(error)
        raise DataError("this is not well-formed RDF", detail=detail) from None


def read_triples(
    text: str | bytes, format: str, *, base: str | None = None, label_prefix: str | None = None
) -> list[Triple]:
    """Parse RDF text (`format`: ttl, ...) to distinct statements; `base` resolves IRIs, `label_prefix` renames nodes.

    `base` and `label_prefix` are as in `read_quads`.
    """
    return list(dict.fromkeys(quad.triple for quad in read_quads(text, format, base=base, label_prefix=label_prefix)))


def _convert_term(parsed: Any) -> Term:
    """Convert a term from Oxigraph's class to Transom's; raise DataError for a quoted triple."""
    oxigraph = _oxigraph()
    if isinstance(parsed, oxigraph.NamedNode):
        return IRI(parsed.value)
    if isinstance(parsed, oxigraph.BlankNode):
        return BlankNode(parsed.value)
    if isinstance(parsed, oxigraph.Literal):
        return Literal(parsed.value, parsed.datatype.value, parsed.language or "")
    raise DataError("a statement about a statement is no RDF 1.1", detail=str(parsed))


def _oxigraph() -> Any:
    """Import pyoxigraph when it is first needed; raise UsageError if it is not installed."""
    try:
        import pyoxigraph
    except ImportError:
        raise UsageError("reading RDF needs pyoxigraph", hint=install_hint("rdf")) from None
    return pyoxigraph
