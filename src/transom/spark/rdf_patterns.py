"""Statements on Spark: stored graphs, time windows, triple patterns, several of them over one scan."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.algebra import expressions
from transom.algebra.rdf.patterns import Place
from transom.model.types import Value
from transom.physical.rdf_plan import STATEMENT, Branch, Fan, Graph, Last, Match, Stand, Written
from transom.spark import terms
from transom.spark.frames import LoweringContext, carried, names
from transom.spark.marks import TICK, div, with_table
from transom.spark.windows import comings_and_goings


def kept(frame: DataFrame) -> list[Column]:
    """The columns that travel with the terms: tick, how many come or go, the order."""
    return carried(frame, "n", "o")


def graph(node: Graph, run: LoweringContext) -> DataFrame:
    """The statements of stored graphs, each once."""
    frames = [run.tables[extent].select(*names(STATEMENT)) for extent in node.extents]
    if not frames:
        return _rows(run, [], len(STATEMENT))
    return reduce(DataFrame.union, frames).distinct()


def written(node: Written, run: LoweringContext) -> DataFrame:
    """Rows of the query itself."""
    return _rows(run, [tuple(map(spelled, row)) for row in node.rows], len(node.schema))


def _rows(run: LoweringContext, rows: list[tuple[str | None, ...]], width: int) -> DataFrame:
    """Rows of terms as a frame that Spark knows without a job."""
    kind = ", ".join(["_: int", *(f"c{place}: string" for place in range(width))])
    cells = [F.struct(F.lit(0).alias("_"), *_cells(row)) for row in rows]
    made = F.array(*cells) if cells else F.array().cast(f"array<struct<{kind}>>")
    return run.spark.range(1).select(F.inline(made.cast(f"array<struct<{kind}>>"))).drop("_")


def _cells(row: tuple[str | None, ...]) -> list[Column]:
    return [F.lit(term).cast("string").alias(f"c{place}") for place, term in enumerate(row)]


def spelled(term: Value) -> str | None:
    """A term as text."""
    return None if term is None else str(term)


def stand(node: Stand, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """What is stored comes at tick 0, when the clock says so."""
    if clock is None:
        return frame.select(run.time.marked(F.lit(0)), F.lit(1).alias("n"), *names(node.schema))
    at, table = clock.alias("at"), frame.withColumn("there", F.lit(1)).alias("table")
    name = f"transom_table_{next(run.counter)}"
    pairs = with_table(at, table, F.lit(True), "table.there", name)
    cells = [F.col(f"table.{n}").alias(n) for n in names(node.schema)]
    return pairs.select(F.col("at.tick").alias(TICK), F.lit(1).alias("n"), *cells)


def last(node: Last, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Every statement comes, and goes when the window has moved on."""
    return comings_and_goings(frame, gone(run.time.number(), node.width, node.slide), run, names(node.schema))


def gone(tick: Column, width: int, slide: int) -> Column:
    """The end of an element of a tick (R3)."""
    return div(tick + F.lit(width), slide) * F.lit(slide)


def match(node: Match, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The statements that fit, as solutions."""
    found = first_places(node.places)
    cells = [F.col(f"c{found[a.name]}").alias(f"c{place}") for place, a in enumerate(node.schema)]
    return frame.where(_fits(node.places)).select(*kept(frame), *cells)


def first_places(places: tuple[Place, ...]) -> dict[str, int]:
    """Where each variable of a pattern stands first."""
    found: dict[str, int] = {}
    for at, place in enumerate(places):
        if isinstance(place, expressions.Column):
            found.setdefault(place.name, at)
    return found


def _fits(places: tuple[Place, ...]) -> Column:
    """Whether a statement fits a pattern; a variable that stands twice finds one term (R11)."""
    first = first_places(places)
    fits = F.lit(True)
    for at, place in enumerate(places):
        if not isinstance(place, expressions.Column):
            fits = fits & (F.col(f"c{at}") == F.lit(spelled(place)))
        elif first[place.name] != at:
            fits = fits & (F.col(f"c{at}") == F.col(f"c{first[place.name]}"))
    return fits


def fan(node: Fan, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """One scan: each statement with the patterns that it fits, `side` says which, and when it comes and goes."""
    hits = [_hit(branch, side, len(node.schema)) for side, branch in enumerate(node.branches)]
    changes = "n" in frame.columns
    held = [TICK, *(["n"] if changes else [])]
    rows = frame.select(*held, F.inline(F.array(*hits))).where(F.col("side").isNotNull())
    own = ["side", *names(node.schema)]
    if changes:
        rows = rows.select(run.time.number().alias("t"), F.col("n").cast("int").alias("n"), *own)
    else:
        moments = F.array(_moment(run.time.number(), 1), _moment(_ends(node, run.time.number()), -1))
        rows = rows.select(F.inline(moments), *own)
    if run.until is not None:
        rows = rows.where(F.col("t") <= F.lit(run.until))
    return rows.select(run.time.marked(F.col("t")), "n", "side", *names(node.schema))


def _ends(node: Fan, tick: Column) -> Column:
    """When a statement goes that fits the branch of `side`."""
    windows = [branch.window or (1, 1) for branch in node.branches]
    found = gone(tick, *windows[0])
    for window in sorted(set(windows) - {windows[0]}):
        having = [F.lit(side) for side, own in enumerate(windows) if own == window]
        found = F.when(F.col("side").isin(*having), gone(tick, *window)).otherwise(found)
    return found


def _moment(tick: Column, count: int) -> Column:
    return F.struct(tick.cast("long").alias("t"), F.lit(count).alias("n"))


def _holds(branch: Branch) -> Column:
    if branch.condition == expressions.TRUE:
        return F.lit(True)
    columns = {name: F.col(f"c{at}") for name, at in first_places(branch.places).items()}
    return terms.holds(branch.condition, columns)


def _hit(branch: Branch, side: int, width: int) -> Column:
    """The values of a pattern that a statement fits, with its side; NULL if it does not fit."""
    found = first_places(branch.places)
    cells = [F.col(f"c{found[a.name]}").alias(f"c{place}") for place, a in enumerate(branch.schema)]
    cells += [F.lit(None).cast("string").alias(f"c{place}") for place in range(len(cells), width)]
    return F.when(_fits(branch.places) & _holds(branch), F.struct(F.lit(side).alias("side"), *cells))
