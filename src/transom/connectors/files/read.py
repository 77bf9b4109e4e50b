"""The rows of files to elements and versions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from transom.catalog.extents import Extent
from transom.catalog.sources import Files, FileVersions, Format
from transom.catalog.ticks import read_value
from transom.catalog.wording import nearest, show
from transom.connectors.files.lines import read_lines
from transom.connectors.files.parquet import read_parquet
from transom.connectors.files.paths import find_files
from transom.connectors.files.records import MISSING, Record
from transom.connectors.files.text import read_cell, read_csv
from transom.connectors.files.tracks import read_track
from transom.connectors.rows import Given, Origin, checked, ordered_versions, tagged, tick_of, version
from transom.errors import DataError
from transom.model.bag import Element, Row, Version
from transom.model.time import Calendar
from transom.model.types import Type, Value

READERS: dict[Format, Callable[[str], Iterator[Record]]] = {
    Format.CSV: read_csv,
    Format.JSONL: read_lines,
    Format.PARQUET: read_parquet,
    **{form: partial(read_track, form.value) for form in Format if form.tracks},
}
"""What reads a file of each format: the names of its columns, and then its rows."""

_UNITS = {Format.PARQUET: "row", Format.GPX: "point", Format.GEOJSON: "point"}
"""What the numbers of rows count, where it is not lines."""


def read_elements(
    extent: Extent, source: Files, calendar: Calendar, folder: Path | None, until: int | None = None
) -> list[Element]:
    """The stream that files hold: file after file and row after row, then ordered as all streams are."""
    paths = find_files(source.paths, folder, extent.name)
    time = source.time or source.format.clock
    rows = (row for path in paths for row in rows_of_file(extent, path, source, calendar, time, needed=True))
    return tagged(extent, rows, until)


def read_late(
    extent: Extent, source: Files, calendar: Calendar, folder: Path | None, until: int | None = None
) -> Iterator[Given]:
    """The rows that a live run could drop: behind the latest tick before them by more than the extent's lateness."""
    latest = 0
    for path in find_files(source.paths, folder, extent.name):
        for row in rows_of_file(extent, path, source, calendar, source.time or source.format.clock, needed=True):
            if row.tick < latest - extent.lateness and (until is None or row.tick <= until):
                yield row
            latest = max(latest, row.tick)


def read_versions(
    extent: Extent,
    source: Files | FileVersions,
    calendar: Calendar,
    folder: Path | None,
    until: int | None = None,
) -> list[Version]:
    """The versions of a table: a file each, or all rows with the same tick, or everything from tick 0 on."""
    contents: dict[int, list[Row]] = {}
    if isinstance(source, FileVersions):
        for tick, pattern in source.versions:
            rows = contents.setdefault(tick, [])
            for path in find_files([pattern], folder, extent.name):
                rows += [given.row for given in rows_of_file(extent, path, source, calendar)]
    else:
        time = source.time or (None if "tick" in source.columns(extent.names) else "tick")
        for path in find_files(source.paths, folder, extent.name):
            for given in rows_of_file(extent, path, source, calendar, time, needed=source.time is not None):
                contents.setdefault(given.tick, []).append(given.row)
    found = [version(extent, tick, tuple(rows)) for tick, rows in contents.items()]
    return ordered_versions(found or [version(extent, 0, ())], until)


def rows_of_file(
    extent: Extent,
    path: str,
    source: Files | FileVersions,
    calendar: Calendar,
    time: str | None = None,
    *,
    needed: bool = False,
    read: Callable[[object, Type], Value] | None = None,
) -> Iterator[Given]:
    """The rows of one file; their tick is in the column `time`, or 0 where there is none and none is needed."""
    form = source.format
    unit = _UNITS.get(form, "line")
    read = read or (read_cell if form is Format.CSV else read_value)
    try:
        records = READERS[form](path)
        header = next(records, None)
        if header is None:
            return
        columns = [str(name) for name in header.values]
        pairs = zip(extent.names, source.columns(extent.names), strict=True)
        places = [place_in_file(column, columns, path, extent, name=name) for name, column in pairs]
        clock = None
        if time is not None and (needed or time in columns):
            clock = place_in_file(
                time, columns, path, extent, "name the column with the tick: files: {path: ..., time: COLUMN}"
            )
        for record in records:
            origin = Origin(extent.name, record.number, unit, path)
            values = [_value(record, place, columns, origin) for place in places]
            row = checked(values, extent, origin, read)
            tick = 0
            if clock is not None:
                moment = _moment(_value(record, clock, columns, origin), source, origin, columns[clock])
                tick = tick_of(moment, calendar, origin, columns[clock])
            yield Given(tick, row, origin)
    except OSError as error:
        hint = "look whether it is there and may be read"
        raise DataError("cannot read the file", detail=str(error), hint=hint, source=path) from error


def _moment(value: object, source: Files | FileVersions, origin: Origin, column: str) -> object:
    """The value of the time column, read by the format that the catalog gives."""
    written = source.time_format if isinstance(source, Files) else None
    if written is None:
        return value
    found = written.iso(value) if isinstance(value, str) else None
    if found is None:
        raise origin.error(f"{column}: {show(value)} is not written as {written.text}", "correct it, or time_format")
    return found


def place_in_file(
    column: str, columns: list[str], path: str, extent: Extent, hint: str | None = None, *, name: str | None = None
) -> int:
    """The place of a column in a file, the time or the attribute `name`; DataError if it has none or two."""
    if columns.count(column) == 1:
        return columns.index(column)
    if column in columns:
        raise DataError(f"two columns are called {column}", hint="give one of them another name", source=path)
    near = nearest(column, columns)
    if len(columns) == 1 and (";" in columns[0] or "\t" in columns[0]):
        hint = "cells are separated by commas"
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


def _value(record: Record, place: int, columns: list[str], origin: Origin) -> object:
    value = record.values[place]
    if value is MISSING:
        raise origin.error(f"no value for {columns[place]}", "write null where there is no value")
    return value
