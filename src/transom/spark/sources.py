"""Sources on Spark: streams with their watermark, tables as stays between scans, the clock."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.model.reasons import DEAD, READ, Reason
from transom.physical.node import Clock
from transom.physical.plan import Read, ReadScans, ReadTable
from transom.spark import clock as clock_source
from transom.spark.frames import FOREVER, Run, values
from transom.spark.marks import ceil_to, watermarked

_FAR = datetime(9000, 1, 1, tzinfo=UTC)
MANY = "many"
"""A column of frames whose rows are not those that Spark counts: how many one stands for."""


def read(node: Read, run: Run) -> DataFrame:
    """A source frame (`t`, values, perhaps `o`) with its tick as event time, between start and until."""
    frame = _scanned_once(node.extent, run) if node.extent in run.shared else run.streams[node.extent]
    columns = [run.time.instant(F.col("t")).alias("tick"), *values(node.schema)]
    if node.ordered:
        columns.append(F.col("o"))
    if not run.live:
        return run.in_time(frame.select(*columns))
    name = f"transom_{node.extent}_{next(run.counter)}"
    if MANY in frame.columns:
        frame = frame.observe(f"{READ}{name}", F.sum(MANY).alias("rows"))
    rows = frame.select(*columns)
    delay = run.delays.get(node.extent, 0)
    beating = "beat" in frame.columns
    if node.extent not in run.beats and not beating:
        return run.in_time(watermarked(rows, delay, name))
    if beating:
        both = _counted(frame, f"{DEAD}{name}").select(*columns, "beat")
    else:
        both = rows.withColumn("beat", F.lit(False))
    if node.extent in run.beats:
        beats = run.beats[node.extent].select(run.time.instant(F.col("t")).alias("tick"), F.lit(True).alias("beat"))
        both = both.unionByName(beats, allowMissingColumns=True)
    return run.in_time(watermarked(both, delay, name)).where(~F.col("beat")).select(*rows.columns)


def counted_alike(streams: Mapping[str, DataFrame]) -> dict[str, DataFrame]:
    """Live streams that all count their own rows if one of them does, since Spark counts something else for it."""
    if not any(MANY in frame.columns for frame in streams.values()):
        return dict(streams)
    return {name: _with_count(frame) for name, frame in streams.items()}


def _with_count(frame: DataFrame) -> DataFrame:
    if MANY in frame.columns:
        return frame
    is_row = F.lit(True)
    if "beat" in frame.columns:
        is_row = F.col("dead").isNull() & ~F.col("beat")
    return frame.withColumn(MANY, is_row.cast("long"))


def _scanned_once(extent: str, run: Run) -> DataFrame:
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


def _counted(frame: DataFrame, name: str) -> DataFrame:
    """A live log without what is no row, which is counted by reason on the way."""
    counts = [F.count_if(F.col("dead") == F.lit(reason.value)).alias(reason.name.lower()) for reason in Reason]
    return frame.observe(name, *counts).where(F.col("dead").isNull())


def read_table(node: ReadTable, run: Run) -> DataFrame:
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


def read_scans(node: ReadScans, run: Run) -> DataFrame:
    """What appears in a table (`n` is 1) and leaves it (-1), each at the first scan that sees it, as the log grows.

    The log is a source with a watermark of its own. A scan is whole in it, and the next is later: a beat, and what
    is known of the log at the start, say that nothing more comes of their own tick.
    """
    frame = run.tables[node.extent]
    name = f"transom_{node.extent}_{next(run.counter)}"
    cells = values(node.schema)
    told = _counted(frame, f"{DEAD}{name}").select("v", "n", *cells, "beat")
    if node.extent in run.beats:
        known = run.beats[node.extent].select((F.col("t") - F.lit(1)).alias("v"), F.lit(True).alias("beat"))
        told = told.unionByName(known, allowMissingColumns=True)
    shown = run.time.instant(F.col("v") + F.when(F.col("beat"), F.lit(1)).otherwise(F.lit(0)))
    rows = watermarked(told.select(shown.alias("tick"), "v", "n", *cells, "beat"), 0, name).where(~F.col("beat"))
    seen = _seen(F.col("v"), node)
    last = FOREVER - 1 if run.until is None else run.until
    kept = rows.where(seen <= F.lit(last))
    return kept.select(run.time.marked(seen), "n", F.lit(True).alias("p"), *cells)


def _seen(version: Column, node: ReadTable | ReadScans) -> Column:
    """The first scan that sees a version: at or after its tick, and not before the first scan."""
    if not node.schedule.periods:
        return F.when(version <= F.lit(node.schedule.first), F.lit(node.schedule.first)).when(
            version.isNotNull(), F.lit(FOREVER)
        )
    first = ceil_to(version, node.schedule.periods[0])
    return F.when(version.isNotNull(), F.greatest(first, F.lit(node.schedule.first)))


def clock(node: Clock, run: Run) -> DataFrame:
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


def _last_tick(node: Clock, run: Run) -> int | None:
    """Where a clock ends. One that shows a single tick ends at once if there are streams, which then set the pace.

    If it followed the wall clock, there would always be another micro-batch, and the query would never be idle.
    """
    if run.until is None and run.live and run.streams and not node.schedule.periods:
        return run.calendar.tick_of(_FAR)
    return run.until
