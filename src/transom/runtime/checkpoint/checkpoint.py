"""The checkpoint of a run: Spark's folder and Transom's files, checked before a start.

Transom's files are `plan.json` (the fingerprint of the query), `id` (the run id that sinks use), `lock`, `epochs`,
`balance.json` (row counts), `operators.json` (the stateful operators), and `logs.json`: the digests of Spark's logs,
the run id, the ids of the topics, and how many files the run has written.
"""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

from pyspark import __version__ as SPARK_VERSION

from transom.connectors.epochs import Epoch
from transom.errors import CheckpointError, RunWarning
from transom.runtime.checkpoint.fingerprint import RUN_ID_FILE, versions_in_use
from transom.runtime.checkpoint.logs.spark_files import SparkFolder, spark_folder
from transom.runtime.checkpoint.logs.spark_logs import SparkLogs, check_logs, digest, log_files
from transom.runtime.checkpoint.remembered import Remembered, read_remembered
from transom.runtime.checkpoint.sealed import DIGEST, damaged_file, read_sealed, sealed_text, write_atomically
from transom.runtime.checkpoint.state_files import check_not_moved

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

RECORD_FILE = "logs.json"
RUN_BY = "run by"
"""The entry of `logs.json` with the versions of Transom and Spark of the last run."""
LOST_ROWS_FILE = "lost_rows"
"""The file that marks a run that lost rows, with the reason."""
SPARK_FOLDER = "spark"
"""The folder of Spark's own checkpoint."""
EPOCH_FOLDER = "epochs"
"""The folder of the epochs of a checkpoint's runs."""


