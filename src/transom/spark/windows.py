"""Windows on Spark: stays of time windows, one row per window, windows by rows."""

from __future__ import annotations

import json
from dataclasses import asdict

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.physical.plan import Collect, Cut, Spread, Stay
from transom.physical.schedule import Schedule
from transom.spark.frames import LoweringContext, carried, names, values
from transom.spark.marks import ceil_to, div, with_table
from transom.spark.stateful import crossing_columns, machine_input, run_machine


def stay(node: Stay, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Each tuple with its first window as event time and the tick at which it is gone.

    `FROM NOW-a TO NOW-b SLIDE s` holds a tuple of tick c from ceil((c+b)/s)*s until (floor((c+a)/s)+1)*s.
    """
    tick = run.time.number()
    enters = ceil_to(tick + F.lit(node.until), node.slide)
    leaves = (div(tick + F.lit(node.past), node.slide) + F.lit(1)) * F.lit(node.slide)
    tags = [tick if tag.name == "tick" else F.col("i") for tag in node.tags]
    count = len(node.schema) - len(tags)
    columns = [enters.alias("f"), leaves.alias("g")]
    columns += [F.col(f"c{place}") for place in range(count)]
    columns += [tag.alias(f"c{count + place}") for place, tag in enumerate(tags)]
    if node.ordered:
        columns.append(F.struct(tick.alias("t"), F.col("i" if "i" in frame.columns else "o").alias("o")).alias("o"))
    kept = frame.select(*columns).where(F.col("f") < F.col("g"))
    return kept.select(run.time.marked(F.col("f")), *(F.col(n) for n in kept.columns if n != "f"))


def spread(node: Spread, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """One row per tuple and window."""
    kept = [*(["o"] if node.ordered else []), *names(node.schema)]
    if clock is not None:
        tick = run.time.number(F.col("at.tick"))
        inside = (F.col("table.f") <= tick) & (tick < F.col("table.g"))
        at, table = clock.alias("at"), frame.alias("table")
        name = f"transom_table_{next(run.counter)}"
        pairs = with_table(at, table, inside, "table.f", name) if run.live else at.join(table, inside)
        return pairs.select(F.col("at.tick").alias("tick"), *(F.col(f"table.{n}").alias(n) for n in kept))
    ticks = between(run.time.number(), run.at_most(F.col("g")), node.schedule)
    rows = frame.select(F.explode(ticks).alias("t"), *(F.col(n) for n in kept))
    return rows.select(run.time.marked(F.col("t")), *(F.col(n) for n in kept))


def between(first: Column, gone: Column, schedule: Schedule) -> Column:
    """The ticks of a schedule from one up to, but not at, another, as an array."""
    lists = []
    for period in schedule.periods:
        low = ceil_to(first, period)
        lists.append(F.when(low < gone, F.sequence(low, gone - F.lit(1), F.lit(period))).otherwise(_none()))
    if len(lists) == 1:
        return lists[0]
    return F.array_distinct(F.concat(*lists))


def _none() -> Column:
    return F.array().cast("array<bigint>")


def following(tick: Column, schedule: Schedule) -> Column | None:
    """The next tick of a schedule."""
    ends = [(div(tick, period) + F.lit(1)) * F.lit(period) for period in schedule.periods]
    if not ends:
        return None
    return ends[0] if len(ends) == 1 else F.least(*ends)


def comings_and_goings(frame: DataFrame, gone: Column | None, run: LoweringContext, kept: list[str]) -> DataFrame:
    """Stays as changes (E7): `n` is 1 at the tick at which a row comes and -1 at the one at which it is gone."""
    first = run.time.number()
    moments = [F.struct(first.alias("t"), F.lit(1).alias("n"))]
    if gone is not None:
        moments.append(F.struct(gone.alias("t"), F.lit(-1).alias("n")))
    columns = [F.col(n) for n in kept]
    rows = frame.select(F.explode(F.array(*moments)).alias("e"), *columns)
    if run.until is not None:
        rows = rows.where(F.col("e.t") <= F.lit(run.until))
    return rows.select(run.time.marked(F.col("e.t")), F.col("e.n").alias("n"), *columns)


def with_existence(frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """Rows of windows, of which a tick holds at most one, with one more row per window that says that it exists."""
    rows = frame.select("*", F.lit(1).alias("w"), F.lit(True).alias("p"))
    words = clock.select(*carried(clock), F.lit(1).alias("w"), F.lit(False).alias("p"))
    return rows.unionByName(words, allowMissingColumns=True)


def cut(node: Cut, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Windows by rows, from the machine that counts them."""
    order = "i" if "i" in frame.columns else "o"
    width = len(node.schema) - len(node.spec.tags)
    specification = json.dumps({"machine": "window", "window": asdict(node.spec)})
    cells = crossing_columns(frame, names(node.schema)[:width])
    given = machine_input(frame, run, values=cells, order=F.col(order))
    rows = run_machine([given], specification, run, widths=[width], out=node.schema)
    return rows.select(*carried(rows, "w", "p"), F.col("n").alias("o"), *values(node.schema))


def collect(node: Collect, frame: DataFrame, clock: DataFrame | None, run: LoweringContext) -> DataFrame:
    """The windows of an answer: rows with the number of their window in its tick; an empty one is one flagged row."""
    if clock is not None:
        frame = with_existence(frame, clock, run)
    row = F.struct(F.lit(0).alias("_"), *values(node.schema))
    rows = frame.groupBy(*carried(frame, "w")).agg(F.collect_list(F.when(F.col("p"), row)).alias("rows"))
    kept = rows.select(*carried(rows, "w"), (F.size("rows") == 0).alias("empty"), F.explode_outer("rows").alias("r"))
    return kept.select(*carried(kept, "w", "empty"), *(F.col(f"r.{n}").alias(n) for n in names(node.schema)))
