"""Sources on Spark: streams with their watermark, tables as stays between scans, the clock."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.model.reasons import Reason
from transom.physical.node import Clock
from transom.physical.plan import Read, ReadScans, ReadTable
from transom.spark import clock as clock_source
from transom.spark.balance import Metric, Place
from transom.spark.frames import FOREVER, LoweringContext, values
from transom.spark.marks import TICK, ceil_to, watermark_delay, watermarked

_FAR = datetime(9000, 1, 1, tzinfo=UTC)
ROWS = "rows"
"""A column of frames whose rows stand for several: how many rows of the source each of them holds."""


def read(
    node: Read, run: LoweringContext, prepare: Callable[[DataFrame], DataFrame] = lambda frame: frame
) -> DataFrame:
    """A source frame (`t`, values, perhaps `o`) with its tick as event time, between start and until.

    A live one leaves out what is rejected or late, and counts what it leaves out and what it gives. `prepare` changes
    the values directly above the scan.
    """
    frame = prepare(_scanned_once(node.extent, run) if node.extent in run.shared else run.streams[node.extent])
    columns = [run.time.instant(F.col("t")).alias(TICK), *values(node.schema)]
    if node.ordered:
        columns.append(F.col("o"))
    if not run.live:
        return run.in_time(frame.select(*columns))
    source = run.source_of.get(node.extent, node.extent)
    reader = run.counts.reader()
    if "dead" in frame.columns:
        frame = _without_rejected(frame, Metric(source, Place.DECODED, reader), run)
    rows = F.col(ROWS) if ROWS in frame.columns else F.lit(1)
    beating = F.col("beat") if "beat" in frame.columns else F.lit(False)
    is_late = F.lit(False)
    if run.lateness is not None and source not in run.settled:
        is_late = run.lateness.is_late(run.spark, F.col("t"))
    taken = frame.select(*columns, rows.alias(ROWS), beating.alias("beat"), (is_late & ~beating).alias("late"))
    if node.extent in run.beats:
        beats = run.beats[node.extent].select(run.time.instant(F.col("t")).alias(TICK), F.lit(True).alias("beat"))
        taken = taken.unionByName(beats.withColumn("late", F.lit(False)), allowMissingColumns=True)
    marked = _watermarked(taken, run.delays.get(node.extent, 0), Metric(source, Place.WATERMARK, reader), run)
    used = marked.where(~F.col("beat") & ~F.col("late") & run.is_in_time())
    entering = run.counts.observe(used, Metric(source, Place.ENTRY, reader), F.sum(ROWS).alias("used"))
    return entering.drop(ROWS, "beat", "late")


def _watermarked(frame: DataFrame, delay_ms: int, metric: Metric, run: LoweringContext) -> DataFrame:
    """A source with its watermark; rows that are late, and those outside of the run, are counted in its barrier."""
    is_row = ~F.col("beat")
    counts = {"late": is_row & F.col("late"), "outside": is_row & ~F.col("late") & ~run.is_in_time()}
    sums = [F.sum(F.when(counted, F.col(ROWS))).alias(name) for name, counted in counts.items()]
    marked = frame.withWatermark(TICK, watermark_delay(delay_ms))
    return run.counts.observe(marked, metric, F.max(TICK).alias("latest"), *sums)


def _scanned_once(extent: str, run: LoweringContext) -> DataFrame:
    """A source that several nodes read, scanned once: Spark makes the exchange once, and each takes its columns of it.

    It does so only if no column goes into two branches as it is, and nothing can be pushed below the exchange. The
    watermark stands above it, in every branch: Spark finds none below an exchange that is used again, and a machine
    that reads from there alone would wait for ever.
    """
    frame = run.streams[extent]
    shared = run.shared[extent]
    if shared is None:
        other = [F.col(name).alias(f"shared_{name}") for name in frame.columns]
        name = f"transom_shared_{extent}_{next(run.counter)}"
        shared = frame.select(*other).repartition("shared_c0").observe(name, F.max("shared_t").alias("latest"))
        run.shared[extent] = shared
    return shared.select(*(F.col(f"shared_{name}").alias(name) for name in frame.columns))


def _without_rejected(frame: DataFrame, metric: Metric, run: LoweringContext) -> DataFrame:
    """A live frame without what is no row of its stream, which is counted by reason."""
    counts = [F.count_if(F.col("dead") == F.lit(reason.value)).alias(reason.name) for reason in Reason]
    return run.counts.observe(frame, metric, *counts).where(F.col("dead").isNull())


def read_table(node: ReadTable, run: LoweringContext) -> DataFrame:
    """The versions of a table as stays: from the first scan that sees a version to the first that does not."""
    frame = run.tables[node.extent]
    if "gone" in frame.columns:
        return _stays(node, frame)
    versions = frame.select("v").distinct()
    following = Window.partitionBy(F.lit(0)).orderBy("v")
    spans = versions.select("v", F.lead("v").over(following).alias("next"))
    spans = spans.select(
        "v",
        _seen(F.col("v"), node).alias("f"),
        F.coalesce(_seen(F.col("next"), node), F.lit(FOREVER)).alias("g"),
    ).where(F.col("f") < F.col("g"))
    kept = ["f", "g", *(["o"] if node.ordered else [])]
    joined = frame.where(~F.col("e")).join(spans, ["v"])
    return joined.select(*(F.col(n) for n in kept), *values(node.schema))


def _stays(node: ReadTable, frame: DataFrame) -> DataFrame:
    """A table whose rows say when they appeared and left: one stay each, instead of one per version."""
    begin, end = _seen(F.col("v"), node), F.coalesce(_seen(F.col("gone"), node), F.lit(FOREVER))
    kept = ["o"] if node.ordered else []
    rows = frame.where(~F.col("e")).select(
        begin.alias("f"), end.alias("g"), *(F.col(n) for n in kept), *values(node.schema)
    )
    return rows.where(F.col("f") < F.col("g"))


def read_scans(node: ReadScans, run: LoweringContext) -> DataFrame:
    """What appears in a table (`n` is 1) and leaves it (-1), each at the first scan that sees it, as the log grows.

    The log is a source with a watermark of its own. A scan is whole in it, and the next is later: a beat, and what
    is known of the log at the start, say that nothing more comes of their own tick.
    """
    reader = run.counts.reader()
    frame = _without_rejected(run.tables[node.extent], Metric(node.extent, Place.DECODED, reader), run)
    cells = values(node.schema)
    told = frame.select("v", "n", *cells, "beat")
    if node.extent in run.beats:
        known = run.beats[node.extent].select((F.col("t") - F.lit(1)).alias("v"), F.lit(True).alias("beat"))
        told = told.unionByName(known, allowMissingColumns=True)
    shown = run.time.instant(F.col("v") + F.when(F.col("beat"), F.lit(1)).otherwise(F.lit(0)))
    seen = _seen(F.col("v"), node)
    last = FOREVER - 1 if run.until is None else run.until
    marked = told.select(shown.alias(TICK), "v", "n", *cells, "beat").withWatermark(TICK, watermark_delay(0))
    outside = F.count_if(~F.col("beat") & (seen > F.lit(last))).alias("outside")
    latest = F.max(TICK).alias("latest")
    rows = run.counts.observe(marked, Metric(node.extent, Place.WATERMARK, reader), latest, outside)
    used = rows.where(~F.col("beat") & (seen <= F.lit(last)))
    kept = run.counts.observe(used, Metric(node.extent, Place.ENTRY, reader), F.count(F.lit(1)).alias("used"))
    return kept.select(run.time.marked(seen), "n", F.lit(True).alias("p"), *cells)


def _seen(version: Column, node: ReadTable | ReadScans) -> Column:
    """The first scan that sees a version: at or after its tick, and not before the first scan."""
    if not node.schedule.periods:
        return F.when(version <= F.lit(node.schedule.first), F.lit(node.schedule.first)).when(
            version.isNotNull(), F.lit(FOREVER)
        )
    first = ceil_to(version, node.schedule.periods[0])
    return F.when(version.isNotNull(), F.greatest(first, F.lit(node.schedule.first)))


def clock(node: Clock, run: LoweringContext) -> DataFrame:
    """The ticks of a schedule."""
    schedule = node.schedule
    frame = clock_source.ticks(
        run.spark,
        first=schedule.first,
        periods=schedule.periods,
        until=_last_tick(node, run),
        live=run.live,
        calendar=run.calendar,
        kernel=run.kernel,
    )
    ticks = frame.withColumn("tick", run.time.instant(F.col("t")))
    if run.live:
        ticks = watermarked(ticks, 0, f"transom_clock_{next(run.counter)}").where(~F.col("beat"))
    return run.in_time(ticks.select("tick"))


def _last_tick(node: Clock, run: LoweringContext) -> int | None:
    """Where a clock ends. One that shows a single tick ends at once if there are streams, which then set the pace.

    If it followed the wall clock, there would always be another micro-batch, and the query would never be idle.
    """
    if run.until is None and run.live and run.streams and not node.schedule.periods:
        return run.calendar.tick_of(_FAR)
    return run.until
