"""Entries of a catalog about RDF to what they mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from transom.catalog.columns import check_name
from transom.catalog.entries import RdfEntry
from transom.catalog.places import At, Misfit
from transom.catalog.rdf import Rdf, RdfExtent
from transom.catalog.wording import quoted, show

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]*")
_PREFIX = re.compile(r"|[^\W\d_]([\w.-]*[\w-])?")
ENDINGS = ("nt", "nq", "ttl", "trig", "rdf", "jsonld")


def read_rdf(entries: Mapping[str, RdfEntry], prefixes: Mapping[str, str], taken: Collection[str]) -> Rdf:
    """Streams, graphs and prefixes; `taken` are the names of other extents, in lower case."""
    for prefix, iri in prefixes.items():
        at = At(("prefixes", prefix))
        if not _PREFIX.fullmatch(prefix):
            raise Misfit(f"{quoted(prefix)} is no prefix", at.at_key(), "write it without its colon")
        _absolute(iri, at)
    extents: dict[str, RdfExtent] = {}
    for name, entry in entries.items():
        at = At(("rdf", name))
        check_name(name, at.at_key(), "an extent")
        if name.lower() in {*taken, *map(str.lower, extents)}:
            raise Misfit(f"{quoted(name)} is declared twice", at.at_key(), "leave out one of the two")
        extents[name] = _extent(name, entry, at)
        if extents[name].iri is not None and extents[name].iri in [one.iri for one in list(extents.values())[:-1]]:
            raise Misfit("two extents of one IRI", at, "give each its own, so that FROM means one of them")
    return Rdf(extents, dict(prefixes))


def _extent(name: str, entry: RdfEntry, at: At) -> RdfExtent:
    """One stream or graph."""
    if (entry.stream is None) == (entry.graph is None):
        raise Misfit(f"{quoted(name)} is a stream or a graph", at.at_key(), "write stream: IRI, or graph: IRI")
    if entry.stream is not None:
        if entry.files is not None:
            raise Misfit("a stream has no files yet", at.then("files").at_key(), "give its statements to the query")
        local = entry.subjects == "local"
        return RdfExtent(name, _absolute(entry.stream, at.then("stream")), is_stream=True, local=local)
    if entry.subjects is not None:
        raise Misfit("a graph has no messages", at.then("subjects").at_key(), "leave out subjects")
    graph = entry.graph or ""
    for place, path in enumerate(entry.files or ()):
        if path.rpartition(".")[2].lower() not in ENDINGS:
            raise Misfit(
                f"{show(path)} is no file of RDF", at.then("files", place), f"files end with .{', .'.join(ENDINGS)}"
            )
    iri = None if graph == "default" else _absolute(graph, at.then("graph"))
    return RdfExtent(name, iri, is_stream=False, files=tuple(entry.files or ()))


def _absolute(iri: str, at: At) -> str:
    if not _ABSOLUTE.fullmatch(iri):
        raise Misfit(f"{show(iri)} is no absolute IRI", at, "write for example http://example.org/park")
    return iri
