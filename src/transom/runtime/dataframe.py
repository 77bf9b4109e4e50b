"""The DataFrame of a query: sources opened or taken as given, the plan lowered onto them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.algebra.state import NOTHING
from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent, Kind
from transom.connectors import spark as connectors
from transom.errors import UsageError
from transom.physical.node import Physical
from transom.physical.plan import Read, ReadScans
from transom.physical.walk import walk
from transom.spark import clock
from transom.spark.frames import Run
from transom.spark.given import stream_frame, table_frame, with_ties
from transom.spark.lower import lower
from transom.spark.rejected import Rejected
from transom.spark.result import result
from transom.spark.session import check_session
from transom.spark.sources import counted_alike


@dataclass(frozen=True)
class Options:
    """What a run may be told beside its sources; `ends` lets the catalog's sources reach `until` when they are read.

    `checkpoint` is where the run will keep what it needs to go on, if that is known. With `may_lose` it goes on where
    a broker has deleted messages before they were read.
    """

    start: int = 0
    until: int | None = None
    approximate_sums: bool = False
    files_per_batch: int | None = None
    live: bool | None = None
    ends: bool = False
    kernel: bool = False
    checkpoint: Path | None = None
    may_lose: bool = False
    rejected: Rejected = field(default_factory=Rejected)


def dataframe(
    plan: Physical,
    catalog: Catalog,
    reads: Sequence[Extent],
    spark: SparkSession,
    given: Mapping[str, Any] | None,
    options: Options,
) -> DataFrame:
    """One DataFrame with the answer: streaming if a source is a stream, else batch."""
    frames = dict(given or {})
    for name in frames:
        if name not in catalog.extents:
            raise UsageError(f"a source for {name}, which is no extent", hint=f"there is {', '.join(catalog.extents)}")
    live = is_live(frames, reads, options)
    waits = any(node.choice.state != NOTHING for node in walk(plan))
    streams: dict[str, DataFrame] = {}
    tables: dict[str, DataFrame] = {}
    followed = {node.extent for node in walk(plan) if isinstance(node, ReadScans)}
    for extent in reads:
        own = frames.get(extent.name)
        if extent.name in followed:
            tables[extent.name] = connectors.open_scans(
                spark, extent, catalog.folder, files_per_batch=options.files_per_batch
            )
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
            streams[extent.name] = stream_frame(extent, own, catalog.calendar)
        else:
            streams[extent.name] = with_ties(
                connectors.open_stream(
                    spark,
                    extent,
                    catalog.calendar,
                    catalog.folder,
                    live=live,
                    position=_needs_position(plan, extent.name),
                    until=options.until,
                    files_per_batch=options.files_per_batch,
                    checkpoint=options.checkpoint,
                    waits=waits,
                    may_lose=options.may_lose,
                ),
                extent,
            )
    if live:
        streams = counted_alike(streams)
    until = options.until
    if until is None and not live:
        until = _last_tick(options.start, streams, tables)
    delays = {e.name: _delay_ms(e, catalog) for e in reads if e.kind is not Kind.STORED}
    run = Run(
        spark,
        catalog.calendar,
        streams,
        tables,
        live,
        options.start,
        until,
        delays,
        _beats(spark, catalog, [e for e in reads if e.name in {*streams, *followed}], frames, options) if live else {},
        options.approximate_sums,
        options.kernel,
        options.rejected,
    )
    check_session(spark, plan, catalog.calendar, live)
    return result(plan, lower(plan, run))


def is_live(frames: Mapping[str, Any], reads: Sequence[Extent], options: Options) -> bool:
    """Whether the answer is a stream: where that is said, or a given source is one."""
    if options.live is not None:
        return options.live
    own = [frames[e.name] for e in reads if e.kind is not Kind.STORED and e.name in frames]
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


def _delay_ms(extent: Extent, catalog: Catalog) -> int:
    """How far the watermark of a source stays behind its latest tick: its lateness in whole ticks."""
    return -(-extent.lateness * catalog.calendar.length // 1000)


def _beats(
    spark: SparkSession, catalog: Catalog, streamed: Sequence[Extent], given: Mapping[str, Any], options: Options
) -> dict[str, DataFrame]:
    """Rows that only move a watermark: of sources that may fall silent (E12), and of sources that come to an end."""
    beats: dict[str, DataFrame] = {}
    for extent in streamed:
        if options.ends and options.until is not None and extent.name not in given:
            beats[extent.name] = _shown(spark, options.until + 1 + extent.lateness, catalog, options)
        elif extent.grows:
            beats[extent.name] = _shown(spark, _known(extent, catalog, options), catalog, options)
        elif extent.idle_after is not None:
            beats[extent.name] = clock.beats(
                spark,
                behind=extent.idle_after,
                calendar=catalog.calendar,
                live=True,
                first=options.start,
                kernel=options.kernel,
            )
    return beats


def _shown(spark: SparkSession, tick: int, catalog: Catalog, options: Options) -> DataFrame:
    """A tick and the one after it, shown at every start."""
    return clock.ticks(
        spark,
        first=tick,
        periods=(),
        until=tick,
        live=True,
        calendar=catalog.calendar,
        kernel=options.kernel,
    )


def _known(extent: Extent, catalog: Catalog, options: Options) -> int:
    """How far the log of a table has come, -1 if that is nowhere yet, or nobody may be told.

    After a restart Spark knows the watermark of a source only from rows that come again, and the next scan may be hours
    away. All segments that are there now will be in the first micro-batch, unless that is kept small.
    """
    return -1 if options.files_per_batch is not None else connectors.scanned_up_to(extent, catalog.folder)
