"""Read a log in plain Python: the rows of a stream, the versions of a table, the count of rejected entries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from transom.catalog.extent import Extent
from transom.catalog.servers import KafkaTopic, LogLocation
from transom.connectors.log.topic import topic_records
from transom.connectors.rows import Origin, SourceRow, checked_values, make_version, ordered_elements, ordered_versions
from transom.errors import DataError, UsageError, install_hint
from transom.model.bag import Element, Row, TableVersion, row_identity

PORTION = 10_000
"""Entries of a segment that are read at once."""


def log_folder(log: str, catalog_folder: Path | None) -> Path:
    """Return the path of a log's folder; a relative path starts from `catalog_folder` (None: current folder)."""
    return (catalog_folder or Path()) / log


def read_log(extent: Extent, log: LogLocation, catalog_folder: Path | None, until: int | None = None) -> list[Element]:
    """Read a stream, ordered by tick, from its log, up to tick `until` (None: all).

    Ties keep the declared order, else that of the log (E1).
    """
    return ordered_elements(extent, _rows(extent, _log_location(log, catalog_folder)), until)


def _rows(extent: Extent, location: Path | KafkaTopic) -> Iterator[SourceRow]:
    """Read the accepted rows in a stream's log, without heartbeats, rejected messages and gaps."""
    for source, number, entry in _location_entries(extent, location, [*extent.names, "_seq", "_tick", "_kind"]):
        if entry["_kind"] == "row":
            origin = Origin(extent.name, number, "entry", source)
            tick = entry["_tick"]
            if not isinstance(tick, int):
                raise origin.error("no tick", "somebody else changed the log")
            yield SourceRow(tick, checked_values((entry[name] for name in extent.names), extent, origin), origin)


def _log_location(log: LogLocation, catalog_folder: Path | None) -> Path | KafkaTopic:
    """Return where a log is: its Kafka topic, or its folder's path, relative to the folder of the catalog."""
    return log if isinstance(log, KafkaTopic) else log_folder(log, catalog_folder)


def log_entries(
    extent: Extent, log: LogLocation, catalog_folder: Path | None, columns: list[str]
) -> Iterator[tuple[str, int, dict[str, object]]]:
    """Yield a log's entries as (file or topic, number, values of `columns`); DataError if entries are missing."""
    yield from _location_entries(extent, _log_location(log, catalog_folder), columns)


def _location_entries(
    extent: Extent, location: Path | KafkaTopic, columns: list[str]
) -> Iterator[tuple[str, int, dict[str, object]]]:
    """Yield the entries of a log at `location` as (file or topic, number, values of `columns`)."""
    if isinstance(location, KafkaTopic):
        yield from topic_records(extent, location, columns)
        return
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UsageError(f"reading the log of {extent.name} needs pyarrow", hint=install_hint("parquet")) from error
    from transom.connectors.log.segments import open_segments, segments

    if not segments(location):
        raise DataError(f"no log of {extent.name} in {location}", hint="transom collect writes it")
    number = 0
    for path, file in open_segments(location):
        try:
            for portion in file.iter_batches(PORTION, columns=columns):
                for row in portion.to_pylist():
                    if row["_seq"] != number:
                        hint = "a segment is whole or not there: somebody else changed it"
                        raise DataError(f"entry {row['_seq']} is where entry {number} was", hint=hint, source=str(path))
                    yield str(path), number, row
                    number += 1
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise DataError("the segment cannot be read", detail=str(error), source=str(path)) from error


def read_changes(
    extent: Extent, log: LogLocation, catalog_folder: Path | None, until: int | None = None
) -> list[TableVersion]:
    """Rebuild a polled SQL table's versions, up to tick `until` (None: all), from the row changes in its log."""
    current_rows: dict[int, Row] = {}
    rows_by_tick: dict[int, tuple[Row, ...]] = {}
    numbers_by_row: dict[object, list[int]] = {}
    columns = [*extent.names, "_seq", "_tick", "_kind"]
    for tick, scan in groupby(
        _scan_changes(extent, _log_location(log, catalog_folder), columns), key=lambda entry: entry[0]
    ):
        changed = not rows_by_tick
        for _, number, kind, row in scan:
            if kind == "row":
                current_rows[number] = row
                numbers_by_row.setdefault(row_identity(row), []).append(number)
            elif kind == "left":
                del current_rows[numbers_by_row[row_identity(row)].pop(0)]
            changed = changed or kind != "beat"
        if changed:
            rows_by_tick[tick] = make_version(extent, tick, tuple(current_rows.values())).rows
    return ordered_versions([TableVersion(tick, rows) for tick, rows in rows_by_tick.items()], until)


def _scan_changes(
    extent: Extent, location: Path | KafkaTopic, columns: list[str]
) -> Iterator[tuple[int, int, str, Row]]:
    """Yield insertions, deletions and heartbeats in a polled table's log as (tick, entry number, kind, row)."""
    for source, number, entry in _location_entries(extent, location, columns):
        kind, tick = str(entry["_kind"]), entry["_tick"]
        if kind in ("row", "left", "beat") and isinstance(tick, int):
            origin = Origin(extent.name, number, "entry", source)
            yield tick, number, kind, checked_values((entry[name] for name in extent.names), extent, origin)


def rejected_counts(extent: Extent, log: LogLocation, catalog_folder: Path | None) -> Counter[str]:
    """Count the rejected messages and missing readings in a log, by reject reason."""
    entries = log_entries(extent, log, catalog_folder, ["_seq", "_kind", "_reason"])
    return Counter(str(entry["_reason"]) for _, _, entry in entries if entry["_kind"] in ("dead", "gap"))
