"""Read files into the elements of a stream or the versions of a table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.reading.ticks import HintedError, read_value
from transom.catalog.reading.wording import nearest
from transom.catalog.sources import DELIMITERS, Files, FileVersions, Format
from transom.connectors.files.csv_files import DELIMITER_NAMES, read_cell, read_csv, read_csv_lines
from transom.connectors.files.json_lines import read_json_lines
from transom.connectors.files.parquet import read_parquet
from transom.connectors.files.paths import find_files
from transom.connectors.files.records import MISSING, FileRecord, InvalidLine
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
from transom.connectors.source_times import formatted_time, with_zone
from transom.errors import DataError
from transom.model.bag import Element, Row, TableVersion
from transom.model.rdf.answer import RejectedMessage
from transom.model.reject_reason import RejectReason
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

REJECT_HINT = "; or write invalid_rows: reject under files in the catalog, to count such rows and go on without them"
"""The end of the hint for an invalid row of a CSV file."""


def read_elements(
    extent: Extent,
    source: Files,
    calendar: Calendar,
    catalog_folder: Path | None,
    until: int | None = None,
    rejected: list[RejectedMessage] | None = None,
) -> list[Element]:
    """Read a stream from files, up to tick `until` (None: all); rows that the source rejects go to `rejected`.

    Elements are ordered by tick; ties keep the declared order, else the order of files and rows.
    """
    paths = find_files(source.paths, catalog_folder, extent.name)
    time = source.time or source.format.default_time_column
    rows = (
        row
        for path in paths
        for row in rows_of_file(extent, path, source, calendar, time, time_required=True, rejected=rejected)
    )
    return ordered_elements(extent, rows, until)


def read_late_rows(
    extent: Extent, source: Files, calendar: Calendar, catalog_folder: Path | None, until: int | None = None
) -> Iterator[SourceRow]:
    """Yield the rows, up to tick `until`, that a live run would drop as later than the source's lateness allows.

    Such a row is older than an earlier row by more than the lateness. Rows after tick `until` (None: no limit) are left
    out.
    """
    latest = 0
    time = source.time or source.format.default_time_column
    for path in find_files(source.paths, catalog_folder, extent.name):
        for row in rows_of_file(extent, path, source, calendar, time, time_required=True):
            if row.tick < latest - extent.lateness and (until is None or row.tick <= until):
                yield row
            latest = max(latest, row.tick)


def read_versions(
    extent: Extent,
    source: Files | FileVersions,
    calendar: Calendar,
    catalog_folder: Path | None,
    until: int | None = None,
) -> list[TableVersion]:
    """Read a table's versions (its content from a tick on) up to tick `until` (None: all) from files.

    There is one version per file, one per tick of the rows, or a single one from tick 0.
    """
    contents: dict[int, list[Row]] = {}
    if isinstance(source, FileVersions):
        for tick, pattern in source.versions:
            rows = contents.setdefault(tick, [])
            for path in find_files([pattern], catalog_folder, extent.name):
                rows += [source_row.row for source_row in rows_of_file(extent, path, source, calendar)]
    else:
        time = source.time or (None if "tick" in source.columns(extent.names) else "tick")
        for path in find_files(source.paths, catalog_folder, extent.name):
            for row in rows_of_file(extent, path, source, calendar, time, time_required=source.time is not None):
                contents.setdefault(row.tick, []).append(row.row)
    versions = [make_version(extent, tick, tuple(rows)) for tick, rows in contents.items()]
    return ordered_versions(versions or [make_version(extent, 0, ())], until)


def rows_of_file(
    extent: Extent,
    path: str,
    source: Files | FileVersions,
    calendar: Calendar,
    time_column: str | None = None,
    *,
    time_required: bool = False,
    read: Callable[[object, Type], Value] | None = None,
    rejected: list[RejectedMessage] | None = None,
) -> Iterator[SourceRow]:
    """Read a file's rows with `read` (None: by format); without `time_column` tick 0, or DataError if `time_required`.

    Ticks come from the column `time_column`. Without one they are 0, or DataError is raised if `time_required`.
    DataError as well if an attribute has no column, or if a value does not fit its type; but if the source rejects
    invalid rows, they are added to `rejected`.
    """
    form = source.format
    unit = _UNITS.get(form, "line")
    if read is None:
        read = partial(read_cell, decimal_point=source.decimal, zone=source.zone) if form is Format.CSV else read_value
    try:
        records = _records(path, extent, source)
        header = next(records, None)
        if not isinstance(header, FileRecord):
            return
        columns = [str(name) for name in header.values]
        pairs = zip(extent.names, source.columns(extent.names), strict=True)
        attribute_indexes = [column_index(column, columns, path, extent, attribute_name=name) for name, column in pairs]
        time_index = None
        if time_column is not None and (time_required or time_column in columns):
            time_index = column_index(
                time_column, columns, path, extent, "name the column with the tick: files: {path: ..., time: COLUMN}"
            )
        converter = _RowConverter(extent, source, calendar, columns, attribute_indexes, time_index, read)
        for record in records:
            origin = Origin(extent.name, record.number, unit, path)
            row = converter.source_row(record, origin, [] if rejected is None else rejected)
            if row is not None:
                yield row
    except OSError as error:
        hint = "look whether it is there and may be read"
        raise DataError("cannot read the file", detail=str(error), hint=hint, source=path) from error


def _records(path: str, extent: Extent, source: Files | FileVersions) -> Iterator[FileRecord | InvalidLine]:
    """Read the records of a file; only a CSV file whose invalid rows are rejected yields invalid lines."""
    if source.format is not Format.CSV:
        return READERS[source.format](path)
    if isinstance(source, Files) and source.rejects_invalid:
        return read_csv_lines(path, source.delimiter)
    return read_csv(path, source.delimiter, reject_hint(extent, source))


def reject_hint(extent: Extent, source: Files | FileVersions) -> str:
    """Return the text after an invalid row's hint, on how to reject such rows; empty if the source cannot."""
    can_reject = isinstance(source, Files) and source.format is Format.CSV
    is_table = extent.kind is ExtentKind.STORED or extent.holds_statements
    return REJECT_HINT if can_reject and not is_table else ""


