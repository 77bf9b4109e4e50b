"""Windows and the left join against their definitions and algorithms, written down here a second time."""

from __future__ import annotations

import heapq
import random
from collections import Counter

import pytest

from tests.rdf.build import bgp, call, inputs, rows, select, statement, term, v
from transom.algebra.rdf.solutions import left_join, union
from transom.algebra.rdf.statements import element_window, range_window, rdf_stream
from transom.algebra.sources import Values
from transom.model.bag import Element
from transom.model.rdf.answer import intervals, merge_equal_neighbours
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import Triple, integer
from transom.reference.rdf.evaluate import InstantSnapshot, evaluate, valid_elements
from transom.reference.relations import snapshot
from transom.reference.sources import Inputs
from transom.reference.windows import validity, window


def definition_3(arrivals: list[int], width: int, slide: int, t: int) -> Counter[int]:
    """Which arrivals are in the window at t: the smallest i with t < i*slide decides (R3)."""
    i = next(i for i in range(t + 2) if t < i * slide)
    return Counter(c for c in arrivals if max(i * slide - width, 0) <= c <= t)


@pytest.mark.parametrize("width", range(1, 9))
def test_range_windows_are_definition_3(width: int) -> None:
    arrivals = [0, 1, 1, 4, 6, 7, 11]
    given = inputs({"s": [(c, ":a", ":p", c) for c in arrivals]})
    for slide in range(1, width + 1):
        held = valid_elements(range_window(rdf_stream("s"), width, slide), given)
        for t in range(24):
            found = Counter(e.start for e in held if e.at(t))
            assert found == definition_3(arrivals, width, slide, t), (width, slide, t)


@pytest.mark.parametrize("count", range(1, 6))
def test_element_windows_hold_the_last_ones(count: int) -> None:
    arrivals = [(3, 1), (0, 2), (3, 3), (3, 4), (5, 5), (9, 6), (9, 7)]
    held = valid_elements(
        element_window(rdf_stream("s"), count), inputs({"s": [(c, ":a", ":p", n) for c, n in arrivals]})
    )
    for t in range(12):
        seen = [n for c, n in sorted(arrivals, key=lambda arrival: arrival[0]) if c <= t]
        assert [e.payload[2] for e in held if e.at(t)] == [term(n) for n in seen[-count:]]


@pytest.mark.parametrize("seed", range(40))
def test_intervals_are_the_windows_of_every_tick(seed: int) -> None:
    """The elements with their intervals say the same as a bag per tick, which is what the operator means."""
    chance = random.Random(seed)
    ticks = sorted(chance.randint(0, 20) for _ in range(chance.randint(0, 12)))
    elements = [Element(tick, number, (f'"{number}"',) * 3) for number, tick in enumerate(ticks, start=1)]
    slide = chance.randint(1, 4)
    for op in (
        range_window(rdf_stream("s"), slide + chance.randint(0, 8), slide),
        element_window(rdf_stream("s"), chance.randint(1, 4)),
    ):
        bags = window(op, elements, Inputs(until=40))
        for t in range(40):
            held = {e.row for e, start, end in validity(op, elements) if start <= t and (end is None or t < end)}
            assert held == set(next((bag.rows for bag in reversed(bags) if bag.tick <= t), ())), (op, t)


Interval = tuple[Solution, int, int]


def drawn(chance: random.Random, names: str, count: int) -> list[Interval]:
    """Solutions with intervals of any length."""
    found: list[Interval] = []
    for _ in range(chance.randint(0, count)):
        bound = {name: integer(chance.randint(0, 1)) for name in names if chance.random() < 0.8}
        start = chance.randint(0, 8)
        found.append((Solution.of(bound), start, start + chance.randint(1, 6)))
    return found


def holds(pair: Solution) -> bool:
    """A condition that needs both sides: z is not y, and both are bound."""
    return pair.get("z") is not None and pair.get("z") != pair.get("y")


CONDITION = call("&&", call("BOUND", "?z"), call("!", call("COALESCE", call("sameTerm", "?z", "?y"), call("=", 1, 2))))


