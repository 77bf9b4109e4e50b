"""The golden cases that run row by row on Spark have every kind of physical node."""

from __future__ import annotations

import pytest

from tests.covering import LANGUAGES, NODES, Language, covering, greedy, kinds_by_case, wanted

ELSEWHERE = {
    "PeriodWindow": "test_calendar_windows.py",
    "ReadScans": "test_scans.py",
    "TopN": "test_cql_others.py",
    "SpeedLimitExec": "test_cql_others.py",
    "SuppressUnchangedExec": "test_generated_cql.py",
    "WindowsToChanges": "test_generated_cql.py",
    "BindBlankNodes": "test_sparql_cases.py",
    "ReadGraph": "test_rdf_plans.py",
    "PathClosure": "test_sparql_cases.py",
    "SequenceToChanges": "test_rdf_plans.py",
    "MessageStarMatch": "test_rdf_plans.py",
}
"""Nodes that no golden case has, and the file in `tests/spark` that runs them."""


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("language", LANGUAGES)
def test_few_cases_have_every_kind_of_node(language: Language, kernel: bool) -> None:
    shown = wanted(language, kernel=kernel)
    chosen = covering(language, kernel=kernel)
    assert set().union(*(shown[name] for name in chosen)) == set().union(*shown.values())
    assert 3 <= len(chosen) <= len(shown) // 2


def test_together_they_have_every_node_of_the_planner() -> None:
    found = {
        node
        for language in LANGUAGES
        for name in covering(language, kernel=True)
        for node, _, _ in kinds_by_case(language, kernel=True)[name]
    }
    assert {node.__name__ for node in NODES} - found == set(ELSEWHERE)


def test_a_kind_that_is_missing_is_noticed() -> None:
    a, b, c = ("A", "NATIVE", ""), ("A", "NATIVE", "ordered=True"), ("C", "KERNEL", "")
    assert greedy({"one": {a}, "two": {a, b}, "three": {c}}) == ["two", "three"]
    assert greedy({"one": {a}, "two": {a, b, c}}) == ["two"]
