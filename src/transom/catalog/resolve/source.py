"""Resolve the source of an extent: files and inline tables; other modules resolve the rest."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.reading.located_values import read_value_at
from transom.catalog.reading.locations import EntryError, Location
from transom.catalog.reading.ticks import read_tick
from transom.catalog.reading.wording import did_you_mean, display_value, nearest, quoted
from transom.catalog.resolve.generator import read_generator
from transom.catalog.schema.entries import FilesEntry, SourceEntry, TableEntry
from transom.catalog.sources import (
    DELIMITERS,
    FORMAT_BY_SUFFIX,
    Files,
    FileVersions,
    Format,
    FromQuery,
    Source,
    Table,
)
from transom.catalog.time_formats import TimeFormat, read_time_format
from transom.model.bag import Row, TableVersion
from transom.model.time import Calendar

if TYPE_CHECKING:
    from transom.model.local_times import LocalTimes

_FORMAT_HINT = f"add format: {', '.join(form.value for form in Format)}"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def read_source(
    extent: Extent, entry: SourceEntry, at: Location, calendar: Calendar, catalog_folder: Path | None = None
) -> Source:
    """Read the `source` entry of an extent; raise EntryError unless it has exactly one source that suits the extent."""
    keys = [key for key in type(entry).model_fields if getattr(entry, key) is not None]
    if len(keys) != 1:
        hint = "write files: PATH, generate: {...}, table: {...} or query: PATH"
        message = f"a source is one of files, generate, table, query and the servers, not {len(keys)} of them"
        raise EntryError(message, at, hint)
    source_at = at.then(keys[0])
    if entry.kafka is not None:
        from transom.catalog.resolve.kafka import read_kafka

        return read_kafka(extent, entry.kafka, source_at, catalog_folder)
    if entry.postgresql is not None:
        from transom.catalog.resolve.server import read_postgres

        return read_postgres(extent, entry.postgresql, source_at, calendar, catalog_folder)
    server = entry.mqtt or entry.modbus or entry.opcua or entry.http
    if server is not None:
        from transom.catalog.resolve.server import read_server

        return read_server(extent, server, source_at, calendar, catalog_folder)
    if entry.table is not None:
        if extent.kind is not ExtentKind.STORED:
            raise EntryError(f"a {extent.kind} extent has no table", source_at.at_key(), "use files or generate")
        return _table(extent, entry.table, source_at, calendar)
    if entry.query is not None:
        if extent.kind is not ExtentKind.PUSHED:
            raise EntryError(f"a {extent.kind} extent has no query", source_at.at_key(), "declare it as pushed")
        if not entry.query or _CONTROL.search(entry.query):
            raise EntryError(f"{quoted(entry.query)} is not a path", source_at, "write for example slow.cql")
        return FromQuery(entry.query)
    if entry.generate is not None:
        if extent.kind is ExtentKind.STORED:
            hint = "write the rows: table: {rows: [[20, cool], [30, warm]]}"
            raise EntryError("a stored extent cannot be generated", source_at.at_key(), hint)
        return read_generator(extent, entry.generate, source_at, calendar)
    assert entry.files is not None  # noqa: S101 - one is given
    return _files(extent, entry.files, source_at, calendar)


_DECIMALS = {".": "'.'", ",": "','"}
"""The decimal marks of CSV files, each as it is written in a catalog."""


def _files(extent: Extent, entry: FilesEntry, at: Location, calendar: Calendar) -> Files | FileVersions:
    """Convert a `files` entry to files or to versions of a stored table; raise EntryError if its settings conflict."""
    if (entry.path is None) == (entry.versions is None):
        raise EntryError("files take either a path or versions", at, "write files: data/road.csv")
    if entry.versions is not None:
        if extent.kind is not ExtentKind.STORED:
            raise EntryError(f"a {extent.kind} extent has no versions", at.then("versions").at_key(), "write path: ...")
        if entry.time is not None:
            raise EntryError("versions have their ticks already", at.then("time").at_key(), "leave out time")
        if entry.time_format is not None:
            raise EntryError(
                "versions have their ticks already", at.then("time_format").at_key(), "leave out time_format"
            )
        if entry.invalid_rows is not None:
            hint = "leave it out, because a table without one of its rows is another table"
            raise EntryError("a stored extent has no invalid_rows", at.then("invalid_rows").at_key(), hint)
        versions_at = at.then("versions")
        path_of_tick = {_tick(key, versions_at, calendar): path for key, path in entry.versions.items()}
        _check_distinct_ticks(path_of_tick, entry.versions, versions_at)
        located_paths = [(path, versions_at.then(key)) for key, path in entry.versions.items()]
        form = _format(entry, located_paths, at)
        delimiter, decimal = _csv_marks(entry, form, at)
        return FileVersions(
            tuple(sorted(path_of_tick.items())),
            form,
            _fields(extent, entry, at),
            delimiter,
            decimal,
            _zone(entry, form, at),
        )
    paths = entry.path or []
    if not paths:
        raise EntryError("the list of paths is empty", at, "write files: data/road.csv")
    located_paths = [(path, at.then("path", index)) for index, path in enumerate(paths)]
    form = _format(entry, located_paths, at)
    time_format, fields = _time_format(entry, form, at), _fields(extent, entry, at)
    delimiter, decimal = _csv_marks(entry, form, at)
    return Files(
        tuple(paths),
        form,
        entry.time,
        fields,
        time_format,
        delimiter=delimiter,
        decimal=decimal,
        zone=_zone(entry, form, at),
        rejects_invalid=_rejects_invalid(extent, entry, form, at),
    )


def _zone(entry: FilesEntry, form: Format, at: Location) -> LocalTimes | None:
    """Return the declared zone of local times in CSV files, None if none; EntryError if unknown or not CSV."""
    if entry.zone is None:
        return None
    from zoneinfo import available_timezones  # a catalog without a zone starts faster

    from transom.model.local_times import LocalTimes

    zone_at = at.then("zone")
    if form is not Format.CSV:
        hint = "only CSV files have one; write the times with their offset, such as 2026-03-29T12:00:00+02:00"
        raise EntryError(f"{form.value} files have no zone", zone_at.at_key(), hint)
    names = available_timezones() - {"localtime", "posixrules", "Factory"}
    if not names:
        raise EntryError("this computer has no time zones", zone_at, "install tzdata")
    if entry.zone not in names:
        near = nearest(entry.zone, sorted(name for name in names if "/" in name))
        hint = f"did you mean {near}?" if near else "zones have names such as Europe/Berlin, America/New_York or UTC"
        raise EntryError(f"no time zone is called {quoted(entry.zone)}", zone_at, hint)
    return LocalTimes(entry.zone)


def _rejects_invalid(extent: Extent, entry: FilesEntry, form: Format, at: Location) -> bool:
    """Whether the entry declares that invalid rows are rejected; EntryError unless they are of a CSV stream."""
    if entry.invalid_rows is None:
        return False
    key_at = at.then("invalid_rows").at_key()
    if form is not Format.CSV:
        raise EntryError(f"{form.value} files have no invalid_rows", key_at, "only CSV files have it")
    if extent.kind is ExtentKind.STORED:
        hint = "leave it out, because a table without one of its rows is another table"
        raise EntryError("a stored extent has no invalid_rows", key_at, hint)
    return entry.invalid_rows == "reject"


def _csv_marks(entry: FilesEntry, form: Format, at: Location) -> tuple[str, str]:
    """Return the delimiter and the decimal mark of CSV files; raise EntryError if they are wrong or in conflict."""
    for name, kind, mark, allowed in (
        ("delimiter", "delimiter", entry.delimiter, DELIMITERS),
        ("decimal", "decimal mark", entry.decimal, _DECIMALS),
    ):
        mark_at = at.then(name)
        if mark is not None and form is not Format.CSV:
            raise EntryError(f"{form.value} files have no {name}", mark_at.at_key(), "only CSV files have one")
        if mark is not None and mark not in allowed:
            raise EntryError(f"{quoted(mark)} is not a {kind}", mark_at, f"write one of {' '.join(allowed.values())}")
    delimiter, decimal = entry.delimiter or ",", entry.decimal or "."
    if delimiter == decimal:
        hint = "add the delimiter of the file, such as delimiter: ';'"
        raise EntryError("a comma cannot be both the delimiter and the decimal mark", at.then("decimal"), hint)
    return delimiter, decimal


def _fields(extent: Extent, entry: FilesEntry, at: Location) -> tuple[tuple[str, str], ...]:
    """Return pairs of attribute and column for the declared columns; raise EntryError if an attribute is unknown."""
    for name in entry.fields:
        if name not in extent.names:
            name_at = at.then("fields", name).at_key()
            raise EntryError(f"no attribute {quoted(name)}", name_at, did_you_mean(name, extent.names))
    return tuple(sorted(entry.fields.items()))


def _time_format(entry: FilesEntry, form: Format, at: Location) -> TimeFormat | None:
    """Return the declared format of the time column, or None; raise EntryError if the files cannot have one.

    Only CSV and JSON lines can. Beside a `zone`, which makes some local times ambiguous, a time may have an offset.
    """
    if entry.time_format is None:
        return None
    format_at = at.then("time_format")
    if form not in (Format.CSV, Format.JSONL):
        raise EntryError(f"{form.value} files have no time_format", format_at.at_key(), "CSV and JSON lines have one")
    if entry.time is None:
        raise EntryError("time_format is for the column that time names", format_at.at_key(), "add time: COLUMN")
    try:
        time_format = read_time_format(entry.time_format)
    except ValueError as error:
        raise EntryError(str(error), format_at, "write for example '%d/%m/%Y %H:%M:%S'") from error
    return time_format if entry.zone is None else time_format.with_optional_offset


def _format(entry: FilesEntry, located_paths: Sequence[tuple[str, Location]], at: Location) -> Format:
    """Return the declared file format, or that of the files' extensions; raise EntryError if they differ."""
    formats: set[Format] = set()
    for path, path_at in located_paths:
        if not path or _CONTROL.search(path):
            raise EntryError(f"{quoted(path)} is not a path", path_at, "write for example data/road.csv")
        ending = os.path.splitext(path)[1].lower()
        if entry.format is None and ending not in FORMAT_BY_SUFFIX:
            raise EntryError(f"cannot tell the format of {quoted(path)}", path_at, _FORMAT_HINT)
        formats.add(Format(entry.format) if entry.format else FORMAT_BY_SUFFIX[ending])
    if len(formats) != 1:
        raise EntryError("the files are of different formats", at, _FORMAT_HINT)
    return formats.pop()


