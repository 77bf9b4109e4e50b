"""The judges themselves: with one rule of a document turned round, a judge must disagree with the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.holdout import sneeql_meaning, sneeql_questions, test_cql, test_sneeql, test_sparql
from tests.holdout.cql import meaning as cql_meaning
from tests.holdout.cql import questions as cql_questions
from tests.holdout.cql import windows
from tests.holdout.sparql import meaning as sparql_meaning
from tests.holdout.sparql import questions as sparql_questions
from tests.holdout.sql import Row

Fault = tuple[Any, str, Callable[..., Any]]


def as_sets(left: list[Row], right: list[Row]) -> list[Row]:
    """Converters that compare sets."""
    return [row for row in left if row not in right]


def latest_pair(left: Any, right: Any) -> Any:
    """A product that pairs only the last window of each side (against Fig. 7)."""
    pairs: dict[int, Any] = dict(PRODUCT(left, right))
    return list(pairs.items())


def half_open(way: int, high: int, length: int, earth: bool) -> bool:
    """A distance window without its lower end (against Sec. 3.2.2)."""
    return max(high - length, 0) < way <= high


def every_mark(arrivals: list[int], mark: Callable[[int], int], before: int) -> list[tuple[int, int]]:
    """A distance window at every arrival, not every mark."""
    return [(tick, mark(tick)) for tick in arrivals if mark(tick) >= 0]


def algorithm_2(rows: Any, window: Any) -> Any:
    """The end of Algorithm 2, which differs from Definition 3 where the slide does not divide the width."""
    if window is None or window.elements is not None:
        return VALID(rows, window)
    return [
        sparql_meaning.Valid(s, t, t // window.slide * window.slide + window.width)
        for t, s in sorted(rows, key=lambda row: row[0])
    ]


def one_more(rows: Any, window: Any) -> Any:
    """ELEMS c that keeps c + 1 elements (against R5)."""
    if window is None or window.elements is None:
        return VALID(rows, window)
    return VALID(rows, sparql_meaning.Window(elements=window.elements + 1))


def straight(tuples: Any, earth: bool) -> Any:
    """The place instead of the way: zero for all."""
    return list(tuples)


PRODUCT = sneeql_meaning._product
VALID = sparql_meaning.valid
FAULTS: dict[str, tuple[Any, Any, list[Fault]]] = {
    "sneeql sets": (sneeql_questions, test_sneeql, [(sneeql_meaning, "without", as_sets)]),
    "sneeql latest pair": (sneeql_questions, test_sneeql, [(sneeql_meaning, "_product", latest_pair)]),
    "cql sets": (cql_questions, test_cql, [(cql_meaning, "without", as_sets)]),
    "cql half open": (cql_questions, test_cql, [(windows, "_between", half_open)]),
    "cql every mark": (cql_questions, test_cql, [(windows, "_growing", every_mark)]),
    "cql no way": (cql_questions, test_cql, [(windows, "with_ways", straight)]),
    "sparql algorithm 2": (sparql_questions, test_sparql, [(sparql_meaning, "valid", algorithm_2)]),
    "sparql one more": (sparql_questions, test_sparql, [(sparql_meaning, "valid", one_more)]),
}


@pytest.mark.nightly
@pytest.mark.parametrize("fault", FAULTS)
def test_a_judge_with_a_fault_disagrees(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    questions, judges, patches = FAULTS[fault]
    for module, name, function in patches:
        monkeypatch.setattr(module, name, function)
    for number in range(300):
        try:
            judges.judge(questions.question(number))
        except AssertionError:
            return
    pytest.fail(f"300 questions do not notice the fault {fault}")
