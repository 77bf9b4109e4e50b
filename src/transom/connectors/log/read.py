"""A log in plain Python: the rows of the stream, and what did not become one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from transom.catalog.extents import Extent
from transom.catalog.servers import Place, Topic
from transom.connectors.log.topic import topic_entries
from transom.connectors.rows import Given, Origin, checked, ordered_versions, tagged, version
from transom.errors import DataError, UsageError
from transom.model.bag import Element, Row, Version, row_identity

PORTION = 10_000
"""Entries of a segment that are taken at once."""


def log_folder(log: str, folder: Path | None) -> Path:
    """Where a log lies."""
    return (folder or Path()) / log


def read_log(extent: Extent, log: Place, folder: Path | None, until: int | None = None) -> list[Element]:
    """The stream that a log holds, in the order of its numbers (E1) or as the extent orders ties."""
    return tagged(extent, _rows(extent, _located(log, folder)), until)


def _rows(extent: Extent, place: Path | Topic) -> Iterator[Given]:
    for source, number, entry in _entries(extent, place, [*extent.names, "_seq", "_tick", "_kind"]):
        if entry["_kind"] == "row":
            origin = Origin(extent.name, number, "entry", source)
            tick = entry["_tick"]
            if not isinstance(tick, int):
                raise origin.error("no tick", "somebody else changed the log")
            yield Given(tick, checked((entry[name] for name in extent.names), extent, origin), origin)


def _located(log: Place, folder: Path | None) -> Path | Topic:
    return log if isinstance(log, Topic) else log_folder(log, folder)


def _entries(extent: Extent, place: Path | Topic, columns: list[str]) -> Iterator[tuple[str, int, dict[str, object]]]:
    if isinstance(place, Topic):
        yield from topic_entries(extent, place, columns)
        return
    try:
        import pyarrow as pa
    except ImportError as error:
        raise UsageError(
            f"reading the log of {extent.name} needs pyarrow", hint="in a checkout of Transom: pip install '.[parquet]'"
        ) from error
    from transom.connectors.log.segments import segments, whole_segments

    if not segments(place):
        raise DataError(f"no log of {extent.name} in {place}", hint="transom collect writes it")
    number = 0
    for path, file in whole_segments(place):
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


def read_changes(extent: Extent, log: Place, folder: Path | None, until: int | None = None) -> list[Version]:
    """The versions of a table whose log holds what appeared and what left at each scan."""
    held: dict[int, Row] = {}
    found: dict[int, tuple[Row, ...]] = {}
    numbers: dict[object, list[int]] = {}
    columns = [*extent.names, "_seq", "_tick", "_kind"]
    for tick, scan in groupby(_scanned(extent, _located(log, folder), columns), key=lambda entry: entry[0]):
        changed = not found
        for _, number, kind, row in scan:
            if kind == "row":
                held[number] = row
                numbers.setdefault(row_identity(row), []).append(number)
            elif kind == "left":
                del held[numbers[row_identity(row)].pop(0)]
            changed = changed or kind != "beat"
        if changed:
            found[tick] = version(extent, tick, tuple(held.values())).rows
    return ordered_versions([Version(tick, rows) for tick, rows in found.items()], until)


def _scanned(extent: Extent, place: Path | Topic, columns: list[str]) -> Iterator[tuple[int, int, str, Row]]:
    """Ticks, numbers, kinds and rows of the entries that scans made."""
    for source, number, entry in _entries(extent, place, columns):
        kind, tick = str(entry["_kind"]), entry["_tick"]
        if kind in ("row", "left", "beat") and isinstance(tick, int):
            origin = Origin(extent.name, number, "entry", source)
            yield tick, number, kind, checked((entry[name] for name in extent.names), extent, origin)


def dead_counts(extent: Extent, log: Place, folder: Path | None) -> Counter[str]:
    """How many entries of a log are no rows, by reason."""
    entries = _entries(extent, _located(log, folder), ["_seq", "_kind", "_reason"])
    return Counter(str(entry["_reason"]) for _, _, entry in entries if entry["_kind"] in ("dead", "gap"))
