"""Paths with `?`, `*` or `+` on Spark: all edges go into one machine."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.physical.plan import Form
from transom.physical.rdf_plan import PathClosure
from transom.spark.frames import LoweringContext, names, values
from transom.spark.marks import TICK
from transom.spark.rdf_patterns import spelled
from transom.spark.stateful import machine_input, run_machine


def path_closure(node: PathClosure, edges: DataFrame, nodes: DataFrame | None, run: LoweringContext) -> DataFrame:
    """The changes of pairs between which a path leads; of a table the pairs."""
    frames = [edges] if nodes is None else [edges, nodes]
    if node.form is Form.TABLE:
        frames = [frame.select(run.time.marked(F.lit(0)), F.lit(1).alias("n"), "*") for frame in frames]
    cells = values(node.schema)
    sides = [machine_input(f, run, values=cells, side=side, count=F.col("n")) for side, f in enumerate(frames)]
    entries = {"machine": "paths", "repeats": node.repeats, "start": spelled(node.start)}
    widths = [len(cells)] * len(sides)
    made = run_machine(sides, json.dumps(entries), run, widths=widths, out=node.schema)
    if node.form is Form.TABLE:
        return made.select(*names(node.schema))
    return made.select(TICK, F.col("n").cast("int").alias("n"), *names(node.schema))
