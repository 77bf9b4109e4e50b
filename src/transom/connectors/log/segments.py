"""A log on disk: Parquet segments, each whole or not there, numbered without a gap, with one writer.

A segment is written under another name, flushed to the disk, renamed, and the folder flushed: after that, and not
before, its entries are in the log. Its name is the number of its first entry. What a killed writer leaves behind is a
file that ends in `.tmp`, which nobody reads and the next writer takes away.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

import pyarrow as pa
import pyarrow.parquet as pq

from transom.catalog.extents import Extent
from transom.connectors.log.columns import Entry, schema, table
from transom.errors import DataError, UsageError

SUFFIX = ".parquet"
_DIGITS = 16
_LATEST = b"transom.latest"
_APART = 0.1
"""Seconds between two segments, so that whoever lists the folder never sees a later one and not the one before."""


def segments(folder: Path) -> list[Path]:
    """The segments of a log in their order."""
    return sorted(path for path in folder.glob(f"*{SUFFIX}") if path.stem.isdigit()) if folder.is_dir() else []


class Log:
    """The one writer of a log; `next` is the number of the next entry, `latest` the latest tick so far."""

    def __init__(self, folder: Path, extent: Extent, *, apart: float = _APART) -> None:
        self.folder = folder
        self.extent = extent
        self.apart = apart
        folder.mkdir(parents=True, exist_ok=True)
        self._lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._lock)
            hint = "a log has one writer: stop the other collector"
            raise UsageError(f"somebody writes the log {folder} already", hint=hint) from None
        try:
            self._recover()
        except BaseException:
            os.close(self._lock)
            raise
        self._last = 0.0

    def _recover(self) -> None:
        for half in self.folder.glob("*.tmp"):
            half.unlink()
        found = segments(self.folder)
        self.next, self.latest = 0, -1
        if not found:
            return
        meta = _footer(found[-1])
        was = meta.schema.to_arrow_schema().remove_metadata()
        if was != schema(self.extent):
            hint = "give the extent a new log: log: PATH"
            raise UsageError(f"the log {self.folder} was made for other attributes", hint=hint, detail=str(was))
        self.next = int(found[-1].stem) + meta.num_rows
        self.latest = int((meta.metadata or {}).get(_LATEST, b"-1"))

    @property
    def place(self) -> str:
        """Where the log is."""
        return str(self.folder)

    def append(self, entries: Sequence[Entry]) -> None:
        """Put entries into the log, all of them or none; when this returns, they outlive the machine's power."""
        if not entries:
            return
        wait = self._last + self.apart - time.monotonic()
        if wait > 0:
            time.sleep(wait)
        latest = max(
            [self.latest, *(e.tick for e in entries if e.tick is not None and e.kind.value in ("row", "beat"))]
        )
        name = f"{self.next:0{_DIGITS}}"
        half, whole = self.folder / f"{name}.tmp", self.folder / f"{name}{SUFFIX}"
        content = table(self.extent, self.next, list(entries))
        content = content.replace_schema_metadata({_LATEST: str(latest).encode()})
        with open(half, "wb") as file:
            pq.write_table(content, file, compression="zstd")
            file.flush()
            os.fsync(file.fileno())
        os.rename(half, whole)
        _flush_folder(self.folder)
        self.next += len(entries)
        self.latest = latest
        self._last = time.monotonic()

    def tokens(self, most: int) -> Iterator[str]:
        """The tokens of the last entries, in the order in which they came."""
        kept: list[list[str]] = []
        count = 0
        for path in reversed(segments(self.folder)):
            found = [t for t in pq.read_table(path, columns=["_token"]).column(0).to_pylist() if t is not None]
            kept.append(found)
            count += len(found)
            if count >= most or len(kept) >= _SEGMENTS:
                break
        for found in reversed(kept):
            yield from found

    def close(self) -> None:
        """Let another writer in."""
        os.close(self._lock)

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_SEGMENTS = 1000
"""How many segments are looked through for tokens."""


def _flush_folder(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _footer(path: Path) -> pq.FileMetaData:
    try:
        with pq.ParquetFile(path) as file:
            return file.metadata
    except (pa.ArrowException, OSError, ValueError) as error:
        hint = "a segment is whole or not there: somebody else changed it"
        raise DataError("the segment cannot be read", detail=str(error), hint=hint, source=str(path)) from error
