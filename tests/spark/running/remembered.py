"""How many rows a run really remembers, micro-batch by micro-batch.

Native operators say so in their reports: one row per group, or per row of a join side. A machine keeps its rows inside
a few values, so what waits for it is counted and its own bytes are read back, from the state that Spark saved.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from transom.machines.buckets import Bucket, TimedMachineFactory, is_shared
from transom.machines.protocol import create_machine
from transom.spark.stateful import kernel
from transom.spark.stateful.runner import decode_arrivals

MACHINE = "transformWithState"


@dataclass
class Remembered:
    """Rows in state after each micro-batch: those of native operators, and those of machines where they were read."""

    native: dict[int, int] = field(default_factory=dict)
    machines: dict[int, int] = field(default_factory=dict)
    rows_in: int = 0
    dropped: int = 0

    def rows(self, batch: int) -> int:
        return self.native[batch] + self.machines.get(batch, 0)

    def peak(self, batches: Iterable[int]) -> int:
        return max(self.rows(batch) for batch in batches)


def measure(
    spark: SparkSession,
    reports: Sequence[Mapping[str, Any]],
    checkpoint: Path,
    specifications: Sequence[str],
    every: int,
    *,
    java: bool,
) -> Remembered:
    """What a finished run remembered; the state of machines is read after every so many micro-batches."""
    found = Remembered()
    for report in reports:
        operators = report["stateOperators"]
        natives = [o for o in operators if MACHINE not in o["operatorName"]]
        found.native[report["batchId"]] = sum(o["numRowsTotal"] for o in natives)
        found.rows_in += report["numInputRows"]
        found.dropped += sum(o["numRowsDroppedByWatermark"] for o in operators)
    identities = operator_ids(spark, checkpoint)
    assert len(identities) == len(specifications), [o["operatorName"] for o in reports[-1]["stateOperators"]]
    held = _held_in_java if java else _held
    for batch in sorted(found.native)[::every] if specifications else ():
        found.machines[batch] = sum(
            held(spark, checkpoint, one, batch, specification) for one, specification in zip(identities, specifications)
        )
    return found


def operator_ids(spark: SparkSession, checkpoint: Path) -> list[int]:
    """The numbers that Spark gave to the machines of a query, those nearer to the answer first."""
    known = spark.read.format("state-metadata").load(str(checkpoint)).select("operatorId", "operatorName")
    return sorted(row.operatorId for row in known.collect() if MACHINE in row.operatorName)


def _held(spark: SparkSession, checkpoint: Path, operator: int, batch: int, specification: str) -> int:
    bodies = _state(spark, checkpoint, operator, batch, "waiting").select("list_element.body").collect()
    waiting = sum(len(list(decode_arrivals(row.body))) for row in bodies)
    machines = _state(spark, checkpoint, operator, batch, "machine").select("value.state").collect()
    states = [bytes(row.state) for row in machines if row.state is not None]
    if is_shared(specification):
        return waiting + sum(Bucket(TimedMachineFactory(specification), state).held for state in states)
    return waiting + sum(create_machine(specification, state).held for state in states)


def _held_in_java(spark: SparkSession, checkpoint: Path, operator: int, batch: int, specification: str) -> int:
    java = kernel.kernel_package(spark).Kernel
    states = _state(spark, checkpoint, operator, batch, "state").select("value.value").collect()
    held = sum(java.held(specification, bytes(row.value)) for row in states)
    if json.loads(specification)["machine"] == "slide":
        return held
    rows = _state(spark, checkpoint, operator, batch, "waiting").select("value.value").collect()
    return held + sum(java.waiting(bytes(row.value)) for row in rows)


def _state(spark: SparkSession, checkpoint: Path, operator: int, batch: int, name: str) -> Any:
    reader = spark.read.format("statestore").option("operatorId", operator).option("batchId", batch)
    return reader.option("stateVarName", name).load(str(checkpoint))
