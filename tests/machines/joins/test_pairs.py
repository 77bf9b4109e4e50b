"""Pairs of stays against their definition, in Python and in Java."""

from __future__ import annotations

import random
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest

from tests.machines.windows.slide_driver import Java, Script, java, pairs_in_python, plain
from transom.errors import DataError, PlanError
from transom.machines import codec
from transom.machines.joins.pairs import IntervalJoinMachine
from transom.model.bag import Row

CASES = 4000


def random_script(rng: random.Random) -> Script:
    """Rows tick by tick: stays of one length, of two, or of any; ticks that close without rows; restarts."""
    lengths = rng.choice([[3], [5, 5], [2, 9], [1, 2, 3, 4, 12], [10**9, 1]])
    sides = rng.choice([[0, 1], [0, 1], [0, 0, 1], [1]])
    script: Script = []
    tick, count = rng.randint(-5, 5), 0
    for _ in range(rng.randrange(14)):
        tick += rng.choice([1, 1, 1, 2, 4, 40])
        rows = []
        for _ in range(rng.choice([0, 1, 1, 2, 4])):
            count += 1
            values: Row = (count, rng.choice([None, True, "é\U0001f600", 0.1, Decimal("1.5")]))
            side = rng.choice(sides)
            rows.append((side, (tick + rng.choice(lengths), *values[: 2 - side])))
        script.append(("feed", tick, rows))
        if rng.random() < 0.3:
            script.append(("restart",))
        if rng.random() < 0.2:
            tick += rng.randrange(4)
            script.append(("close", tick))
    return script


def expected(script: Script) -> Iterator[Any]:
    """What a script should be answered with: of all pairs there ever were, those whose later row is new."""
    stays: list[tuple[int, int, Row]] = []
    for word, *rest in script:
        if word == "feed":
            tick, rows = rest
            stays += [(side, tick, row) for side, row in rows]
            lefts, rights = ([stay for stay in stays if stay[0] == side] for side in (0, 1))
            pairs = [
                (tick, (min(left[0], right[0]), *left[1:], *right[1:]))
                for _, came, left in lefts
                for _, other, right in rights
                if max(came, other) == tick and left[0] > tick and right[0] > tick
            ]
            yield pairs, sum(row[0] > tick for _, _, row in stays)
        elif word == "close":
            yield sum(row[0] > rest[0] + 1 for _, _, row in stays)


@pytest.fixture(scope="module", params=[CASES // 8, pytest.param(CASES, marks=pytest.mark.kernel)])
def answered(request: pytest.FixtureRequest) -> list[tuple[Script, Any]]:
    """Cases with what their definition says: an eighth, and all of them where Java is tried too."""
    scripts = [random_script(random.Random(seed)) for seed in range(request.param)]
    return [(script, plain(list(expected(script)))) for script in scripts]


@pytest.fixture(scope="module")
def in_java(tmp_path_factory: pytest.TempPathFactory) -> Java:
    return java(tmp_path_factory.mktemp("classes"))


def test_python(answered: list[tuple[Script, Any]]) -> None:
    count = 0
    for seed, (script, said) in enumerate(answered):
        assert plain(pairs_in_python(script)) == said, f"seed {seed}"
        count += sum(len(entry[0]) for entry in said if isinstance(entry, list))
    assert count > 5 * len(answered)


@pytest.mark.kernel
def test_java(answered: list[tuple[Script, Any]], in_java: Java) -> None:
    tasks = [{"spec": {"machine": "pairs"}, "script": plain(script)} for script, _ in answered]
    for seed, (said, (_, wanted)) in enumerate(zip(in_java(tasks), answered, strict=True)):
        assert said == wanted, f"seed {seed}"


@pytest.mark.kernel
def test_many_rows_of_any_length(in_java: Java) -> None:
    rng = random.Random(5)
    script: Script = []
    for tick in range(150):
        rows = [(rng.randrange(2), (tick + rng.choice([1, 40, 40, 40, 3]), tick)) for _ in range(3)]
        script += [("feed", tick, rows), *([("restart",)] if tick % 40 == 0 else [])]
    said = plain(list(expected(script)))
    assert plain(pairs_in_python(script)) == said
    assert in_java([{"spec": {"machine": "pairs"}, "script": plain(script)}]) == [said]


@pytest.mark.kernel
def test_what_the_machine_refuses(in_java: Java) -> None:
    with pytest.raises(PlanError, match="it is never valid"):
        list(IntervalJoinMachine().take(5, [(5, 1)], []))
    with pytest.raises(PlanError, match="leaves at a tick"):
        list(IntervalJoinMachine().take(5, [], [("x", 1)]))
    with pytest.raises(DataError, match="has version 7, not 1"):
        IntervalJoinMachine.load(b"\x07")
    with pytest.raises(DataError, match="was given to pairs"):
        IntervalJoinMachine.load(codec.save("join", []))
    scripts: list[Any] = [[["feed", 5, [[0, [5, 1]]]]], [["load", [7, 74]]], [["load", [1, 83]]]]
    tasks = [{"spec": {"machine": "pairs"}, "script": script} for script in scripts]
    said = [answer[-1]["error"] for answer in in_java(tasks)]
    assert "it is never valid" in said[0]
    assert said[1].endswith("the state of pairs has version 7, not 1: start without the old state")
    assert said[2].endswith("start without the old state")
