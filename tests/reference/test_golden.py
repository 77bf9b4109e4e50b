"""The hand-derived cases, from text to answer, with the optimizer on and off."""

from __future__ import annotations

import pytest

import transom
from tests.cases import Case, catalog_of, golden_cases, run
from tests.oracle.compare import same
from transom.errors import QueryError

CASES = [*golden_cases("sneeql"), *golden_cases("cql")]
ANSWERS = [c for c in CASES if c.expected["kind"] != "error"]
REJECTIONS = [c for c in CASES if c.expected["kind"] == "error"]
PLACES = {
    "x01-stream-query-with-two-streams": (1, 22, "a"),
    "x02-aggregate-over-a-stream": (1, 8, "MAX(x)"),
    "x03-time-window-on-a-table": (1, 17, "[FROM NOW-5 TO NOW SLIDE 1 SEC]"),
    "x04-scan-on-a-stream": (1, 17, "[SCAN 1 MIN]"),
    "x05-ambiguous-attribute": (1, 8, "x"),
    "x06-distance-range-without-slide": (1, 46, "RANGE BY '50 km' RATTR SPACE"),
    "x07-value-and-domain-disagree": (1, 46, "RANGE BY '50 km' RATTR TIME"),
}
"""Line, column and offending words of every rejection."""


def test_no_case_is_lost() -> None:
    first = {f"s{number:02}" for number in range(1, 32)} | {f"x{number:02}" for number in range(1, 8)}
    assert first | {f"c{number:02}" for number in range(1, 25)} <= {c.name[:3] for c in CASES}
    assert len(ANSWERS) >= 59
    assert len(REJECTIONS) == 7


@pytest.mark.parametrize("optimize", [True, False], ids=["optimised", "as-written"])
@pytest.mark.parametrize("case", ANSWERS, ids=lambda c: c.name)
def test_answer(case: Case, optimize: bool) -> None:
    assert same(run(case, optimize=optimize), case.expected) is None


@pytest.mark.parametrize("case", REJECTIONS, ids=lambda c: c.name)
def test_rejection_names_the_place(case: Case) -> None:
    with pytest.raises(QueryError) as caught:
        transom.compile(case.text, catalog_of(case.schema), language=case.language)
    line, column, words = PLACES[case.name]
    span = caught.value.span
    assert span is not None
    assert caught.value.position == (line, column)
    assert case.text[span.start : span.end] == words
    assert caught.value.hint


def test_a_wrong_answer_is_noticed() -> None:
    case = ANSWERS[0]
    answer = run(case)
    answer["rows"][0][0] += 1
    assert same(answer, case.expected) is not None