def _table(extent: Extent, entry: TableEntry, at: Location, calendar: Calendar) -> Table:
    """Convert a `table` entry, whose rows are in the catalog itself, to the versions of a stored table."""
    if (entry.rows is None) == (entry.versions is None):
        raise EntryError("a table takes either rows or versions", at, "write table: {rows: [[20, cool], [30, warm]]}")
    if entry.rows is not None:
        return Table((_version(extent, 0, entry.rows, at.then("rows")),))
    versions_at = at.then("versions")
    declared = entry.versions or {}
    versions = {}
    for key, rows in declared.items():
        tick = _tick(key, versions_at, calendar)
        versions[tick] = _version(extent, tick, rows, versions_at.then(key))
    _check_distinct_ticks(versions, declared, versions_at)
    return Table(tuple(versions[tick] for tick in sorted(versions)))


def _version(extent: Extent, tick: int, rows: Sequence[object], at: Location) -> TableVersion:
    """Read the rows of the table version valid from `tick`; EntryError if there are more than the extent declares."""
    if extent.rows is not None and len(rows) > extent.rows:
        raise EntryError(
            f"{len(rows)} rows, but at most {extent.rows} are declared", at, f"declare rows: {len(rows)} or more"
        )
    return TableVersion(tick, tuple(_row(extent, row, at.then(index)) for index, row in enumerate(rows)))


