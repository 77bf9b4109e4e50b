"""The reference engine against the hold-out judge of SNEEql."""

from __future__ import annotations

import pytest

import transom
from tests.holdout.judging import judge_each
from tests.holdout.sneeql_questions import FAMILIES, Question, question
from tests.holdout.sql import same_bag, same_list

PLAIN = 23
PARTS = 44
EACH = 46


def judge(asked: Question) -> bool:
    """Compare the answers; whether there is anything in them."""
    query = transom.compile(asked.text, transom.Catalog.from_dict(asked.catalog), language="sneeql")
    answer = query.simulate(asked.inputs, asked.evaluation.until, start=asked.evaluation.start)
    shown = f"{asked.number} {asked.family}\n{asked.text}\n{asked.catalog}\n{asked.inputs}\n{asked.evaluation}"
    if asked.evaluation.is_stream(asked.query):
        expected = [(one.tick, one.index, *one.row) for one in asked.evaluation.stream(asked.query)]
        found = [(one.tick, one.index, *one.row) for one in answer.elements]
        assert same_list(found, expected), f"{shown}\nfound    {found}\nexpected {expected}"
        return bool(expected)
    windows = asked.evaluation.windows(asked.query)
    assert [one.tick for one in answer.windows] == [one.tick for one in windows], shown
    for found_window, expected_window in zip(answer.windows, windows):
        assert same_bag(found_window.rows, expected_window.rows), (
            f"{shown}\nat {found_window.tick}\nfound    {found_window.rows}\nexpected {expected_window.rows}"
        )
    return any(one.rows for one in windows)


def judge_all(numbers: range) -> None:
    judge_each("SNEEql", [question(number) for number in numbers], FAMILIES, judge)


def test_some_questions() -> None:
    judge_all(range(PLAIN))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_all_questions(part: int) -> None:
    judge_all(range(part * EACH, (part + 1) * EACH))
