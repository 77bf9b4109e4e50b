"""Divide the state of a stopped query into another number of partitions; Spark fixes it when a query first starts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark import __version__ as SPARK_VERSION
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from transom.errors import CheckpointError, UsageError
from transom.runtime.checkpoint.checkpoint import SPARK_FOLDER, Checkpoint
from transom.runtime.checkpoint.fingerprint import check_format
from transom.runtime.checkpoint.handover import refuse_handed_over
from transom.runtime.checkpoint.local_files import local_file_manager
from transom.runtime.checkpoint.lock import CheckpointLock
from transom.runtime.checkpoint.logs.spark_logs import batch_partitions
from transom.runtime.checkpoint.settings import applied, settings_for

MANAGER = "_streamingCheckpointManager"
"""The private property of a session by which Spark 4.2 and later divide state."""


@dataclass(frozen=True)
class Repartitioned:
    """The numbers of partitions before and after, and the micro-batch that holds the divided state."""

    before: int
    after: int
    batch: int


def repartition(spark: SparkSession, folder: Path, partitions: int) -> Repartitioned:
    """Divide the state in a checkpoint into `partitions` partitions; its query then goes on with the same answers.

    Takes the lock and the epoch of the checkpoint. Raises Unavailable while the query runs, CheckpointError for a
    checkpoint that is damaged, without state or in the middle of a micro-batch, and UsageError if this version of Spark
    cannot do it.
    """
    if partitions < 1:
        raise UsageError(f"state has at least one partition, not {partitions}")
    manager = _manager(spark)
    check_format(folder)
    lock = CheckpointLock(folder).acquire()
    try:
        refuse_handed_over(folder)
        checkpoint = Checkpoint.open(spark, folder)
        checkpoint.take_over()
        before = _partitions(checkpoint)
        if before == partitions:
            raise UsageError(f"the state of {folder} has {partitions} partitions already")
        with local_file_manager(spark), applied(spark, settings_for(spark, folder)):
            try:
                manager.repartition(str(folder / SPARK_FOLDER), partitions)
            except PySparkException as error:
                raise CheckpointError(
                    f"Spark does not divide the state of {folder}",
                    detail=str(error).splitlines()[0][:400],
                    hint="start its query as it was: the state is as before",
                ) from error
        checkpoint.check()
        checkpoint.record_digests()
        return Repartitioned(before, partitions, checkpoint.logs.committed)
    finally:
        lock.release()


def _manager(spark: SparkSession) -> Any:
    """Return Spark's manager of checkpoints; raise UsageError if this session has none."""
    if getattr(type(spark), MANAGER, None) is None or getattr(spark, "_jvm", None) is None:
        where = f"PySpark {SPARK_VERSION}" + ("" if hasattr(type(spark), MANAGER) else ", which is older than 4.2")
        raise UsageError(
            f"this session cannot divide state: {where}",
            hint="use PySpark 4.2 or later without Spark Connect, or start with a new checkpoint",
        )
    return getattr(spark, MANAGER)


def _partitions(checkpoint: Checkpoint) -> int:
    """Return the number of partitions of a checked checkpoint; raise CheckpointError if it cannot be divided now."""
    logs, folder = checkpoint.logs, checkpoint.folder
    if logs.committed < 0:
        raise CheckpointError(f"no micro-batch of {folder} is committed, so it has no state to divide")
    if logs.planned > logs.committed:
        raise CheckpointError(
            f"micro-batch {logs.planned} of {folder} was begun and not finished",
            hint="start its query as it was, and stop it when it has nothing to read",
        )
    if not any(name.isdecimal() for name in checkpoint.files.entries("state")):
        raise CheckpointError(f"the query of {folder} keeps no state", detail="there is nothing to divide")
    number = batch_partitions(checkpoint.files, logs.committed)
    if number is None:
        raise CheckpointError(f"{folder} does not record into how many partitions its state is divided")
    return number
