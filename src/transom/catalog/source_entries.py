"""The source of one extent: files and inline tables. `signal_entries` reads generators."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from transom.catalog.checked import typed
from transom.catalog.entries import FilesEntry, SourceEntry, TableEntry
from transom.catalog.extents import Extent, Kind
from transom.catalog.places import At, Misfit
from transom.catalog.signal_entries import read_generate
from transom.catalog.sources import ENDINGS, Files, FileVersions, Format, FromQuery, Source, Table
from transom.catalog.ticks import read_tick
from transom.catalog.time_formats import TimeFormat, read_time_format
from transom.catalog.wording import did_you_mean, quoted, show
from transom.model.bag import Row, Version
from transom.model.time import Calendar

_ADD = f"add format: {', '.join(form.value for form in Format)}"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def read_source(extent: Extent, entry: SourceEntry, at: At, calendar: Calendar, folder: Path | None = None) -> Source:
    """The source that an entry describes; Misfit unless it is exactly one that the extent can have."""
    given = [key for key in type(entry).model_fields if getattr(entry, key) is not None]
    if len(given) != 1:
        hint = "write files: PATH, generate: {...}, table: {...} or query: PATH"
        said = f"a source is one of files, generate, table, query and the servers, not {len(given)} of them"
        raise Misfit(said, at, hint)
    here = at.then(given[0])
    if entry.kafka is not None:
        from transom.catalog.kafka_entries import read_kafka

        return read_kafka(extent, entry.kafka, here, folder)
    if entry.postgresql is not None:
        from transom.catalog.server_entries import read_postgres

        return read_postgres(extent, entry.postgresql, here, calendar, folder)
    server = entry.mqtt or entry.modbus or entry.opcua or entry.http
    if server is not None:
        from transom.catalog.server_entries import read_server

        return read_server(extent, server, here, calendar, folder)
    if entry.table is not None:
        if extent.kind is not Kind.STORED:
            raise Misfit(f"a {extent.kind} extent has no table", here.at_key(), "use files or generate")
        return _table(extent, entry.table, here, calendar)
    if entry.query is not None:
        if extent.kind is not Kind.PUSHED:
            raise Misfit(f"a {extent.kind} extent has no query", here.at_key(), "the answer of a query is pushed")
        if not entry.query or _CONTROL.search(entry.query):
            raise Misfit(f"{quoted(entry.query)} is not a path", here, "write for example slow.cql")
        return FromQuery(entry.query)
    if entry.generate is not None:
        if extent.kind is Kind.STORED:
            hint = "write the rows: table: {rows: [[20, cool], [30, warm]]}"
            raise Misfit("a stored extent cannot be generated", here.at_key(), hint)
        return read_generate(extent, entry.generate, here, calendar)
    assert entry.files is not None  # noqa: S101 - one is given
    return _files(extent, entry.files, here, calendar)


def _files(extent: Extent, entry: FilesEntry, at: At, calendar: Calendar) -> Files | FileVersions:
    if (entry.path is None) == (entry.versions is None):
        raise Misfit("files take either a path or versions", at, "write files: data/road.csv")
    if entry.versions is not None:
        if extent.kind is not Kind.STORED:
            raise Misfit(f"a {extent.kind} extent has no versions", at.then("versions").at_key(), "write path: ...")
        if entry.time is not None:
            raise Misfit("versions have their ticks already", at.then("time").at_key(), "leave out time")
        if entry.time_format is not None:
            raise Misfit("versions have their ticks already", at.then("time_format").at_key(), "leave out time_format")
        here = at.then("versions")
        paths = {_tick(key, here, calendar): path for key, path in entry.versions.items()}
        _distinct(paths, entry.versions, here)
        places = [(path, here.then(key)) for key, path in entry.versions.items()]
        return FileVersions(tuple(sorted(paths.items())), _format(entry, places, at), _fields(extent, entry, at))
    listed = entry.path or []
    if not listed:
        raise Misfit("the list of paths is empty", at, "write files: data/road.csv")
    places = [(path, at.then("path", number)) for number, path in enumerate(listed)]
    form = _format(entry, places, at)
    return Files(tuple(listed), form, entry.time, _fields(extent, entry, at), _time_format(entry, form, at))


def _fields(extent: Extent, entry: FilesEntry, at: At) -> tuple[tuple[str, str], ...]:
    """The columns of attributes that have another name."""
    for name in entry.fields:
        if name not in extent.names:
            here = at.then("fields", name).at_key()
            raise Misfit(f"no attribute {quoted(name)}", here, did_you_mean(name, extent.names))
    return tuple(sorted(entry.fields.items()))


def _time_format(entry: FilesEntry, form: Format, at: At) -> TimeFormat | None:
    """How the time column is written; only text has to be told."""
    if entry.time_format is None:
        return None
    here = at.then("time_format")
    if form not in (Format.CSV, Format.JSONL):
        raise Misfit(f"{form.value} files have no time_format", here.at_key(), "CSV and JSON lines have one")
    if entry.time is None:
        raise Misfit("time_format is for the column that time names", here.at_key(), "add time: COLUMN")
    try:
        return read_time_format(entry.time_format)
    except ValueError as error:
        raise Misfit(str(error), here, "write for example '%d/%m/%Y %H:%M:%S'") from error


def _format(entry: FilesEntry, places: Sequence[tuple[str, At]], at: At) -> Format:
    """The format given, or the one that the endings of all paths stand for."""
    found: set[Format] = set()
    for path, here in places:
        if not path or _CONTROL.search(path):
            raise Misfit(f"{quoted(path)} is not a path", here, "write for example data/road.csv")
        ending = os.path.splitext(path)[1].lower()
        if entry.format is None and ending not in ENDINGS:
            raise Misfit(f"cannot tell the format of {quoted(path)}", here, _ADD)
        found.add(Format(entry.format) if entry.format else ENDINGS[ending])
    if len(found) != 1:
        raise Misfit("the files are of different formats", at, _ADD)
    return found.pop()


def _table(extent: Extent, entry: TableEntry, at: At, calendar: Calendar) -> Table:
    if (entry.rows is None) == (entry.versions is None):
        raise Misfit("a table takes either rows or versions", at, "write table: {rows: [[20, cool], [30, warm]]}")
    if entry.rows is not None:
        return Table((_version(extent, 0, entry.rows, at.then("rows")),))
    here = at.then("versions")
    given = entry.versions or {}
    versions = {}
    for key, rows in given.items():
        tick = _tick(key, here, calendar)
        versions[tick] = _version(extent, tick, rows, here.then(key))
    _distinct(versions, given, here)
    return Table(tuple(versions[tick] for tick in sorted(versions)))


def _version(extent: Extent, tick: int, rows: Sequence[object], at: At) -> Version:
    if extent.rows is not None and len(rows) > extent.rows:
        raise Misfit(f"{len(rows)} rows, but at most {extent.rows} are declared", at, "raise rows")
    return Version(tick, tuple(_row(extent, row, at.then(number)) for number, row in enumerate(rows)))


def _row(extent: Extent, row: object, at: At) -> Row:
    """One row, a list of values or entries by name."""
    names = extent.names
    if isinstance(row, dict):
        if set(row) != set(names):
            missing = [name for name in names if name not in row]
            hint = f"add {', '.join(missing)}" if missing else "leave out the others"
            raise Misfit(f"expected the entries {', '.join(names)}", at, hint)
        given = [(row[name], at.then(name)) for name in names]
    elif isinstance(row, list | tuple):
        if len(row) != len(names):
            raise Misfit(f"a row with {len(row)} of {len(names)} values", at, f"the attributes are {', '.join(names)}")
        given = [(value, at.then(number)) for number, value in enumerate(row)]
    else:
        raise Misfit(f"expected a row, not {show(row)}", at, f"write [{', '.join(names)}]")
    return tuple(typed(value, attribute, place) for attribute, (value, place) in zip(extent.schema, given))


def _tick(key: str | int, at: At, calendar: Calendar) -> int:
    try:
        return read_tick(key, calendar)
    except ValueError as error:
        raise Misfit(str(error), at.then(key).at_key(), "write the tick from which on the content holds") from error


def _distinct(ticks: Mapping[int, object], given: Mapping[str | int, object], at: At) -> None:
    if len(ticks) != len(given):
        raise Misfit("two versions begin at the same tick", at.at_key(), "leave out one of the two")
