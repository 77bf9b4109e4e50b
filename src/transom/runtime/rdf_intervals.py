"""The answer of a replay over RDF as intervals: rows with `start`, `end` (NULL: for ever) and what is valid then."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F

from transom.errors import UsageError
from transom.model.rdf.answer import Ordered, RdfAnswer, RdfAnswerKind, Truth
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import Triple
from transom.model.time import Calendar
from transom.physical.node import Physical
from transom.runtime.dataframe import dataframe, in_order
from transom.runtime.job import Job
from transom.runtime.rdf_answers import solution_of, triple_of, triple_order
from transom.runtime.rdf_aside import SetAside
from transom.runtime.rdf_dataframe import names_of, rdf_dataframe
from transom.spark.balance import RowCounts
from transom.spark.columns import quoted, reserved
from transom.spark.marks import TICK, TickTime

_NET = reserved("net")


def replay(
    job: Job, spark: SparkSession, given: Mapping[str, Any] | None = None, *, aside: SetAside | None = None
) -> DataFrame:
    """The answer of a job over sources that are no streams, as intervals, between its first and last tick.

    With `aside`, the files of the catalog are read once, and it knows which messages could not be read.
    """
    if not job.over_rdf:
        return in_order(dataframe(job, spark, given, live=False))
    frames = dict(given or {})
    if aside is not None:
        frames |= aside.open(spark, job.catalog, job.rdf_extents, frames)
    if any(frame.isStreaming for frame in frames.values()):
        raise UsageError("a replay of a stream has no end", hint="give batch DataFrames, or use to_df")
    frame = rdf_dataframe(job, spark, frames, live=False, counts=RowCounts())
    found = intervals(job.plan, frame, job.catalog.calendar, job.result_kind)  # type: ignore[arg-type]
    return during(found, job.options.start, job.options.until)


def intervals(plan: Physical, frame: DataFrame, calendar: Calendar, kind: RdfAnswerKind) -> DataFrame:
    """A batch of changes, of sequences or of what is stored as rows with the times in which they are valid.

    Solutions and statements come with `n`, how often they are; solutions of a sequence with their `place`; a truth
    value is `ask`.
    """
    cells = [F.col(quoted(name)) for name in names_of(plan)]
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


def gathered(rows: Iterable[Any], kind: RdfAnswerKind, columns: tuple[str, ...]) -> RdfAnswer:
    """Rows of intervals as the answer that the reference engine would give."""
    told = [tuple(row) for row in rows]
    if kind == "boolean":
        truth = sorted((Truth(value, start, end) for start, end, value in told), key=lambda one: one.start)
        return RdfAnswer(kind, ("ask",), truth=tuple(truth))
    if kind == "sequences":
        lists: dict[tuple[int, int | None], list[tuple[int, Solution]]] = {}
        for start, end, place, *cells in told:
            lists.setdefault((start, end), []).append((place, solution_of(tuple(cells), columns)))
        ordered = [
            Ordered(tuple(solution for _, solution in sorted(held, key=lambda one: one[0])), start, end)
            for (start, end), held in lists.items()
        ]
        return RdfAnswer(kind, columns, sequences=tuple(sorted(ordered, key=lambda one: one.start)))
    if kind == "triples":
        triples = [Valid(triple_of(tuple(cells)), start, end, n) for start, end, n, *cells in told]
        return RdfAnswer(kind, columns, triples=tuple(sorted(triples, key=_by_triple)))
    solutions = [Valid(solution_of(tuple(cells), columns), start, end, n) for start, end, n, *cells in told]

    def by_solution(one: Valid[Solution]) -> tuple[object, ...]:
        return one.start, one.payload.in_order(columns), one.end is None, one.end or 0

    return RdfAnswer(kind, columns, solutions=tuple(sorted(solutions, key=by_solution)))


def _by_triple(one: Valid[Triple]) -> tuple[object, ...]:
    return one.start, triple_order(one.payload), one.end is None, one.end or 0
