"""`transom state`: what it prints, and which folders it refuses before Spark starts."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.cli.test_app import transom
from transom.cli.state.show import state_lines, to_json
from transom.machines.entries import StateEntry
from transom.runtime.state.reading import CheckpointState, NodeState, StoredState
from transom.runtime.state.stores import Kept

ENTRIES = (
    StateEntry("row", 0, None, 1, (7, "north", 31)),
    StateEntry("side", 1, 12, 2, (None,)),
    StateEntry("count", 0, 12, 5, None),
)
STATE = CheckpointState(
    12,
    20_000,
    (
        NodeState(
            "KeyedWindow(key=[id])",
            "4 * 3 = 12",
            12,
            (StoredState(0, "transformWithStateExec", Kept(4, {"row": 1200, "count": 4}, 1200, ENTRIES)),),
            ("id", "side"),
        ),
        NodeState("IntervalJoin()", "rate(road) * 2 s", None, (StoredState(1, "symmetricHashJoin", None, "no."),)),
        NodeState("operator 2 of Spark", None, None, (StoredState(2, "dedupe", Kept(None, {}, 0)),)),
    ),
)


def test_text() -> None:
    assert list(state_lines(STATE, None)) == [
        "micro-batch 12, watermark 1970-01-01T00:00:20.000Z",
        "KeyedWindow(key=[id])",
        "  1,200 of at most 12 rows",
        "  transformWithStateExec: keys 4, row 1,200, count 4",
        "IntervalJoin()",
        "  an unknown number of rows, bound: rate(road) * 2 s",
        "operator 2 of Spark",
        "  0 rows",
        "  dedupe: nothing",
    ]
    assert list(state_lines(STATE, "7"))[4:7] == [
        '    row: id=7, side="north", 31',
        "    side of side 1 at tick 12 x 2: null",
        "    count at tick 12 x 5",
    ]
    assert list(state_lines(CheckpointState(0, 0, ()), None))[1:] == ["the query keeps no state"]


def test_json() -> None:
    nodes = to_json(STATE, "7")["nodes"]
    assert nodes[0]["bound"] == {"rows": 12, "formula": "4 * 3 = 12"}
    assert nodes[0]["operators"][0]["parts"] == {"row": 1200, "count": 4}
    assert nodes[0]["operators"][0]["entries"][1] == {
        "part": "side",
        "side": 1,
        "tick": 12,
        "copies": 2,
        "values": (None,),
    }
    assert nodes[1]["operators"] == [{"id": 1, "name": "symmetricHashJoin", "not_decoded": "no."}]
    assert "entries" not in to_json(STATE, None)["nodes"][0]["operators"][0]


def test_folder_that_is_no_checkpoint(tmp_path: Path) -> None:
    refused = transom("state", tmp_path)
    assert refused.returncode == 3
    assert refused.stderr.splitlines()[0] == f"error: {tmp_path} is not a checkpoint"
    (tmp_path / "plan.json").write_text("{")
    assert "the checkpoint is damaged" in transom("state", tmp_path).stderr