@dataclass(frozen=True)
class _RowConverter:
    """Converts the records of a file to rows: the numbers of the columns of its attributes and its time (or None)."""

    extent: Extent
    source: Files | FileVersions
    calendar: Calendar
    columns: list[str]
    attribute_indexes: Sequence[int]
    time_index: int | None
    read: Callable[[object, Type], Value]

    def source_row(
        self, record: FileRecord | InvalidLine, origin: Origin, rejected: list[RejectedMessage]
    ) -> SourceRow | None:
        """Convert a record; an invalid one goes to `rejected` (result None) or raises DataError, as declared.

        The reason is that of the time if both the time and a value are invalid, as on Spark.
        """
        if isinstance(record, InvalidLine):
            rejected.append(_rejected_row(origin, record.reason, record.detail, record.text))
            return None
        if not (isinstance(self.source, Files) and self.source.rejects_invalid):
            try:
                row = self._row(record, origin)
                return SourceRow(self._tick(record, origin), row, origin)
            except DataError as error:
                error.hint = f"{error.hint}{reject_hint(self.extent, self.source)}"
                raise
        reason = RejectReason.TIME
        try:
            tick = self._tick(record, origin)
            reason = RejectReason.TYPE
            return SourceRow(tick, self._row(record, origin), origin)
        except DataError as error:
            detail = error.message.removeprefix(f"{origin.unit} {origin.number} of {origin.extent}: ")
            early = reason is RejectReason.TIME and "before tick 0" in detail
            cells = self.source.delimiter.join("" if cell is None else str(cell) for cell in record.values)
            rejected.append(_rejected_row(origin, RejectReason.EPOCH if early else reason, detail, cells))
            return None

    def _row(self, record: FileRecord, origin: Origin) -> Row:
        """Convert the values of a record to the types of the attributes; raise DataError if one does not fit."""
        values = [_value(record, index, self.columns, origin) for index in self.attribute_indexes]
        return checked_values(values, self.extent, origin, self.read)

    def _tick(self, record: FileRecord, origin: Origin) -> int:
        """Return the tick of a record, 0 without a time column; raise DataError if its time is invalid."""
        if self.time_index is None:
            return 0
        column = self.columns[self.time_index]
        value = _value(record, self.time_index, self.columns, origin)
        return tick_of(_time_value(value, self.source, origin, column), self.calendar, origin, column)


def _rejected_row(origin: Origin, reason: RejectReason, detail: str, text: str) -> RejectedMessage:
    """Create the record of a rejected row of a CSV file, with the `text` of its line."""
    return RejectedMessage(f"{origin.source}:{origin.number}", reason, detail, text, "rows")


def _time_value(value: object, source: Files | FileVersions, origin: Origin, column: str) -> object:
    """Convert a time cell: to ISO 8601 if the source has a time format, to an instant if it has a time zone.

    DataError if it does not have that format, or if it is not exactly one instant in the zone.
    """
    time_format = source.time_format if isinstance(source, Files) else None
    try:
        if time_format is not None:
            return formatted_time(value, time_format, source.zone)
        return with_zone(value, source.zone)
    except HintedError as error:
        raise origin.error(f"{column}: {error}", error.hint) from error


def column_index(
    column: str,
    columns: list[str],
    path: str,
    extent: Extent,
    hint: str | None = None,
    *,
    attribute_name: str | None = None,
) -> int:
    """Return a column's index in `columns`, for an attribute (None: the time); DataError if absent or repeated.

    `attribute_name` is the attribute, or None for the time; `hint` is the remedy in the error.
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
        hint = f"did you mean {near}? then write fields: {{{attribute_name}: {near!r}}}"
    elif hint is None:
        hint = f"every attribute of {extent.name} has a column; fields: says how it is called, if not {attribute_name}"
    raise DataError(
        f"no column {column} for {extent.name}",
        detail=f"the columns are {', '.join(columns)[:200]}",
        hint=hint,
        source=path,
    )


def _value(record: FileRecord, index: int, columns: list[str], origin: Origin) -> object:
    """Return the value at a column's index in a file's record; raise DataError if a JSON object lacks it."""
    value = record.values[index]
    if value is MISSING:
        raise origin.error(f"no value for {columns[index]}", "write null where there is no value")
    return value
