"""Answers into a folder of files: every file whole, every row once, whoever reads it and whatever was killed.

Executors write a micro-batch into a folder beside, where nobody looks. When all of it is there, an empty file says so;
from then on the micro-batch is these files, and no others. They are renamed one by one into the folder, under names of
the run, the micro-batch and the task. Whoever was killed before the empty file was there writes anew; whoever was
killed after it renames what is left. A micro-batch that is repeated is computed all the same: Spark keeps the state
only of what was computed.

A file system must show a renamed file as a whole and no longer under its old name, or make that good when the rename is
tried again: local ones, HDFS, and object stores by way of Hadoop do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from py4j.java_gateway import is_instance_of  # type: ignore[import-untyped]
from pyspark.sql import DataFrame, SparkSession

from transom.errors import CheckpointError, UsageError
from transom.runtime.fingerprint import FILE, ID
from transom.runtime.sinks import FORMATS, Sink

METADATA = "_spark_metadata"
"""Where Spark's own sink keeps the list of the files that count, and which its reader then goes by."""
_CHECKSUMS = "org.apache.hadoop.fs.ChecksumFileSystem"
_WRITTEN = re.compile(r"part-(\d+)-.*-c(\d+)(\.[^-]+)")
_BESIDE = "_{name}.staging"


def is_sparks(spark: SparkSession, sink: Sink, checkpoint: Path) -> bool:
    """Whether Spark's own sink is to be used: by who began the folder, and where no JVM is at hand.

    Such a folder is gone on with from a checkpoint that never had another sink: Spark's passes over micro-batches whose
    numbers the folder has. Readers of Spark's would not see what anybody else puts into a folder that its sink has
    begun, nor, once it has, what was there before.
    """
    folder = str(sink.folder)
    if getattr(spark, "_jvm", None) is None:
        if Path(folder).with_name(_BESIDE.format(name=Path(folder).name)).exists():
            raise UsageError(
                f"{folder} was begun with a session of its own, and does not go on over Spark Connect",
                hint="start the run as it was, or with a new checkpoint and a new folder",
            )
        return True
    place = _Place(spark, folder)
    if not place.files.exists(place.path(place.folder, METADATA)):
        return False
    if not (checkpoint / FILE).exists() or (checkpoint / ID).exists():
        raise UsageError(
            f"{folder} was begun by another run, with Spark's own sink",
            hint="give a new folder, or the checkpoint of that run",
        )
    return True