class Checkpoint:
    """A checkpoint whose lock this process holds."""

    def __init__(self, folder: Path, files: SparkFolder) -> None:
        """Create the checkpoint in `folder`; `files` reads the part of the folder that Spark writes."""
        self.folder = folder
        self.files = files
        self.started = any(True for _ in files.entries(""))
        self.logs = SparkLogs()
        self._epoch: Epoch | None = None
        self._write_lock = threading.Lock()
        self._run: str | None = None
        self._last_record: dict[str, object] = {}
        self.topics: dict[str, str] = {}
        self._digests: dict[str, str] = {}
        self._files: dict[str, int] = {}
        """How many files the run has written, by output folder."""

    @staticmethod
    def open(spark: SparkSession, folder: Path) -> Checkpoint:
        """Open a new or existing checkpoint without checking it."""
        return Checkpoint(folder, spark_folder(spark, folder / SPARK_FOLDER))

    def take_over(self) -> None:
        """Take the next epoch (start number), which makes earlier runs raise Fenced; check the checkpoint again.

        What an earlier run wrote until then counts.
        """
        self._epoch = Epoch.claim(self.folder / EPOCH_FOLDER, f"the checkpoint {self.folder}")
        self.started = any(True for _ in self.files.entries(""))
        self.check()

    def verify_epoch(self) -> None:
        """Raise Fenced if a newer run has taken a higher epoch (start number) of the checkpoint."""
        if self._epoch is not None:
            self._epoch.verify()

    def check(self) -> None:
        """Raise CheckpointError if the checkpoint is damaged or its run lost rows; remove what a killed run left."""
        self.inspect()
        for temporary in self.folder.glob(f"{RECORD_FILE}.*") if self.started else ():
            temporary.unlink(missing_ok=True)  # left by a process that was killed while writing

    def inspect(self) -> None:
        """Check the checkpoint as `check` does, but change nothing, so that its query may run meanwhile."""
        if not self.started:
            return
        if (self.folder / LOST_ROWS_FILE).exists():
            raise CheckpointError(
                f"the run of the checkpoint {self.folder} lost rows",
                detail=(self.folder / LOST_ROWS_FILE).read_text("utf-8").strip(),
                hint="start with a new checkpoint",
            )
        self._load(read_remembered(self.folder))
        self.logs = check_logs(self.files, self._digests)
        check_not_moved(self.files)
        present = set(log_files(self.files))
        self._digests = {name: recorded for name, recorded in self._digests.items() if name in present}

    def _load(self, remembered: Remembered) -> None:
        """Load run id, topics and digests from `logs.json`, missing only if `remembered` is of an older version."""
        file = self.folder / RECORD_FILE
        try:
            record = read_sealed(file)
            if DIGEST not in record and remembered.settings is not None:
                raise damaged_file(file, "its digest is missing")
            self._run, self.topics, self._digests = record["run"], dict(record["topics"]), dict(record["digests"])
            self._files = dict(record["files"])
            _check_spark_version(self.folder, record.get(RUN_BY, {}).get("spark", ""))
        except FileNotFoundError as error:
            if remembered.versions is not None:
                raise CheckpointError(
                    f"{file} is missing, which has the digests of the checkpoint",
                    hint="put it back from a copy, or start with a new checkpoint",
                ) from error
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise damaged_file(file, str(error)) from error
        run_id_file = self.folder / RUN_ID_FILE
        if self._run is not None and (not run_id_file.exists() or run_id_file.read_text("utf-8") != self._run):
            raise CheckpointError(
                f"the checkpoint is damaged: {run_id_file} was changed or removed, the name by which the sink knows "
                "the run",
                hint=f"write {self._run} into it, without a line break",
            )

    def run_id(self) -> str:
        """The id by which sinks recognize the run; created at first use, kept as long as Spark's checkpoint exists."""
        file = self.folder / RUN_ID_FILE
        if not self.started or not file.exists():
            self.write(file, uuid4().hex)
        run = file.read_text("utf-8")
        if not run:
            raise CheckpointError(
                f"the checkpoint is damaged: {file} is empty, the name by which the sink knows the run",
                hint="put it back from a copy, or start with a new checkpoint and a new sink",
            )
        self._run = run
        return run

    def record_digests(self) -> None:
        """Record digests of the log files that Spark has written since the last call, by which damage is detected."""
        with self._write_lock:
            present = list(log_files(self.files))
            recorded = {name: self._digests[name] for name in present if name in self._digests}
            new = dict(_digests(self.files, [name for name in present if name not in recorded]))
            self._digests = {**recorded, **new}
            record = {"run": self._run, "topics": self.topics, "files": self._files, "digests": self._digests}
            record |= {RUN_BY: versions_in_use()}
            if record != self._last_record:
                self.write(self.folder / RECORD_FILE, sealed_text(record))
                self._last_record = {**record, "files": {**self._files}, "topics": {**self.topics}}

    def write(self, file: Path, text: str) -> None:
        """Write a text file of the checkpoint as a whole, so that a kill never leaves half of it.

        Raises Fenced if a newer run has taken over.
        """
        if self._epoch is None:
            write_atomically(file, text)
        else:
            self._epoch.write(file, text.encode())

    def mark_lost_rows(self, reason: str) -> None:
        """Record in the checkpoint why (`reason`) its state lacks rows, so that no run continues it."""
        self.write(self.folder / LOST_ROWS_FILE, f"{reason}\n")

    def file_counter(self, sink: str, present: int) -> Callable[[int], None]:
        """Return a function that adds to a sink's file count; warn if fewer files are `present` than counted.

        `present` is the number of files that are there now.
        """
        missing = self._files.get(sink, 0) - present
        if missing > 0:
            warnings.warn(
                f"files that this run has written to {sink} are gone: {missing:,}; their rows are not written again. "
                "If the files are still wanted, put them back from a copy, under the same names",
                RunWarning,
                stacklevel=2,
            )
        self._files = {sink: present}

        def count_files(files: int) -> None:
            """Add to the sink's recorded total the number of files that a micro-batch has written."""
            with self._write_lock:
                self._files[sink] += files

        return count_files


def _check_spark_version(folder: Path, recorded: str) -> None:
    """Raise CheckpointError if `recorded`, the version of Spark that wrote a checkpoint, is later than that in use."""
    if _minor_version(recorded) > _minor_version(SPARK_VERSION):
        raise CheckpointError(
            f"the checkpoint {folder} was last run on Spark {recorded}, and this is Spark {SPARK_VERSION}",
            detail="an earlier version of Spark need not be able to read what a later one has written",
            hint=f"continue with Spark {recorded} or later, or start with a new checkpoint",
        )


def _minor_version(version: str) -> tuple[int, ...]:
    """Return the first two numbers of a version of Spark; no number if it is unknown."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdecimal())


def _digests(files: SparkFolder, names: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield name and digest of files in Spark's checkpoint; files that Spark has deleted are skipped."""
    for name in names:
        with contextlib.suppress(FileNotFoundError):
            yield name, digest(files.read(name))
