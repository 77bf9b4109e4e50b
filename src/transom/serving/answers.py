"""Read the answers of a query back from the folder that its sink writes."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import Any

from transom.errors import DataError, UsageError
from transom.runtime.sinks.sink import FOLDER_FORMATS, Sink

LARGEST_FILE = 64 << 20
"""Bytes of a file of answers; a larger one is not read into memory."""
MOST_FILES = 1000
"""Files that one request reads."""
MOST_BYTES = 256 << 20
"""Bytes of files that a request for the newest answer of each key reads."""
_FILE = re.compile(r"part-([0-9a-f]{12})-(\d{9,})-[^/]*\.(parquet|json)\Z")
_OLD_METADATA = "_spark_metadata"

Row = dict[str, Any]


@dataclass(frozen=True)
class AnswerFile:
    """A file of one micro-batch of a run; files of a folder have an order: `order` is first their micro-batch."""

    path: Path
    order: tuple[int, int, str]


@dataclass(frozen=True)
class AnswerRows:
    """Rows of a query, oldest first. `more` says whether earlier rows were left out, `schema` is that of Arrow."""

    rows: list[Row]
    more: bool = False
    schema: Any = None

    @property
    def columns(self) -> list[str]:
        """The names of all columns, in the order in which they occur."""
        if self.schema is not None:
            return list(self.schema.names)
        return list(dict.fromkeys(name for row in self.rows for name in row))


@dataclass(frozen=True)
class Cursor:
    """How far a reader has read a folder: the newest micro-batch, and its files that were read."""

    order: tuple[int, int] = (-1, -1)
    names: frozenset[str] = field(default_factory=frozenset)

    def is_before(self, file: AnswerFile) -> bool:
        """Whether the reader has not read a file."""
        order = file.order[:2]
        return order > self.order or (order == self.order and file.path.name not in self.names)

    def after(self, files: list[AnswerFile]) -> Cursor:
        """Return the position of a reader that has also read these files, in their order."""
        if not files:
            return self
        newest = files[-1].order[:2]
        names = frozenset(file.path.name for file in files if file.order[:2] == newest)
        return Cursor(newest, names | self.names if newest == self.order else names)


class AnswerFolder:
    """The folder of a sink of Transom on a local disk, in which every file is complete."""

    def __init__(self, sink: str) -> None:
        """Open the folder of a sink; raise UsageError for a sink whose answers cannot be read back."""
        parsed = Sink.read(sink)
        if parsed.folder is None:
            raise UsageError(
                f"answers in the sink {parsed.kind} cannot be read back",
                hint='read them where they go, or write output = "parquet:answers/NAME"',
            )
        if "://" in parsed.folder:
            raise UsageError(f"answers in {parsed.folder} are not on this computer's disk", hint="read them there")
        self.folder = Path(parsed.folder)
        self._ending = FOLDER_FORMATS[parsed.kind]

    def files(self) -> list[AnswerFile]:
        """List the files of answers from the oldest to the newest; none if the folder does not exist yet."""
        batches: dict[str, list[tuple[int, Path]]] = {}
        newest: dict[str, int] = {}
        try:
            entries = list(os.scandir(self.folder))
        except FileNotFoundError:
            return []
        for entry in entries:
            if entry.name == _OLD_METADATA:
                raise UsageError(
                    f"{self.folder} was begun by a version before 0.3, and its answers cannot be read back",
                    hint="read it with Spark, or give a new folder and a new checkpoint",
                )
            match = _FILE.match(entry.name)
            if match and match[3] == self._ending:
                with contextlib.suppress(FileNotFoundError):  # removed meanwhile
                    newest[match[1]] = max(newest.get(match[1], 0), entry.stat().st_mtime_ns)
                    batches.setdefault(match[1], []).append((int(match[2]), Path(entry.path)))
        runs = sorted(batches, key=lambda run: (newest[run], run))
        files = [
            AnswerFile(path, (number, batch, path.name))
            for number, run in enumerate(runs)
            for batch, path in batches[run]
        ]
        return sorted(files, key=lambda file: file.order)

    def newest(self, limit: int, first: datetime | None = None) -> AnswerRows:
        """Return the newest `limit` rows, or those whose tick does not end before the instant `first`."""
        return self.rows(self.files(), limit, first)

    def rows(self, files: list[AnswerFile], limit: int, first: datetime | None = None) -> AnswerRows:
        """Return the newest `limit` rows of these files: by micro-batch, and in a micro-batch by tick, oldest first."""
        chunks: list[list[Row]] = []
        count, schema, more = 0, None, len(files) > MOST_FILES
        for _, batch in groupby(reversed(files[-MOST_FILES:]), key=lambda file: file.order[:2]):
            if count >= limit:
                more = True
                break
            rows: list[Row] = []
            for file in reversed(list(batch)):
                file_rows, file_schema = read_file(file.path)
                schema = schema or file_schema
                rows += file_rows
            if first is not None:
                rows = [row for row in rows if tick_end(row) >= first]
            if rows and "tick" in rows[0]:
                rows.sort(key=tick_end)
            chunks.append(rows)
            count += len(rows)
        kept = [row for rows in reversed(chunks) for row in rows]
        return AnswerRows(kept[-limit:], more or count > limit, schema)

    def count(self, files: list[AnswerFile]) -> int:
        """Count the rows of files without reading their values."""
        return sum(_count_rows(file.path) for file in files)


def newest_files(files: list[AnswerFile]) -> list[AnswerFile]:
    """Return the newest files, in their order, whose number and bytes one request may read; at least one."""
    chosen: list[AnswerFile] = []
    size = 0
    for file in reversed(files[-MOST_FILES:]):
        size += _size(file.path)
        if chosen and size > MOST_BYTES:
            break
        chosen.append(file)
    return chosen[::-1]


def _size(path: Path) -> int:
    """Return the bytes of a file; 0 if it was removed meanwhile, which `read_file` tells."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def read_file(path: Path) -> tuple[list[Row], Any]:
    """Read the rows of one file, and for Parquet its Arrow schema; raise DataError if it is too large.

    UsageError says that it is damaged, or was removed meanwhile.
    """
    try:
        size = path.stat().st_size
        if size > LARGEST_FILE:
            hint = f"read {path.parent} itself"
            raise DataError(f"{path.name} has {size:,} bytes, too many to read at once", hint=hint)
        if path.suffix == ".parquet":
            table = _read_parquet(path)
            return table.to_pylist(), table.schema
        with path.open(encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        if not all(isinstance(row, dict) for row in rows):
            raise ValueError("a line is no JSON object")
        return rows, None
    except FileNotFoundError:
        raise UsageError(f"{path.name} was removed while it was read", hint="ask again") from None
    except (OSError, ValueError) as error:  # pyarrow's errors are ValueErrors
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UsageError(f"cannot read {path.name}", detail=detail, hint=f"look at {path.parent}") from error


def _read_parquet(path: Path) -> Any:
    """Read a Parquet file of Spark as a table of Arrow; Spark's instants, of the type INT96, are in UTC."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path, coerce_int96_timestamp_unit="us")
    columns = [file.metadata.schema.column(index) for index in range(file.metadata.num_columns)]
    instants = {column.path for column in columns if column.physical_type == "INT96"}
    table = file.read().replace_schema_metadata()
    types = [pa.timestamp("us", "UTC") if field.name in instants else field.type for field in table.schema]
    return table.cast(pa.schema([field.with_type(type_) for field, type_ in zip(table.schema, types)]))


def _count_rows(path: Path) -> int:
    """Count the rows of one file."""
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        return int(pq.ParquetFile(path).metadata.num_rows)
    with path.open("rb") as lines:
        return sum(1 for _ in lines)


def tick_end(row: Mapping[str, Any]) -> datetime:
    """Return the instant at which the tick of a row ends; raise UsageError for rows without a tick."""
    value = row.get("tick")
    if isinstance(value, str):
        value = datetime.fromisoformat(value)
    if not isinstance(value, datetime):
        raise UsageError("the answers have no column tick", hint="leave out since and newest")
    return value