class Folder:
    """What a run puts into a folder."""

    def __init__(self, spark: SparkSession, sink: Sink, run: str) -> None:
        self.format = FORMATS[sink.kind]
        self.run = run[:12]
        self.place = _Place(spark, str(sink.folder))
        self.shown: Callable[[int], None] = lambda files: None
        """Told how many files of a micro-batch were just put into the folder."""
        self._first = True
        self._before: int | None = None

    def __call__(self, frame: DataFrame, batch: int) -> None:
        """What Spark calls with every micro-batch."""
        place = self.place
        staged = place.path(place.beside, f"{self.run}-{batch:09}")
        whole = place.path(place.beside, f"{self.run}-{batch:09}.whole")
        again, self._first = self._first and self._repeated(batch, whole), False
        if again:
            frame.write.format("noop").mode("overwrite").save()
        else:
            writer = frame.write.format(self.format).mode("overwrite")
            writer.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false").save(staged.toString())
            if not self._without_empty(staged):
                place.files.delete(staged, True)
                return  # nothing to tell: where it is repeated, it is empty again
            place.files.createNewFile(whole)
        self._show(staged, batch)
        if self._before is not None:
            place.files.delete(place.path(place.beside, f"{self.run}-{self._before:09}.whole"), False)
        self._before = batch

    def _repeated(self, batch: int, whole: Any) -> bool:
        """Whether a micro-batch was written before; the first of a start may have been, no other."""
        place = self.place
        place.files.mkdirs(place.folder)
        place.files.mkdirs(place.beside)
        for name in place.names(place.beside):
            done = re.fullmatch(rf"{self.run}-(\d+)\.whole", name)
            if done and int(done[1]) < batch:
                place.files.delete(place.path(place.beside, name), False)
        if place.files.exists(whole):
            return True
        last = self._last()
        if last >= batch:
            raise self._ahead(last, f"{batch} is to come")
        return False

    def check_not_ahead(self, planned: int) -> None:
        """Refuse a folder that has rows of a micro-batch that its checkpoint has not planned: it is an older copy."""
        last = self._last()
        if last > planned:
            raise self._ahead(last, f"the checkpoint knows of {planned} at most")

    def batches(self) -> list[int]:
        """For each file of this run in the folder its micro-batch."""
        mine = re.compile(rf"part-{self.run}-(\d+)-.*")
        names = self.place.names(self.place.folder)
        return [int(found[1]) for name in names if (found := mine.fullmatch(name))]

    def _last(self) -> int:
        """The last micro-batch of this run that has files in the folder; -1 if there is none."""
        return max(self.batches(), default=-1)

    def _ahead(self, last: int, what: str) -> CheckpointError:
        return CheckpointError(
            f"{self.place.folder.toString()} is ahead of its checkpoint: it has rows of micro-batch {last}, and {what}",
            hint="the checkpoint is an old one, or what stood beside the folder was deleted: give a new folder and a "
            "new checkpoint",
        )

    def _without_empty(self, staged: Any) -> bool:
        """Whether files with rows are left; Spark writes one without any where the first task has none."""
        place, some = self.place, False
        for name, task, _ in self._written(staged):
            file = place.path(staged, name)
            if int(task.partition("-")[0]) == 0 and place.is_empty(file):
                place.files.delete(file, False)
            else:
                some = True
        return some

    def _show(self, staged: Any, batch: int) -> None:
        """Rename all files of a micro-batch that is whole."""
        place, new = self.place, 0
        for name, task, ending in self._written(staged):
            shown = f"part-{self.run}-{batch:09}-{task}{ending}"
            new += place.rename(place.path(staged, name), place.path(place.folder, shown))
        place.files.delete(staged, True)
        self.shown(new)

    def _written(self, staged: Any) -> Iterator[tuple[str, str, str]]:
        """The files that Spark has written: name, task, with the number of the file if it is not its first, ending."""
        for name in self.place.names(staged):
            if name.startswith(("_", ".")):
                continue
            found = _WRITTEN.fullmatch(name)
            if not found:
                raise UsageError(f"nobody knows what {name} in {staged.toString()} is", hint="look who writes there")
            task, number, ending = found.groups()
            yield name, task if int(number) == 0 else f"{task}-{number}", ending


class _Place:
    """A folder, the one beside it, and the file system that holds both."""

    def __init__(self, spark: SparkSession, folder: str) -> None:
        jvm: Any = spark._jvm
        session: Any = spark._jsparkSession
        self._path = jvm.org.apache.hadoop.fs.Path
        self._parquet = jvm.org.apache.parquet.hadoop
        self._settings = session.sessionState().newHadoopConf()
        given = self._path(folder)
        files = given.getFileSystem(self._settings)
        self.folder = files.makeQualified(given)
        parent = self.folder.getParent()
        if parent is None:
            raise UsageError(f"{folder} is no folder in another one", hint="name a folder in it")
        self.beside = self.path(parent, _BESIDE.format(name=self.folder.getName()))
        if is_instance_of(spark.sparkContext._gateway, files, _CHECKSUMS):
            files = files.getRawFileSystem()  # without a second file for every file, which others would stumble over
        self.files = files

    def path(self, folder: Any, name: str) -> Any:
        """A path in a folder."""
        return self._path(folder, name)

    def names(self, folder: Any) -> Iterator[str]:
        """The names in a folder; none if it is not there."""
        if self.files.exists(folder):
            for status in self.files.listStatus(folder):
                yield str(status.getPath().getName())

    def is_empty(self, file: Any) -> bool:
        """Whether a file has no rows."""
        if not file.getName().endswith(".parquet"):
            return int(self.files.getFileStatus(file).getLen()) == 0
        opened = self._parquet.util.HadoopInputFile.fromPath(file, self._settings)
        reader = self._parquet.ParquetFileReader.open(opened)
        try:
            return int(reader.getRecordCount()) == 0
        finally:
            reader.close()

    def rename(self, file: Any, name: Any) -> bool:
        """Rename a file; False for one that has its new name already, since it was copied before a kill."""
        if self.files.exists(name):
            if self.files.getFileStatus(name).getLen() != self.files.getFileStatus(file).getLen():
                raise UsageError(f"{name.toString()} is there already, and another file", hint="give a new folder")
            self.files.delete(file, False)
            return False
        if not self.files.rename(file, name):
            raise UsageError(f"cannot rename {file.toString()} to {name.toString()}", hint="see who may write there")
        return True
