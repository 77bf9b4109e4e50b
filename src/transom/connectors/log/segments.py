"""A log on disk: Parquet segments, each whole or not there, numbered without a gap, with one writer.

A segment is written under another name, flushed to the disk, renamed, and the folder flushed: after that, and not
before, its entries are in the log. Its name is the number of its first entry. What a killed writer leaves behind is a
file that ends in `.tmp`, which nobody reads and the next writer removes. Names of files that are not segments begin
with `_`, so that other readers of Parquet folders skip them. Only the owner can read a log.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from transom.catalog.extents import Extent
from transom.connectors.log.columns import Answered, Entry, schema, table
from transom.connectors.log.index import IndexWriter, read_index
from transom.connectors.private import make_folder, open_private
from transom.errors import DataError, UsageError

SUFFIX = ".parquet"
LOCK = "_lock"
OLD_LOCK = "lock"
"""The name of the lock in logs of earlier versions, on which other readers of Parquet folders fail."""
_DIGITS = 16
_LATEST = b"transom.latest"
_APART = 0.1
"""Seconds between two segments, so that whoever lists the folder never sees a later one and not the one before."""


def segments(folder: Path) -> list[Path]:
    """The segments of a log in their order."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.stem.isdigit()) if folder.is_dir() else []


def segment_of(folder: Path, number: int) -> Path:
    """The segment that begins with an entry."""
    return folder / f"{number:0{_DIGITS}}{SUFFIX}"


def whole_segments(folder: Path) -> Iterator[tuple[Path, pq.ParquetFile]]:
    """The segments of a log, opened one after the other; DataError names the first that is missing or out of place."""
    for path, count in _chain(folder):
        with _opened(path) as file:
            if file.metadata.num_rows != count:
                raise DataError(f"the segment has {file.metadata.num_rows} entries, not {count}", source=str(path))
            yield path, file


def check_segments(folder: Path) -> None:
    """DataError if a segment of a log is missing; segments are opened only where the index does not know them."""
    for _ in _chain(folder):
        pass


def _chain(folder: Path) -> Iterator[tuple[Path, int]]:
    """The segments of a log and how many entries they have, each of which begins where the one before ends."""
    known = read_index(folder)  # before the listing: what is in the index is in the folder
    listed = {int(path.stem) for path in segments(folder)}
    left, number, last = set(listed), 0, max([-1, *listed, *known])
    while number <= last:
        path = segment_of(folder, number)
        if number not in listed and not path.exists():  # a listing may miss a file that is made at the same time
            end = max((first + count for first, count in known.items()), default=0)
            _missing(folder, number, min([n for n in listed if n > number] or [end]))
        left.discard(number)
        count = known.get(number) or _footer(path).num_rows
        if count == 0:
            raise DataError("the segment has no entries", hint=_CHANGED, source=str(path))
        yield path, count
        number += count
    if left:
        what = f"the segment {segment_of(folder, min(left)).name} repeats entries of the one before it"
        raise DataError(what, hint=_CHANGED, source=str(folder))


def _missing(folder: Path, first: int, after: int) -> NoReturn:
    """Say which entries are missing, and in which segment they were."""
    name = segment_of(folder, first).name
    what = f"entries {first} to {after - 1} of the log are missing: there is no segment {name}"
    hint = "put the segment back from a copy; to go on without it, give the extent a new log: log: PATH"
    raise DataError(what, hint=hint, source=str(folder))


def latest_tick(folder: Path) -> int:
    """The latest tick that a log knows of a row or a beat, -1 if of none: what comes later in it is after that tick."""
    found = segments(folder)
    return _latest(_footer(found[-1])) if found else -1


