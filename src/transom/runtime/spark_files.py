"""The folder in which Spark keeps its part of a checkpoint, on whatever file system Spark keeps it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkFolder(Protocol):
    """A folder to read; names are relative to it, and a folder or file that is missing has no entries."""

    def entries(self, name: str) -> Iterator[str]:
        """The names of the files and folders in a folder."""

    def read(self, name: str) -> bytes:
        """The content of a file."""

    def path(self, name: str) -> str:
        """A file as a user calls it."""


class LocalFolder:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def entries(self, name: str) -> Iterator[str]:
        """The names of the files and folders in a folder."""
        place = self.folder / name
        return (entry.name for entry in place.iterdir()) if place.is_dir() else iter(())

    def read(self, name: str) -> bytes:
        """The content of a file."""
        return (self.folder / name).read_bytes()

    def path(self, name: str) -> str:
        """A file as a user calls it."""
        return str(self.folder / name)


class HadoopFolder:
    """A folder on a file system of Hadoop's, such as HDFS or an object store."""

    def __init__(self, spark: SparkSession, files: Any, folder: Any) -> None:
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._copy = jvm.org.apache.commons.io.IOUtils.toByteArray
        self._files = files
        self._folder = folder

    def entries(self, name: str) -> Iterator[str]:
        """The names of the files and folders in a folder."""
        place = self._path(self._folder, name)
        if self._files.exists(place):
            for status in self._files.listStatus(place):
                yield str(status.getPath().getName())

    def read(self, name: str) -> bytes:
        """The content of a file."""
        stream = self._files.open(self._path(self._folder, name))
        try:
            return bytes(self._copy(stream))
        finally:
            stream.close()

    def path(self, name: str) -> str:
        """A file as a user calls it."""
        return str(self._path(self._folder, name).toString())


def spark_folder(spark: SparkSession, path: Path) -> SparkFolder:
    """A folder where Spark looks for it: the default file system of a cluster may be another one."""
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:
        return LocalFolder(path)
    session: Any = spark._jsparkSession
    given = jvm.org.apache.hadoop.fs.Path(str(path.absolute()))
    files = given.getFileSystem(session.sessionState().newHadoopConf())
    if files.getScheme() == "file":
        return LocalFolder(path)
    return HadoopFolder(spark, files, files.makeQualified(given))
