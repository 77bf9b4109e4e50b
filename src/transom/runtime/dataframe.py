"""The DataFrame of a query: sources opened or taken as given, the plan lowered onto them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent, Kind
from transom.catalog.rdf import RdfExtent
from transom.catalog.servers import Kafka
from transom.connectors import spark as connectors
from transom.errors import UsageError
from transom.physical.node import Physical
from transom.physical.plan import Read, ReadScans
from transom.physical.rdf_plan import messages
from transom.physical.walk import walk
from transom.runtime.answers import last_tick
from transom.runtime.heartbeats import delay_ms, heartbeats
from transom.runtime.job import Job, lateness_of
from transom.runtime.statements import Opening, open_statements, several
from transom.spark.balance import RowCounts
from transom.spark.frames import LoweringContext
from transom.spark.given import stream_frame, table_frame, with_ties
from transom.spark.lower import lower
from transom.spark.rejected import Rejected
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

    `given` are the sources that the caller has opened; the others are opened as the catalog says. `rejected` counts
    what a batch rejects, `counts` the rows of all live sources.
    """
    counts = counts or RowCounts()
    catalog, options, frames = job.catalog, job.options, dict(given or {})
    known = {**catalog.extents, **catalog.rdf.extents}
    for name in frames:
        if name not in known:
            raise UsageError(f"a source for {name}, which is no extent", hint=f"there is {', '.join(known)}")
    opening = Opening(job, spark, frames, counts, rejected, live)
    of_rdf = [extent for extent in job.sources if isinstance(extent, RdfExtent)]
    of_rows = [extent for extent in job.sources if not isinstance(extent, RdfExtent)]
    streams, tables = _open_rows(opening, of_rows)
    statements, graphs = open_statements(opening, of_rdf)
    streamed = [e for e in job.sources if e.kind is not Kind.STORED or e.name in _followed(job.plan)]
    source_of = {messages(extent.name): extent.name for extent in of_rdf}
    beats = heartbeats(job, spark, streamed, frames) if live else {}
    delays = {extent.name: delay_ms(extent, catalog.calendar) for extent in streamed}
    run = LoweringContext(
        spark,
        catalog.calendar,
        {**streams, **statements},
        {**tables, **graphs},
        live,
        options.start,
        options.until if live else job.results.last_tick(options, {**streams, **tables, **statements}),
        delays | {name: delays[source] for name, source in source_of.items() if source in delays},
        beats | {name: beats[source] for name, source in source_of.items() if source in beats},
        options.approximate_sums,
        job.kernel.used,
        rejected or Rejected(),
        shared=dict.fromkeys(several(job.plan, statements)) if live else {},
        counts=counts,
        lateness=lateness_of(job, live=live),
        settled=frozenset(e.name for e in of_rows if e.name not in frames and _keeps_dead_letters(e)),
        source_of=source_of,
        rows_until=None if live or not of_rows else last_tick(options, {**streams, **tables, **statements}),
    )
    check_session(spark, job.plan, catalog.calendar, live)
    return job.results.result(lower(job.plan, run))


def replay(
    job: Job, spark: SparkSession, given: Mapping[str, Any] | None = None, *, rejected: Rejected | None = None
) -> DataFrame:
    """The answer of a job over sources that are no streams, in the order of its ticks."""
    if any(frame.isStreaming for frame in (given or {}).values()):
        raise UsageError("a replay of a stream has no end", hint="give batch DataFrames, or use to_df")
    frame = dataframe(job, spark, given, live=False, rejected=rejected)
    return job.results.replayed(frame, job.options.start, job.options.until)


def _open_rows(opening: Opening, extents: Sequence[Extent]) -> tuple[dict[str, DataFrame], dict[str, DataFrame]]:
    """The streams and the tables of some extents as source frames."""
    spark, catalog, followed = opening.spark, opening.job.catalog, _followed(opening.job.plan)
    streams: dict[str, DataFrame] = {}
    tables: dict[str, DataFrame] = {}
    for extent in extents:
        if extent.name in followed:
            found = connectors.open_scans(spark, extent, catalog.folder, count=opening.count(extent))
            tables[extent.name] = found
        elif extent.kind is not Kind.STORED:
            streams[extent.name] = _stream(opening, extent)
        elif extent.name in opening.given:
            tables[extent.name] = table_frame(extent, opening.given[extent.name], catalog.calendar)
        else:
            found = connectors.open_table(spark, extent, catalog.calendar, catalog.folder, position=True)
            tables[extent.name] = with_ties(found, extent)
    return streams, tables


def _followed(plan: Physical) -> set[str]:
    """The tables whose logs the plan follows."""
    return {node.extent for node in walk(plan) if isinstance(node, ReadScans)}


def _keeps_dead_letters(extent: Extent) -> bool:
    """Whether the reader of a source tells its late rows itself, and keeps them."""
    return isinstance(extent.source, Kafka) and extent.source.dead is not None


def _stream(opening: Opening, extent: Extent) -> DataFrame:
    """A stream of rows as it was given, or as the catalog has it."""
    job, own, count = opening.job, opening.own(extent), opening.count(extent)
    if own is not None:
        return stream_frame(extent, count(own, F.lit(1)), job.catalog.calendar)
    found = connectors.open_stream(
        opening.spark,
        extent,
        job.catalog.calendar,
        job.catalog.folder,
        live=opening.live,
        position=_needs_position(job.plan, extent.name),
        until=job.options.until,
        checkpoint=job.options.checkpoint,
        waits=job.waits,
        may_lose=job.options.may_lose,
        count=count,
    )
    return with_ties(found, extent)


def is_live(frames: Mapping[str, Any], sources: Sequence[Extent]) -> bool:
    """Whether an answer over given sources is a stream: where one of them is."""
    own = [frames[e.name] for e in sources if e.kind is not Kind.STORED and e.name in frames]
    return any(frame.isStreaming for frame in own)


def _needs_position(plan: Physical, extent: str) -> bool:
    return any(isinstance(node, Read) and node.extent == extent and node.ordered for node in walk(plan))
