"""Which rows are late: the one rule, decided where a source enters a plan.

A row is late if the query has closed its tick before the micro-batch began. Spark writes the watermark of a micro-batch
into its checkpoint before it computes one, so whoever computes a micro-batch again finds the same rows late. The rule
holds where an operator waits for ticks to close; elsewhere nothing is late. No row that passes is dropped by Spark.

A topic with dead letters also has the order of each partition: there a row is late, too, if it is more than `lateness`
ticks behind a row before it, whatever the micro-batches are. A row is ahead if its tick is more than `max_ahead` ticks
after the time at which its micro-batch began, and makes no other row late.
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
from transom.spark import kernel
from transom.spark.marks import TickTime

NEVER = -(1 << 62)
"""A tick before all others."""
SPARK = "spark"
"""The folder of a checkpoint in which Spark keeps its part."""
QUERY_ID, BATCH_ID = "sql.streaming.queryId", "streaming.sql.batchId"
"""Spark's names for the query and the micro-batch that a task works for; a query keeps its id with its checkpoint."""


@dataclass(frozen=True, slots=True)
class Lateness:
    """How a run tells late rows: by the watermarks in its checkpoint."""

    checkpoint: Path
    calendar: Calendar
    kernel: bool

    def is_late(self, spark: SparkSession, tick: Column) -> Column:
        """Whether the tick of a row was closed when its micro-batch began; a row without a tick is not late."""
        offsets = str(self.checkpoint / SPARK / "offsets")
        if self.kernel:
            return kernel.is_closed(spark, tick, offsets, self.calendar)
        return F.arrow_udf(_closed(offsets, self.calendar), "boolean").asNondeterministic()(tick)


def _closed(offsets: str, calendar: Calendar) -> Any:
    def closed(batches: Iterator[pa.Array]) -> Iterator[pa.Array]:
        last: int | None = None
        for ticks in batches:
            if last is None and len(ticks):
                last = closed_tick(Path(offsets) / task_property(BATCH_ID), calendar)
            yield pc.fill_null(pc.less_equal(ticks, NEVER if last is None else last), False)

    return closed


def closed_tick(log: Path, calendar: Calendar) -> int:
    """The last tick that was closed when a micro-batch began, by its entry in Spark's log of offsets."""
    return TickTime(calendar).closed(batch_times(log)[1])


def late(ticks: pa.Array, latest: int, lateness: int, closed: int) -> tuple[pa.Array, int]:
    """Which rows of a partition are late, in their order, and the latest tick after them; NULL is no row."""
    known = pc.fill_null(ticks, NEVER)
    seen = pc.cumulative_max(known, start=latest)
    least = pc.max_element_wise(pc.subtract(seen, lateness), closed + 1)
    return pc.and_(pc.is_valid(ticks), pc.less(known, least)), seen[-1].as_py() if len(seen) else latest


def ahead(ticks: pa.Array, present: int, most: int) -> pa.Array:
    """Which rows are more than `most` ticks ahead of the present one; NULL is no row."""
    return pc.fill_null(pc.greater(ticks, present + most), False)


def task_property(name: str) -> str:
    """A property that Spark gives to the tasks of a micro-batch."""
    task = TaskContext.get()
    value: str | None = None if task is None else task.getLocalProperty(name)
    if value is None:
        raise RuntimeError(f"this version of Spark does not tell {name} to a task")
    return value


def batch_times(log: Path) -> tuple[int, int]:
    """When a micro-batch began, and its watermark, from Spark's log of offsets: both in milliseconds."""
    try:
        lines = log.read_text("utf-8").splitlines()
    except FileNotFoundError as error:
        raise RuntimeError(f"{log} cannot be read: every Spark executor must be able to read the checkpoint") from error
    about = json.loads(lines[1])
    return int(about["batchTimestampMs"]), int(about["batchWatermarkMs"])
