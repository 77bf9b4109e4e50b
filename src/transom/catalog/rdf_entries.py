"""Entries of a catalog about statements: one stream or graph of RDF as an extent, and prefixes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from transom.catalog.columns import check_name
from transom.catalog.entries import RdfEntry, TemplateEntry
from transom.catalog.extent_entries import pace, read_order
from transom.catalog.extents import Extent, Kind
from transom.catalog.payload import STATEMENTS, Payload
from transom.catalog.places import At, Misfit
from transom.catalog.rdf import Rdf, statements_of
from transom.catalog.sources import Files, Format, FromQuery, Source, StatementTemplate
from transom.catalog.wording import did_you_mean, quoted, show
from transom.model.time import Calendar

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]*")
_COLUMN = re.compile(r"\{([^{}]*)\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PREFIX = re.compile(r"|[^\W\d_]([\w.-]*[\w-])?")
ENDINGS = tuple(syntax.value for syntax in STATEMENTS)
TABLES = ("csv", "jsonl", "parquet")
"""The endings of files with RDF, and of tables with terms or messages."""
_OF_STREAMS = ("format", "time", "kafka", "order", "rate", "lateness", "idle_after", "query", "template")
_OF_SOURCES = ("files", "kafka", "format", "time", "order", "rate", "lateness", "idle_after", "subjects")


def read_rdf(
    entries: Mapping[str, RdfEntry],
    prefixes: Mapping[str, str],
    rows: Mapping[str, Extent],
    calendar: Calendar,
    folder: Path | None = None,
) -> Rdf:
    """Streams, graphs and prefixes; `rows` are the other extents."""
    for prefix, iri in prefixes.items():
        at = At(("prefixes", prefix))
        if not _PREFIX.fullmatch(prefix):
            raise Misfit(f"{quoted(prefix)} is no prefix", at.at_key(), "write it without its colon")
        _absolute(iri, at)
    taken = set(map(str.lower, rows))
    found: dict[tuple[bool, str | None], str] = {}
    extents: dict[str, Extent] = {}
    for name, entry in entries.items():
        at = At(("rdf", name))
        check_name(name, at.at_key(), "an extent")
        if name.lower() in taken:
            raise Misfit(f"{quoted(name)} is declared twice", at.at_key(), "leave out one of the two")
        taken.add(name.lower())
        own = extents[name] = read_statements(name, entry, prefixes, rows, at, calendar, folder)
        if own.iri is not None and found.setdefault((own.is_stream, own.iri), name) != name:
            kind = "streams" if own.is_stream else "graphs"
            raise Misfit(f"two {kind} of one IRI", at, "give each its own, so that FROM means one of them")
    return Rdf(extents, dict(prefixes))


def read_statements(
    name: str,
    entry: RdfEntry,
    prefixes: Mapping[str, str],
    rows: Mapping[str, Extent],
    at: At,
    calendar: Calendar,
    folder: Path | None = None,
) -> Extent:
    """The stream or graph that an entry declares; Misfit where the entries do not fit each other."""
    if (entry.stream is None) == (entry.graph is None):
        raise Misfit(f"{quoted(name)} is a stream or a graph", at.at_key(), "write stream: IRI, or graph: IRI")
    if entry.stream is not None:
        _check_stream(entry, at)
    else:
        _check_graph(entry, at)
    key, kind = ("graph", Kind.STORED) if entry.stream is None else ("stream", Kind.PUSHED)
    iri, schema = entry.stream or entry.graph or "", statements_of(name)
    return Extent(
        name,
        kind,
        schema,
        order=read_order(entry, kind, schema, (), at),
        rows=entry.rows,
        source=_source(entry, prefixes, rows, at, folder),
        iri=None if entry.graph == "default" else _absolute(iri, at.then(key)),
        local=entry.subjects == "local",
        predicates=_predicates(entry, prefixes, at),
        **pace(entry, at, calendar),
    )


def _check_graph(entry: RdfEntry, at: At) -> None:
    """A graph is there all the time: it has files, and how many statements they hold."""
    for key in _OF_STREAMS:
        if getattr(entry, key) is not None:
            raise Misfit(f"a graph has no {key}", at.then(key).at_key(), "streams have one")
    if entry.subjects is not None:
        raise Misfit("a graph has no messages", at.then("subjects").at_key(), "leave out subjects")
    _check_endings(entry, ENDINGS, at)


def _check_stream(entry: RdfEntry, at: At) -> None:
    """Messages have a format and a time: beside them in a table, or stated in them."""
    _check_composed(entry, at)
    if entry.rows is not None:
        raise Misfit("a stream has no rows", at.then("rows").at_key(), "write rate: and how many statements come")
    _check_endings(entry, (*TABLES, *ENDINGS), at)
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


def _check_composed(entry: RdfEntry, at: At) -> None:
    """A stream that is made of other streams has no source, no rate and no lateness of its own."""
    made = [key for key in ("query", "template") if getattr(entry, key) is not None]
    if len(made) > 1:
        hint = "leave out one of the two"
        raise Misfit("a stream has either a query or a template", at.then("template").at_key(), hint)
    for key in _OF_SOURCES if made else ():
        if getattr(entry, key) is not None:
            hint = "it follows from the streams that it is made of; leave it out"
            raise Misfit(f"a stream with a {made[0]} has no {key}", at.then(key).at_key(), hint)
    if entry.query is not None and (not entry.query or _CONTROL.search(entry.query)):
        raise Misfit(f"{quoted(entry.query)} is not a path", at.then("query"), "write for example hot.rq")


def _check_endings(entry: RdfEntry, endings: tuple[str, ...], at: At) -> None:
    for place, path in enumerate(entry.files or ()):
        if _CONTROL.search(path):
            raise Misfit(f"{quoted(path)} is not a path", at.then("files", place), "write for example td.csv")
        if path.rpartition(".")[2].lower() not in endings:
            hint = f"files end with .{', .'.join(endings)}"
            raise Misfit(f"{show(path)} is no file of RDF", at.then("files", place), hint)


def _source(
    entry: RdfEntry, prefixes: Mapping[str, str], rows: Mapping[str, Extent], at: At, folder: Path | None
) -> Source | None:
    """Where the statements come from: files, a topic, a query, or the rows of an extent."""
    time = None if entry.time is None else _absolute(entry.time, at.then("time"))
    payload = None if entry.format is None else Payload(entry.format)
    if entry.kafka is not None and payload is not None:
        from transom.catalog.kafka_entries import read_rdf_topic

        return read_rdf_topic(entry.kafka, payload, time, at.then("kafka"), folder)
    if entry.query is not None:
        return FromQuery(entry.query)
    if entry.template is not None:
        return _template(entry.template, at.then("template"), prefixes, rows)
    if not entry.files:
        return None
    short = tuple(prefixes.items())
    return Files(tuple(entry.files), Format.STATEMENTS, time, payload=payload, prefixes=short)


def _predicates(entry: RdfEntry, prefixes: Mapping[str, str], at: At) -> tuple[str, ...] | None:
    """The predicates that are declared, as IRIs or with a prefix of the catalog."""
    if entry.predicates is None:
        return None
    places = enumerate(entry.predicates)
    return tuple(_absolute(_full(written, prefixes), at.then("predicates", place)) for place, written in places)


def _template(
    entry: TemplateEntry, at: At, prefixes: Mapping[str, str], extents: Mapping[str, Extent]
) -> StatementTemplate:
    """The template that an entry describes; Misfit where it names an extent or a column that is not there."""
    extent = extents.get(entry.extent)
    if extent is None:
        raise Misfit(f"no extent {quoted(entry.extent)}", at.then("extent"), did_you_mean(entry.extent, extents))
    if extent.kind is Kind.STORED:
        hint = "statements of a stream are made of a sensed or pushed extent; a table has no instants"
        raise Misfit(f"{quoted(entry.extent)} is a stored table", at.then("extent"), hint)
    here = at.then("subject")
    columns = tuple(_COLUMN.findall(entry.subject))
    for name in columns:
        _known(name, extent, here)
    parts = tuple(_COLUMN.split(_full(entry.subject, prefixes))[::2])
    if not _ABSOLUTE.fullmatch("x".join(parts)):
        hint = "write for example http://example.org/{id}"
        raise Misfit(f"{show(entry.subject)} is no pattern of an IRI", here, hint)
    if not entry.predicates:
        raise Misfit("a template needs a predicate", at.then("predicates"), f"write {extent.names[0]}: IRI")
    predicates = []
    for name, written in entry.predicates.items():
        place = at.then("predicates", name)
        _known(name, extent, place.at_key())
        iri = _full(written, prefixes)
        if not _ABSOLUTE.fullmatch(iri):
            raise Misfit(f"{show(written)} is no absolute IRI", place, "write for example http://example.org/speed")
        predicates.append((name, iri))
    return StatementTemplate(entry.extent, parts, columns, tuple(predicates))


def _known(name: str, extent: Extent, at: At) -> None:
    if name not in extent.names:
        raise Misfit(f"{extent.name} has no attribute {quoted(name)}", at, did_you_mean(name, extent.names))


def _full(written: str, prefixes: Mapping[str, str]) -> str:
    """An IRI, or one with a prefix of the catalog."""
    prefix, colon, local = written.partition(":")
    return prefixes[prefix] + local if colon and prefix in prefixes else written


def _absolute(iri: str, at: At) -> str:
    if not _ABSOLUTE.fullmatch(iri):
        raise Misfit(f"{show(iri)} is no absolute IRI", at, "write for example http://example.org/park")
    return iri
