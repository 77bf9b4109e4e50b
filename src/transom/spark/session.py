"""What a session must be set to, checked and named when it is not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from transom.errors import UsageError
from transom.model.time import Calendar
from transom.physical.node import Physical
from transom.physical.plan import Path
from transom.physical.walk import walk
from transom.spark.marks import EPOCH

PROVIDER = "spark.sql.streaming.stateStore.providerClass"
ROCKSDB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
SETTINGS = {
    PROVIDER: ROCKSDB,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": "true",
    "spark.python.sql.dataFrameDebugging.enabled": "false",
}
"""What `transom run` sets, and what a session of one's own is advised to set."""

PASSES = "spark.sql.analyzer.maxIterations"
ENOUGH = 1000
"""Calls in calls over terms of RDF are values named in values; each level takes Spark's analyzer many passes, and the
100 that it has are used up by three levels."""


def allow_depth(spark: SparkSession) -> None:
    """Let Spark take as many passes over deep expressions as they need; a bound that is higher stays."""
    if int(spark.conf.get(PASSES, "100") or 100) < ENOUGH:
        spark.conf.set(PASSES, str(ENOUGH))


FILES = "spark.sql.streaming.checkpointFileManagerClass"
_BY_FILE_SYSTEM = "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"


@contextmanager
def quick_local_checkpoints(spark: SparkSession) -> Iterator[None]:
    """Around the start of a query: write a checkpoint on a local disk without a process for every file.

    The checkpoint file manager that Spark picks for local files asks programs of the operating system about each file
    that it renames, which took a fifth of the time of small queries. Both managers write a file and rename it in one
    step. A query keeps the settings of its start. A manager that the session has, and other file systems, stay.
    """
    if spark.conf.get(FILES, None) is not None or not _is_local(spark):
        yield
        return
    spark.conf.set(FILES, _BY_FILE_SYSTEM)
    try:
        yield
    finally:
        spark.conf.unset(FILES)


def _is_local(spark: SparkSession) -> bool:
    """Whether paths without a scheme are local; a session of Spark Connect does not say."""
    context = getattr(spark, "_jsc", None)
    return context is not None and str(context.hadoopConfiguration().get("fs.defaultFS", "file:///")).startswith(
        "file:"
    )


def has_rocksdb(spark: SparkSession) -> bool:
    """Whether a session keeps state where machines can be kept."""
    return str(spark.conf.get(PROVIDER, "")).endswith("RocksDBStateStoreProvider")


def check_session(spark: SparkSession, plan: Physical, calendar: Calendar, live: bool) -> None:
    """Refuse a session in which answers would be lost, or machines could not run."""
    if not live:
        return
    if calendar.epoch < EPOCH:
        raise UsageError(
            "the epoch lies before 1970, where the watermark of Spark begins",
            hint="set a later `epoch` in the catalog; a replay takes any",
        )
    missing: list[str] = []
    has_machines = any(node.choice.path is not Path.NATIVE and node.choice.rule != "clock" for node in walk(plan))
    if has_machines and not has_rocksdb(spark):
        missing.append(f"{PROVIDER}={ROCKSDB}")
    if str(spark.conf.get("spark.sql.streaming.multipleWatermarkPolicy", "min")) != "min":
        missing.append("spark.sql.streaming.multipleWatermarkPolicy=min")
    if str(spark.conf.get("spark.sql.streaming.statefulOperator.allowMultiple", "true")) != "true":
        missing.append("spark.sql.streaming.statefulOperator.allowMultiple=true")
    if missing:
        raise UsageError(
            "the Spark session lacks settings that this query needs",
            detail="; ".join(missing),
            hint="set them when the session is built, or with spark.conf.set before the query starts",
        )
