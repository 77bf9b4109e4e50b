"""Relations on Spark: what comes and goes, what two relations make together, operators on each window."""

from __future__ import annotations

import json
from typing import assert_never

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from transom.algebra.expressions import TRUE
from transom.model.schema import Schema
from transom.physical.lines import Come, Distinct, First, Grown, Net, Relate, Relating, Turn
from transom.physical.node import Physical
from transom.physical.plan import Form
from transom.spark import scans
from transom.spark.frames import FOREVER, LoweringContext, carried, holds, names, value, values, without_markers
from transom.spark.marks import TICK, with_table
from transom.spark.stateful import crossing, crossing_columns, machine_input, run_machine
from transom.spark.windows import comings_and_goings, following

_HOW = {
    Relating.JOIN: "pairs",
    Relating.LEFT: "partners",
    Relating.SEMI: "partners",
    Relating.ANTI: "partners",
    Relating.UNION: "both",
    Relating.EXCEPT: "both",
    Relating.INTERSECT: "both",
    Relating.MERGE: "both",
}


def come(node: Come, frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """Rows that come and go, each with its sign, and a word for every tick at which there is a window."""
    cells = names(node.schema)
    if node.input.form is Form.SCANS:
        return scans.come(node, frame, clock, run)
    if node.input.form is Form.TABLE:
        return _versions(node, frame, clock, run)
    gone = F.col("g") if node.input.form is Form.STAYS else following(run.time.number(), node.schedule)
    rows = comings_and_goings(frame, gone, run, cells).withColumn("p", F.lit(True))
    words = clock.select(*carried(clock), F.lit(1).alias("n"), F.lit(False).alias("p"))
    return rows.unionByName(words, allowMissingColumns=True)


def _versions(node: Come, frame: DataFrame, clock: DataFrame, run: LoweringContext) -> DataFrame:
    """The versions of a table: rows come and go, and there is a window, only where its content is another."""
    cells = names(node.schema)
    row = F.struct(*values(node.schema), F.lit(0).alias("_"))
    whole = frame.groupBy("f").agg(F.sort_array(F.collect_list(row)).alias("rows"))
    starts = frame.select("f").union(frame.where(F.col("g") < F.lit(FOREVER)).select("g"))
    starts = starts.union(run.spark.range(1).select(F.lit(run.start).alias("f")))
    stands = starts.distinct().join(whole, ["f"], "left")
    before = Window.partitionBy(F.lit(0)).orderBy("f")
    nothing = F.array().cast(whole.schema["rows"].dataType)
    now = F.coalesce(F.col("rows"), nothing)
    held = stands.select("f", now.alias("now"), F.lag(now).over(before).alias("was"))
    other = held.where(F.col("was").isNull() | (F.col("was") != F.col("now")))
    word = F.array(
        F.struct(F.lit(1).alias("n"), F.lit(False).alias("p"), F.lit(None).cast(_row_type(whole)).alias("r"))
    )
    goes = F.transform(F.coalesce(F.col("was"), nothing), lambda r: _event(-1, r))
    comes = F.transform(F.col("now"), lambda r: _event(1, r))
    events = other.select("f", F.explode(F.concat(word, goes, comes)).alias("e"))
    table = events.select("f", "e.n", "e.p", *(F.col(f"e.r.{name}").alias(name) for name in cells))
    at, versions = clock.alias("at"), table.alias("table")
    meets = F.col("table.f") == run.time.number(F.col("at.tick"))
    name = f"transom_table_{next(run.counter)}"
    pairs = with_table(at, versions, meets, "table.f", name) if run.live else at.join(versions, meets)
    kept = ["n", "p", *cells]
    return pairs.select(F.col("at.tick").alias(TICK), *(F.col(f"table.{n}").alias(n) for n in kept))


def _row_type(frame: DataFrame) -> str:
    kind = frame.schema["rows"].dataType
    return str(kind.elementType.simpleString())


def _event(sign: int, row: Column) -> Column:
    return F.struct(F.lit(sign).alias("n"), F.lit(True).alias("p"), row.alias("r"))


def turn(node: Turn, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Windows as changes, from the machine that compares them."""
    rows = _compared(frame, "both", node.schema, run)
    return rows.select(*carried(rows, "p"), F.col("n").cast("int").alias("n"), *values(node.schema))


def grown(node: Grown, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The windows to which a row was added, from the machine that compares them."""
    rows = _compared(frame, "grown", node.schema, run)
    place = [F.col("n").alias("o")] if node.ordered else []
    return rows.select(*carried(rows, "w", "p"), *place, *values(node.schema))


def _compared(frame: DataFrame, report: str, schema: Schema, run: LoweringContext) -> DataFrame:
    order = F.col("o") if "o" in frame.columns else None
    given = machine_input(frame, run, values=crossing_columns(frame, names(schema)), order=order)
    specification = json.dumps({"machine": "change", "report": report})
    return run_machine([given], specification, run, widths=[len(schema)], out=schema)


def relate(node: Relate, left: DataFrame, right: DataFrame | None, run: LoweringContext) -> DataFrame:
    """What two relations make together, from the machine that keeps them; conditions are asked after it."""
    inputs = [node.left] if node.right is None else [node.left, node.right]
    frames = [left] if right is None else [left, right]
    fed = [_fed(node, place, side, frame, run) for place, (side, frame) in enumerate(zip(inputs, frames, strict=True))]
    if len(fed) == 1:
        fed.append(_silent(fed[0]))
    widths = [len(side.schema) for side in inputs]
    widths = widths * 2 if len(widths) == 1 else widths
    how = _HOW[node.how]
    out = node.left.schema if how == "both" or node.right is None else node.left.schema + node.right.schema
    specification = json.dumps({"machine": "product", "left": "stays", "right": "stays", "how": how, "widths": widths})
    rows = run_machine(fed, specification, run, widths=widths, out=out, pair_keys=len(node.equal), buckets=node.buckets)
    made = _made(node, rows, out, widths[0], run)
    return made.select(*carried(made), F.lit(1).alias("w"), "p", *values(node.schema))


def _silent(fed: DataFrame) -> DataFrame:
    """A right side that never says anything, with the columns of one."""
    columns = [F.col(n).alias({"o0": "o1", "cells0": "cells1"}.get(n, n)) for n in fed.columns if n != "side"]
    return fed.select(*columns, F.lit(1).alias("side")).where(F.lit(False))


def _made(node: Relate, rows: DataFrame, out: Schema, width: int, run: LoweringContext) -> DataFrame:
    """What is asked for, of what the machine tells."""
    true = F.lit(True) if node.rest == TRUE else holds(node.rest, out, run)
    cells = names(out)
    word = ~F.col("p")
    match node.how:
        case Relating.JOIN:
            return rows.where(word | true)
        case Relating.UNION | Relating.MERGE:
            return rows
        case Relating.EXCEPT | Relating.INTERSECT:
            mine, yours = (F.count_if(F.col("w") == F.lit(side)) for side in (0, 1))
            counts = rows.groupBy(*carried(rows, "p"), *cells).agg(mine.alias("l"), yours.alias("r"))
            copies = F.col("l") - F.col("r") if node.how is Relating.EXCEPT else F.least("l", "r")
            times = F.when(word, F.lit(1)).otherwise(F.greatest(copies, F.lit(0))).cast("int")
            several = F.explode(F.array_repeat(F.lit(0), times)).alias("_")
            return counts.select(*carried(counts, "p"), *cells, several)
        case Relating.LEFT | Relating.SEMI | Relating.ANTI:
            own, others = cells[:width], cells[width:]
            partner = F.struct(F.lit(0).alias("_"), *(F.col(n) for n in others))
            found = F.collect_list(F.when(F.col("p") & (F.col("w") == 1) & true, partner)).alias("found")
            first = F.first(F.struct(F.lit(0).alias("_"), *(F.col(n) for n in own))).alias("own")
            keys = [F.col(n).alias(f"k{place}") for place, n in enumerate(own)]
            groups = rows.groupBy(*carried(rows, "p", "n"), *keys).agg(found, first)
            mine = [F.col(f"own.{n}").alias(n) for n in own]
            if node.how is Relating.LEFT:
                pairs = groups.select(*carried(groups, "p"), *mine, F.explode_outer("found").alias("r"))
                return pairs.select(*carried(pairs, "p"), *own, *(F.col(f"r.{n}").alias(n) for n in others))
            matched = F.size("found") > 0
            wanted = matched if node.how is Relating.SEMI else ~matched
            return groups.where(word | wanted).select(*carried(groups, "p"), *mine)
        case _:
            assert_never(node.how)


def _fed(node: Relate, place: int, side: Physical, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """One relation as the machine takes it: the lineages of all keys are one, and rows that can match nothing go."""
    keys = [crossing(value(pair[place], side.schema, run), pair[place].type) for pair in node.equal]
    frame = frame.drop("line")
    if place == 1 or node.how in (Relating.JOIN, Relating.SEMI):
        for key in keys:
            frame = frame.where(~F.col("p") | key.isNotNull())
    return machine_input(
        frame.withColumn("w", F.lit(1)),
        run,
        values=crossing_columns(frame, names(side.schema)),
        side=place,
        count=F.col("n"),
        pair_keys=keys,
        buckets=node.buckets,
        hash_on=keys or values(side.schema),
    )


def net(node: Net, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """What is left of changes when those of equal rows are added up, tick by tick and key by key."""
    rows = without_markers(frame)
    sums = rows.groupBy(*carried(rows), *names(node.schema)).agg(F.sum("n").alias("n"))
    left = F.col("n") if node.report == "came" else -F.col("n")
    copies = F.explode(F.array_repeat(F.lit(0), left.cast("int"))).alias("_")
    return sums.where(left > 0).select(TICK, *values(node.schema), copies).drop("_")


def distinct(node: Distinct, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Each row of a window once."""
    return frame.groupBy(*carried(frame, "w", "p"), *values(node.schema)).agg(F.first(F.lit(0)).alias("_")).drop("_")


def first(node: First, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The rows of a window with the smallest values, or of each group of its rows."""
    schema = node.input.schema
    by, cells = value(node.by, schema, run), names(schema)
    per = [value(e, schema, run).alias(f"k{place}") for place, e in enumerate(node.per)]
    if "p" in frame.columns:
        frame = frame.where(~F.col("p") | by.isNotNull())
    else:
        frame = frame.where(by.isNotNull())
    ranked = F.sort_array(F.collect_list(F.struct(by.alias("by"), *(F.col(n) for n in cells))))
    groups = frame.groupBy(*carried(frame, "w", "p"), *per).agg(F.slice(ranked, 1, node.count).alias("rows"))
    rows = groups.select(*carried(groups, "w", "p"), F.explode("rows").alias("r"))
    return rows.select(*carried(rows, "w", "p"), *(F.col(f"r.{n}").alias(n) for n in cells))
