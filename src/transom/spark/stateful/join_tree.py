"""Joins of changes with the same key on Spark: one stateful operator for all of them.

Each join alone would be an operator with a shuffle and a state store of its own. The machine runs the joins in turn,
and selects the columns of a joined row that the next join reads.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.model.schema import Schema
from transom.physical.nodes.change_join import ChangeJoin, is_fused
from transom.physical.nodes.node import PhysicalNode
from transom.spark.columns import COUNT, TICK
from transom.spark.frames import LoweringContext, value_names
from transom.spark.stateful.change_join import EMIT, LEFT_ONLY, branch_input
from transom.spark.stateful.operator import machine_columns, machine_input, run_machine


def join_tree(node: ChangeJoin, frames: Sequence[DataFrame], run: LoweringContext) -> DataFrame:
    """Run a join and the joins that are fused with it in one stateful operator, and emit the changes of the result.

    `frames` are the inputs of the operator, in order.
    """
    tree = _Tree()
    tree.add_join(node)
    inputs = list(_machine_inputs(node, node, iter(frames), run, 0))
    specification = json.dumps({"machine": "join tree", "sides": len(tree.sides), "joins": tree.entries()})
    emitted = run_machine(
        inputs, specification, run, values_per_side=list(map(len, tree.sides)), output_columns=node.schema
    )
    return emitted.select(TICK, F.col(COUNT).cast("int").alias(COUNT), *value_names(node.schema))


@dataclass
class _Tree:
    """The sides and joins of a tree, in the order in which the machine numbers them."""

    sides: list[Schema] = field(default_factory=list)
    joins: list[dict[str, Any]] = field(default_factory=list)

    def add_join(self, node: ChangeJoin) -> int:
        """Append a join and its inputs; return its provisional number (-1, -2, ...), until all inputs are known."""
        if node.right is None:
            inputs = [len(self.sides) + n for n in range(len(node.sides))]
            self.sides += node.sides
        else:
            inputs = [self._add_input(side) for side in (node.left, node.right)]
        read = node.sides[:1] if node.join_type in LEFT_ONLY else node.sides
        names = [attribute.name for schema in read for attribute in schema]
        columns = [names.index(attribute.name) for attribute in node.schema]
        widths = list(map(len, node.sides))
        self.joins.append({"emit": EMIT[node.join_type], "inputs": inputs, "widths": widths, "columns": columns})
        return -len(self.joins)

    def _add_input(self, node: PhysicalNode) -> int:
        """Add an input of a join: a DataFrame (returns its index) or a fused join (returns a negative index)."""
        if is_fused(node):
            return self.add_join(node)
        self.sides.append(node.schema)
        return len(self.sides) - 1

    def entries(self) -> list[dict[str, Any]]:
        """The joins as entries of the machine's JSON specification; their inputs are numbered: sides, then joins."""
        return [
            {**join, "inputs": [n if n >= 0 else len(self.sides) - n - 1 for n in join["inputs"]]}
            for join in self.joins
        ]


def _machine_inputs(
    top: ChangeJoin, node: ChangeJoin, frames: Iterator[DataFrame], run: LoweringContext, first_side: int
) -> Iterator[DataFrame]:
    """Yield the operator inputs of `node`, which is `top` or fused with it; their side numbers begin at `first_side`.

    `top` is the join whose operator runs them all; their sides are numbered from `first_side` on.
    """
    if node.right is None:
        yield branch_input(node, next(frames), run, top.keys, first_side)
        return
    for side in (node.left, node.right):
        if is_fused(side):
            yield from _machine_inputs(top, side, frames, run, first_side)
            first_side += _side_count(side)
            continue
        frame = next(frames)
        positions = {attribute.name: n for n, attribute in enumerate(side.schema)}
        keys = [F.col(f"c{positions[str(key)]}") for key in top.keys]
        cells = machine_columns(frame, value_names(side.schema))
        yield machine_input(frame, run, values=cells, side=first_side, count=F.col(COUNT), group_by=keys)
        first_side += 1


def _side_count(node: ChangeJoin) -> int:
    """Count the inputs of a tree of joins that are fused, that is run in one stateful operator."""
    if node.right is None:
        return len(node.sides)
    return sum(_side_count(side) if is_fused(side) else 1 for side in (node.left, node.right))
