"""The hand-derived cases of calendar windows on the reference engine, with the optimizer on and off."""

from __future__ import annotations

import pytest

import transom
from tests.calendar_windows.golden import GoldenCase, golden_cases
from tests.cases import answer_of
from tests.oracle.compare import same


def test_no_case_is_lost() -> None:
    assert [case.name[:3] for case in golden_cases()] == [f"k{number:02}" for number in range(1, 11)]


@pytest.mark.parametrize("optimize", [True, False], ids=["optimised", "as-written"])
@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_answer(case: GoldenCase, optimize: bool) -> None:
    assert same(answer_of(case.compile(optimize=optimize), case), case.expected) is None


@pytest.mark.parametrize("case", golden_cases(), ids=lambda case: case.name)
def test_text_round_trips(case: GoldenCase) -> None:
    query = case.compile()
    again = transom.compile(query.format(), query.catalog, language=case.language)
    assert again.algebra == query.algebra
