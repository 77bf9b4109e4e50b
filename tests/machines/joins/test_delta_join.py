"""The machines that join changes, against the joins of the relations at every tick."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import partial
from itertools import product
from typing import Any

import pytest

from tests.machines.twin_cases import comings
from transom.machines.joins.delta_join import DeltaJoin
from transom.machines.joins.match_counter import MatchCounter
from transom.machines.protocol import Emission, InputRow, create_machine, drops_empty_state, sort_inputs
from transom.model.bag import Row

EMITS = ("inner", "left", "anti", "semi", "mark", "candidates")


def one_of(rng: random.Random) -> Row:
    return (rng.choice("ab"),)


def meaning(emit: str, bags: list[Counter[Row]]) -> Counter[tuple[int, Row]]:
    """What is there: pairs (1) and left rows (0)."""
    found: Counter[tuple[int, Row]] = Counter()
    if emit in ("inner", "left", "candidates"):
        for rows in product(*(bag.elements() for bag in bags)):
            found[1, tuple(value for row in rows for value in row)] += 1
    matched = bool(bags[1])
    wanted = {"left": not matched, "anti": not matched, "semi": matched}.get(emit, emit != "inner")
    more: Row = {"left": (None,), "candidates": (None,), "mark": (matched,)}.get(emit, ())
    if wanted:
        for row, count in bags[0].items():
            found[0, row + more] += count
    return found


@pytest.mark.parametrize(("emit", "places"), [*((emit, 2) for emit in EMITS), ("inner", 3)])
def test_emitted_changes_add_up_to_the_join(emit: Any, places: int) -> None:
    told: Counter[str] = Counter()
    for seed in range(150):
        rng = random.Random(f"{emit} {seed}")
        spec = json.dumps({"machine": "join", "emit": emit, "widths": [1] * places})
        machine, shown = create_machine(spec), Counter[tuple[int, Row]]()
        bags: list[Counter[Row]] = [Counter() for _ in range(places)]
        there: list[list[Row]] = [[] for _ in range(places)]
        for tick in range(8):
            arrivals = []
            for side in range(places):
                arrivals += comings(rng, side, partial(one_of, rng), there[side])
            for arrival in arrivals:
                bags[arrival.side][arrival.row] += arrival.sign
            if any(count < 0 for bag in bags for count in bag.values()):
                with pytest.raises(ValueError, match="a row is retracted that was never added"):
                    list(machine.feed(tick, sort_inputs(arrivals)))
                break
            for one in machine.feed(tick, sort_inputs(arrivals)):
                assert one.row is not None
                shown[one.seq, one.row] += one.number
                told["changes"] += 1
            assert {k: n for k, n in shown.items() if n} == meaning(emit, [+bag for bag in bags])
            assert machine.held == sum(bag.total() for bag in bags)
            if rng.random() < 0.4:
                machine = create_machine(spec, machine.save())
    assert told["changes"] > 300


def test_window_markers_pass_once_per_tick() -> None:
    for spec in ({"machine": "join", "emit": "inner", "widths": [1, 1]}, {"machine": "matches", "emit": "semi"}):
        machine = create_machine(json.dumps(spec | {"padding": 0}))
        marker = InputRow(0, 1, False, 1, None, (), (None,))
        row = InputRow(0, 1, True, 1, None, (), ("a",))
        assert list(machine.feed(3, [marker, row, marker])) == [Emission(1, False, 0, None)]
        assert list(machine.feed(4, [row])) == []
        assert machine.held == (2 if spec["machine"] == "join" else 1)


def test_left_row_is_emitted_while_no_pair_matches_it() -> None:
    machine = MatchCounter("left", padding=1)
    assert list(machine.take([(0, 2, ("a",))])) == [(0, 2, ("a", None))]
    assert list(machine.take([(1, 2, ("a", "x"))])) == [(1, 2, ("a", "x")), (0, -2, ("a", None))]
    assert list(machine.take([(1, 2, ("a", "y")), (1, -2, ("a", "x"))])) == [(1, -2, ("a", "x")), (1, 2, ("a", "y"))]
    assert list(machine.take([(1, -2, ("a", "y"))])) == [(1, -2, ("a", "y")), (0, 2, ("a", None))]
    assert list(machine.take([(0, -2, ("a",))])) == [(0, -2, ("a", None))]
    assert machine.save() == MatchCounter("left", padding=1).save()
    assert drops_empty_state('{"machine": "matches"}')
    assert not drops_empty_state('{"machine": "order"}')


def test_distinct_semi_and_mark() -> None:
    distinct, semi, mark = MatchCounter("distinct"), MatchCounter("semi"), MatchCounter("mark")
    assert list(distinct.take([(0, 3, ("a",))])) == [(0, 1, ("a",))]
    assert list(distinct.take([(0, -2, ("a",))])) == []
    assert list(distinct.take([(0, -1, ("a",))])) == [(0, -1, ("a",))]
    assert list(semi.take([(0, 3, ("a",))])) == []
    assert list(semi.take([(1, 1, ())])) == [(0, 3, ("a",))]
    assert list(mark.take([(0, 3, ("a",))])) == [(0, 3, ("a", False))]
    assert list(mark.take([(0, -1, ("a",)), (1, 1, ())])) == [(0, -3, ("a", False)), (0, 2, ("a", True))]
    assert list(mark.take([(1, 1, ()), (0, 1, ("a",))])) == [(0, 1, ("a", True))]
    numbered = MatchCounter("numbered")
    assert list(numbered.take([(0, 2, ("a",))])) == [(0, 1, ("a", 0)), (0, 1, ("a", 1))]
    numbered = MatchCounter.load(numbered.save(), "numbered", 0)
    assert list(numbered.take([(0, -1, ("a",))])) == [(0, -1, ("a", 1))]
    assert list(numbered.take([(0, 1, ("a",)), (0, -1, ("a",))])) == []
    with pytest.raises(ValueError, match="a pair is retracted that was never added"):
        list(semi.take([(1, -2, ())]))
    with pytest.raises(ValueError, match="a row is retracted that was never added"):
        list(DeltaJoin([1, 1]).take([(0, -1, ("a",))]))
