"""Build the DataFrame of a job: open its sources or take the caller's, then lower the plan onto them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.servers import Kafka
from transom.catalog.sources import Files
from transom.connectors import spark as connectors
from transom.errors import UsageError
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import message_extent
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import ReadScans, ReadStream
from transom.runtime.heartbeats import heartbeats, watermark_delay_ms
from transom.runtime.job import Job, lateness_of
from transom.runtime.results.results import last_tick
from transom.spark.columns import ORIGIN_ORDER, REJECT_REASON, REJECTED_MESSAGE
from transom.spark.frames import LoweringContext
from transom.spark.input.balance import RowCounter, RowCounts, uncounted
from transom.spark.input.rejected import RejectedRows
from transom.spark.input.statements import (
    explode_statements,
    graph_frame,
    message_frame,
    statement_count,
    statement_frame,
)
from transom.spark.input.user_frames import stream_frame, table_frame, with_order
from transom.spark.lower import lower
from transom.spark.session import allow_deep_expressions, check_session, start_state_coordinator


def dataframe(
    job: Job,
    spark: SparkSession,
    user_frames: Mapping[str, Any] | None = None,
    *,
    live: bool,
    rejected: RejectedRows | None = None,
    metrics: RowCounts | None = None,
    lowered_nodes: list[PhysicalNode] | None = None,
) -> DataFrame:
    """Build a query's answer, streaming if `live`; fill `rejected`, `metrics` and `lowered_nodes` for the caller.

    `user_frames` maps extents to DataFrames of the caller; other sources are opened from the catalog. `rejected`
    collects the rejected rows of a batch, `metrics` the row counts of live sources, `lowered_nodes` the nodes that the
    DataFrame of a live run labels.
    """
    metrics = metrics or RowCounts()
    catalog, options, frames = job.catalog, job.options, dict(user_frames or {})
    declared = catalog.sources
    for name in frames:
        if name not in declared:
            raise UsageError(f"a source for {name}, which is no extent", hint=f"there is {', '.join(declared)}")
    opener = SourceOpener(job, spark, frames, metrics, rejected, live)
    streams, tables = _open_sources(opener)
    statement_sources = [extent.name for extent in job.sources if extent.holds_statements]
    row_sources = [extent for extent in job.sources if not extent.holds_statements]
    timed_frames = {**streams, **{name: frame for name, frame in tables.items() if name not in statement_sources}}
    if statement_sources:
        allow_deep_expressions(spark)
    streamed = [
        extent
        for extent in job.sources
        if extent.kind is not ExtentKind.STORED or extent.name in _followed_tables(job.plan)
    ]
    source_of = {message_extent(name): name for name in statement_sources}
    heartbeat_frames = heartbeats(job, spark, streamed, frames) if live else {}
    delays = {extent.name: watermark_delay_ms(extent, catalog.calendar) for extent in streamed}
    context = LoweringContext(
        spark,
        catalog.calendar,
        streams,
        tables,
        live,
        options.start,
        options.until if live else job.results.last_tick(options, timed_frames),
        delays | {name: delays[source] for name, source in source_of.items() if source in delays},
        heartbeat_frames
        | {name: heartbeat_frames[source] for name, source in source_of.items() if source in heartbeat_frames},
        options.approximate_sums,
        job.kernel.used,
        rejected or RejectedRows(),
        shared_scans=dict.fromkeys(_shared_streams(job.plan, {*statement_sources, *source_of})) if live else {},
        counts=metrics,
        lateness=lateness_of(job, live=live),
        lateness_checked=frozenset(
            extent.name for extent in row_sources if extent.name not in frames and _keeps_dead_letters(extent)
        ),
        source_of=source_of,
        rows_until=None if live or not row_sources else last_tick(options, timed_frames),
        nodes=[] if lowered_nodes is None else lowered_nodes,
    )
    check_session(spark, job.plan, catalog.calendar, live)
    if not live:
        start_state_coordinator(spark)
    answer = job.results.result(lower(job.plan, context))
    return answer if options.since is None else answer.where(context.time.tick_number() >= F.lit(options.since))


def replay(
    job: Job, spark: SparkSession, user_frames: Mapping[str, Any] | None = None, *, rejected: RejectedRows | None = None
) -> DataFrame:
    """Build a query's answer over batch sources, ordered by tick; `rejected` collects the rows that are rejected.

    `user_frames` are the sources that the caller opens. `rejected` is filled while it runs.
    """
    if any(frame.isStreaming for frame in (user_frames or {}).values()):
        raise UsageError("a replay of a stream has no end", hint="give batch DataFrames, or use to_df")
    frame = dataframe(job, spark, user_frames, live=False, rejected=rejected)
    return job.results.replay_frame(frame, job.options.start, job.options.until)


@dataclass(frozen=True)
class SourceOpener:
    """The context for opening the sources of a job; `user_frames` are DataFrames of the caller."""

    job: Job
    spark: SparkSession
    user_frames: Mapping[str, DataFrame]
    counts: RowCounts
    rejected: RejectedRows | None
    live: bool

    def row_counter(self, extent: Extent) -> RowCounter:
        """Return a function (frame, rows) that counts column `rows` as read from the source; nothing in a replay."""
        return self.counts.scan(extent.name) if self.live else uncounted

    def user_stream(self, extent: Extent) -> DataFrame | None:
        """Return the caller's frame for a stream, or None; UsageError if it is a batch in a live run or the reverse."""
        frame = self.user_frames.get(extent.name)
        if frame is not None and frame.isStreaming != self.live:
            raise UsageError(f"the source of {extent.name} is not a stream, while others are")
        return frame


