"""The DataFrame of a query: sources opened or taken as given, the plan lowered onto them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from transom.runtime.heartbeats import delay_ms, heartbeats
from transom.runtime.job import Job, lateness_of
from transom.runtime.rdf_dataframe import rdf_dataframe
from transom.spark.balance import CountRead, RowCounts, uncounted
from transom.spark.frames import LoweringContext
from transom.spark.given import stream_frame, table_frame, with_ties
from transom.spark.lower import lower
from transom.spark.rejected import Rejected
from transom.spark.result import result
from transom.spark.session import check_session


def dataframe(
    job: Job,
    spark: SparkSession,
    given: Mapping[str, Any] | None = None,
    *,
    live: bool,
    rejected: Rejected | None = None,
    counts: RowCounts | None = None,
) -> DataFrame:
    """One DataFrame with the answer: streaming if `live`, else batch.

    `given` are the sources that the caller has opened; the others are opened as the catalog says. `rejected` counts the
    rows of a batch beyond a speed limit, `counts` those of all live sources.
    """
    counts = counts or RowCounts()
    if job.over_rdf:
        return rdf_dataframe(job, spark, given, live=live, counts=counts)
    plan, catalog, options = job.plan, job.catalog, job.options
    frames = dict(given or {})
    for name in frames:
        if name not in catalog.extents:
            raise UsageError(f"a source for {name}, which is no extent", hint=f"there is {', '.join(catalog.extents)}")
    streams: dict[str, DataFrame] = {}
    tables: dict[str, DataFrame] = {}
    followed = {node.extent for node in walk(plan) if isinstance(node, ReadScans)}
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
    until = options.until
    if until is None and not live:
        until = _last_tick(options.start, streams, tables)
    delays = {e.name: delay_ms(e, catalog.calendar) for e in job.extents if e.kind is not Kind.STORED}
    streamed = [e for e in job.extents if e.name in {*streams, *followed}]
    run = LoweringContext(
        spark,
        catalog.calendar,
        streams,
        tables,
        live,
        options.start,
        until,
        delays,
        heartbeats(job, spark, streamed, frames) if live else {},
        options.approximate_sums,
        job.kernel.used,
        rejected or Rejected(),
        counts=counts,
        lateness=lateness_of(job, live=live),
        settled=frozenset(e.name for e in job.extents if e.name not in frames and _keeps_dead_letters(e)),
    )
    check_session(spark, plan, catalog.calendar, live)
    return result(plan, lower(plan, run))


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


def is_live(frames: Mapping[str, Any], sources: Sequence[Extent]) -> bool:
    """Whether an answer over given sources is a stream: where one of them is."""
    own = [frames[e.name] for e in sources if e.kind is not Kind.STORED and e.name in frames]
    return any(frame.isStreaming for frame in own)


def _needs_position(plan: Physical, extent: str) -> bool:
    return any(isinstance(node, Read) and node.extent == extent and node.ordered for node in walk(plan))


def _last_tick(start: int, streams: Mapping[str, DataFrame], tables: Mapping[str, DataFrame]) -> int:
    """The last tick of any source: a replay ends there."""
    last = start
    for frame, name in [*((f, "t") for f in streams.values()), *((f, "v") for f in tables.values())]:
        found = frame.agg(F.max(name)).first()
        if found is not None and found[0] is not None:
            last = max(last, found[0])
    return last


def in_order(frame: DataFrame) -> DataFrame:
    """The answer of a replay in the order of its ticks."""
    return frame.orderBy(*(name for name in ("tick", "seq", "index") if name in frame.columns))
