"""The DataFrame of a query: sources opened or taken as given, the plan lowered onto them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent, Kind
from transom.catalog.servers import Kafka
from transom.connectors import spark as connectors
from transom.errors import UsageError
from transom.physical.node import Physical
from transom.physical.plan import Read, ReadScans
from transom.physical.rdf_plan import messages
from transom.physical.walk import walk
from transom.runtime.heartbeats import delay_ms, heartbeats
from transom.runtime.job import Job, lateness_of
from transom.runtime.results import last_tick
from transom.spark.balance import CountRead, RowCounts, uncounted
from transom.spark.frames import LoweringContext
from transom.spark.given import stream_frame, table_frame, with_ties
from transom.spark.lower import lower
from transom.spark.rejected import Rejected
from transom.spark.session import allow_depth, check_session
from transom.spark.statements import (
    DEAD,
    each_message,
    each_statement,
    given_graph,
    given_statements,
    statement_count,
)


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
    known = catalog.sources
    for name in frames:
        if name not in known:
            raise UsageError(f"a source for {name}, which is no extent", hint=f"there is {', '.join(known)}")
    opening = Opening(job, spark, frames, counts, rejected, live)
    streams, tables = _opened(opening)
    of_statements = [extent.name for extent in job.sources if extent.holds_statements]
    of_rows = [extent for extent in job.sources if not extent.holds_statements]
    timed = {**streams, **{name: frame for name, frame in tables.items() if name not in of_statements}}
    if of_statements:
        allow_depth(spark)
    streamed = [e for e in job.sources if e.kind is not Kind.STORED or e.name in _followed(job.plan)]
    source_of = {messages(name): name for name in of_statements}
    beats = heartbeats(job, spark, streamed, frames) if live else {}
    delays = {extent.name: delay_ms(extent, catalog.calendar) for extent in streamed}
    run = LoweringContext(
        spark,
        catalog.calendar,
        streams,
        tables,
        live,
        options.start,
        options.until if live else job.results.last_tick(options, timed),
        delays | {name: delays[source] for name, source in source_of.items() if source in delays},
        beats | {name: beats[source] for name, source in source_of.items() if source in beats},
        options.approximate_sums,
        job.kernel.used,
        rejected or Rejected(),
        shared=dict.fromkeys(_several(job.plan, {*of_statements, *source_of})) if live else {},
        counts=counts,
        lateness=lateness_of(job, live=live),
        settled=frozenset(e.name for e in of_rows if e.name not in frames and _keeps_dead_letters(e)),
        source_of=source_of,
        rows_until=None if live or not of_rows else last_tick(options, timed),
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


@dataclass(frozen=True)
class Opening:
    """What it takes to open the sources of a job; `given` are DataFrames of the caller."""

    job: Job
    spark: SparkSession
    given: Mapping[str, DataFrame]
    counts: RowCounts
    rejected: Rejected | None
    live: bool

    def count(self, extent: Extent) -> CountRead:
        """What counts the rows that a scan of a source gives; a batch counts none."""
        return self.counts.scan(extent.name) if self.live else uncounted

    def own(self, extent: Extent) -> DataFrame | None:
        """The DataFrame that the caller gave for a stream."""
        own = self.given.get(extent.name)
        if own is not None and own.isStreaming != self.live:
            raise UsageError(f"the source of {extent.name} is not a stream, while others are")
        return own


def _opened(opening: Opening) -> tuple[dict[str, DataFrame], dict[str, DataFrame]]:
    """The streams and the tables of a job as source frames."""
    followed = _followed(opening.job.plan)
    streams: dict[str, DataFrame] = {}
    tables: dict[str, DataFrame] = {}
    for extent in opening.job.sources:
        if extent.kind is Kind.STORED:
            tables[extent.name] = _table(opening, extent, followed=extent.name in followed)
        elif extent.holds_statements:
            streams |= _statements(opening, extent)
        else:
            streams[extent.name] = _stream(opening, extent)
    return streams, tables


def _table(opening: Opening, extent: Extent, *, followed: bool) -> DataFrame:
    """A table or a stored graph as it was given, or as the catalog has it; the log of one that is `followed`."""
    spark, catalog, own = opening.spark, opening.job.catalog, opening.given.get(extent.name)
    if followed:
        return connectors.open_scans(spark, extent, catalog.folder, count=opening.count(extent))
    if own is not None:
        return given_graph(extent, own) if extent.holds_statements else table_frame(extent, own, catalog.calendar)
    found = connectors.open_table(spark, extent, catalog.calendar, catalog.folder, position=True)
    return found if extent.holds_statements else with_ties(found, extent)


def _statements(opening: Opening, extent: Extent) -> dict[str, DataFrame]:
    """A stream of statements; one that the plan matches by messages is there as messages, too.

    Of a batch, `rejected` keeps the messages that gave none.
    """
    calendar, live, own = opening.job.catalog.calendar, opening.live, opening.own(extent)
    if own is not None:
        found = given_statements(extent, opening.count(extent)(own, statement_count(own)), calendar)
    else:
        found = _open(opening, extent)
        if not live and opening.rejected is not None:
            found = opening.rejected.keep(found, extent.name)
    if DEAD in found.columns and not live:
        found = found.where(F.col(DEAD).isNull()).drop(DEAD)
    streams = {extent.name: each_statement(extent, found)}
    if any(isinstance(node, Read) and node.extent == messages(extent.name) for node in walk(opening.job.plan)):
        streams[messages(extent.name)] = each_message(extent, found, live=live)
    return streams


def _several(plan: Physical, names: Collection[str]) -> list[str]:
    """Which of some streams are read by several nodes."""
    found = Counter(node.extent for node in walk(plan) if isinstance(node, Read) and node.extent in names)
    return [name for name, count in found.items() if count > 1]


def _followed(plan: Physical) -> set[str]:
    """The tables whose logs the plan follows."""
    return {node.extent for node in walk(plan) if isinstance(node, ReadScans)}


def _keeps_dead_letters(extent: Extent) -> bool:
    """Whether the reader of a source tells its late rows itself, and keeps them."""
    return isinstance(extent.source, Kafka) and extent.source.dead is not None


def _stream(opening: Opening, extent: Extent) -> DataFrame:
    """A stream of rows as it was given, or as the catalog has it."""
    own, count = opening.own(extent), opening.count(extent)
    if own is not None:
        return stream_frame(extent, count(own, F.lit(1)), opening.job.catalog.calendar)
    return with_ties(_open(opening, extent), extent)


def _open(opening: Opening, extent: Extent) -> DataFrame:
    """A stream as the catalog has it."""
    job = opening.job
    return connectors.open_stream(
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
        count=opening.count(extent),
    )


def is_live(frames: Mapping[str, Any], sources: Sequence[Extent]) -> bool:
    """Whether an answer over given sources is a stream: where one of them is."""
    own = [frames[e.name] for e in sources if e.kind is not Kind.STORED and e.name in frames]
    return any(frame.isStreaming for frame in own)


def _needs_position(plan: Physical, extent: str) -> bool:
    return any(isinstance(node, Read) and node.extent == extent and node.ordered for node in walk(plan))
