"""Files of statements to elements and versions: RDF, tables of terms, and tables of messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from transom.catalog.extents import Extent
from transom.catalog.sources import ENDINGS, Files
from transom.connectors.files.paths import find_files
from transom.connectors.files.read import READERS, place_in_file, rows_of_file
from transom.connectors.files.records import MISSING
from transom.connectors.payloads import Dead
from transom.connectors.rdf_payloads import RdfReader, rejected_message
from transom.connectors.rows import Given, Origin, tagged
from transom.connectors.terms import check_statement, term_text
from transom.errors import DataError
from transom.model.bag import Element, Version
from transom.model.rdf.answer import Aside
from transom.model.rdf.read import read_triples
from transom.model.rdf.spelling import statement_row
from transom.model.time import Calendar

TIME, PAYLOAD = "t", "payload"
"""The columns of tables: when a term or a message came, and a message."""


def read_statements(
    extent: Extent, source: Files, calendar: Calendar, folder: Path | None, rejected: list[Aside]
) -> list[Element]:
    """The stream that files hold, in the order of its ticks; messages that give no statements are added to `rejected`.

    Statements after the last tick of a run say when what is valid then ends, so none is left out.
    """
    paths = find_files(source.paths, folder, extent.name)
    rows = [row for path in paths for row in statements_of_file(extent, source, path, calendar, rejected)]
    return tagged(extent, rows, None)


def statements_of_file(
    extent: Extent, source: Files, path: str, calendar: Calendar, rejected: list[Aside]
) -> Iterator[Given]:
    """The statements of one file of a stream, as they stand there."""
    ending = Path(path).suffix.lower()
    if ending in ENDINGS and source.payload is None:
        yield from _terms(extent, source, path, calendar)
        return
    if ending in ENDINGS and source.payload is not None:
        reader = RdfReader(source.payload.value, calendar, source.time)
        messages = _messages(extent, source, path)
    else:
        reader = RdfReader(ending.removeprefix("."), calendar, source.time, largest=None)
        messages = iter([(Origin(extent.name, 1, source=path), path, _content(path), None)])
    for origin, place, payload, moment in messages:
        try:
            for tick, row in reader.rows(payload, moment):
                yield Given(tick, row, origin)
        except Dead as dead:
            rejected.append(rejected_message(place, dead, payload))


def read_graph(extent: Extent, source: Files, folder: Path | None) -> list[Version]:
    """The statements of a stored graph, from tick 0 on; blank nodes of two files are two nodes."""
    rows: list[tuple[str, str, str]] = []
    for number, path in enumerate(find_files(source.paths, folder, extent.name)):
        base, nodes = Path(path).absolute().as_uri(), f"{extent.name}.{number}."
        try:
            found = read_triples(_content(path), Path(path).suffix.removeprefix(".").lower(), base=base, nodes=nodes)
        except DataError as error:
            error.source = path
            raise
        rows += map(statement_row, found)
    return [Version(0, tuple(rows))]


def _terms(extent: Extent, source: Files, path: str, calendar: Calendar) -> Iterator[Given]:
    """The rows of a table with columns t, s, p and o; terms are written as in SPARQL."""
    table = replace(source, format=ENDINGS[Path(path).suffix.lower()], time=TIME)
    read = partial(term_text, prefixes=dict(source.prefixes))
    for given in rows_of_file(extent, path, table, calendar, TIME, needed=True, read=lambda value, _: read(value)):
        check_statement(given.row, given.origin)
        yield given


def _messages(extent: Extent, source: Files, path: str) -> Iterator[tuple[Origin, str, object, object]]:
    """The rows of a table with columns payload and, where messages state no time, t."""
    names = (PAYLOAD, TIME) if source.time is None else (PAYLOAD,)
    hint = "columns are t, s, p and o, or t and payload with `format` in the catalog"
    try:
        records = READERS[ENDINGS[Path(path).suffix.lower()]](path)
        header = next(records, None)
        columns = [] if header is None else [str(name) for name in header.values]
        places = [place_in_file(name, columns, path, extent, hint) for name in names if header is not None]
        for record in records:
            values = [None if record.values[at] is MISSING else record.values[at] for at in places]
            origin = Origin(extent.name, record.number, source=path)
            yield origin, f"{path}:{record.number}", values[0], values[1] if len(values) > 1 else None
    except OSError as error:
        raise DataError("cannot read the file", detail=str(error), source=path) from error


def _content(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError("cannot read the file", detail=str(error), source=path) from error
