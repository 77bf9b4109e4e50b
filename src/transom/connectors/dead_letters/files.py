"""The Parquet files of dead letters that a run writes for a topic: their columns, their names, and who wrote them.

The name of a file contains the id of the streaming query, the micro-batch, the extent and the partition. Its metadata
contain the checkpoint of the run, from which one can find out whether the micro-batch is committed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from transom.errors import DataError

SUFFIX = ".parquet"
ID_LENGTH = 13
"""How many characters of the streaming query's id are in the name of a file."""
_NAME = re.compile(rf"part-([0-9a-f-]{{{ID_LENGTH}}})-(\d{{9,}})-(.+)-(\d{{5,}}){re.escape(SUFFIX)}")
_CHECKPOINT = b"transom.checkpoint"
HEADERS = pa.list_(pa.struct({"key": pa.string(), "value": pa.binary()}))
SCHEMA = pa.schema(
    {
        "source": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "key": pa.binary(),
        "value": pa.binary(),
        "reason": pa.string(),
        "headers": HEADERS,
    }
)


@dataclass(frozen=True, slots=True)
class LetterFile:
    """A file of dead letters, and the query, micro-batch and extent that its name contains."""

    path: Path
    query: str
    batch: int
    extent: str

    def open(self) -> pq.ParquetFile:
        """Open the file; raise DataError if it is not a Parquet file of dead letters."""
        try:
            file = pq.ParquetFile(self.path)
        except (pa.ArrowException, OSError, ValueError) as error:
            raise DataError("the dead letters cannot be read", detail=str(error), source=str(self.path)) from error
        missing = [name for name in SCHEMA.names if name != "headers" and name not in file.schema_arrow.names]
        if missing:
            hint = "somebody else wrote it: move it to another folder"
            raise DataError(f"no dead letters: no column {missing[0]}", hint=hint, source=str(self.path))
        return file

    @property
    def has_headers(self) -> bool:
        """Whether the file contains the headers of its messages; earlier versions of Transom did not write them."""
        with self.open() as file:
            return "headers" in file.schema_arrow.names

    @property
    def checkpoint(self) -> Path | None:
        """The checkpoint of the run that wrote the file; None if an earlier version of Transom wrote it."""
        with self.open() as file:
            recorded = (file.metadata.metadata or {}).get(_CHECKPOINT)
        return None if recorded is None else Path(recorded.decode())


def file_name(query: str, batch: int, extent: str, partition: int) -> str:
    """Return the name of the file for the dead letters of a micro-batch in one partition of an extent's topic."""
    return f"part-{query[:ID_LENGTH]}-{batch:09}-{extent}-{partition:05}{SUFFIX}"


def schema_of_run(checkpoint: str) -> pa.Schema:
    """Return the schema with which the run at a checkpoint writes dead letters; its metadata name the checkpoint."""
    return SCHEMA.with_metadata({_CHECKPOINT: checkpoint.encode()})


def letter_files(folder: Path) -> list[LetterFile]:
    """List the files of dead letters that are now in a folder, sorted by query, micro-batch, extent and partition."""
    names = sorted(path.name for path in folder.glob(f"part-*{SUFFIX}")) if folder.is_dir() else []
    matches = (match for name in names if (match := _NAME.fullmatch(name)))
    return [LetterFile(folder / match[0], match[1], int(match[2]), match[3]) for match in matches]
