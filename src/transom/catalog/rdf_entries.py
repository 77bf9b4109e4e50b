"""Entries of a catalog about RDF to what they mean."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from transom.catalog.checked import RATE, worded
from transom.catalog.columns import check_name
from transom.catalog.entries import RdfEntry
from transom.catalog.extent_entries import _ticks
from transom.catalog.extents import Extent
from transom.catalog.places import At, Misfit
from transom.catalog.rdf import Rdf, RdfExtent, rdf_stream, stored_graph
from transom.catalog.template_entries import check_composed, read_template
from transom.catalog.ticks import read_rate
from transom.catalog.wording import quoted, show
from transom.model.time import Calendar

if TYPE_CHECKING:
    from transom.catalog.server_shapes import TopicEntry
    from transom.catalog.servers import Kafka

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]*")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PREFIX = re.compile(r"|[^\W\d_]([\w.-]*[\w-])?")
ENDINGS = ("nt", "nq", "ttl", "trig", "rdf", "jsonld")
TABLES = ("csv", "jsonl", "parquet")
"""The endings of files with RDF, and of tables with terms or messages."""


def read_rdf(
    entries: Mapping[str, RdfEntry],
    prefixes: Mapping[str, str],
    rows: Mapping[str, Extent],
    calendar: Calendar,
    folder: Path | None = None,
) -> Rdf:
    """Streams, graphs and prefixes; `rows` are the other extents."""
    taken = set(map(str.lower, rows))
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
        extents[name] = replace(
            _extent(name, entry, at, calendar, folder),
            predicates=_predicates(entry, prefixes, at),
            query=entry.query,
            template=read_template(entry.template, at.then("template"), prefixes, rows),
        )
        own = extents[name]
        same = [one for one in list(extents.values())[:-1] if (one.iri, one.is_stream) == (own.iri, own.is_stream)]
        if own.iri is not None and same:
            kind = "streams" if own.is_stream else "graphs"
            raise Misfit(f"two {kind} of one IRI", at, "give each its own, so that FROM means one of them")
    return Rdf(extents, dict(prefixes))


def _extent(name: str, entry: RdfEntry, at: At, calendar: Calendar, folder: Path | None) -> RdfExtent:
    """One stream or graph."""
    if (entry.stream is None) == (entry.graph is None):
        raise Misfit(f"{quoted(name)} is a stream or a graph", at.at_key(), "write stream: IRI, or graph: IRI")
    files = tuple(entry.files or ())
    if entry.stream is not None:
        check_composed(entry, at)
        _check_stream(entry, at)
        iri = _absolute(entry.stream, at.then("stream"))
        rate = None if entry.rate is None else worded(read_rate, entry.rate, at.then("rate"), calendar, RATE)
        return replace(
            rdf_stream(name, iri, _topic(entry.kafka, at.then("kafka"), folder)),
            files=files,
            format=entry.format,
            time=None if entry.time is None else _absolute(entry.time, at.then("time")),
            local=entry.subjects == "local",
            rate=rate,
            lateness=_ticks(entry.lateness, at.then("lateness"), calendar) or 0,
            idle_after=_ticks(entry.idle_after, at.then("idle_after"), calendar),
        )
    for key in ("format", "time", "kafka", "rate", "lateness", "idle_after", "query", "template"):
        if getattr(entry, key) is not None:
            raise Misfit(f"a graph has no {key}", at.then(key).at_key(), "streams have one")
    if entry.subjects is not None:
        raise Misfit("a graph has no messages", at.then("subjects").at_key(), "leave out subjects")
    _check_endings(files, ENDINGS, at)
    graph = entry.graph or ""
    iri_of_graph = None if graph == "default" else _absolute(graph, at.then("graph"))
    return replace(stored_graph(name, iri_of_graph, files), rows=entry.rows)


def _predicates(entry: RdfEntry, prefixes: Mapping[str, str], at: At) -> tuple[str, ...] | None:
    """The predicates that are declared, as IRIs or with a prefix of the catalog."""
    if entry.predicates is None:
        return None
    found = []
    for place, written in enumerate(entry.predicates):
        prefix, colon, local = written.partition(":")
        known = colon and prefix in prefixes
        found.append(prefixes[prefix] + local if known else _absolute(written, at.then("predicates", place)))
    return tuple(found)


def _topic(entry: TopicEntry | None, at: At, folder: Path | None) -> Kafka | None:
    if entry is None:
        return None
    from transom.catalog.kafka_entries import read_rdf_topic

    return read_rdf_topic(entry, at, folder)


def _check_stream(entry: RdfEntry, at: At) -> None:
    """Messages have a format and a time: beside them in a table, or stated in them."""
    if entry.rows is not None:
        raise Misfit("a stream has no rows", at.then("rows").at_key(), "write rate: and how many statements come")
    _check_endings(entry.files or (), (*TABLES, *ENDINGS), at)
    if entry.kafka is not None and entry.files is not None:
        raise Misfit("a stream has either files or a topic", at.then("kafka").at_key(), "leave out one of the two")
    if entry.kafka is not None and entry.format is None:
        hint = f"write format: and one of {', '.join(ENDINGS)}"
        raise Misfit("how are these messages written?", at.then("kafka").at_key(), hint)
    if entry.format is not None and entry.format not in ENDINGS:
        raise Misfit(f"no format {quoted(entry.format)}", at.then("format"), f"formats are {', '.join(ENDINGS)}")
    for place, path in enumerate(entry.files or ()):
        if path.rpartition(".")[2].lower() in ENDINGS and entry.time is None:
            hint = "write time: and the IRI of the predicate that states them"
            raise Misfit("when do these statements come?", at.then("files", place), hint)


def _check_endings(files: Sequence[str], endings: Sequence[str], at: At) -> None:
    for place, path in enumerate(files):
        if _CONTROL.search(path):
            raise Misfit(f"{quoted(path)} is not a path", at.then("files", place), "write for example td.csv")
        if path.rpartition(".")[2].lower() not in endings:
            hint = f"files end with .{', .'.join(endings)}"
            raise Misfit(f"{show(path)} is no file of RDF", at.then("files", place), hint)


def _absolute(iri: str, at: At) -> str:
    if not _ABSOLUTE.fullmatch(iri):
        raise Misfit(f"{show(iri)} is no absolute IRI", at, "write for example http://example.org/park")
    return iri
