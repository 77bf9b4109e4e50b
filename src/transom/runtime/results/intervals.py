"""The answer of a replay over RDF as validity intervals: rows with `start`, `end` (NULL if unbounded) and values."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.model.answer_kind import RdfAnswerKind
from transom.model.time import Calendar
from transom.spark.columns import TICK, quoted, reserved
from transom.spark.event_time import TickTime

_NET = reserved("net")


def to_intervals(frame: DataFrame, names: Sequence[str], calendar: Calendar, kind: RdfAnswerKind) -> DataFrame:
    """Convert the batch answer of an RDF query to rows with validity intervals; `names` are its value columns.

    Solutions and triples have their multiplicity in `n`, solutions of a sequence their position in `place`, and a truth
    value is in `ask`. Stored rows, without a tick, are always valid.
    """
    cells = [F.col(quoted(name)) for name in names]
    if kind == "sequences":
        return (
            _sequence_intervals(frame, cells, calendar)
            if TICK in frame.columns
            else _constant_rows(frame, "place", cells)
        )
    if TICK in frame.columns:
        intervals = _change_intervals(frame, cells, calendar)
        return _truth_intervals(intervals) if kind == "boolean" else intervals
    count = frame.groupBy(*cells).agg(F.count(F.lit(0)).alias("n"))
    if kind == "boolean":
        return count.select(*_unbounded_interval(), (F.col("n") > 0).alias("ask"))
    return _constant_rows(count.where("n > 0"), "n", cells)


def clip_intervals(frame: DataFrame, start: int, until: int | None) -> DataFrame:
    """Keep the validity intervals that overlap ticks `start` to `until` (None: no end); none begins before `start`."""
    overlaps = F.col("end").isNull() | (F.col("end") > F.lit(start))
    clipped = frame.where(overlaps if until is None else overlaps & (F.col("start") <= F.lit(until)))
    return clipped.withColumn("start", F.greatest("start", F.lit(start))) if start else clipped


def _no_end() -> Column:
    """Build the column `end` of a validity interval without an end: NULL."""
    return F.lit(None).cast("long")


def _unbounded_interval() -> list[Column]:
    """Build the columns `start` and `end` of a validity interval from tick 0 without an end."""
    return [F.lit(0).cast("long").alias("start"), _no_end().alias("end")]


def _constant_rows(frame: DataFrame, number_column: str, cells: list[Column]) -> DataFrame:
    """Select stored rows as always valid: interval without end, `number_column` (count or list position), `cells`.

    `number_column` is their count, or their position in an ordered list; `cells` are their values.
    """
    return frame.select(*_unbounded_interval(), F.col(number_column).cast("long").alias(number_column), *cells)


def _change_intervals(frame: DataFrame, cells: list[Column], calendar: Calendar) -> DataFrame:
    """Convert changes of rows to columns `start`, `end` (ticks), `n` (multiplicity in between) and the values `cells`.

    `cells` are the value columns.
    """
    changes = frame.select(TickTime(calendar).tick_number().alias("start"), "change", *cells)
    net = changes.groupBy("start", *cells).agg(F.sum("change").alias(_NET)).where(F.col(_NET) != 0)
    over = Window.partitionBy(F.lit(0), *cells).orderBy("start")
    following, count = F.lead("start").over(over).alias("end"), F.sum(_NET).over(over).alias("n")
    return net.select("start", following, count, *cells).where("n != 0")


def _truth_intervals(intervals: DataFrame) -> DataFrame:
    """Build the validity intervals of an ASK answer: true in the given intervals, false between and around them."""
    over = Window.partitionBy(F.lit(0)).orderBy("start")
    before = F.coalesce(F.lag("end").over(over), F.lit(0).cast("long"))
    gaps = intervals.select(before.alias("from"), "start").where(F.col("from") < F.col("start"))
    last = intervals.agg(F.count(F.lit(0)).alias("n"), F.max_by("end", "start").alias("end"))
    rest = last.where("n = 0 OR end IS NOT NULL").select(F.coalesce("end", F.lit(0).cast("long")).alias("start"))
    parts = (
        intervals.select("start", "end", F.lit(True).alias("ask")),
        gaps.select(F.col("from").alias("start"), F.col("start").alias("end"), F.lit(False).alias("ask")),
        rest.select("start", _no_end().alias("end"), F.lit(False).alias("ask")),
    )
    return parts[0].union(parts[1]).union(parts[2])


def _sequence_intervals(frame: DataFrame, cells: list[Column], calendar: Calendar) -> DataFrame:
    """Convert the solution list of each tick to rows (start, end, place, *cells), valid until the list changes.

    `cells` are the value columns.
    """
    values = F.struct(F.col("place").cast("long").alias("place"), *cells)
    rows = frame.select(TickTime(calendar).tick_number().alias("start"), F.when(~F.col("empty"), values).alias("one"))
    lists = rows.groupBy("start").agg(F.sort_array(F.collect_list("one")).alias("rows"))
    over = Window.partitionBy(F.lit(0)).orderBy("start")
    nothing = F.slice("rows", 1, 0)
    compared = lists.select("start", "rows", F.coalesce(F.lag("rows").over(over), nothing).alias("before"))
    changed = compared.where(~F.col("rows").eqNullSafe(F.col("before")))
    spans = changed.select("start", F.lead("start").over(over).alias("end"), "rows")
    return spans.select("start", "end", F.inline("rows"))
