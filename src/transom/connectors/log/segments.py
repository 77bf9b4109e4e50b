"""A log on disk: Parquet segments that appear atomically, numbered without gaps, with a single writer.

A segment is written in the folder of the writer's epoch, flushed to disk and renamed; then the log's folder is flushed.
Only after that are its entries in the log. Its name is the number of its first entry. A new writer takes the next epoch
and removes the folder of the one before it, with all that is not renamed: an earlier writer, on this host or another
one, can write no more. Names of files that are not segments begin with `_`, so that other readers of Parquet folders
skip them. Only the owner can read a log.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from transom.catalog.extent import Extent
from transom.connectors.epochs import Epoch
from transom.connectors.lock_file import LockHeld, acquire_lock
from transom.connectors.log.columns import LogRecord, MessageOutcome, log_schema, log_table
from transom.connectors.log.index import IndexWriter, read_index
from transom.connectors.log.totals import LogTotals, last_arrival
from transom.connectors.private_files import make_folder, open_private
from transom.errors import DataError, UsageError

SUFFIX = ".parquet"
LOCK = "_lock"
EPOCHS = "_epochs"
OLD_LOCK = "lock"
"""The lock file's name in earlier versions; other readers of Parquet folders fail on it."""
_DIGITS = 16
_LATEST = b"transom.latest"
_TOTALS = b"transom.totals"
_SEGMENT_INTERVAL = 0.1
"""Seconds between two segments, so that a folder listing never shows one without its predecessor."""