class Log:
    """The one writer of a log; `next` is the number of the next entry, `latest` the latest tick so far."""

    def __init__(self, folder: Path, extent: Extent, *, apart: float = _APART) -> None:
        self.folder = folder
        self.extent = extent
        self.apart = apart
        self._last = 0.0
        self._unflushed = False
        try:
            make_folder(folder)
            self._lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise DataError(f"cannot write the log {folder}", detail=_words(error)) from None
        try:
            _locked(self._lock, folder)
            _unlock_old(folder)
            self._recover()
            self._index = IndexWriter(folder)
        except BaseException:
            os.close(self._lock)
            raise

    def _recover(self) -> None:
        for half in self.folder.glob("*.tmp"):
            half.unlink()
        found = segments(self.folder)
        self.next, self.latest = 0, -1
        end = max((first + count for first, count in read_index(self.folder).items()), default=0)
        if not found:
            if end:
                _missing(self.folder, 0, end)
            return
        meta = _footer(found[-1])
        was = meta.schema.to_arrow_schema().remove_metadata()
        if was != schema(self.extent):
            hint = "give the extent a new log: log: PATH"
            raise UsageError(f"the log {self.folder} was made for other attributes", hint=hint, detail=str(was))
        self.next = int(found[-1].stem) + meta.num_rows
        self.latest = _latest(meta)
        if self.next < end:
            _missing(self.folder, self.next, end)

    @property
    def place(self) -> str:
        """Where the log is."""
        return str(self.folder)

    def append(self, entries: Sequence[Entry]) -> None:
        """Put entries into the log, all of them or none; when this returns, they outlive the machine's power.

        DataError if the disk refuses. `next` then says whether the entries are in the log: if it has moved, only the
        flush of the folder failed, and the next call repeats it.
        """
        try:
            if self._unflushed:
                self._flush()
            if entries:
                self._append(entries)
        except OSError as error:
            hint = "look whether the disk is full"
            raise DataError(f"cannot write the log {self.folder}", detail=_words(error), hint=hint) from None

    def _append(self, entries: Sequence[Entry]) -> None:
        wait = self._last + self.apart - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        latest = max(
            [self.latest, *(e.tick for e in entries if e.tick is not None and e.kind.value in ("row", "beat"))]
        )
        whole = segment_of(self.folder, self.next)
        half = whole.with_name(f"_{whole.stem}.tmp")
        content = table(self.extent, self.next, list(entries))
        content = content.replace_schema_metadata({_LATEST: str(latest).encode()})
        try:
            with open_private(half) as file:
                pq.write_table(content, file, compression="zstd")
                file.flush()
                os.fsync(file.fileno())
            os.rename(half, whole)
        except OSError:
            with contextlib.suppress(OSError):
                half.unlink(missing_ok=True)
            raise
        self.next += len(entries)
        self.latest = latest
        self._last = time.monotonic()
        self._unflushed = True
        self._flush()
        self._index.add(int(whole.stem), len(entries))

    def _flush(self) -> None:
        handle = os.open(self.folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
        self._unflushed = False

    def answered(self, most: int) -> Iterator[Answered]:
        """The messages of the last entries that have a token, in the order in which they came."""
        kept: list[list[Answered]] = []
        count = 0
        for path in reversed(segments(self.folder)):
            columns = pq.read_table(path, columns=["_token", "_reason", "_words"]).to_pydict()
            found = [Answered(*cells) for cells in zip(*columns.values()) if cells[0] is not None]
            kept.append(found)
            count += len(found)
            if count >= most or len(kept) >= _SEGMENTS:
                break
        for found in reversed(kept):
            yield from found

    def close(self) -> None:
        """Let another writer in."""
        self._index.close()
        os.close(self._lock)

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_SEGMENTS = 1000
"""How many segments are looked through for tokens."""
_CHANGED = "a segment is whole or not there: somebody else changed it"


def _locked(handle: int, folder: Path) -> None:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        hint = "a log has one writer: stop the other collector"
        raise UsageError(f"the log {folder} is locked by another writer", hint=hint) from None


def _unlock_old(folder: Path) -> None:
    """Remove the lock of an earlier version; UsageError if a collector of that version still runs."""
    old = folder / OLD_LOCK
    try:
        handle = os.open(old, os.O_RDWR)
    except FileNotFoundError:
        return
    try:
        _locked(handle, folder)
        old.unlink(missing_ok=True)
    finally:
        os.close(handle)


def _words(error: OSError) -> str:
    return error.strerror or str(error)


def _latest(meta: pq.FileMetaData) -> int:
    return int((meta.metadata or {}).get(_LATEST, b"-1"))


def _opened(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError("the segment cannot be read", detail=str(error), hint=_CHANGED, source=str(path)) from error


def _footer(path: Path) -> pq.FileMetaData:
    with _opened(path) as file:
        return file.metadata
