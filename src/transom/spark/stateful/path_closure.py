"""Property paths with `?`, `*` or `+` on Spark: one machine takes all edges."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.physical.nodes.rdf import PathClosure
from transom.physical.nodes.windows import Form
from transom.spark.columns import COUNT, TICK
from transom.spark.frames import LoweringContext, value_columns, value_names
from transom.spark.rdf.patterns import term_text
from transom.spark.stateful.operator import machine_input, run_machine


def path_closure(node: PathClosure, edges: DataFrame, nodes: DataFrame | None, run: LoweringContext) -> DataFrame:
    """Emit changes of the pairs that a path over `edges` connects; `nodes` (if any) are paired with themselves.

    `nodes`, if not None, are terms that have a path of length 0 to themselves.
    """
    frames = [edges] if nodes is None else [edges, nodes]
    if node.form is Form.TABLE:
        frames = [frame.select(run.time.as_event_time(F.lit(0)), F.lit(1).alias(COUNT), "*") for frame in frames]
    cells = value_columns(node.schema)
    sides = [
        machine_input(frame, run, values=cells, side=side, count=F.col(COUNT)) for side, frame in enumerate(frames)
    ]
    entries = {"machine": "paths", "repeats": node.repeats, "start": term_text(node.start)}
    widths = [len(cells)] * len(sides)
    emitted = run_machine(sides, json.dumps(entries), run, values_per_side=widths, output_columns=node.schema)
    if node.form is Form.TABLE:
        return emitted.select(*value_names(node.schema))
    return emitted.select(TICK, F.col(COUNT).cast("int").alias(COUNT), *value_names(node.schema))
