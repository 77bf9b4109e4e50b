"""The reference engine against the hold-out judge of CQL with windows in space."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import pytest

import transom
from tests.holdout.cql.questions import FAMILIES, Question, question
from tests.holdout.judging import judge_each
from tests.holdout.sql import Row, same_bag

PLAIN = 39
PARTS = 30
EACH = 39
TOLERANCE = 1e-6
"""Metres, km/h and degrees: pyproj and the engine differ by micrometres."""


def plain(value: Any) -> Any:
    """A place as its coordinates."""
    return (value.x, value.y) if hasattr(value, "x") else tuple(value) if isinstance(value, list) else value


def by_tick(rows: list[tuple[int, Row]]) -> dict[int, list[Row]]:
    """The rows of each instant: a stream is a bag."""
    found = defaultdict(list)
    for tick, row in rows:
        found[tick].append(tuple(map(plain, row)))
    return found


def judge(asked: Question) -> bool:
    """Compare the answers; whether there is anything in them."""
    query = transom.compile(asked.text, transom.Catalog.from_dict(asked.catalog), language="cql")
    answer = query.simulate(asked.inputs, asked.until, start=asked.start)
    shown = f"{asked.number} {asked.family}\n{asked.text}\n{asked.catalog}\n{asked.inputs}"
    shown += f"\nfrom {asked.start} until {asked.until}"
    if asked.instants is None:
        found = by_tick([(one.tick, one.row) for one in answer.elements])
    else:
        assert [one.tick for one in answer.windows] == asked.instants, shown
        found = by_tick([(one.tick, row) for one in answer.windows for row in one.rows])
    expected = by_tick(asked.expected)
    for tick in sorted(found.keys() | expected.keys()):
        assert same_bag(found[tick], expected[tick], TOLERANCE), (
            f"{shown}\nat {tick}\nfound    {found[tick]}\nexpected {expected[tick]}"
        )
    return any(expected.values())


def judge_all(numbers: range) -> None:
    judge_each("CQL", [question(number) for number in numbers], FAMILIES, judge)


def test_some_questions() -> None:
    judge_all(range(PLAIN))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_all_questions(part: int) -> None:
    judge_all(range(part * EACH, (part + 1) * EACH))
