"""Streams of statements from files, tables of terms or of messages, RDF that states its times; and from topics."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from transom.catalog.catalog import Catalog
from transom.catalog.rdf import RdfExtent
from transom.catalog.rdf_entries import TABLES
from transom.connectors.files.lines import read_lines
from transom.connectors.files.parquet import read_parquet
from transom.connectors.files.paths import find_files
from transom.connectors.files.records import MISSING, Record
from transom.connectors.files.text import read_csv
from transom.connectors.kafka.statements import read_statements
from transom.connectors.rdf_payloads import RdfReader, sift
from transom.connectors.statements import stream_statements
from transom.errors import DataError, UsageError
from transom.model.rdf.answer import Aside
from transom.model.rdf.terms import Triple

_READERS: dict[str, Callable[[str], Iterator[Record]]] = {
    "csv": read_csv,
    "jsonl": read_lines,
    "parquet": read_parquet,
}


def open_stream(extent: RdfExtent, catalog: Catalog) -> tuple[list[tuple[int, Triple]], list[Aside]]:
    """The statements of a stream from its files or its topic, by their ticks, and the messages that gave none."""
    if extent.topic is not None:
        return read_statements(extent, extent.topic, catalog.calendar)
    if not extent.files:
        raise UsageError(f"no statements for {extent.name}", hint="give them as inputs, or add files to the catalog")
    statements: list[tuple[int, Triple]] = []
    aside: list[Aside] = []
    for path in find_files(extent.files, catalog.folder, extent.name):
        found = read_file(extent, path, catalog)
        statements += found[0]
        aside += found[1]
    return sorted(statements, key=lambda one: one[0]), aside


def read_file(extent: RdfExtent, path: str, catalog: Catalog) -> tuple[list[tuple[int, Triple]], list[Aside]]:
    """The statements of one file of a stream, as they stand there, and the messages that gave none."""
    ending = Path(path).suffix.removeprefix(".").lower()
    if ending in TABLES and extent.format is None:
        return _terms(extent, path, ending, catalog), []
    if ending in TABLES:
        reader = RdfReader(extent.format or "", catalog.calendar, extent.time)
        found, aside = sift(reader, _messages(extent, path, ending))
    else:
        reader = RdfReader(ending, catalog.calendar, extent.time, largest=None)
        found, aside = sift(reader, [(path, _content(path), None)])
    return [(one.tick, one.triple) for one in found], aside


def _terms(extent: RdfExtent, path: str, ending: str, catalog: Catalog) -> list[tuple[int, Triple]]:
    """The rows of a table with columns t, s, p and o."""
    rows = _records(extent, path, ending, ("t", "s", "p", "o"))
    try:
        return stream_statements(replace(extent, name=path), (values for _, values in rows), catalog)
    except DataError as error:
        error.hint = error.hint or "terms are written as in SPARQL"
        raise


def _messages(extent: RdfExtent, path: str, ending: str) -> Iterator[tuple[str, object, object]]:
    """The rows of a table with columns payload and, where messages state no time, t."""
    names = ("payload", "t") if extent.time is None else ("payload",)
    for number, values in _records(extent, path, ending, names):
        yield f"{path}:{number}", values[0], values[1] if len(values) > 1 else None


def _records(extent: RdfExtent, path: str, ending: str, names: tuple[str, ...]) -> Iterator[tuple[int, list[object]]]:
    """The values of some columns of a table, row by row."""
    try:
        records = _READERS[ending](path)
        header = next(records, None)
        if header is None:
            return
        for name in names:
            if header.values.count(name) != 1:
                said = ", ".join(map(str, header.values))[:200]
                hint = "columns are t, s, p and o, or t and payload with `format` in the catalog"
                raise DataError(f"no column {name} for {extent.name}", detail=said, hint=hint, source=path)
        places = [header.values.index(name) for name in names]
        for record in records:
            found = [record.values[place] for place in places]
            yield record.number, [None if value is MISSING else value for value in found]
    except OSError as error:
        raise DataError("cannot read the file", detail=str(error), source=path) from error


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}", detail=str(error), hint="give the path of a file of RDF") from error