def _open_sources(opener: SourceOpener) -> tuple[dict[str, DataFrame], dict[str, DataFrame]]:
    """Open all sources of a planned query: the streams by name, and the tables by name."""
    followed = _followed_tables(opener.job.plan)
    streams: dict[str, DataFrame] = {}
    tables: dict[str, DataFrame] = {}
    for extent in opener.job.sources:
        if extent.kind is ExtentKind.STORED:
            tables[extent.name] = _open_table(opener, extent, followed=extent.name in followed)
        elif extent.holds_statements:
            streams |= _open_statements(opener, extent)
        else:
            streams[extent.name] = _open_row_stream(opener, extent)
    return streams, tables


def _open_table(opener: SourceOpener, extent: Extent, *, followed: bool) -> DataFrame:
    """Open a table or stored graph as a frame; if `followed`, stream its row changes from the log of periodic reads."""
    spark, catalog, user_frame = opener.spark, opener.job.catalog, opener.user_frames.get(extent.name)
    if followed:
        return connectors.open_scans(spark, extent, catalog.folder, count_rows=opener.row_counter(extent))
    if user_frame is not None:
        return (
            graph_frame(extent, user_frame)
            if extent.holds_statements
            else table_frame(extent, user_frame, catalog.calendar)
        )
    table = connectors.open_table(spark, extent, catalog.calendar, catalog.folder, with_order=True)
    return table if extent.holds_statements else with_order(table, extent)


def _open_statements(opener: SourceOpener, extent: Extent) -> dict[str, DataFrame]:
    """Return frames by name: an RDF stream's statements and, if the plan matches within messages, its messages.

    The frames are returned by name. In a batch, `rejected` collects the messages that could not be read.
    """
    calendar, live, user_frame = opener.job.catalog.calendar, opener.live, opener.user_stream(extent)
    if user_frame is not None:
        messages = statement_frame(
            extent, opener.row_counter(extent)(user_frame, statement_count(user_frame)), calendar
        )
    else:
        messages = _without_rejected(_open_from_catalog(opener, extent), opener, extent)
    streams = {extent.name: explode_statements(extent, messages)}
    if any(
        isinstance(node, ReadStream) and node.extent == message_extent(extent.name) for node in walk(opener.job.plan)
    ):
        streams[message_extent(extent.name)] = message_frame(extent, messages, live=live)
    return streams


def _without_rejected(frame: DataFrame, opener: SourceOpener, extent: Extent) -> DataFrame:
    """Drop and record the rejected rows of a batch frame; a live frame is unchanged, as its plan drops them."""
    if opener.live or REJECT_REASON not in frame.columns:
        return frame
    if opener.rejected is not None:
        unit = "rows" if isinstance(extent.source, Files) and not extent.holds_statements else "messages"
        detail = None
        if REJECTED_MESSAGE in frame.columns:
            detail = connectors.message_detail(extent, opener.job.catalog.calendar)
        frame = opener.rejected.cache_messages(frame, extent.name, unit, detail, opener.job.options.until)
    return frame.where(F.col(REJECT_REASON).isNull()).drop(REJECT_REASON, ORIGIN_ORDER, REJECTED_MESSAGE)


def _shared_streams(plan: PhysicalNode, names: Collection[str]) -> list[str]:
    """List the streams among `names` that several nodes of the plan read, and which are therefore read only once."""
    readers = Counter(node.extent for node in walk(plan) if isinstance(node, ReadStream) and node.extent in names)
    return [name for name, count in readers.items() if count > 1]


def _followed_tables(plan: PhysicalNode) -> set[str]:
    """Return the names of the tables whose logs of scans the plan reads, so that new versions reach a live run."""
    return {node.extent for node in walk(plan) if isinstance(node, ReadScans)}


def _keeps_dead_letters(extent: Extent) -> bool:
    """Whether the reader of a source detects late rows itself and writes them as dead letters."""
    return isinstance(extent.source, Kafka) and extent.source.dead is not None


def _open_row_stream(opener: SourceOpener, extent: Extent) -> DataFrame:
    """Open a stream of rows from the caller's DataFrame or the catalog's source."""
    user_frame, row_counter = opener.user_stream(extent), opener.row_counter(extent)
    if user_frame is not None:
        return stream_frame(extent, row_counter(user_frame, F.lit(1)), opener.job.catalog.calendar)
    return with_order(_without_rejected(_open_from_catalog(opener, extent), opener, extent), extent)


def _open_from_catalog(opener: SourceOpener, extent: Extent) -> DataFrame:
    """Open a stream of rows or messages from the source that the catalog declares."""
    job = opener.job
    return connectors.open_stream(
        opener.spark,
        extent,
        job.catalog.calendar,
        job.catalog.folder,
        live=opener.live,
        with_order=_needs_position(job.plan, extent.name),
        until=job.options.until,
        checkpoint=job.options.checkpoint,
        reject_late=job.has_state,
        allow_data_loss=job.options.allow_data_loss,
        count_rows=opener.row_counter(extent),
    )


def is_live(user_frames: Mapping[str, Any], sources: Sequence[Extent]) -> bool:
    """Whether the answer is streaming, because the caller's DataFrame for one of the streams is streaming."""
    stream_frames = [
        user_frames[extent.name]
        for extent in sources
        if extent.kind is not ExtentKind.STORED and extent.name in user_frames
    ]
    return any(frame.isStreaming for frame in stream_frames)


def _needs_position(plan: PhysicalNode, extent: str) -> bool:
    """Whether the plan numbers the rows of a stream, so that its reader must return each row's number."""
    return any(isinstance(node, ReadStream) and node.extent == extent and node.ordered for node in walk(plan))
