"""Resolve the RDF entries of a catalog: streams, graphs and prefixes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.payload import RDF_PAYLOADS, Payload
from transom.catalog.rdf import Rdf, statement_schema
from transom.catalog.reading.columns import check_name
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.wording import did_you_mean, display_value, quoted
from transom.catalog.resolve.extent import read_order, read_timing
from transom.catalog.schema.entries import RdfEntry, TemplateEntry
from transom.catalog.sources import Files, Format, FromQuery, Source, StatementTemplate
from transom.model.time import Calendar

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^<>\"{}|^`\\\x00-\x20]*")
_COLUMN = re.compile(r"\{([^{}]*)\}")
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PREFIX = re.compile(r"|[^\W\d_]([\w.-]*[\w-])?")
RDF_SUFFIXES = tuple(syntax.value for syntax in RDF_PAYLOADS)
TABLE_SUFFIXES = ("csv", "jsonl", "parquet")
"""The extensions of tables of terms or messages; RDF_SUFFIXES are those of RDF files."""
_STREAM_KEYS = ("format", "time", "kafka", "order", "rate", "lateness", "idle_after", "query", "template")
_SOURCE_KEYS = ("files", "kafka", "format", "time", "order", "rate", "lateness", "idle_after", "subjects")


def read_rdf(
    entries: Mapping[str, RdfEntry],
    prefixes: Mapping[str, str],
    row_extents: Mapping[str, Extent],
    calendar: Calendar,
    catalog_folder: Path | None = None,
) -> Rdf:
    """Read RDF streams, stored graphs and prefixes; templates use `row_extents`; EntryError if a name is used twice.

    `row_extents` are the other extents of the catalog, whose rows a template can turn into statements.
    """
    for prefix, iri in prefixes.items():
        at = Location(("prefixes", prefix))
        if not _PREFIX.fullmatch(prefix):
            raise EntryError(f"{quoted(prefix)} is not a prefix", at.at_key(), "write it without its colon")
        _check_absolute(iri, at)
    taken = set(map(str.lower, row_extents))
    name_of_iri: dict[tuple[bool, str | None], str] = {}
    extents: dict[str, Extent] = {}
    for name, entry in entries.items():
        at = Location(("rdf", name))
        check_name(name, at.at_key(), "an extent")
        if name.lower() in taken:
            raise EntryError(f"{quoted(name)} is declared twice", at.at_key(), "leave out one of the two")
        taken.add(name.lower())
        extent = extents[name] = read_statements(name, entry, prefixes, row_extents, at, calendar, catalog_folder)
        if extent.iri is not None and name_of_iri.setdefault((extent.is_stream, extent.iri), name) != name:
            kind = "streams" if extent.is_stream else "graphs"
            raise EntryError(
                f"two {kind} have the same IRI", at, "give each another IRI, so that FROM means one of them"
            )
    return Rdf(extents, dict(prefixes))


def read_statements(
    name: str,
    entry: RdfEntry,
    prefixes: Mapping[str, str],
    row_extents: Mapping[str, Extent],
    at: Location,
    calendar: Calendar,
    catalog_folder: Path | None = None,
) -> Extent:
    """Convert the entry of an RDF stream or stored graph to an extent; raise EntryError if its settings conflict."""
    if (entry.stream is None) == (entry.graph is None):
        raise EntryError(f"{quoted(name)} is a stream or a graph", at.at_key(), "write stream: IRI, or graph: IRI")
    if entry.stream is not None:
        _check_stream(entry, at)
    else:
        _check_graph(entry, at)
    key, kind = ("graph", ExtentKind.STORED) if entry.stream is None else ("stream", ExtentKind.PUSHED)
    iri, schema = entry.stream or entry.graph or "", statement_schema(name)
    return Extent(
        name,
        kind,
        schema,
        order=read_order(entry, kind, schema, (), at),
        rows=entry.rows,
        source=_source(entry, prefixes, row_extents, at, catalog_folder),
        iri=None if entry.graph == "default" else _check_absolute(iri, at.then(key)),
        local=entry.subjects == "local",
        predicates=_predicates(entry, prefixes, at),
        **read_timing(entry, at, calendar),
    )


def _check_graph(entry: RdfEntry, at: Location) -> None:
    """Raise EntryError if the entry of a stored graph has keys of streams, or files that are not RDF."""
    for key in _STREAM_KEYS:
        if getattr(entry, key) is not None:
            raise EntryError(f"a graph has no {key}", at.then(key).at_key(), "only streams have one; leave it out")
    if entry.subjects is not None:
        raise EntryError("a graph has no subjects", at.then("subjects").at_key(), "leave out subjects")
    _check_suffixes(entry, RDF_SUFFIXES, at)


def _check_stream(entry: RdfEntry, at: Location) -> None:
    """Raise EntryError unless the messages of a stream have a format and a time."""
    _check_composed(entry, at)
    if entry.rows is not None:
        raise EntryError(
            "a stream has no rows",
            at.then("rows").at_key(),
            "write rate: and how many statements arrive, such as 20 per min",
        )
    _check_suffixes(entry, (*TABLE_SUFFIXES, *RDF_SUFFIXES), at)
    if entry.kafka is not None and entry.files is not None:
        raise EntryError("a stream has either files or a topic", at.then("kafka").at_key(), "leave out one of the two")
    if entry.kafka is not None and entry.format is None:
        hint = f"write format: and one of {', '.join(RDF_SUFFIXES)}"
        raise EntryError("the format of these messages is missing", at.then("kafka").at_key(), hint)
    if entry.format is not None and entry.format not in RDF_SUFFIXES:
        raise EntryError(
            f"no format {quoted(entry.format)}", at.then("format"), f"formats are {', '.join(RDF_SUFFIXES)}"
        )
    for index, path in enumerate(entry.files or ()):
        if path.rpartition(".")[2].lower() in RDF_SUFFIXES and entry.time is None:
            hint = "write time: and the IRI of the predicate that gives the time"
            raise EntryError("the time of these statements is missing", at.then("files", index), hint)


def _check_composed(entry: RdfEntry, at: Location) -> None:
    """Raise EntryError if a stream made by a query or template also declares a source, rate or lateness."""
    origins = [key for key in ("query", "template") if getattr(entry, key) is not None]
    if len(origins) > 1:
        hint = "leave out one of the two"
        raise EntryError("a stream has either a query or a template", at.then("template").at_key(), hint)
    for key in _SOURCE_KEYS if origins else ():
        if getattr(entry, key) is not None:
            hint = "the streams that it reads determine it; leave it out"
            raise EntryError(f"a stream with a {origins[0]} has no {key}", at.then(key).at_key(), hint)
    if entry.query is not None and (not entry.query or _CONTROL.search(entry.query)):
        raise EntryError(f"{quoted(entry.query)} is not a path", at.then("query"), "write for example hot.rq")


def _check_suffixes(entry: RdfEntry, suffixes: tuple[str, ...], at: Location) -> None:
    """Raise EntryError if a file has none of the allowed file name extensions."""
    for index, path in enumerate(entry.files or ()):
        if _CONTROL.search(path):
            raise EntryError(f"{quoted(path)} is not a path", at.then("files", index), "write for example td.csv")
        if path.rpartition(".")[2].lower() not in suffixes:
            hint = f"files end with .{', .'.join(suffixes)}"
            raise EntryError(f"{display_value(path)} is not an RDF file", at.then("files", index), hint)


def _source(
    entry: RdfEntry,
    prefixes: Mapping[str, str],
    row_extents: Mapping[str, Extent],
    at: Location,
    catalog_folder: Path | None,
) -> Source | None:
    """Return where statements come from: files, a topic, a query, or a template over rows; None if not declared."""
    time = None if entry.time is None else _check_absolute(entry.time, at.then("time"))
    payload = None if entry.format is None else Payload(entry.format)
    if entry.kafka is not None and payload is not None:
        from transom.catalog.resolve.kafka import read_rdf_topic

        return read_rdf_topic(entry.kafka, payload, time, at.then("kafka"), catalog_folder)
    if entry.query is not None:
        return FromQuery(entry.query)
    if entry.template is not None:
        return _template(entry.template, at.then("template"), prefixes, row_extents)
    if not entry.files:
        return None
    prefix_pairs = tuple(prefixes.items())
    return Files(tuple(entry.files), Format.STATEMENTS, time, payload=payload, prefixes=prefix_pairs)


def _predicates(entry: RdfEntry, prefixes: Mapping[str, str], at: Location) -> tuple[str, ...] | None:
    """Return the declared predicates of the statements as absolute IRIs, or None if none are declared."""
    if entry.predicates is None:
        return None
    return tuple(
        _check_absolute(_expand_iri(predicate, prefixes), at.then("predicates", index))
        for index, predicate in enumerate(entry.predicates)
    )


def _template(
    entry: TemplateEntry, at: Location, prefixes: Mapping[str, str], extents: Mapping[str, Extent]
) -> StatementTemplate:
    """Read a template that makes statements from rows; raise EntryError if its extent or a column is unknown."""
    extent = extents.get(entry.extent)
    if extent is None:
        raise EntryError(f"no extent {quoted(entry.extent)}", at.then("extent"), did_you_mean(entry.extent, extents))
    if extent.kind is ExtentKind.STORED:
        hint = "statements of a stream are made of a sensed or pushed extent; the rows of a table have no time"
        raise EntryError(f"{quoted(entry.extent)} is a stored table", at.then("extent"), hint)
    subject_at = at.then("subject")
    columns = tuple(_COLUMN.findall(entry.subject))
    for name in columns:
        _check_column(name, extent, subject_at)
    parts = tuple(_COLUMN.split(_expand_iri(entry.subject, prefixes))[::2])
    if not _ABSOLUTE.fullmatch("x".join(parts)):
        hint = "write for example http://example.org/{id}"
        raise EntryError(f"{display_value(entry.subject)} is not a pattern of an IRI", subject_at, hint)
    if not entry.predicates:
        raise EntryError("a template needs a predicate", at.then("predicates"), f"write {extent.names[0]}: IRI")
    predicates = []
    for name, predicate in entry.predicates.items():
        predicate_at = at.then("predicates", name)
        _check_column(name, extent, predicate_at.at_key())
        iri = _expand_iri(predicate, prefixes)
        if not _ABSOLUTE.fullmatch(iri):
            raise EntryError(
                f"{display_value(predicate)} is not an absolute IRI",
                predicate_at,
                "write for example http://example.org/speed",
            )
        predicates.append((name, iri))
    return StatementTemplate(entry.extent, parts, columns, tuple(predicates))


def _check_column(name: str, extent: Extent, at: Location) -> None:
    """Raise EntryError with a suggestion if an extent lacks an attribute that a template names."""
    if name not in extent.names:
        raise EntryError(f"{extent.name} has no attribute {quoted(name)}", at, did_you_mean(name, extent.names))


def _expand_iri(text: str, prefixes: Mapping[str, str]) -> str:
    """Expand a prefixed name such as ex:car to an IRI with the catalog's prefixes; other text is unchanged."""
    prefix, colon, local = text.partition(":")
    return prefixes[prefix] + local if colon and prefix in prefixes else text


def _check_absolute(iri: str, at: Location) -> str:
    """Return `iri` if it is absolute; raise EntryError otherwise."""
    if not _ABSOLUTE.fullmatch(iri):
        raise EntryError(
            f"{display_value(iri)} is not an absolute IRI", at, "write for example http://example.org/park"
        )
    return iri