def _row(extent: Extent, row: object, at: Location) -> Row:
    """Read a row of a table: a list of values, or a mapping by attribute."""
    names = extent.names
    if isinstance(row, dict):
        if set(row) != set(names):
            missing = [name for name in names if name not in row]
            hint = f"add {', '.join(missing)}" if missing else "leave out the others"
            raise EntryError(f"expected the entries {', '.join(names)}", at, hint)
        cells = [(row[name], at.then(name)) for name in names]
    elif isinstance(row, list | tuple):
        if len(row) != len(names):
            raise EntryError(_row_length(len(row), len(names)), at, f"the attributes are {', '.join(names)}")
        cells = [(value, at.then(index)) for index, value in enumerate(row)]
    else:
        raise EntryError(f"expected a row, not {display_value(row)}", at, f"write [{', '.join(names)}]")
    return tuple(read_value_at(value, attribute, cell_at) for attribute, (value, cell_at) in zip(extent.schema, cells))


def _row_length(values: int, attributes: int) -> str:
    """Return an error text which says that a row has `values` values, and its extent `attributes` attributes."""
    counts = (
        f"{count} {noun}{'' if count == 1 else 's'}" for count, noun in ((values, "value"), (attributes, "attribute"))
    )
    return "this row has {}, and the extent has {}".format(*counts)


def _tick(key: str | int, at: Location, calendar: Calendar) -> int:
    """Read the tick from which a version of a stored table is valid; raise EntryError if it is invalid."""
    try:
        return read_tick(key, calendar)
    except ValueError as error:
        raise EntryError(str(error), at.then(key).at_key(), "write the tick at which this version begins") from error


def _check_distinct_ticks(ticks: Mapping[int, object], versions: Mapping[str | int, object], at: Location) -> None:
    """Raise EntryError if two keys of a table's `versions` mean the same tick, such as a number and an instant."""
    if len(ticks) != len(versions):
        raise EntryError("two versions begin at the same tick", at.at_key(), "leave out one of the two")
