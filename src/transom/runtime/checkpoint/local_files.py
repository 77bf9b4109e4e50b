"""The file manager of a checkpoint on a local disk: the kernel's, which starts no processes for the files it writes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from transom.spark.stateful.kernel import PACKAGE, has_jvm, is_loaded

FILE_MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
LOCAL_FILE_MANAGER = f"{PACKAGE}.files.LocalCheckpointFileManager"


@contextmanager
def local_file_manager(spark: SparkSession) -> Iterator[None]:
    """Open a context in which queries with checkpoints on a local disk use the Java kernel's file manager.

    A query keeps the settings that its session has when it starts. A session with a file manager of its own, one
    without the kernel, and other file systems keep Spark's choice. Both managers read each other's files.
    """
    if spark.conf.get(FILE_MANAGER, None) is not None or not is_loaded(spark) or not _is_local(spark):
        yield
        return
    spark.conf.set(FILE_MANAGER, LOCAL_FILE_MANAGER)
    try:
        yield
    finally:
        spark.conf.unset(FILE_MANAGER)


def _is_local(spark: SparkSession) -> bool:
    """Whether Spark resolves a path without a scheme, such as `/data`, to a local disk."""
    if not has_jvm(spark):
        return False
    configuration = spark._jsparkSession.sessionState().newHadoopConf()
    return str(configuration.get("fs.defaultFS", "file:///")).startswith("file:")
