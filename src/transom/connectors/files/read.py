"""Read files into the elements of a stream or the versions of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from transom.catalog.extent import Extent
from transom.catalog.reading.ticks import read_value
from transom.catalog.reading.wording import display_value, nearest
from transom.catalog.sources import DELIMITERS, Files, FileVersions, Format
from transom.connectors.files.csv_files import DELIMITER_NAMES, read_cell, read_csv
from transom.connectors.files.json_lines import read_json_lines
from transom.connectors.files.parquet import read_parquet
from transom.connectors.files.paths import find_files
from transom.connectors.files.records import MISSING, FileRecord
from transom.connectors.files.tracks import read_track
from transom.connectors.rows import (
    Origin,
    SourceRow,
    checked_values,
    make_version,
    ordered_elements,
    ordered_versions,
    tick_of,
)
from transom.errors import DataError
from transom.model.bag import Element, Row, TableVersion
from transom.model.time import Calendar
from transom.model.types import Type, Value

READERS: dict[Format, Callable[[str], Iterator[FileRecord]]] = {
    Format.CSV: read_csv,
    Format.JSONL: read_json_lines,
    Format.PARQUET: read_parquet,
    **{form: partial(read_track, form.value) for form in Format if form.has_tracks},
}
"""The reader of each file format; it yields the column names, then the rows."""

_UNITS = {Format.PARQUET: "row", Format.GPX: "point", Format.GEOJSON: "point"}
"""What record numbers count, for formats where it is not lines."""


def read_elements(
    extent: Extent, source: Files, calendar: Calendar, folder: Path | None, until: int | None = None
) -> list[Element]:
    """Read a stream up to tick `until` from files in `folder`.

    Elements are ordered by tick; ties keep the declared order, else the order of files and rows.
    """
    paths = find_files(source.paths, folder, extent.name)
    time = source.time or source.format.default_time_column
    rows = (row for path in paths for row in rows_of_file(extent, path, source, calendar, time, time_required=True))
    return ordered_elements(extent, rows, until)


def read_late_rows(
    extent: Extent, source: Files, calendar: Calendar, folder: Path | None, until: int | None = None
) -> Iterator[SourceRow]:
    """Yield the rows that a live run would drop, because they come later than the source's lateness allows.

    Such a row is older than an earlier row by more than the lateness. Rows after tick `until` (None: no limit) are left
    out.
    """
    latest = 0
    time = source.time or source.format.default_time_column
    for path in find_files(source.paths, folder, extent.name):
        for row in rows_of_file(extent, path, source, calendar, time, time_required=True):
            if row.tick < latest - extent.lateness and (until is None or row.tick <= until):
                yield row
            latest = max(latest, row.tick)


def read_versions(
    extent: Extent,
    source: Files | FileVersions,
    calendar: Calendar,
    folder: Path | None,
    until: int | None = None,
) -> list[TableVersion]:
    """Read the versions of a table up to tick `until` (None: all).

    There is one version per file, one per tick of the rows, or a single one from tick 0.
    """
    contents: dict[int, list[Row]] = {}
    if isinstance(source, FileVersions):
        for tick, pattern in source.versions:
            rows = contents.setdefault(tick, [])
            for path in find_files([pattern], folder, extent.name):
                rows += [source_row.row for source_row in rows_of_file(extent, path, source, calendar)]
    else:
        time = source.time or (None if "tick" in source.columns(extent.names) else "tick")
        for path in find_files(source.paths, folder, extent.name):
            for row in rows_of_file(extent, path, source, calendar, time, time_required=source.time is not None):
                contents.setdefault(row.tick, []).append(row.row)
    versions = [make_version(extent, tick, tuple(rows)) for tick, rows in contents.items()]
    return ordered_versions(versions or [make_version(extent, 0, ())], until)


def rows_of_file(
    extent: Extent,
    path: str,
    source: Files | FileVersions,
    calendar: Calendar,
    time: str | None = None,
    *,
    time_required: bool = False,
    read: Callable[[object, Type], Value] | None = None,
) -> Iterator[SourceRow]:
    """Read the rows of a file and convert their values with `read`.

    Ticks come from the column `time`. Without one they are 0, or DataError is raised if `time_required`. DataError as
    well if a value does not fit its type, or if an attribute has no column.
    """
    form = source.format
    unit = _UNITS.get(form, "line")
    read = read or (partial(read_cell, decimal=source.decimal) if form is Format.CSV else read_value)
    try:
        records = read_csv(path, source.delimiter) if form is Format.CSV else READERS[form](path)
        header = next(records, None)
        if header is None:
            return
        columns = [str(name) for name in header.values]
        pairs = zip(extent.names, source.columns(extent.names), strict=True)
        attribute_indexes = [column_index(column, columns, path, extent, name=name) for name, column in pairs]
        time_index = None
        if time is not None and (time_required or time in columns):
            time_index = column_index(
                time, columns, path, extent, "name the column with the tick: files: {path: ..., time: COLUMN}"
            )
        for record in records:
            origin = Origin(extent.name, record.number, unit, path)
            values = [_value(record, index, columns, origin) for index in attribute_indexes]
            row = checked_values(values, extent, origin, read)
            tick = 0
            if time_index is not None:
                time_value = _time_value(
                    _value(record, time_index, columns, origin), source, origin, columns[time_index]
                )
                tick = tick_of(time_value, calendar, origin, columns[time_index])
            yield SourceRow(tick, row, origin)
    except OSError as error:
        hint = "look whether it is there and may be read"
        raise DataError("cannot read the file", detail=str(error), hint=hint, source=path) from error


def _time_value(value: object, source: Files | FileVersions, origin: Origin, column: str) -> object:
    """Return a row's value of a time column, as ISO 8601 text if the catalog declares another time format.

    DataError if it does not have that format.
    """
    time_format = source.time_format if isinstance(source, Files) else None
    if time_format is None:
        return value
    iso_text = time_format.iso(value) if isinstance(value, str) else None
    if iso_text is None:
        raise origin.error(
            f"{column}: {display_value(value)} is not written as {time_format.text}", "correct it, or time_format"
        )
    return iso_text


def column_index(
    column: str, columns: list[str], path: str, extent: Extent, hint: str | None = None, *, name: str | None = None
) -> int:
    """Return the number, from 0, of a file's column for an attribute; raise DataError if it is missing or occurs twice.

    `name` is the attribute, or None for the time; `hint` is the remedy in the error.
    """
    if columns.count(column) == 1:
        return columns.index(column)
    if column in columns:
        raise DataError(f"two columns are called {column}", hint="give one of them another name", source=path)
    near = nearest(column, columns)
    others = [mark for mark in DELIMITERS if len(columns) == 1 and mark in columns[0]]
    if others:
        hint = (
            f"the cells seem to be separated by {DELIMITER_NAMES[others[0]]}: write delimiter: {DELIMITERS[others[0]]}"
        )
    elif hint is None and near:
        hint = f"did you mean {near}? then write fields: {{{name}: {near!r}}}"
    elif hint is None:
        hint = f"every attribute of {extent.name} has a column; fields: says how it is called, if not {name}"
    raise DataError(
        f"no column {column} for {extent.name}",
        detail=f"the columns are {', '.join(columns)[:200]}",
        hint=hint,
        source=path,
    )


def _value(record: FileRecord, index: int, columns: list[str], origin: Origin) -> object:
    """Return the value of a column, by its number from 0, in a record; raise DataError if a JSON object lacks it."""
    value = record.values[index]
    if value is MISSING:
        raise origin.error(f"no value for {columns[index]}", "write null where there is no value")
    return value
