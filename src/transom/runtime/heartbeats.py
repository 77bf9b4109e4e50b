"""Watermark delays of sources, and heartbeats: rows that only advance a watermark."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pyspark.sql import DataFrame, SparkSession

from transom.catalog.extent import Extent
from transom.connectors import spark as connectors
from transom.model.time import Calendar
from transom.runtime.job import Job
from transom.spark.input import clock


def watermark_delay_ms(extent: Extent, calendar: Calendar) -> int:
    """Return the watermark delay of a source: its lateness in milliseconds, rounded up."""
    return -(-extent.lateness * calendar.length // 1000)


def heartbeats(
    job: Job, spark: SparkSession, streamed: Sequence[Extent], opened_by_caller: Collection[str]
) -> dict[str, DataFrame]:
    """Return ticks, by source, that move the watermark past idle, growing or (not if `opened_by_caller`) ended sources.

    They are for `streamed` sources that may be idle, that grow, or that end with the run; sources that the caller opens
    (`opened_by_caller`) do not end.
    """
    options = job.options
    streams: dict[str, DataFrame] = {}
    for extent in streamed:
        if options.once and options.until is not None and extent.name not in opened_by_caller:
            streams[extent.name] = _heartbeat_at(job, spark, options.until + 1 + extent.lateness)
        elif extent.grows:
            streams[extent.name] = _heartbeat_at(job, spark, connectors.scanned_up_to(extent, job.catalog.folder))
        elif extent.idle_after is not None:
            streams[extent.name] = clock.heartbeats(
                spark,
                lag_ticks=extent.idle_after,
                calendar=job.catalog.calendar,
                live=True,
                first_tick=options.start,
                use_kernel=job.kernel.used,
            )
    return streams


def _heartbeat_at(job: Job, spark: SparkSession, tick: int) -> DataFrame:
    """Build a stream with rows at `tick` and the next tick only, which advance the watermark at every start.

    After a restart Spark knows the watermark of a source only from new rows, and the next scan of a table may be hours
    away. The first micro-batch reads all segments of the log that exist now.
    """
    calendar = job.catalog.calendar
    return clock.ticks(
        spark, first_tick=tick, periods=(), until=tick, live=True, calendar=calendar, use_kernel=job.kernel.used
    )
