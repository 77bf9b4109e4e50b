"""Sources on Spark: streams with their watermark, tables as validity intervals, table scans, the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.model.reject_reason import RejectReason
from transom.physical.nodes.node import ReadClock
from transom.physical.nodes.windows import ReadScans, ReadStream, ReadTable
from transom.spark.columns import (
    COUNT,
    IS_HEARTBEAT,
    IS_ROW,
    IS_VERSION,
    ORDER,
    REJECT_REASON,
    TICK,
    TICK_NUMBER,
    VALID_FROM,
    VALID_TO,
    VERSION,
)
from transom.spark.event_time import ceil_to, watermark_delay, with_watermark
from transom.spark.frames import FOREVER, LoweringContext, value_columns
from transom.spark.input import clock as clock_source
from transom.spark.input.balance import CountingPoint, Metric
from transom.spark.input.lateness import SPARK_FOLDER
from transom.spark.periods import on_schedule

_FAR_FUTURE = datetime(9000, 1, 1, tzinfo=UTC)
ROW_COUNT = "rows"
"""Column of frames whose rows represent several source rows: the number of source rows in each."""


def read_stream(
    node: ReadStream, run: LoweringContext, prepare: Callable[[DataFrame], DataFrame] = lambda frame: frame
) -> DataFrame:
    """Read a stream's rows within the run, `prepare` applied; a live run drops and counts late and rejected rows.

    A live frame drops rejected and late rows, and counts the rows that it drops and passes on. `prepare` transforms the
    values directly above the scan.
    """
    frame = prepare(_shared_scan(node.extent, run) if node.extent in run.shared_scans else run.streams[node.extent])
    columns = [run.time.end_of_tick(F.col(TICK_NUMBER)).alias(TICK), *value_columns(node.schema)]
    if node.ordered:
        columns.append(F.col(ORDER))
    if not run.live:
        return run.within_run(frame.select(*columns))
    source = run.source_of.get(node.extent, node.extent)
    reader = run.counts.reader()
    if REJECT_REASON in frame.columns:
        frame = _without_rejected(frame, Metric(source, CountingPoint.DECODED, reader), run)
    row_count = F.col(ROW_COUNT) if ROW_COUNT in frame.columns else F.lit(1)
    is_heartbeat = F.col(IS_HEARTBEAT) if IS_HEARTBEAT in frame.columns else F.lit(False)
    is_late = F.lit(False)
    if run.lateness is not None and source not in run.lateness_checked:
        is_late = run.lateness.is_late(run.spark, F.col(TICK_NUMBER))
    arrivals = frame.select(
        *columns, row_count.alias(ROW_COUNT), is_heartbeat.alias(IS_HEARTBEAT), (is_late & ~is_heartbeat).alias("late")
    )
    if node.extent in run.heartbeats:
        heartbeats = run.heartbeats[node.extent].select(
            run.time.end_of_tick(F.col(TICK_NUMBER)).alias(TICK), F.lit(True).alias(IS_HEARTBEAT)
        )
        arrivals = arrivals.unionByName(heartbeats.withColumn("late", F.lit(False)), allowMissingColumns=True)
    marked = _counted_watermark(
        arrivals, run.delays.get(node.extent, 0), Metric(source, CountingPoint.WATERMARK, reader), run
    )
    used = marked.where(~F.col(IS_HEARTBEAT) & ~F.col("late") & run.is_within_run())
    used_rows = run.counts.observe(used, Metric(source, CountingPoint.ENTRY, reader), F.sum(ROW_COUNT).alias("used"))
    return used_rows.drop(ROW_COUNT, IS_HEARTBEAT, "late")


def _counted_watermark(frame: DataFrame, delay_ms: int, metric: Metric, run: LoweringContext) -> DataFrame:
    """Set a source's watermark; count in `metric` the rows that are late or outside the run's range of ticks."""
    is_row = ~F.col(IS_HEARTBEAT)
    counts = {"late": is_row & F.col("late"), "outside": is_row & ~F.col("late") & ~run.is_within_run()}
    sums = [F.sum(F.when(counted, F.col(ROW_COUNT))).alias(name) for name, counted in counts.items()]
    marked = frame.withWatermark(TICK, watermark_delay(delay_ms))
    return run.counts.observe(marked, metric, F.max(TICK).alias("latest"), *sums)


def _shared_scan(extent: str, run: LoweringContext) -> DataFrame:
    """Return the single scan of a source that several plan nodes read; Spark runs it once and reuses the result.

    Spark reuses it only if no column enters two branches unchanged, and if nothing can be pushed below the exchange.
    Each branch sets its watermark above the exchange: Spark finds no watermark below a reused exchange, and a machine
    whose only input is one would wait forever.
    """
    frame = run.streams[extent]
    shared = run.shared_scans[extent]
    if shared is None:
        renamed = [F.col(name).alias(f"shared_{name}") for name in frame.columns]
        name = f"transom_shared_{extent}_{next(run.metric_numbers)}"
        shared = (
            frame.select(*renamed)
            .repartition("shared_c0")
            .observe(name, F.max(f"shared_{TICK_NUMBER}").alias("latest"))
        )
        run.shared_scans[extent] = shared
    return shared.select(*(F.col(f"shared_{name}").alias(name) for name in frame.columns))


def _without_rejected(frame: DataFrame, metric: Metric, run: LoweringContext) -> DataFrame:
    """Drop the rejected rows of a live source, and count them by reason in a Spark metric."""
    counts = [F.count_if(F.col(REJECT_REASON) == F.lit(reason.value)).alias(reason.name) for reason in RejectReason]
    return run.counts.observe(frame, metric, *counts).where(F.col(REJECT_REASON).isNull())


def read_table(node: ReadTable, run: LoweringContext) -> DataFrame:
    """Read the rows of a table with their validity intervals.

    A row is valid from the first scan that sees its version to the first scan that does not.
    """
    frame = run.tables[node.extent]
    if "gone" in frame.columns:
        return _validity_intervals(node, frame)
    versions = frame.select(VERSION).distinct()
    by_version = Window.partitionBy(F.lit(0)).orderBy(VERSION)
    spans = versions.select(VERSION, F.lead(VERSION).over(by_version).alias("next"))
    spans = spans.select(
        VERSION,
        _first_scan_at(F.col(VERSION), node).alias(VALID_FROM),
        F.coalesce(_first_scan_at(F.col("next"), node), F.lit(FOREVER)).alias(VALID_TO),
    ).where(F.col(VALID_FROM) < F.col(VALID_TO))
    names = [VALID_FROM, VALID_TO, *([ORDER] if node.ordered else [])]
    joined = frame.where(~F.col(IS_VERSION)).join(spans, [VERSION])
    return joined.select(*(F.col(n) for n in names), *value_columns(node.schema))


def _validity_intervals(node: ReadTable, frame: DataFrame) -> DataFrame:
    """Read the rows of a table that records when each one appeared and left (`gone`), with their validity intervals."""
    begin, end = _first_scan_at(F.col(VERSION), node), F.coalesce(_first_scan_at(F.col("gone"), node), F.lit(FOREVER))
    names = [ORDER] if node.ordered else []
    rows = frame.where(~F.col(IS_VERSION)).select(
        begin.alias(VALID_FROM), end.alias(VALID_TO), *(F.col(n) for n in names), *value_columns(node.schema)
    )
    return rows.where(F.col(VALID_FROM) < F.col(VALID_TO))


def read_scans(node: ReadScans, run: LoweringContext) -> DataFrame:
    """Read insertions and deletions of a changing table, each at the first scan (periodic read) that sees it.

    `count` is 1 or -1.

    The log is a source with its own watermark. It holds each scan whole, and the next scan is later. So a heartbeat, or
    the state of the log at the start, means that its own tick is complete.
    """
    reader = run.counts.reader()
    frame = _without_rejected(run.tables[node.extent], Metric(node.extent, CountingPoint.DECODED, reader), run)
    cells = value_columns(node.schema)
    scanned = frame.select(VERSION, COUNT, *cells, IS_HEARTBEAT)
    if node.extent in run.heartbeats:
        heartbeats = run.heartbeats[node.extent].select(
            (F.col(TICK_NUMBER) - F.lit(1)).alias(VERSION), F.lit(True).alias(IS_HEARTBEAT)
        )
        scanned = scanned.unionByName(heartbeats, allowMissingColumns=True)
    tick = run.time.end_of_tick(F.col(VERSION) + F.when(F.col(IS_HEARTBEAT), F.lit(1)).otherwise(F.lit(0)))
    first_scan = _first_scan_at(F.col(VERSION), node)
    last = FOREVER - 1 if run.until is None else run.until
    marked = scanned.select(tick.alias(TICK), VERSION, COUNT, *cells, IS_HEARTBEAT).withWatermark(
        TICK, watermark_delay(0)
    )
    outside = F.count_if(~F.col(IS_HEARTBEAT) & (first_scan > F.lit(last))).alias("outside")
    latest = F.max(TICK).alias("latest")
    rows = run.counts.observe(marked, Metric(node.extent, CountingPoint.WATERMARK, reader), latest, outside)
    used = rows.where(~F.col(IS_HEARTBEAT) & (first_scan <= F.lit(last)))
    counted = run.counts.observe(
        used, Metric(node.extent, CountingPoint.ENTRY, reader), F.count(F.lit(1)).alias("used")
    )
    return counted.select(run.time.as_event_time(first_scan), COUNT, F.lit(True).alias(IS_ROW), *cells)


def _first_scan_at(version: Column, node: ReadTable | ReadScans) -> Column:
    """The tick of a table's first scan at or after tick `version`; FOREVER if there is none, NULL for NULL."""
    if not node.schedule.periods:
        return F.when(version <= F.lit(node.schedule.first), F.lit(node.schedule.first)).when(
            version.isNotNull(), F.lit(FOREVER)
        )
    first = ceil_to(version, node.schedule.periods[0])
    return F.when(version.isNotNull(), F.greatest(first, F.lit(node.schedule.first)))


