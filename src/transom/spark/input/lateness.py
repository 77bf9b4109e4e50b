"""The one rule for late rows, applied where a source enters a plan.

A row is late if the query has closed its tick before the micro-batch began. Spark writes the watermark of a micro-batch
to the checkpoint before it computes the micro-batch, so a recomputation finds the same rows late. The rule applies
where an operator waits for ticks to close; elsewhere no row is late. Spark drops no row that passes the rule.

A topic with dead letters also uses the order of each partition: a row is also late if it is more than `lateness` ticks
behind an earlier row of its partition, however the rows are divided into micro-batches. A row is ahead if its tick is
more than `max_ahead` ticks after the start of its micro-batch; such a row makes no other row late.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from transom.model.time import Calendar
from transom.spark.event_time import TickTime
from transom.spark.stateful import kernel

BEFORE_ALL_TICKS = -(1 << 62)
"""A tick before all others."""
SPARK_FOLDER = "spark"
"""The subfolder of a checkpoint that belongs to Spark."""
QUERY_ID, BATCH_ID = "sql.streaming.queryId", "streaming.sql.batchId"
"""Spark's task properties for the ids of the query and the micro-batch; the query id is kept in the checkpoint."""


@dataclass(frozen=True, slots=True)
class Lateness:
    """Detects the late rows of a run, from the watermarks in its checkpoint."""

    checkpoint: Path
    calendar: Calendar
    kernel: bool

    def is_late(self, spark: SparkSession, tick: Column) -> Column:
        """Whether the watermark had closed a row's tick when its micro-batch began; false for a row without a tick."""
        offsets = str(self.checkpoint / SPARK_FOLDER / "offsets")
        if self.kernel:
            return kernel.is_closed(spark, tick, offsets, self.calendar)
        return F.arrow_udf(_closed_function(offsets, self.calendar), "boolean").asNondeterministic()(tick)


def _closed_function(offset_log: str, calendar: Calendar) -> Any:
    """Return a function from Arrow arrays of ticks to whether the watermark had closed each at batch start.

    `offset_log` is the folder of Spark's offset log.
    """

    def closed(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        """Yield a boolean array for each array of ticks: true where the watermark had passed the tick."""
        last: int | None = None
        for ticks in batches:
            if last is None and len(ticks):
                last = closed_tick(Path(offset_log) / task_property(BATCH_ID), calendar)
            yield pc.fill_null(pc.less_equal(ticks, BEFORE_ALL_TICKS if last is None else last), False)

    return closed


def closed_tick(log: Path, calendar: Calendar) -> int:
    """Read from Spark's offset `log` the last tick that the watermark had closed when a micro-batch began.

    `log` is the file of the micro-batch in the log.
    """
    return TickTime(calendar).last_closed_tick(batch_times(log)[1])


def late_mask(ticks: pa.Array, latest_tick: int, lateness_ticks: int, last_closed: int) -> tuple[pa.Array, int]:
    """Return a mask of late ticks (closed, or over `lateness_ticks` behind the latest), and the new latest tick.

    A row is late if it is more than `lateness_ticks` ticks behind `latest_tick` or an earlier row, or if its tick is at
    most `last_closed`.
    """
    filled = pc.fill_null(ticks, BEFORE_ALL_TICKS)
    latest_so_far = pc.cumulative_max(filled, start=latest_tick)
    least = pc.max_element_wise(pc.subtract(latest_so_far, lateness_ticks), last_closed + 1)
    return pc.and_(pc.is_valid(ticks), pc.less(filled, least)), latest_so_far[-1].as_py() if len(
        latest_so_far
    ) else latest_tick


def ahead_mask(ticks: pa.Array, present_tick: int, max_ahead: int) -> pa.Array:
    """Return the mask of the ticks more than `max_ahead` after `present_tick`; false for NULL ticks."""
    return pc.fill_null(pc.greater(ticks, present_tick + max_ahead), False)


def task_property(name: str) -> str:
    """Return a Spark local property of the current task by its name; raise RuntimeError if it is not set."""
    task = TaskContext.get()
    value: str | None = None if task is None else task.getLocalProperty(name)
    if value is None:
        raise RuntimeError(f"this version of Spark does not pass {name} to a task")
    return value


def batch_times(log: Path) -> tuple[int, int]:
    """Read the start time and the watermark of a micro-batch, in ms, from its file in Spark's offset log."""
    try:
        lines = log.read_text("utf-8").splitlines()
    except FileNotFoundError as error:
        raise RuntimeError(f"{log} cannot be read: every Spark executor must be able to read the checkpoint") from error
    metadata = json.loads(lines[1])
    return int(metadata["batchTimestampMs"]), int(metadata["batchWatermarkMs"])
