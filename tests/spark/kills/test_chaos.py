"""A kill of nearly every shape, several at once, with the kernel and without; `just chaos` makes ten of each."""

from __future__ import annotations

import os
from pathlib import Path as File
from typing import Any

import pytest

from tests.spark.kills.chaos import is_inside, last_entry, try_shapes
from tests.spark.kills.shapes import KILLED, SHAPES
from tests.spark.kills.shapes_composed import NESTED
from tests.spark.kills.shapes_cql import MOVING
from tests.spark.kills.shapes_rdf import ALL
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import Executor, KernelMode

FLAT, SOME = list(KILLED), list(SHAPES)
TRIED: list[tuple[list[str], KernelMode]] = [
    ([FLAT[0], "rdf_join"], "on"),
    (SOME[1:2], "off"),
]
NIGHTLY: list[tuple[list[str], KernelMode]] = [
    (FLAT[:4], "on"),
    (FLAT[4:], "on"),
    (list(MOVING), "on"),
    (["rdf_join", "rdf_optional", "rdf_elems"], "on"),
    (SOME[:3], "off"),
    (SOME[3:], "off"),
]


@pytest.mark.covers("kill:kernel", "kill:python", "kill:sparql")
@pytest.mark.parametrize(
    ("shapes", "kernel"),
    [*TRIED, *(pytest.param(*group, marks=pytest.mark.nightly) for group in NIGHTLY)],
    ids=lambda given: given if isinstance(given, str) else "-".join(given),
)
def test_killed_queries_go_on_as_if_nothing_had_been(spark: Any, shapes: list[str], kernel: KernelMode) -> None:
    seed = int(os.environ.get("TRANSOM_CHAOS_SEED", "1"))
    outcomes = try_shapes(spark, shapes, seed, kills=1, files=6, kernel=kernel)
    for outcome in outcomes:
        print(outcome)
        assert outcome.wrong is None
        assert outcome.tuples > 5
    assert sum(outcome.kills for outcome in outcomes) >= len(shapes) - 1  # the quickest may have been done


@pytest.mark.nightly
def test_compositions_that_are_killed_five_times_go_on(spark: Any) -> None:
    for outcome in try_shapes(spark, list(NESTED), seed=1, kills=5, files=16):
        print(outcome)
        assert outcome.wrong is None
        assert outcome.kills == 5
        assert outcome.tuples > 5


def test_every_machine_of_the_kernel_is_killed() -> None:
    """RowNumber is the machine `order`, RowWindow `window`, WindowDiff, Sort and SequenceToChanges `change`, ChangeJoin
    `join` and `matches`, Distinct `matches`, WindowProduct and CombineRelations `product`."""
    plans = [shape.query().physical(kernel=True) for shape in ALL.values()]
    seen = {type(node).__name__ for plan in plans for node in walk(plan) if node.decision.executor is Executor.KERNEL}
    of_time = {
        "ReadClock",
        "RowNumber",
        "RowWindow",
        "WindowDiff",
        "SlidingWindowAggregate",
        "IntervalJoin",
        "WindowProduct",
    }
    of_space = {"SpeedLimitExec", "KeyedWindowAggregate", "KeyedWindow"}
    assert seen == of_time | of_space | {"ChangeJoin", "Distinct", "Sort", "SequenceToChanges"}


def test_a_kill_inside_a_micro_batch_is_told_from_one_between_two(tmp_path: File) -> None:
    for log, entries in (("offsets", (0, 1)), ("commits", (0,))):
        (tmp_path / "spark" / log).mkdir(parents=True)
        for entry in entries:
            (tmp_path / "spark" / log / str(entry)).touch()
            (tmp_path / "spark" / log / f".{entry}.crc").touch()
    assert is_inside(tmp_path)
    (tmp_path / "spark" / "commits" / "1").touch()
    assert not is_inside(tmp_path)
    assert last_entry(tmp_path / "nowhere") == -1
