"""The reference engine against DuckDB, on generated questions; the two share no code."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.cases import run
from tests.oracle.compare import same
from tests.oracle.constructs import CONSTRUCTS
from tests.oracle.duck import answer
from tests.oracle.generate import generate

IN_CI, DEEP = 600, 3000
PART = 100


def differences(seeds: range) -> list[str]:
    """What the two say differently, and how to get there again."""
    found = []
    for seed in seeds:
        question = generate(seed)
        difference = same(run(question, optimize=False), answer(question))
        if difference is not None:
            found.append(f"seed {seed}: {difference}\n{question.text}")
    return found


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.deep) for n in range(1, IN_CI // PART))])
def test_equal_answers(part: int) -> None:
    assert differences(range(part * PART, (part + 1) * PART)) == []


@pytest.mark.deep
@pytest.mark.parametrize("part", range(IN_CI // PART, (IN_CI + DEEP) // PART))
def test_equal_answers_deep(part: int) -> None:
    assert differences(range(part * PART, (part + 1) * PART)) == []


@pytest.mark.parametrize(("count", "least"), [(IN_CI, 5), (DEEP, 50)])
def test_every_construct_is_met(count: int, least: int) -> None:
    met = Counter(name for seed in range(count) for name in generate(seed).constructs)
    assert {name: met[name] for name in CONSTRUCTS if met[name] < least} == {}
