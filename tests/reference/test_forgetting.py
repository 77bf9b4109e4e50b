"""`forget_after`: an object that is silent for longer is forgotten, and new if it comes again (E8)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import transom
from tests.reference.forgetting import CATALOG, QUESTIONS, declared, given
from transom.algebra.cql_windows import last_rows_window
from transom.algebra.sources import StreamReceive
from transom.algebra.streams import SpeedLimit
from transom.algebra.tree import walk
from transom.algebra.windows import Window
from transom.errors import PlanError
from transom.model.schema import Attribute, Schema
from transom.model.types import Type

SILENT = [(0, 0.0, "a", 1), (1, 6.0, "a", 1), (5, 9.0, "a", 0), (10, 500.0, "a", 1)]
"""Ticks 2 to 4 without a row are 3, and no more than that; ticks 6 to 9 are 4, and at tick 9 the car is forgotten."""


def asked(text: str, rows: list[tuple[Any, ...]], until: int = 14) -> list[tuple[Any, ...]]:
    answer = transom.compile(text, CATALOG, language="cql").simulate({"cars": rows}, until=until)
    return [(element.tick, *element.row) for element in answer.elements]


def test_rows_and_windows_are_gone() -> None:
    """The rows of a forgotten object go at the tick after the last that it may be silent; those that come are new."""
    assert asked("SELECT DStream(x) FROM cars [PARTITION BY id ROWS 2]", SILENT) == [
        (5, 0.0), (9, 6.0), (9, 9.0), (14, 500.0)
    ]  # fmt: skip
    assert asked("SELECT RStream(x) FROM cars [PARTITION BY id ROWS 2]", SILENT) == [
        (0, 0.0), (1, 0.0), (1, 6.0), (5, 6.0), (5, 9.0), (10, 500.0)
    ]  # fmt: skip


def test_no_window_comes_while_an_object_is_forgotten() -> None:
    """Windows by time come for a silent object until it is forgotten, and again when it is back."""
    counted = "SELECT {}(COUNT(*)) FROM cars [PARTITION BY id RANGE '10 seconds']"
    counts = asked(counted.format("RStream"), SILENT)
    assert [tick for tick, _ in counts] == [0, 1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13]
    assert [count for _, count in counts] == [1, 2, 2, 2, 2, 3, 3, 3, 3, 1, 1, 1, 1]
    assert asked(counted.format("DStream"), SILENT) == [(1, 1), (5, 2), (9, 3), (14, 1)]


def test_the_way_begins_anew_and_no_leap_is_too_far() -> None:
    """From 9 m to 500 m in five seconds is too fast, but not for an object that nobody remembers."""
    ways = asked(
        "SELECT RStream(x) FROM cars [PARTITION BY id RANGE BY '20 m' RATTR SPACE, SLIDE BY '5 m' SATTR SPACE]", SILENT
    )
    assert ways == [(0, 0.0), (1, 0.0), (10, 500.0)]
    sooner = [*SILENT[:3], (9, 500.0, "a", 1)]
    assert asked("SELECT RStream(x) FROM cars [PARTITION BY id ROWS 1]", sooner) == [(0, 0.0), (1, 6.0), (5, 9.0)]


def test_relations_do_not_see_what_is_forgotten() -> None:
    """At tick 9 a is forgotten, and b is alone in the relation of both."""
    rows = sorted([*SILENT, (8, 1.0, "b", 1), (9, 2.0, "b", 1)], key=lambda row: row[0])
    joined = "SELECT RStream(a.id, b.id) FROM cars AS a [PARTITION BY id ROWS 1], cars AS b [PARTITION BY id ROWS 1]"
    assert [row for row in asked(joined, rows, 9) if row[0] >= 8] == [
        (8, "a", "a"), (8, "a", "b"), (8, "b", "a"), (8, "b", "b"), (9, "b", "b")
    ]  # fmt: skip


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_end_of_time_changes_nothing_before_it(name: str) -> None:
    """What is told of a tick depends on no later one."""
    for seed in range(4):
        rows = given(seed)
        whole = asked(QUESTIONS[name], rows, 26)
        for end in (5, 11, 17):
            now = asked(QUESTIONS[name], [row for row in rows if row[0] <= end], end)
            assert now == [row for row in whole if row[0] <= end]
        assert whole


def test_what_forgets() -> None:
    """Windows of keys and limits of speed do, through subqueries too; windows of a whole stream do not."""
    deep = "SELECT RStream(x) FROM (SELECT RStream(x, id) FROM cars [NOW]) AS c [PARTITION BY id ROWS 2]"
    for text, wanted in (
        ("SELECT RStream(x) FROM cars [PARTITION BY id ROWS 2]", 3),
        ("SELECT RStream(x) FROM cars [ROWS 2]", None),
        (deep, None),
    ):
        plan = transom.compile(text, CATALOG, language="cql").optimized
        windows = [op for op in walk(plan) if isinstance(op, Window)]
        assert windows[0].forget_after == wanted, text
        assert [op.forget_after for op in walk(plan) if isinstance(op, SpeedLimit)] == [3], text
    schema = Schema((Attribute("id", Type.STRING, "cars"),))
    with pytest.raises(PlanError, match="only keys are forgotten"):
        replace(last_rows_window(StreamReceive("cars", schema), 1), forget_after=3)


def test_explain_says_what_is_only_promised() -> None:
    """A bound that rests on promises of the catalog names them; forgetting is kept by the engine."""
    text = "SELECT RStream(x) FROM cars [PARTITION BY id RANGE BY '20 m' RATTR SPACE, SLIDE BY '5 m' SATTR SPACE]"
    hints = {"keys": 7, "max_rows_per_key": 9, "rate": "2 per s"}
    query = transom.compile(text, declared(**hints), language="cql")
    for stage in ("optimized", "plan"):
        assert "promised by the catalog keys(cars), max_rows_per_key(cars)" in query.explain(stage)  # type: ignore[arg-type]
    assert query.state.promises == ("keys(cars)", "max_rows_per_key(cars)")
    assert query.state.rows == 7 + 7 * 9 + 7
    forgetting = transom.compile(
        "SELECT RStream(x) FROM cars [PARTITION BY id ROWS 2]", declared(rate="2 per s"), language="cql"
    )
    assert forgetting.state.promises == ()
    assert forgetting.state.rows == 2 * 4 + 2 * (2 * 4), "the keys of four ticks, of each a place and two rows"
