"""Joins of stays in the kernel: rows of one key meet in order."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions import TRUE
from transom.model.types import Type
from transom.physical.node import Physical
from transom.physical.plan import Meet
from transom.spark.frames import LoweringContext, holds, names, value, values
from transom.spark.marks import TICK
from transom.spark.stateful import crossing, crossing_columns, machine_input, run_machine


def pairs(node: Meet, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """Pairs of rows whose stays overlap: one row each, from the tick of the later one until the first is gone."""
    sides = [_side(node, 0, node.left, left, run), _side(node, 1, node.right, right, run)]
    widths = [len(side.schema) + 1 for side in (node.left, node.right)]
    out = [("g", Type.INTEGER), *zip(names(node.schema), (a.type for a in node.schema))]
    made = run_machine(sides, json.dumps({"machine": "pairs"}), run, widths=widths, out=out)
    found = made.select(TICK, "g", *values(node.schema))
    return found if node.rest == TRUE else found.where(holds(node.rest, node.schema, run))


def _side(node: Meet, place: int, side: Physical, frame: DataFrame, run: LoweringContext) -> DataFrame:
    """One side as the machine takes it; a row whose key is NULL meets none."""
    keys = [crossing(value(pair[place], side.schema, run), pair[place].type) for pair in node.equal]
    for key in keys:
        frame = frame.where(key.isNotNull())
    cells = [F.col("g"), *crossing_columns(frame, names(side.schema))]
    return machine_input(frame, run, values=cells, side=place, group_by=keys)