def segments(folder: Path) -> list[Path]:
    """List the segment files of a log on disk, in order; empty if its folder does not exist."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.stem.isdigit()) if folder.is_dir() else []


def segment_of(folder: Path, number: int) -> Path:
    """Return the path of the segment, in a log on disk, whose first entry has this number."""
    return folder / f"{number:0{_DIGITS}}{SUFFIX}"


def open_segments(folder: Path) -> Iterator[tuple[Path, pq.ParquetFile]]:
    """Open the segments of a log in turn, as Parquet files; raise DataError if one is missing or damaged."""
    for path, count in _contiguous_segments(folder):
        with _opened(path) as file:
            if file.metadata.num_rows != count:
                raise DataError(f"the segment has {file.metadata.num_rows} entries, not {count}", source=str(path))
            yield path, file


def check_segments(folder: Path) -> None:
    """Raise DataError if a segment of a log is missing; only segments that are not in the index file are opened."""
    for _ in _contiguous_segments(folder):
        pass


def _contiguous_segments(folder: Path) -> Iterator[tuple[Path, int]]:
    """Yield path and entry count of each segment of a log; raise DataError if one is missing or overlaps another."""
    indexed_counts = read_index(folder)  # before the listing: every indexed segment is already in the folder
    listed = {int(path.stem) for path in segments(folder)}
    unvisited, number, last = set(listed), 0, max([-1, *listed, *indexed_counts])
    while number <= last:
        path = segment_of(folder, number)
        if number not in listed and not path.exists():  # a listing may miss a file that is created concurrently
            end = max((first + count for first, count in indexed_counts.items()), default=0)
            _raise_missing(folder, number, min([n for n in listed if n > number] or [end]))
        unvisited.discard(number)
        count = indexed_counts.get(number) or _footer(path).num_rows
        if count == 0:
            raise DataError("the segment has no entries", hint=_CHANGED_HINT, source=str(path))
        yield path, count
        number += count
    if unvisited:
        message = f"the segment {segment_of(folder, min(unvisited)).name} repeats entries of the one before it"
        raise DataError(message, hint=_CHANGED_HINT, source=str(folder))


def _raise_missing(folder: Path, first: int, after: int) -> NoReturn:
    """Raise the DataError that a log on disk lacks the entries from `first` to before `after`."""
    name = segment_of(folder, first).name
    message = f"entries {first} to {after - 1} of the log are missing: there is no segment {name}"
    hint = "put the segment back from a copy; to go on without it, give the extent a new log: log: PATH"
    raise DataError(message, hint=hint, source=str(folder))


def latest_tick(folder: Path) -> int:
    """Return the latest tick of a row or heartbeat in a log on disk; -1 if it has none.

    Entries that are added later to the log of a scanned table have later ticks.
    """
    paths = segments(folder)
    return _latest(_footer(paths[-1])) if paths else -1


class SegmentLog:
    """The single writer of a log on disk; `next` is the next entry's number, `latest` the latest tick.

    `totals` counts the readings and messages since the first entry.
    """

    def __init__(self, folder: Path, extent: Extent, *, segment_interval_seconds: float = _SEGMENT_INTERVAL) -> None:
        """Lock and continue a log on disk; its segments are `segment_interval_seconds` apart; UsageError if in use.

        Writers on other hosts, and stopped ones, are fenced. Two segments are written at least
        `segment_interval_seconds` seconds apart.
        """
        self.folder = folder
        self.extent = extent
        self.segment_interval = segment_interval_seconds
        self._last_append = 0.0
        self._unflushed = False
        try:
            make_folder(folder)
            self._lock = _lock(folder / LOCK, folder)
        except OSError as error:
            raise DataError(f"cannot write the log {folder}", detail=_os_error_text(error)) from None
        try:
            _unlock_old(folder)
            self._epoch = Epoch.claim(folder / EPOCHS, f"the log {folder}")
            self._recover()
            self._index = IndexWriter(folder)
        except BaseException:
            os.close(self._lock)
            raise

    def _recover(self) -> None:
        """Find the next entry number and latest tick in the last segment; remove unfinished segments."""
        for temporary in self.folder.glob("*.tmp"):
            temporary.unlink()
        paths = segments(self.folder)
        self.next, self.latest, self.totals = 0, -1, LogTotals()
        self.last_row: datetime | None = None
        """When the newest row that this writer has appended arrived."""
        end = max((first + count for first, count in read_index(self.folder).items()), default=0)
        if not paths:
            if end:
                _raise_missing(self.folder, 0, end)
            return
        meta = _footer(paths[-1])
        logged_schema = meta.schema.to_arrow_schema().remove_metadata()
        if logged_schema != log_schema(self.extent):
            hint = "give the extent a new log: log: PATH"
            raise UsageError(
                f"the log {self.folder} was made for other attributes", hint=hint, detail=str(logged_schema)
            )
        self.next = int(paths[-1].stem) + meta.num_rows
        self.latest = _latest(meta)
        self.totals = _totals(meta, self.next)
        self.totals.check(self.location)
        if self.next < end:
            _raise_missing(self.folder, self.next, end)

    @property
    def location(self) -> str:
        """The path of the log's folder, as text for messages."""
        return str(self.folder)

    def append(self, entries: Sequence[LogRecord], arrived: int | None = None) -> None:
        """Append all entries durably, or none; they stem from `arrived` readings and messages (None: not counted).

        `arrived` is how many readings and messages arrived for them, None if nobody counts them; LostRows if they do
        not add up.

        DataError if the write fails. `next` then tells whether the entries are in the log: if it has advanced, only the
        folder flush failed, and the next call repeats it. Fenced if a newer writer has taken over.
        """
        self._epoch.verify()
        try:
            if self._unflushed:
                self._flush()
            if entries:
                self._append(entries, arrived)
        except OSError as error:
            hint = "look whether the disk is full"
            raise DataError(f"cannot write the log {self.folder}", detail=_os_error_text(error), hint=hint) from None

    def _append(self, entries: Sequence[LogRecord], arrived: int | None) -> None:
        """Publish entries as one Parquet segment; they stem from `arrived` readings (None: not counted)."""
        wait = self._last_append + self.segment_interval - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        latest = max(
            [self.latest, *(e.tick for e in entries if e.tick is not None and e.kind.value in ("row", "beat"))]
        )
        final_path = segment_of(self.folder, self.next)
        temporary_path = self._epoch.prepare(f"{final_path.stem}.tmp")
        content = log_table(self.extent, self.next, list(entries))
        totals = self.totals.after(entries, arrived)
        totals.check(self.location)
        metadata = {_LATEST: str(latest).encode(), _TOTALS: json.dumps(totals.to_json()).encode()}
        content = content.replace_schema_metadata(metadata)
        try:
            with open_private(temporary_path) as file:
                pq.write_table(content, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
            self._epoch.publish(temporary_path, final_path)
        except OSError:
            with contextlib.suppress(OSError):
                temporary_path.unlink(missing_ok=True)
            self._epoch.verify()
            raise
        self.last_row = last_arrival(entries) or self.last_row
        self.next += len(entries)
        self.latest, self.totals = latest, totals
        self._last_append = time.monotonic()
        self._unflushed = True
        self._flush()
        self._index.add(int(final_path.stem), len(entries))

    def _flush(self) -> None:
        """Flush the log's folder to disk, so that its renamed segments survive a power failure."""
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        self._unflushed = False

    def recent_outcomes(self, limit: int) -> Iterator[MessageOutcome]:
        """Yield the outcomes of recent messages, if possible at least `limit`, to recognise redelivered ones.

        It reads the last segments, at most `_SEGMENTS`, until they have enough. There are at least `limit` if the log
        has so many. A token identifies a message that is sent again.
        """
        outcomes_by_segment: list[list[MessageOutcome]] = []
        count = 0
        for path in reversed(segments(self.folder)):
            columns = pq.read_table(path, columns=["_token", "_reason", "_words"]).to_pydict()
            outcomes = [MessageOutcome(*cells) for cells in zip(*columns.values()) if cells[0] is not None]
            outcomes_by_segment.append(outcomes)
            count += len(outcomes)
            if count >= limit or len(outcomes_by_segment) >= _SEGMENTS:
                break
        for outcomes in reversed(outcomes_by_segment):
            yield from outcomes

    def close(self) -> None:
        """Close the index file of the log, and release the log's lock."""
        self._index.close()
        os.close(self._lock)

    def __enter__(self) -> SegmentLog:
        """Return the log itself; the end of the `with` block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the log."""
        self.close()


_SEGMENTS = 1000
"""Maximum number of segments to search for tokens."""
_CHANGED_HINT = "a segment is whole or not there: somebody else changed it"


def _lock(file: Path, folder: Path) -> int:
    """Lock the lock file of a log and return its handle; raise UsageError if another writer holds the lock."""
    try:
        return acquire_lock(file)
    except LockHeld:
        hint = "a log has one writer: stop the other collector"
        raise UsageError(f"the log {folder} is locked by another writer", hint=hint) from None


def _unlock_old(folder: Path) -> None:
    """Remove the lock file of an earlier version; raise UsageError if a collector of that version still holds it."""
    old = folder / OLD_LOCK
    if not old.exists():
        return
    handle = _lock(old, folder)
    old.unlink(missing_ok=True)
    os.close(handle)


def _os_error_text(error: OSError) -> str:
    """Return the message of an OSError without its error number and path."""
    return error.strerror or str(error)


def _latest(meta: pq.FileMetaData) -> int:
    """Return the latest tick of a log, as recorded in the metadata of its last segment; -1 if there is none."""
    return int((meta.metadata or {}).get(_LATEST, b"-1"))


def _totals(meta: pq.FileMetaData, first: int) -> LogTotals:
    """Return a log's counts from the metadata of its last segment; if it has none, zeros from entry `first` on."""
    recorded = (meta.metadata or {}).get(_TOTALS)
    return LogTotals.from_json(None if recorded is None else json.loads(recorded), first)


def _opened(path: Path) -> pq.ParquetFile:
    """Open a segment of a log as a Parquet file; raise DataError if it cannot be read."""
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            "the segment cannot be read", detail=str(error), hint=_CHANGED_HINT, source=str(path)
        ) from error


def _footer(path: Path) -> pq.FileMetaData:
    """Read the Parquet metadata of a segment of a log; raise DataError if it cannot be read."""
    with _opened(path) as file:
        return file.metadata