def read_clock(node: ReadClock, run: LoweringContext) -> DataFrame:
    """Read the ticks of a schedule that are within the run; a live clock has a watermark.

    If the checkpoint is known, ticks enter the plan when the watermark closes them, so none of them waits in state.
    """
    schedule = node.schedule
    frame = clock_source.ticks(
        run.spark,
        first_tick=schedule.first,
        periods=schedule.clock_periods,
        until=_last_tick(node, run),
        live=run.live,
        calendar=run.calendar,
        use_kernel=run.kernel,
        commit_log=None if run.lateness is None else run.lateness.checkpoint / SPARK_FOLDER / "commits",
    )
    ticks = frame.withColumn("tick", run.time.end_of_tick(F.col(TICK_NUMBER)))
    if run.live:
        ticks = with_watermark(ticks, 0, f"transom_clock_{next(run.metric_numbers)}").where(~F.col(IS_HEARTBEAT))
    if schedule.calendars:
        ticks = ticks.where(on_schedule(run.time.tick_number(), schedule))
    return run.within_run(ticks.select("tick"))


def _last_tick(node: ReadClock, run: LoweringContext) -> int | None:
    """The last tick of a clock; None if it has no end.

    A live clock of a single tick goes to the far future if the query also reads streams.

    The streams then determine the watermark. If the clock followed the wall clock, there would always be another
    micro-batch, and the query would never be idle.
    """
    if run.until is None and run.live and run.streams and node.schedule.is_single:
        return run.calendar.tick_of(_FAR_FUTURE)
    return run.until
