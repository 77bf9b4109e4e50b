"""Labels in Spark's plan: which stateful operator belongs to which node, and which machine it runs.

A label is an alias of a DataFrame. Spark removes aliases before it runs a plan, so labels change nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

_NODE, _MACHINE = "transom node ", "transom machine "
_MACHINE_OPERATORS = ("TransformWithState", "TransformWithStateInPySpark")
_SPARK_NAMES = {
    "TransformWithState": "transformWithState",
    "TransformWithStateInPySpark": "transformWithState",
    "Aggregate": "stateStoreSave",
    "Distinct": "stateStoreSave",
    "Join": "symmetricHashJoin",
    "Deduplicate": "dedupe",
    "DeduplicateWithinWatermark": "dedupeWithinWatermark",
}
"""The operators of a logical plan that keep state over streams, with the beginnings of their names in a checkpoint."""


@dataclass(frozen=True)
class LabelledOperator:
    """One stateful operator of Spark's plan: its name in checkpoints, its node and the specification of its machine.

    `node` is None for an operator in the caller's own DataFrames. `machine` is None if Spark's own code runs it.
    """

    name: str
    node: int | None
    machine: str | None


def label_node(frame: DataFrame, number: int) -> DataFrame:
    """Label a plan node's DataFrame with the node's number, by an alias that does not change Spark's result."""
    return frame.alias(f"{_NODE}{number}")


def label_machine(frame: DataFrame, specification: str) -> DataFrame:
    """Label a stateful machine's output with the machine's JSON specification, by a DataFrame alias."""
    return frame.alias(f"{_MACHINE}{specification}")


def stateful_operators(frame: DataFrame) -> list[LabelledOperator] | None:
    """List the stateful operators of a streaming DataFrame; the index of an operator is its id in the checkpoint.

    Spark numbers stateful operators from the answer down, and from left to right. None with Spark Connect, where this
    process has no JVM.
    """
    java: Any = getattr(frame, "_jdf", None)
    return None if java is None else list(_walk(java.queryExecution().analyzed(), None, None))


def _walk(plan: Any, node: int | None, machine: str | None) -> Iterator[LabelledOperator]:
    """Yield a Spark plan's stateful operators, each labelled by the nearest aliases above: `node`, `machine`."""
    if not plan.isStreaming():
        return
    name = str(plan.nodeName())
    children = plan.children()
    inputs = [children.apply(n) for n in range(children.size())]
    if name == "SubqueryAlias":
        alias = str(plan.alias())
        if alias.startswith(_NODE):
            node, machine = int(alias.removeprefix(_NODE)), None
        elif alias.startswith(_MACHINE):
            machine = alias.removeprefix(_MACHINE)
    elif name in _SPARK_NAMES and (name != "Join" or all(side.isStreaming() for side in inputs)):
        yield LabelledOperator(_SPARK_NAMES[name], node, machine if name in _MACHINE_OPERATORS else None)
        machine = None
    for input_plan in inputs:
        yield from _walk(input_plan, node, machine)
