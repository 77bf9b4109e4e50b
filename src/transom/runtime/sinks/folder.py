"""Folder sink with exactly-once files: readers see only complete files and each row once, also after a kill.

Executors write a micro-batch into a staging folder beside the output folder. When the micro-batch is complete, an empty
marker file is created; from then on exactly these files are the micro-batch. They are renamed one by one into the
output folder, under names made of the run, the micro-batch and the task. After a kill before the marker, the
micro-batch is written again; after a kill later, the remaining files are renamed. A repeated micro-batch is still
computed, because Spark saves state only for micro-batches that it computes.

Every start of a run takes the next epoch of the folder, an empty file in the staging folder. Staged files and markers
have the epoch in their names. A run that finds a newer epoch after it has created a marker is fenced, and renames
nothing. A run that finds a marker of an earlier epoch renames the files of that epoch instead of its own. So of two
runs, on any hosts, one decides what the micro-batch is.

The file system must rename a file as a whole, or complete an interrupted rename when it is tried again. Local file
systems, HDFS, and object stores through Hadoop do.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from py4j.java_gateway import is_instance_of  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

from transom.errors import CheckpointError, Fenced, UsageError
from transom.runtime.checkpoint.fingerprint import RUN_ID_FILE
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.sinks.sink import FOLDER_FORMATS, Sink

SPARK_METADATA = "_spark_metadata"
"""The folder in which Spark's file sink lists the committed files; Spark's readers then read only these."""
_CHECKSUM_FILE_SYSTEM = "org.apache.hadoop.fs.ChecksumFileSystem"
_SPARK_FILE_NAME = re.compile(r"part-(\d+)-.*-c(\d+)(\.[^-]+)")
_STAGING_NAME = "_{name}.staging"
_KEPT_EPOCHS = 2
"""Epoch files that are kept, so that a fenced run finds a newer one than its own."""


def uses_spark_sink(spark: SparkSession, sink: Sink, checkpoint: Path) -> bool:
    """Whether Spark's file sink writes the output folder, as it does over Spark Connect or if it has begun the folder.

    A folder that Spark's sink has begun needs a checkpoint that never had another sink: Spark's sink skips
    micro-batches whose numbers the folder has, and its readers ignore files that it did not list. Raises UsageError for
    a folder that another run or the other sink has begun.
    """
    folder = str(sink.folder)
    if getattr(spark, "_jvm", None) is None:
        if Path(folder).with_name(_STAGING_NAME.format(name=Path(folder).name)).exists():
            raise UsageError(
                f"{folder} was begun with a session of its own, and does not go on over Spark Connect",
                hint="start the run as it was, or with a new checkpoint and a new folder",
            )
        return True
    output = _OutputFolder(spark, folder)
    if not output.file_system.exists(output.path(output.folder, SPARK_METADATA)):
        return False
    if not (checkpoint / PLAN_FILE).exists() or (checkpoint / RUN_ID_FILE).exists():
        raise UsageError(
            f"{folder} was begun by another run, with Spark's own sink",
            hint="give a new folder, or the checkpoint of that run",
        )
    return True


class FolderWriter:
    """Writes the micro-batches of a run into a folder; the object is the `foreachBatch` callback."""

    def __init__(self, spark: SparkSession, sink: Sink, run_id: str) -> None:
        """Create the writer of a run's micro-batches into the sink's output folder; file names contain the run id."""
        self.format = FOLDER_FORMATS[sink.kind]
        self.run = run_id[:12]
        self.output = _OutputFolder(spark, str(sink.folder))
        self.on_files_added: Callable[[int], None] = lambda files: None
        """Called with the number of files that a micro-batch just added to the folder."""
        self.on_computed: Callable[[int], None] = lambda batch: None
        """Called with the number of a micro-batch that is computed, before its files are shown."""
        self._first = True
        self._later = False
        """Whether this run has shown a micro-batch already."""
        self.epoch = 0
        """The epoch that this start of the run has taken; 0 before it has taken one."""

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """Write one micro-batch to the output folder, or complete one that a kill interrupted."""
        output = self.output
        staged = self._decided(batch) if self._first else None
        self._first = False
        if staged is not None:
            frame.write.format("noop").mode("overwrite").save()
            self.on_computed(batch)
        else:
            name = f"{self.run}-{batch:09}" + (f"-e{self.epoch}" if self.epoch else "")
            staged = output.path(output.staging, name)
            writer = frame.write.format(self.format).mode("overwrite")
            writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").save(staged.toString())
            self.on_computed(batch)
            if not self._delete_empty_file(staged):
                output.file_system.delete(staged, True)
                return  # no marker needed: if the micro-batch is repeated, it is empty again
            staged = self._decide(batch, staged)
        try:
            self._publish(staged, batch)
        except Exception:
            self.verify()  # a newer run has renamed the files, or deleted them
            raise
        if self._later:
            self._delete_before(batch)
        self._later = True

    def take_over(self) -> None:
        """Take the run's next epoch (number of a start) in this folder; earlier starts then raise Fenced."""
        output = self.output
        output.file_system.mkdirs(output.staging)
        while True:
            epochs = self._epochs()
            epoch = max(epochs, default=0) + 1
            if output.create(self._epoch_file(epoch)):
                break
        for earlier in sorted(epochs)[: 1 - _KEPT_EPOCHS]:
            output.file_system.delete(self._epoch_file(earlier), False)
        self.epoch = epoch

    def _epoch_file(self, epoch: int) -> Any:
        """Return the path of the empty marker file by which this run claims an epoch (number of a start)."""
        return self.output.path(self.output.staging, f"{self.run}.epoch-{epoch}")

    def _epochs(self) -> list[int]:
        """List the epochs (one number per start) of this run in the staging folder, unordered."""
        names = self.output.names(self.output.staging)
        return [int(match[1]) for name in names if (match := re.fullmatch(rf"{self.run}\.epoch-(\d+)", name))]

    def verify(self) -> None:
        """Raise Fenced if a newer start of this run writes the folder now."""
        newest = max(self._epochs(), default=self.epoch)
        if newest > self.epoch:
            raise Fenced(
                f"{self.output.folder.toString()} was taken over by a newer run of the same checkpoint",
                detail=f"epoch {newest}; this run has epoch {self.epoch}",
                hint="leave one of the two runs stopped: whichever is started again takes over",
            )

    def _marker(self, staged: Any) -> Any:
        """Return the path of the marker file which says that the files in a staging folder are a whole micro-batch."""
        return self.output.path(self.output.staging, f"{staged.getName()}.whole")

    def _decide(self, batch: int, staged: Any) -> Any:
        """Mark `staged` as a micro-batch's final folder and return it; if one is marked already, return that one.

        An earlier run that marks its files after this run has looked finds the newer epoch, and is fenced.
        """
        output = self.output
        earlier = self._marked(batch)
        if earlier is not None:
            output.file_system.delete(staged, True)
            return earlier
        output.file_system.createNewFile(self._marker(staged))
        self.verify()
        return staged

    def _marked(self, batch: int) -> Any:
        """Return the newest staging folder of `batch` that a marker says is complete (Hadoop path), or None.

        Of several, the newest epoch counts: a fenced run may have left a marker, and renamed nothing. Raises Fenced if
        it is newer than that of this run.
        """
        output, epochs = self.output, []
        for name in output.names(output.staging):
            match = re.fullmatch(rf"{self.run}-{batch:09}(?:-e(\d+))?\.whole", name)
            if match:
                epochs.append((int(match[1] or 0), name.removesuffix(".whole")))
        if epochs and max(epochs)[0] > self.epoch:
            self.verify()
        return output.path(output.staging, max(epochs)[1]) if epochs else None

    def _decided(self, batch: int) -> Any:
        """Return the marked folder of micro-batch `batch`, None if it is new; CheckpointError if it was delivered.

        Then only renames may be missing. Also creates the folders, and deletes what is left of earlier micro-batches.
        CheckpointError if the folder is ahead of the checkpoint.
        """
        output = self.output
        output.file_system.mkdirs(output.folder)
        output.file_system.mkdirs(output.staging)
        self._delete_before(batch)
        staged = self._marked(batch)
        if staged is not None:
            return staged
        last = self._last_batch()
        if last >= batch:
            raise self._ahead_error(last, f"{batch} is to come")
        return None

    def _delete_before(self, batch: int) -> None:
        """Delete this run's staged files and markers of the micro-batches before `batch`."""
        output = self.output
        for name in list(output.names(output.staging)):
            match = re.fullmatch(rf"{self.run}-(\d+)(-e\d+)?(\.whole)?", name)
            if match and int(match[1]) < batch:
                output.file_system.delete(output.path(output.staging, name), True)

    def check_not_ahead(self, planned: int) -> None:
        """Raise CheckpointError if the folder has a micro-batch after `planned`: the checkpoint is an older copy."""
        last = self._last_batch()
        if last > planned:
            raise self._ahead_error(last, f"the checkpoint knows of {planned} at most")

    def batches(self) -> list[int]:
        """List the micro-batch number of each file of this run in the output folder, in no order."""
        run_file = re.compile(rf"part-{self.run}-(\d+)-.*")
        names = self.output.names(self.output.folder)
        return [int(match[1]) for name in names if (match := run_file.fullmatch(name))]

    def _last_batch(self) -> int:
        """Return the number of this run's last micro-batch with files in the output folder; -1 if there is none."""
        return max(self.batches(), default=-1)

    def _ahead_error(self, last: int, detail: str) -> CheckpointError:
        """Build the CheckpointError for an output folder with a micro-batch `last` that its checkpoint lacks."""
        return CheckpointError(
            f"{self.output.folder.toString()} is ahead of its checkpoint: it has rows of micro-batch {last}, "
            f"and {detail}",
            hint="the checkpoint is an old one, or what stood beside the folder was deleted: give a new folder and a "
            "new checkpoint",
        )

    def _delete_empty_file(self, staged: Any) -> bool:
        """Delete the empty file that Spark stages if its first task has no rows; return whether others are left."""
        output, has_rows = self.output, False
        for name, task, _ in self._staged_files(staged):
            file = output.path(staged, name)
            if int(task.partition("-")[0]) == 0 and output.is_empty(file):
                output.file_system.delete(file, False)
            else:
                has_rows = True
        return has_rows

    def _publish(self, staged: Any, batch: int) -> None:
        """Rename the files of micro-batch `batch` from the staging folder `staged` into the output folder."""
        output, new = self.output, 0
        for name, task, ending in self._staged_files(staged):
            published = f"part-{self.run}-{batch:09}-{task}{ending}"
            new += output.rename(output.path(staged, name), output.path(output.folder, published))
        output.file_system.delete(staged, True)
        self.on_files_added(new)

    def _staged_files(self, staged: Any) -> Iterator[tuple[str, str, str]]:
        """Yield (file name, number of the Spark task, extension) of each file that Spark wrote to the folder `staged`.

        From a task's second file on, the task is TASK-NUMBER.
        """
        for name in self.output.names(staged):
            if name.startswith(("_", ".")):
                continue
            match = _SPARK_FILE_NAME.fullmatch(name)
            if not match:
                raise UsageError(f"nobody knows what {name} in {staged.toString()} is", hint="look who writes there")
            task, number, ending = match.groups()
            yield name, task if int(number) == 0 else f"{task}-{number}", ending


