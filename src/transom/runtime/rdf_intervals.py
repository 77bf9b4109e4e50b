"""The answer of a replay over RDF as intervals: rows with `start`, `end` (NULL: for ever) and what is valid then."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.model.answer import RdfAnswerKind
from transom.model.time import Calendar
from transom.spark.columns import quoted, reserved
from transom.spark.marks import TICK, TickTime

_NET = reserved("net")


def intervals(frame: DataFrame, names: Sequence[str], calendar: Calendar, kind: RdfAnswerKind) -> DataFrame:
    """A batch of changes, of sequences or of what is stored as rows with the times in which they are valid.

    Solutions and statements come with `n`, how often they are; solutions of a sequence with their `place`; a truth
    value is `ask`.
    """
    cells = [F.col(quoted(name)) for name in names]
    if kind == "sequences":
        return _sequences(frame, cells, calendar) if TICK in frame.columns else _for_ever(frame, "place", cells)
    if TICK in frame.columns:
        found = _changes(frame, cells, calendar)
        return _truth(found) if kind == "boolean" else found
    count = frame.groupBy(*cells).agg(F.count(F.lit(0)).alias("n"))
    if kind == "boolean":
        return count.select(*_always(), (F.col("n") > 0).alias("ask"))
    return _for_ever(count.where("n > 0"), "n", cells)


def during(frame: DataFrame, start: int, until: int | None) -> DataFrame:
    """What is valid at some instant from start to until: intervals begin at the start at the earliest."""
    met = F.col("end").isNull() | (F.col("end") > F.lit(start))
    found = frame.where(met if until is None else met & (F.col("start") <= F.lit(until)))
    return found.withColumn("start", F.greatest("start", F.lit(start))) if start else found


def _never() -> Column:
    return F.lit(None).cast("long")


def _always() -> list[Column]:
    return [F.lit(0).cast("long").alias("start"), _never().alias("end")]


def _for_ever(frame: DataFrame, number: str, cells: list[Column]) -> DataFrame:
    return frame.select(*_always(), F.col(number).cast("long").alias(number), *cells)


def _changes(frame: DataFrame, cells: list[Column], calendar: Calendar) -> DataFrame:
    """Each row from one change of how often it is there to the next."""
    at = frame.select(TickTime(calendar).number().alias("start"), "change", *cells)
    net = at.groupBy("start", *cells).agg(F.sum("change").alias(_NET)).where(F.col(_NET) != 0)
    over = Window.partitionBy(F.lit(0), *cells).orderBy("start")
    following, count = F.lead("start").over(over).alias("end"), F.sum(_NET).over(over).alias("n")
    return net.select("start", following, count, *cells).where("n != 0")


def _truth(found: DataFrame) -> DataFrame:
    """The times in which something is there, and those between them."""
    over = Window.partitionBy(F.lit(0)).orderBy("start")
    before = F.coalesce(F.lag("end").over(over), F.lit(0).cast("long"))
    gaps = found.select(before.alias("from"), "start").where(F.col("from") < F.col("start"))
    last = found.agg(F.count(F.lit(0)).alias("n"), F.max_by("end", "start").alias("end"))
    rest = last.where("n = 0 OR end IS NOT NULL").select(F.coalesce("end", F.lit(0).cast("long")).alias("start"))
    parts = (
        found.select("start", "end", F.lit(True).alias("ask")),
        gaps.select(F.col("from").alias("start"), F.col("start").alias("end"), F.lit(False).alias("ask")),
        rest.select("start", _never().alias("end"), F.lit(False).alias("ask")),
    )
    return parts[0].union(parts[1]).union(parts[2])


def _sequences(frame: DataFrame, cells: list[Column], calendar: Calendar) -> DataFrame:
    """Each list from the tick at which it is another one to the next such tick."""
    held = F.struct(F.col("place").cast("long").alias("place"), *cells)
    at = frame.select(TickTime(calendar).number().alias("start"), F.when(~F.col("empty"), held).alias("one"))
    lists = at.groupBy("start").agg(F.sort_array(F.collect_list("one")).alias("rows"))
    over = Window.partitionBy(F.lit(0)).orderBy("start")
    nothing = F.slice("rows", 1, 0)
    other = lists.select("start", "rows", F.coalesce(F.lag("rows").over(over), nothing).alias("before"))
    changed = other.where(~F.col("rows").eqNullSafe(F.col("before")))
    runs = changed.select("start", F.lead("start").over(over).alias("end"), "rows")
    return runs.select("start", "end", F.inline("rows"))
