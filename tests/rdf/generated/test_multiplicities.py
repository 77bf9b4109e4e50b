"""Statements that come several times (R7): the reference engine against a second one that counts."""

from __future__ import annotations

import random
from collections import Counter

import pytest

from tests.rdf.build import bgp, call, inputs, v, window, windowed
from tests.rdf.generated import multiplicities
from tests.rdf.stated import Stated
from transom.algebra.expressions.expression import Expression
from transom.algebra.operator import Windows
from transom.algebra.rdf.patterns import BasicGraphPattern
from transom.algebra.rdf.solutions import join, left_join, minus, project, union
from transom.algebra.rdf.statements import StoredGraph, merge_streams, rdf_stream, union_windows
from transom.algebra.relations import WindowDistinct, WindowSelect
from transom.reference.rdf.evaluate import evaluate

LAST = 9
BLOCK = 50


def drawn_inputs(chance: random.Random) -> Stated:
    """Few different statements, so that most come more than once, also at one instant."""

    def one() -> tuple[str, str, int | str]:
        return (chance.choice([":a", ":b"]), chance.choice([":p", ":q"]), chance.choice([1, 2, ":a"]))

    streams = {name: [(chance.randint(0, LAST), *one()) for _ in range(chance.randint(4, 14))] for name in "su"}
    return inputs(streams, g=[one() for _ in range(2)])


def size(chance: random.Random) -> int | tuple[int, int]:
    slide = chance.randint(1, 3)
    return chance.randint(1, 3) if chance.random() < 0.3 else (slide + chance.randint(1, 7), slide)


def source(chance: random.Random) -> Windows:
    stream = rdf_stream(chance.choice("su"))
    both = merge_streams((rdf_stream("s"), rdf_stream("u")))
    mixed = union_windows((StoredGraph(("g",)), window(stream, size(chance))))
    choices: list[Windows] = [window(stream, size(chance)), window(both, size(chance)), StoredGraph(("g",)), mixed]
    return chance.choice([choices[0], choices[0], choices[0], *choices])


def pattern(chance: random.Random) -> Windows:
    """One or two triple patterns over one window, or one with a window of its own."""

    def line() -> str:
        ends = ["?x", "?y", "?z", "_:b"]
        return f"{chance.choice([*ends, ':a'])} {chance.choice([':p', ':q', ':p', '?v'])} {chance.choice([*ends, 1])}"

    if chance.random() < 0.3:
        below = chance.choice([rdf_stream("s"), merge_streams((rdf_stream("s"), rdf_stream("u")))])
        return BasicGraphPattern((windowed(line(), below, size(chance)),))
    return bgp(" . ".join(line() for _ in range(chance.randint(1, 2))), None, on=source(chance))


def condition(chance: random.Random) -> Expression:
    words = ["?x", "?y", "?z", 1]
    return call(chance.choice(["<", ">", "=", "!="]), chance.choice(words), chance.choice(words))


def plan(chance: random.Random, depth: int) -> Windows:
    if depth == 0:
        return pattern(chance)
    left, right = plan(chance, depth - 1), plan(chance, depth - 1)
    match chance.randrange(7):
        case 0:
            return WindowSelect(left, condition(chance))
        case 1:
            return union(left, right)
        case 2:
            return join(left, right)
        case 3:
            return left_join(left, right)
        case 4:
            return left_join(left, right, condition(chance))
        case 5:
            return minus(left, right)
        case _:
            return project(left, v(chance.choice(["x", "y", "x y", "z"])))


def check(seed: int) -> int:
    """One plan, instant by instant; how many solutions came more than once."""
    chance = random.Random(seed)
    given, question = drawn_inputs(chance), plan(chance, chance.randint(0, 2))
    if chance.random() < 0.15:
        question = WindowDistinct(question)
    answer = evaluate(question, given)
    several = 0
    for t in range(LAST + 10):
        here: Counter[multiplicities.Mu] = Counter()
        for one in answer.solutions:
            if one.at(t):
                here[frozenset(one.payload.bindings)] += one.n
        assert here == multiplicities.solutions(question, given, t), (seed, t, question)
        several += sum(n > 1 for n in here.values())
    return several


@pytest.mark.parametrize("block", range(4))
def test_multiplicities(block: int) -> None:
    several = [check(seed) for seed in range(block * BLOCK, (block + 1) * BLOCK)]
    assert sum(several) > BLOCK


@pytest.mark.deep
@pytest.mark.parametrize("block", range(40))
def test_more_multiplicities(block: int) -> None:
    for seed in range(10_000 + block * BLOCK, 10_000 + (block + 1) * BLOCK):
        check(seed)