class Swept:
    """The left join as an algorithm over intervals in order of start, corrected: cover only grows, all is flushed."""

    def __init__(self) -> None:
        self.left: list[list[object]] = []
        self.right: list[Interval] = []
        self.heap: list[tuple[int, int, Interval]] = []
        self.out: list[Interval] = []

    def run(self, left: list[Interval], right: list[Interval], ties: random.Random) -> list[Interval]:
        feed = [(one, 1) for one in left] + [(one, 2) for one in right]
        ties.shuffle(feed)
        for one, side in sorted(feed, key=lambda fed: fed[0][1]):
            self.progress(one[1])
            if side == 1:
                element: list[object] = [one, one[1]]
                for other in self.right:
                    self.pair(element, other)
                self.left.append(element)
            else:
                for element in self.left:
                    self.pair(element, one)
                self.right.append(one)
        self.progress(10**9)
        return self.out

    def put(self, solution: Solution, start: int, end: int) -> None:
        heapq.heappush(self.heap, (start, len(self.heap) + 1000 * len(self.out), (solution, start, end)))

    def progress(self, reached: int) -> None:
        for element in list(self.left):
            (solution, _, end), cover = element
            if end <= reached:  # type: ignore[has-type]
                self.left.remove(element)
                if cover < end:  # type: ignore[operator]
                    self.put(solution, cover, end)  # type: ignore[arg-type]
        self.right = [one for one in self.right if one[2] > reached]
        bound = min([reached, *(element[1] for element in self.left)])  # type: ignore[type-var]
        while self.heap and self.heap[0][0] <= bound:  # type: ignore[operator]
            self.out.append(heapq.heappop(self.heap)[2])

    def pair(self, element: list[object], other: Interval) -> None:
        (solution, begin, stop), cover = element  # type: ignore[misc]
        start, end = max(begin, other[1]), min(stop, other[2])
        if start >= end or not solution.compatible(other[0]) or not holds(solution.merge(other[0])):
            return
        if start > cover:
            self.put(solution, cover, start)
        self.put(solution.merge(other[0]), start, end)
        element[1] = max(cover, end)


def canonical(found: list[Interval]) -> tuple[Valid[Solution], ...]:
    points = sorted({0, *(t for _, start, end in found for t in (start, end))})
    return intervals(points, lambda t: [s for s, a, b in found if a <= t < b], str)


def test_left_join_is_the_corrected_algorithm() -> None:
    for seed in range(600):
        chance = random.Random(seed)
        left, right = drawn(chance, "xy", 5), drawn(chance, "xz", 5)
        points = sorted({0, *(t for _, start, end in left + right for t in (start, end))})

        def at(t: int, left: list[Interval] = left, right: list[Interval] = right) -> list[Solution]:
            sides = [
                tuple(tuple(map(s.get, names)) for s, a, b in side if a <= t < b)
                for side, names in ((left, "xy"), (right, "xz"))
            ]
            plan = left_join(Values(v("x y"), ()), Values(v("x z"), ()), CONDITION)
            return [
                Solution.from_row("xyz", row) for row in snapshot(plan, sides, InstantSnapshot(inputs(), {}, t).scopes)
            ]

        swept = Swept().run(left, right, chance)
        assert [start for _, start, _ in swept] == sorted(start for _, start, _ in swept)
        assert canonical(swept) == intervals(points, at, str), seed


def test_left_join_whose_right_ends_are_not_in_order() -> None:
    plan = select("z", left_join(bgp("?x :p ?y", (20, 1)), union(bgp("?x :q ?z", (9, 1)), bgp("?x :r ?z", (2, 1)))))
    given = inputs({"s": [(0, ":a", ":p", 1), (1, ":a", ":q", 5), (3, ":a", ":r", 6), (4, ":a", ":r", 6)]})
    assert rows(evaluate(plan, given)) == [
        [0, 1, 1, None],
        [1, 10, 1, term(5)],
        [3, 4, 1, term(6)],
        [4, 5, 2, term(6)],
        [5, 6, 1, term(6)],
        [10, 20, 1, None],
    ]


def test_runs_are_as_long_as_they_can_be() -> None:
    one: Triple = statement((":a", ":p", 1))
    assert merge_equal_neighbours([0], [True]) == [(True, 0, None)]
    assert intervals([0, 2, 5], lambda t: [one] * (2 if t < 5 else 1), str) == (
        Valid(one, 0, 5, 2),
        Valid(one, 5, None, 1),
    )
    assert intervals([0, 2], lambda t: [one] if t < 2 else [], str) == (Valid(one, 0, 2, 1),)
