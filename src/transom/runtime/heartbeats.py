"""Watermarks of sources: how far they stay behind, and heartbeats, rows that only move them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import DataFrame, SparkSession

from transom.catalog.extents import Extent
from transom.connectors import spark as connectors
from transom.model.time import Calendar
from transom.runtime.job import Job
from transom.spark import clock


def delay_ms(extent: Extent, calendar: Calendar) -> int:
    """How far the watermark of a source stays behind its latest tick: its lateness in whole ticks."""
    return -(-extent.lateness * calendar.length // 1000)


def heartbeats(
    job: Job, spark: SparkSession, streamed: Sequence[Extent], given: Collection[str]
) -> dict[str, DataFrame]:
    """Heartbeats of sources that may fall silent (E12), and of sources that come to an end."""
    options = job.options
    found: dict[str, DataFrame] = {}
    for extent in streamed:
        if options.once and options.until is not None and extent.name not in given:
            found[extent.name] = _shown(job, spark, options.until + 1 + extent.lateness)
        elif extent.grows:
            found[extent.name] = _shown(job, spark, connectors.scanned_up_to(extent, job.catalog.folder))
        elif extent.idle_after is not None:
            found[extent.name] = clock.beats(
                spark,
                behind=extent.idle_after,
                calendar=job.catalog.calendar,
                live=True,
                first=options.start,
                kernel=job.kernel.used,
            )
    return found


def _shown(job: Job, spark: SparkSession, tick: int) -> DataFrame:
    """A tick and the one after it, shown at every start.

    After a restart Spark knows the watermark of a source only from rows that come again, and the next scan of a table
    may be hours away. All segments of its log that are there now will be in the first micro-batch.
    """
    calendar = job.catalog.calendar
    return clock.ticks(spark, first=tick, periods=(), until=tick, live=True, calendar=calendar, kernel=job.kernel.used)
