"""Read access to Spark's part of a checkpoint, on a local or a Hadoop file system."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


class SparkFolder(Protocol):
    """A readable folder; names are relative to it, and a missing folder has no entries."""

    def entries(self, name: str) -> Iterator[str]:
        """Yield the names of the files and folders in a subfolder; none if it is missing."""

    def read(self, name: str) -> bytes:
        """Read the content of a file, by its name relative to the folder."""

    def path(self, name: str) -> str:
        """Return the full path of a file, for messages."""


class LocalFolder:
    """A folder on this machine."""

    def __init__(self, folder: Path) -> None:
        """Create the accessor of a folder on a local disk; the folder need not exist yet."""
        self.folder = folder

    def entries(self, name: str) -> Iterator[str]:
        """Yield the names of the files and folders in a subfolder; none if it is missing."""
        folder = self.folder / name
        return (entry.name for entry in folder.iterdir()) if folder.is_dir() else iter(())

    def read(self, name: str) -> bytes:
        """Read the content of a file, by its name relative to the folder."""
        return (self.folder / name).read_bytes()

    def path(self, name: str) -> str:
        """Return the full path of a file, for messages."""
        return str(self.folder / name)


class HadoopFolder:
    """A folder on a Hadoop file system, such as HDFS or an object store."""

    def __init__(self, spark: SparkSession, file_system: Any, folder: Any) -> None:
        """Open a folder, given as a Hadoop path, on its Hadoop file system."""
        jvm: Any = spark._jvm
        self._path = jvm.org.apache.hadoop.fs.Path
        self._copy = jvm.org.apache.commons.io.IOUtils.toByteArray
        self._file_system = file_system
        self._folder = folder

    def entries(self, name: str) -> Iterator[str]:
        """Yield the names of the files and folders in a subfolder; none if it is missing."""
        folder = self._path(self._folder, name)
        if self._file_system.exists(folder):
            for status in self._file_system.listStatus(folder):
                yield str(status.getPath().getName())

    def read(self, name: str) -> bytes:
        """Read the content of a file, by its name relative to the folder."""
        stream = self._file_system.open(self._path(self._folder, name))
        try:
            return bytes(self._copy(stream))
        finally:
            stream.close()

    def path(self, name: str) -> str:
        """Return the full path of a file, for messages."""
        return str(self._path(self._folder, name).toString())


def spark_folder(spark: SparkSession, path: Path) -> SparkFolder:
    """Open a folder on the file system that Spark uses for its path, which on a cluster may not be local."""
    jvm: Any = getattr(spark, "_jvm", None)
    if jvm is None:
        return LocalFolder(path)
    session: Any = spark._jsparkSession
    hadoop_path = jvm.org.apache.hadoop.fs.Path(str(path.absolute()))
    file_system = hadoop_path.getFileSystem(session.sessionState().newHadoopConf())
    if file_system.getScheme() == "file":
        return LocalFolder(path)
    return HadoopFolder(spark, file_system, file_system.makeQualified(hadoop_path))
