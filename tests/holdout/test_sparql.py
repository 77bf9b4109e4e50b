"""The reference engine against the hold-out judge of Streaming SPARQL."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from tests.holdout.judging import judge_each
from tests.holdout.sparql.meaning import canonical
from tests.holdout.sparql.questions import FAMILIES, Question, question

PLAIN = 40
PARTS = 30
EACH = 40


def found_by(answer: Any) -> Any:
    """The engine's answer in the judge's form."""
    match answer.kind:
        case "boolean":
            return [(one.value, one.start, one.end) for one in answer.truth]
        case "sequences":
            return [
                ([tuple(map(canonical, answer.terms(row))) for row in one.solutions], one.start, one.end)
                for one in answer.sequences
            ]
        case "triples":
            return sorted(
                (
                    (tuple(map(canonical, (one.payload.subject, one.payload.predicate, one.payload.object)))),
                    one.start,
                    one.end,
                    one.n,
                )
                for one in answer.triples
            )
        case _:
            return [
                (tuple(map(canonical, answer.terms(one.payload))), one.start, one.end, one.n)
                for one in answer.solutions
            ]


def judge(asked: Question) -> bool:
    """Compare the answers; whether there is anything in them."""
    query = transom.compile(asked.text, transom.Catalog.from_dict(asked.catalog), language="sparql")
    answer = query.simulate(asked.inputs)
    found = found_by(answer)
    shown = f"{asked.number} {asked.family}\n{asked.text}\n{asked.catalog}\n{asked.inputs}"
    assert answer.kind == asked.kind, shown
    if isinstance(asked.expected, set):
        more, less = [one for one in found if one not in asked.expected], asked.expected - set(found)
        assert not more, f"{shown}\nmore {more}\nless {less}"
        assert not less, f"{shown}\nless {less}"
        assert len(found) == len(asked.expected), shown
        return bool(asked.expected)
    assert found == asked.expected, f"{shown}\nfound    {found}\nexpected {asked.expected}"
    return any(one[0] for one in asked.expected)


def judge_all(numbers: range) -> None:
    judge_each("SPARQL", [question(number) for number in numbers], FAMILIES, judge)


def test_some_questions() -> None:
    judge_all(range(PLAIN))


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(PARTS))
def test_all_questions(part: int) -> None:
    judge_all(range(part * EACH, (part + 1) * EACH))
