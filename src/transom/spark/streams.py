"""Streams on Spark: positions, rows of windows as a stream, what comes and goes between windows."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.physical.plan import Changes, Compare, Emit, Form, Number
from transom.spark.frames import LoweringContext, carried, names, values
from transom.spark.marks import TICK
from transom.spark.stateful import crossing_columns, machine_input, run_machine
from transom.spark.windows import comings_and_goings, following


def number(node: Number, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Rows with their position in the stream, from the machine that counts them."""
    cells = crossing_columns(frame, names(node.schema))
    given = machine_input(frame, run, values=cells, order=F.col("o"))
    specification = json.dumps({"machine": "order"})
    rows = run_machine([given], specification, run, widths=[len(cells)], out=node.schema)
    return rows.select(*carried(rows), F.col("n").alias("i"), F.col("n").alias("o"), *values(node.schema))


def emit(node: Emit, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """The rows of all windows; several windows of a tick come one after the other."""
    if node.input.form is not Form.WINDOWS:
        return frame
    line = [F.col("line")] if "line" in frame.columns else []
    order = [F.struct(F.col("w"), *line, F.col("o")).alias("o")] if node.ordered else []
    return frame.where("p").select(TICK, *order, *values(node.schema))


def changes(node: Changes, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """Comings and goings added up per tick and row: what is left over came, or went."""
    cells = names(node.schema)
    gone = F.col("g") if node.input.form is Form.STAYS else following(run.time.number(), node.schedule)
    rows = comings_and_goings(frame, gone, run, cells)
    sums = rows.groupBy(TICK, *cells).agg(F.sum("n").alias("n"))
    left = F.col("n") if node.report == "came" else -F.col("n")
    copies = F.explode(F.array_repeat(F.lit(0), left.cast("int"))).alias("_")
    return sums.where(left > 0).select(*carried(sums), *values(node.schema), copies).drop("_")


def compare(node: Compare, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """What came or went, from the machine that compares windows."""
    order = F.col("o") if node.ordered else None
    specification = json.dumps({"machine": "change", "report": node.report})
    cells = crossing_columns(frame, names(node.schema))
    given = machine_input(frame, run, values=cells, order=order, buckets=node.buckets, hash_on=values(node.schema))
    rows = run_machine([given], specification, run, widths=[len(cells)], out=node.schema, buckets=node.buckets)
    line = [F.col("line")] if "line" in rows.columns else []
    place = [F.struct(*line, F.col("n")).alias("o") if line else F.col("n").alias("o")] if node.ordered else []
    return rows.select(TICK, *place, *values(node.schema))
