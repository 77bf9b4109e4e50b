"""Read RDF statements from files: RDF formats, tables of terms, and tables of messages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from transom.catalog.extent import Extent
from transom.catalog.sources import FORMAT_BY_SUFFIX, Files
from transom.connectors.files.paths import find_files
from transom.connectors.files.read import READERS, column_index, rows_of_file
from transom.connectors.files.records import MISSING
from transom.connectors.payloads import RejectError
from transom.connectors.rdf.lines import LINE_FORMATS, decode_lines
from transom.connectors.rdf.payloads import RdfReader, rejected_message
from transom.connectors.rdf.terms import check_statement, term_text
from transom.connectors.rows import Origin, SourceRow, ordered_elements
from transom.errors import DataError
from transom.model.bag import Element, TableVersion
from transom.model.rdf.answer import RejectedMessage
from transom.model.rdf.ntriples import statement_row
from transom.model.rdf.read import read_triples
from transom.model.time import Calendar

TIME, PAYLOAD = "t", "payload"
"""The columns of tables: the time of a statement or message, and the payload of a message."""


def read_statements(
    extent: Extent, source: Files, calendar: Calendar, catalog_folder: Path | None, rejected: list[RejectedMessage]
) -> list[Element]:
    """Read a stream of RDF statements, in order of ticks, from files; invalid messages are added to `rejected`.

    Statements after the last tick of a run are kept, because they end the validity of earlier ones.
    """
    paths = find_files(source.paths, catalog_folder, extent.name)
    rows = [row for path in paths for row in statements_of_file(extent, source, path, calendar, rejected)]
    return ordered_elements(extent, rows, None)


def statements_of_file(
    extent: Extent, source: Files, path: str, calendar: Calendar, rejected: list[RejectedMessage]
) -> Iterator[SourceRow]:
    """Read the RDF statements of one file in their order; invalid lines and messages are appended to `rejected`."""
    ending = Path(path).suffix.lower()
    if ending in FORMAT_BY_SUFFIX and source.payload is None:
        yield from _terms(extent, source, path, calendar)
        return
    if ending in FORMAT_BY_SUFFIX and source.payload is not None:
        reader = RdfReader(source.payload.value, calendar, source.time)
        messages = _messages(extent, source, path)
    elif ending.removeprefix(".") in LINE_FORMATS:
        reader = RdfReader(ending.removeprefix("."), calendar, source.time, largest=None)
        statements, lines = decode_lines(reader, _content(path))
        rejected += [rejected_message(f"{path}:{line.number}", line.rejection, line.content) for line in lines]
        yield from (SourceRow(tick, row, Origin(extent.name, 1, source=path)) for tick, row in statements)
        return
    else:
        reader = RdfReader(ending.removeprefix("."), calendar, source.time, largest=None)
        messages = iter([(Origin(extent.name, 1, source=path), path, _content(path), None)])
    for origin, location, payload, arrival in messages:
        try:
            for tick, row in reader.rows(payload, arrival):
                yield SourceRow(tick, row, origin)
        except RejectError as rejection:
            rejected.append(rejected_message(location, rejection, payload))


def read_graph(extent: Extent, source: Files, catalog_folder: Path | None) -> list[TableVersion]:
    """Read an RDF graph from files, as a table version valid from tick 0 on; files share no blank nodes."""
    rows: list[tuple[str, str, str]] = []
    for number, path in enumerate(find_files(source.paths, catalog_folder, extent.name)):
        base, node_prefix = Path(path).absolute().as_uri(), f"{extent.name}.{number}."
        try:
            triples = read_triples(
                _content(path), Path(path).suffix.removeprefix(".").lower(), base=base, label_prefix=node_prefix
            )
        except DataError as error:
            error.source = path
            raise
        rows += map(statement_row, triples)
    return [TableVersion(0, tuple(rows))]


def _terms(extent: Extent, source: Files, path: str, calendar: Calendar) -> Iterator[SourceRow]:
    """Read RDF statements from a table file with columns t, s, p and o, whose terms are written as in SPARQL."""
    table = replace(source, format=FORMAT_BY_SUFFIX[Path(path).suffix.lower()], time=TIME)
    read = partial(term_text, prefixes=dict(source.prefixes))
    for row in rows_of_file(extent, path, table, calendar, TIME, time_required=True, read=lambda value, _: read(value)):
        check_statement(row.row, row.origin)
        yield row


def _messages(extent: Extent, source: Files, path: str) -> Iterator[tuple[Origin, str, object, object]]:
    """Yield each RDF message in the rows of a table file, as (origin, PATH:ROW as text, payload, time or None).

    The time is None if the payloads state it.
    """
    names = (PAYLOAD, TIME) if source.time is None else (PAYLOAD,)
    hint = "columns are t, s, p and o, or t and payload with `format` in the catalog"
    try:
        records = READERS[FORMAT_BY_SUFFIX[Path(path).suffix.lower()]](path)
        header = next(records, None)
        columns = [] if header is None else [str(name) for name in header.values]
        indexes = [column_index(name, columns, path, extent, hint) for name in names if header is not None]
        for record in records:
            values = [None if record.values[index] is MISSING else record.values[index] for index in indexes]
            origin = Origin(extent.name, record.number, source=path)
            yield origin, f"{path}:{record.number}", values[0], values[1] if len(values) > 1 else None
    except OSError as error:
        raise DataError("cannot read the file", detail=str(error), source=path) from error


def _content(path: str) -> bytes:
    """Return the bytes of a file; raise DataError if it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError("cannot read the file", detail=str(error), source=path) from error
