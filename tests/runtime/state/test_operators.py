"""The stateful operators of a plan: how they are found in Spark's plan, numbered, and recorded in a checkpoint."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from transom.errors import CheckpointError
from transom.runtime.checkpoint.sealed import write_sealed
from transom.runtime.state.operators import OPERATORS_FILE, RecordedOperator, read_operators
from transom.runtime.state.reading import _match as match
from transom.runtime.state.stores import Store
from transom.spark.stateful.plan_labels import LabelledOperator, stateful_operators


@dataclass
class Plan:
    """A logical plan as Py4J shows it."""

    name: str
    inputs: Sequence[Plan] = ()
    label: str = ""
    streams: bool = True

    def nodeName(self) -> str:  # noqa: N802
        return self.name

    def alias(self) -> str:
        return self.label

    def isStreaming(self) -> bool:  # noqa: N802
        return self.streams

    def children(self) -> Any:
        return SimpleNamespace(size=lambda: len(self.inputs), apply=lambda n: self.inputs[n])


def labelled(label: str, plan: Plan) -> Plan:
    return Plan("SubqueryAlias", [plan], f"transom {label}")


def operators(plan: Plan) -> list[LabelledOperator] | None:
    execution = SimpleNamespace(analyzed=lambda: plan)
    frame: Any = SimpleNamespace(_jdf=SimpleNamespace(queryExecution=lambda: execution))
    return stateful_operators(frame)


def test_operators_are_numbered_from_the_answer_down() -> None:
    scan, table = Plan("StreamingRelation"), Plan("LocalRelation", streams=False)
    machine = labelled('machine {"machine":"order"}', Plan("SerializeFromObject", [Plan("TransformWithState", [scan])]))
    left = labelled("node 1", Plan("Project", [machine]))
    right = labelled("node 2", Plan("Join", [Plan("Deduplicate", [scan]), table]))
    plan = labelled("node 0", Plan("Aggregate", [Plan("Join", [left, right])]))
    assert operators(plan) == [
        LabelledOperator("stateStoreSave", 0, None),
        LabelledOperator("symmetricHashJoin", 0, None),
        LabelledOperator("transformWithState", 1, '{"machine":"order"}'),
        LabelledOperator("dedupe", 2, None),
    ]
    assert operators(Plan("Deduplicate", [scan])) == [LabelledOperator("dedupe", None, None)]
    assert operators(Plan("Aggregate", [table], streams=False)) == []


def test_a_machine_is_not_that_of_operators_below_it() -> None:
    below = Plan("TransformWithState", [Plan("StreamingRelation")])
    above = labelled("machine {}", Plan("TransformWithState", [labelled("node 1", below)]))
    assert operators(labelled("node 0", above)) == [
        LabelledOperator("transformWithState", 0, "{}"),
        LabelledOperator("transformWithState", 1, None),
    ]


def test_spark_connect_has_no_plan_to_read() -> None:
    frame: Any = SimpleNamespace()
    assert stateful_operators(frame) is None


RECORDED = RecordedOperator("dedupe", 3, "Distinct", "rate(road) * 2 s = 40", 40, None)


def test_record_is_read_or_refused(tmp_path: Path) -> None:
    file = tmp_path / OPERATORS_FILE
    assert read_operators(tmp_path) is None
    write_sealed(file, {"operators": [asdict(RECORDED)]})
    assert read_operators(tmp_path) == [RecordedOperator(**{**asdict(RECORDED), "columns": []})]
    write_sealed(file, {"operators": [{"name": "dedupe"}]})
    with pytest.raises(CheckpointError, match=r"operators.json is not what Transom wrote"):
        read_operators(tmp_path)
    file.write_text(json.dumps({"operators": [], "digest": "0"}))
    with pytest.raises(CheckpointError, match=r"operators.json is not what Transom wrote"):
        read_operators(tmp_path)


def test_operators_of_another_run_are_not_mixed_up() -> None:
    spark: Any = None
    store = Store(spark, "ck", 1, 0, "dedupeWithinWatermark", ())
    assert match([RECORDED], [store]) == ([RECORDED], None)
    for recorded, reason in (
        (None, "does not record"),
        ([RECORDED, RECORDED], "not those of the last run"),
        ([RecordedOperator("stateStoreSave", 1, "", None, None, None)], "not those of the last run"),
    ):
        operators, why = match(recorded, [store])
        assert [operator.title for operator in operators] == ["operator 0 of Spark"]
        assert why is not None
        assert reason in why
