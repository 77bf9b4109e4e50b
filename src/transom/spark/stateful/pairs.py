"""Interval joins in the kernel: one machine per join key."""

from __future__ import annotations

import json

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.algebra.expressions.expression import TRUE
from transom.model.types import Type
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.windows import IntervalJoin
from transom.spark.columns import TICK, VALID_TO
from transom.spark.frames import LoweringContext, holds, lower_expression, value_columns, value_names
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine, to_machine


def interval_join_pairs(node: IntervalJoin, left: DataFrame, right: DataFrame, run: LoweringContext) -> DataFrame:
    """Join rows whose validity intervals overlap; a pair is valid from the later start to the earlier end.

    A pair is valid from the later start to the earlier end.
    """
    sides = [_join_input(node, 0, node.left, left, run), _join_input(node, 1, node.right, right, run)]
    widths = [len(side.schema) + 1 for side in (node.left, node.right)]
    out = [(VALID_TO, Type.INTEGER), *zip(value_names(node.schema), (a.type for a in node.schema))]
    emitted = run_machine(sides, json.dumps({"machine": "pairs"}), run, values_per_side=widths, output_columns=out)
    pairs = emitted.select(TICK, VALID_TO, *value_columns(node.schema))
    return pairs if node.residual == TRUE else pairs.where(holds(node.residual, node.schema, run))


def _join_input(
    node: IntervalJoin, side: int, relation: PhysicalNode, frame: DataFrame, run: LoweringContext
) -> DataFrame:
    """Build the left (0) or right (1) input of an interval join's machine; drop rows with a NULL join key."""
    keys = [to_machine(lower_expression(pair[side], relation.schema, run), pair[side].type) for pair in node.equal]
    for key in keys:
        frame = frame.where(key.isNotNull())
    cells = [F.col(VALID_TO), *machine_columns(frame, value_names(relation.schema))]
    return machine_input(frame, run, values=cells, side=side, group_by=keys)
