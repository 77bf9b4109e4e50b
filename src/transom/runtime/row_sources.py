"""The sources of rows of a job, opened as the catalog says or taken as given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent, Kind
from transom.catalog.servers import Kafka
from transom.connectors import spark as connectors
from transom.errors import UsageError
from transom.physical.node import Physical
from transom.physical.plan import Read, ReadScans
from transom.physical.walk import walk
from transom.runtime.heartbeats import delay_ms
from transom.runtime.job import Job
from transom.spark.balance import CountRead, RowCounts, uncounted
from transom.spark.given import stream_frame, table_frame, with_ties


@dataclass(frozen=True)
class Opened:
    """Streams and tables by their names; `streamed` are the extents that arrive while a query runs."""

    streams: dict[str, DataFrame] = field(default_factory=dict)
    tables: dict[str, DataFrame] = field(default_factory=dict)
    streamed: tuple[Extent, ...] = ()
    delays: dict[str, int] = field(default_factory=dict)
    settled: frozenset[str] = frozenset()


def open_rows(job: Job, spark: SparkSession, frames: Mapping[str, Any], *, live: bool, counts: RowCounts) -> Opened:
    """All extents of rows that a job reads."""
    catalog = job.catalog
    streams: dict[str, DataFrame] = {}
    tables: dict[str, DataFrame] = {}
    followed = {node.extent for node in walk(job.plan) if isinstance(node, ReadScans)}
    for extent in job.extents:
        own = frames.get(extent.name)
        if extent.name in followed:
            tables[extent.name] = connectors.open_scans(spark, extent, catalog.folder, count=counts.scan(extent.name))
        elif extent.kind is Kind.STORED:
            tables[extent.name] = (
                table_frame(extent, own, catalog.calendar)
                if own is not None
                else with_ties(
                    connectors.open_table(spark, extent, catalog.calendar, catalog.folder, position=True), extent
                )
            )
        elif own is not None:
            if own.isStreaming != live:
                raise UsageError(f"the source of {extent.name} is not a stream, while others are")
            counted = counts.scan(extent.name)(own, F.lit(1)) if live else own
            streams[extent.name] = stream_frame(extent, counted, catalog.calendar)
        else:
            count = counts.scan(extent.name) if live else uncounted
            streams[extent.name] = with_ties(_opened(job, spark, extent, live=live, count=count), extent)
    return Opened(
        streams,
        tables,
        tuple(e for e in job.extents if e.name in {*streams, *followed}),
        {e.name: delay_ms(e, catalog.calendar) for e in job.extents if e.kind is not Kind.STORED},
        frozenset(e.name for e in job.extents if e.name not in frames and _keeps_dead_letters(e)),
    )


def last_tick(start: int, opened: Opened) -> int:
    """The last tick of any source: a replay ends there."""
    last = start
    for frame, name in [*((f, "t") for f in opened.streams.values()), *((f, "v") for f in opened.tables.values())]:
        found = frame.agg(F.max(name)).first()
        if found is not None and found[0] is not None:
            last = max(last, found[0])
    return last


def _keeps_dead_letters(extent: Extent) -> bool:
    """Whether the reader of a source tells its late rows itself, and keeps them."""
    return isinstance(extent.source, Kafka) and extent.source.dead is not None


def _opened(job: Job, spark: SparkSession, extent: Extent, *, live: bool, count: CountRead) -> DataFrame:
    """A stream of the catalog."""
    options = job.options
    return connectors.open_stream(
        spark,
        extent,
        job.catalog.calendar,
        job.catalog.folder,
        live=live,
        position=_needs_position(job.plan, extent.name),
        until=options.until,
        checkpoint=options.checkpoint,
        waits=job.waits,
        may_lose=options.may_lose,
        count=count,
    )


def _needs_position(plan: Physical, extent: str) -> bool:
    return any(isinstance(node, Read) and node.extent == extent and node.ordered for node in walk(plan))
