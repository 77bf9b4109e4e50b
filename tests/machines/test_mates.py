"""The machines that bring relations together, against what they mean at every tick."""

from __future__ import annotations

import json
import random
from collections import Counter
from functools import partial
from itertools import product
from typing import Any

import pytest

from tests.machines.twin_cases import comings
from transom.machines.cover import CoverMachine
from transom.machines.mates import MatesMachine
from transom.machines.steps import forgets, in_order, step
from transom.model.bag import Row

TELLS = ("pairs", "outer", "lone", "matched", "asked")


def one_of(rng: random.Random) -> Row:
    return (rng.choice("ab"),)


def meaning(tell: str, bags: list[Counter[Row]]) -> Counter[tuple[int, Row]]:
    """What is there: pairs (1) and left rows (0)."""
    found: Counter[tuple[int, Row]] = Counter()
    if tell in ("pairs", "outer", "asked"):
        for rows in product(*(bag.elements() for bag in bags)):
            found[1, tuple(value for row in rows for value in row)] += 1
    wanted = {"outer": not bags[1], "lone": not bags[1], "matched": bool(bags[1]), "asked": True}.get(tell, False)
    nothing = (None,) if tell in ("outer", "asked") else ()
    if wanted:
        for row, count in bags[0].items():
            found[0, row + nothing] += count
    return found


@pytest.mark.parametrize(("tell", "places"), [*((tell, 2) for tell in TELLS), ("pairs", 3)])
def test_what_is_told_adds_up_to_what_is_there(tell: Any, places: int) -> None:
    told: Counter[str] = Counter()
    for seed in range(150):
        rng = random.Random(f"{tell} {seed}")
        spec = json.dumps({"machine": "mates", "tell": tell, "widths": [1] * places})
        machine, shown = step(spec), Counter[tuple[int, Row]]()
        bags: list[Counter[Row]] = [Counter() for _ in range(places)]
        there: list[list[Row]] = [[] for _ in range(places)]
        for tick in range(8):
            arrivals = []
            for side in range(places):
                arrivals += comings(rng, side, partial(one_of, rng), there[side])
            for arrival in arrivals:
                bags[arrival.side][arrival.row] += arrival.sign
            if any(count < 0 for bag in bags for count in bag.values()):
                with pytest.raises(ValueError, match="a row goes that never came"):
                    list(machine.feed(tick, in_order(arrivals)))
                break
            for one in machine.feed(tick, in_order(arrivals)):
                assert one.row is not None
                shown[one.seq, one.row] += one.place
                told["changes"] += 1
            assert {k: n for k, n in shown.items() if n} == meaning(tell, [+bag for bag in bags])
            assert machine.held == sum(bag.total() for bag in bags)
            if rng.random() < 0.4:
                machine = step(spec, machine.save())
    assert told["changes"] > 300


def test_a_condition_on_pairs_is_covered() -> None:
    machine = CoverMachine("outer", padding=1)
    assert list(machine.take([(0, 2, ("a",))])) == [(0, 2, ("a", None))]
    assert list(machine.take([(1, 2, ("a", "x"))])) == [(1, 2, ("a", "x")), (0, -2, ("a", None))]
    assert list(machine.take([(1, 2, ("a", "y")), (1, -2, ("a", "x"))])) == [(1, -2, ("a", "x")), (1, 2, ("a", "y"))]
    assert list(machine.take([(1, -2, ("a", "y"))])) == [(1, -2, ("a", "y")), (0, 2, ("a", None))]
    assert list(machine.take([(0, -2, ("a",))])) == [(0, -2, ("a", None))]
    assert machine.save() == CoverMachine("outer", padding=1).save()
    assert forgets('{"machine": "cover"}')
    assert not forgets('{"machine": "order"}')


def test_once_and_matched() -> None:
    once, matched = CoverMachine("once"), CoverMachine("matched")
    assert list(once.take([(0, 3, ("a",))])) == [(0, 1, ("a",))]
    assert list(once.take([(0, -2, ("a",))])) == []
    assert list(once.take([(0, -1, ("a",))])) == [(0, -1, ("a",))]
    assert list(matched.take([(0, 3, ("a",))])) == []
    assert list(matched.take([(1, 1, ())])) == [(0, 3, ("a",))]
    with pytest.raises(ValueError, match="a piece ends that never began"):
        list(matched.take([(1, -2, ())]))
    with pytest.raises(ValueError, match="a row goes that never came"):
        list(MatesMachine([1, 1]).take([(0, -1, ("a",))]))
