"""The checkpoint of a run: Spark's part and ours, checked before a start.

Ours are `plan.json` (what the state depends on), `id` (the name by which sinks know the run), `lock`, and `logs.json`:
the digests of Spark's logs, the name of the run once more, the ids of the topics that are read, and how many files the
run has written.
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from transom.connectors.private import make_folder
from transom.errors import CheckpointError, RunWarning
from transom.runtime.fingerprint import FILE, ID
from transom.runtime.spark_files import SparkFolder, spark_folder
from transom.runtime.spark_logs import SparkLogs, check_logs, digest, log_files

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORD = "logs.json"
LOST = "lost_rows"
"""A file that says which rows a run lost."""
SPARK = "spark"
"""The folder in which Spark keeps its part."""


class Checkpoint:
    """A checkpoint of which this process is the only user."""

    def __init__(self, folder: Path, files: SparkFolder) -> None:
        self.folder = folder
        self.files = files
        self.begun = any(True for _ in files.entries(""))
        self.logs = SparkLogs()
        self._one_at_a_time = threading.Lock()
        self._run: str | None = None
        self._noted: dict[str, object] = {}
        self.topics: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._files: dict[str, int] = {}
        """How many files the run has put into a folder."""

    @staticmethod
    def open(spark: SparkSession, folder: Path) -> Checkpoint:
        """A checkpoint, new or not, that nobody has checked yet."""
        return Checkpoint(folder, spark_folder(spark, folder / SPARK))

    def check(self) -> None:
        """Refuse a checkpoint that is damaged, with the name of the file and what to do."""
        if not self.begun:
            return
        if (self.folder / LOST).exists():
            raise CheckpointError(
                f"the run of the checkpoint {self.folder} lost rows",
                detail=(self.folder / LOST).read_text("utf-8").strip(),
                hint="start with a new checkpoint",
            )
        if not (self.folder / FILE).exists():
            raise CheckpointError(
                f"{self.folder / FILE} is missing, which says what query the checkpoint belongs to",
                hint="put it back from a copy, or start with a new checkpoint",
            )
        self._load()
        for half in self.folder.glob(f"{RECORD}.*"):
            half.unlink(missing_ok=True)  # of a process that was killed while it wrote
        self.logs = check_logs(self.files, self._digests)
        there = set(log_files(self.files))
        self._digests = {name: known for name, known in self._digests.items() if name in there}

    def _load(self) -> None:
        """Read what was noted; a checkpoint of an earlier version has no such file."""
        file = self.folder / RECORD
        try:
            found = json.loads(file.read_bytes())
            self._run, self.topics, self._digests = found["run"], dict(found["topics"]), dict(found["digests"])
            self._files = dict(found["files"])
        except FileNotFoundError as error:
            if json.loads((self.folder / FILE).read_bytes()).get("made by") is not None:
                raise CheckpointError(
                    f"{file} is missing, which has the digests of the checkpoint",
                    hint="put it back from a copy, or start with a new checkpoint",
                ) from error
        except (ValueError, KeyError, TypeError) as error:
            raise CheckpointError(
                f"the checkpoint is damaged: {file} is not what Transom wrote",
                detail=str(error),
                hint="put it back from a copy, or start with a new checkpoint",
            ) from error
        name = self.folder / ID
        if self._run is not None and (not name.exists() or name.read_text("utf-8") != self._run):
            raise CheckpointError(
                f"the checkpoint is damaged: {name} was changed or removed, the name by which the sink knows the run",
                hint=f"write {self._run} into it, without a line break",
            )

    def run_id(self) -> str:
        """The name of the run, which stays the same as long as Spark's part of the checkpoint is there."""
        file = self.folder / ID
        if not self.begun or not file.exists():
            _write(file, uuid4().hex)
        found = file.read_text("utf-8")
        if not found:
            raise CheckpointError(
                f"the checkpoint is damaged: {file} is empty, the name by which the sink knows the run",
                hint="put it back from a copy, or start with a new checkpoint and a new sink",
            )
        self._run = found
        return found

    def note(self) -> None:
        """Record the digests of the log files that Spark has written since the last call."""
        with self._one_at_a_time:
            there = list(log_files(self.files))
            known = {name: self._digests[name] for name in there if name in self._digests}
            new = dict(_digests(self.files, [name for name in there if name not in known]))
            self._digests = {**known, **new}
            record = {"run": self._run, "topics": self.topics, "files": self._files, "digests": self._digests}
            if record != self._noted:
                _write(self.folder / RECORD, json.dumps(record, indent=1))
                self._noted = {**record, "files": {**self._files}, "topics": {**self.topics}}

    def spoil(self, why: str) -> None:
        """Let nobody continue: the state lacks rows."""
        _write(self.folder / LOST, f"{why}\n")

    def count_files(self, sink: str, there: int) -> Callable[[int], None]:
        """Warn if files that the run has put into a folder are gone; a function that counts further ones."""
        gone = self._files.get(sink, 0) - there
        if gone > 0:
            warnings.warn(
                f"files that this run has written to {sink} are gone: {gone:,}; their rows are not written again",
                RunWarning,
                stacklevel=2,
            )
        self._files = {sink: there}

        def more(files: int) -> None:
            with self._one_at_a_time:
                self._files[sink] += files

        return more


def _digests(files: SparkFolder, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The digests of some files; Spark may just have deleted one that is old."""
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            yield name, digest(files.read(name))


def _write(file: Path, text: str) -> None:
    """A file as a whole or not at all."""
    make_folder(file.parent)
    half = file.with_name(f"{file.name}.{os.getpid()}")
    half.write_text(text, "utf-8")
    half.replace(file)