class _OutputFolder:
    """The output folder, the staging folder beside it, and their file system."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        """Open the file system of a folder; raise UsageError for a folder without a parent, such as the root."""
        jvm: Any = spark._jvm
        session: Any = spark._jsparkSession
        self._path = jvm.org.apache.hadoop.fs.Path
        self._parquet = jvm.org.apache.parquet.hadoop
        self._settings = session.sessionState().newHadoopConf()
        hadoop_path = self._path(folder)
        file_system = hadoop_path.getFileSystem(self._settings)
        self.folder = file_system.makeQualified(hadoop_path)
        parent = self.folder.getParent()
        if parent is None:
            raise UsageError(f"{folder} is no folder in another one", hint="name a folder in it")
        self.staging = self.path(parent, _STAGING_NAME.format(name=self.folder.getName()))
        if is_instance_of(spark.sparkContext._gateway, file_system, _CHECKSUM_FILE_SYSTEM):
            file_system = file_system.getRawFileSystem()  # no .crc file beside every file, which could confuse readers
        self.file_system = file_system

    def path(self, folder: Any, name: str) -> Any:
        """Return the Hadoop path of the file with this name in a folder."""
        return self._path(folder, name)

    def names(self, folder: Any) -> Iterator[str]:
        """Yield the names of the files in a folder; none if it does not exist."""
        if self.file_system.exists(folder):
            for status in self.file_system.listStatus(folder):
                yield str(status.getPath().getName())

    def is_empty(self, file: Any) -> bool:
        """Whether a Parquet or text file, given as a Hadoop path, has no rows."""
        if not file.getName().endswith(".parquet"):
            return int(self.file_system.getFileStatus(file).getLen()) == 0
        opened = self._parquet.util.HadoopInputFile.fromPath(file, self._settings)
        reader = self._parquet.ParquetFileReader.open(opened)
        try:
            return int(reader.getRecordCount()) == 0
        finally:
            reader.close()

    def create(self, file: Any) -> bool:
        """Create an empty file; return False if it exists. Of two processes that try, one succeeds."""
        location = file.toUri()
        if location.getScheme() != "file":
            return bool(self.file_system.createNewFile(file))
        try:
            os.close(os.open(location.getPath(), os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644))
        except FileExistsError:
            return False
        return True

    def rename(self, file: Any, name: Any) -> bool:
        """Rename a file; return False if the new name exists, because an interrupted rename had copied the file.

        UsageError if the existing file has another length.
        """
        if self.file_system.exists(name):
            if self.file_system.getFileStatus(name).getLen() != self.file_system.getFileStatus(file).getLen():
                raise UsageError(f"{name.toString()} is there already, and another file", hint="give a new folder")
            self.file_system.delete(file, False)
            return False
        if not self.file_system.rename(file, name):
            raise UsageError(f"cannot rename {file.toString()} to {name.toString()}", hint="see who may write there")
        return True
