"""The oracle against the golden cases, and the generator against its promises."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from tests.cases import Case, golden_cases

from .compare import same
from .constructs import CONSTRUCTS
from .duck import answer
from .generate import generate
from .golden_specs import SPECS
from .question import (
    Aggregate,
    Converter,
    Question,
    StreamQuery,
    column_name,
    expressions,
    render,
    subqueries,
    visible_name,
)

SEEDS = range(600)


@pytest.fixture(scope="module")
def cases() -> dict[str, Case]:
    """The SNEEql golden cases by their number."""
    return {case.name[:3]: case for case in golden_cases()}


def _asked(case: Case, number: str) -> Question:
    spec = SPECS[number]
    return Question(-1, case.text, case.schema, case.inputs, case.until, frozenset(), spec)


def _bare(text: str) -> str:
    """A query text without spaces and parentheses, and with one spelling of ROWS."""
    return re.sub(r"[\s()]", "", re.sub(r"\bROW\b", "ROWS", text))


@pytest.mark.parametrize("number", sorted(SPECS))
def test_golden_answer(number: str, cases: dict[str, Case]) -> None:
    """The oracle gives the golden answer."""
    case = cases[number]
    assert same(answer(_asked(case, number)), case.expected) is None


@pytest.mark.parametrize("number", sorted(SPECS))
def test_golden_text(number: str, cases: dict[str, Case]) -> None:
    """The rendered text is the golden query but for spaces and parentheses."""
    assert _bare(render(SPECS[number])) == _bare(cases[number].text)


def test_every_answered_case_is_covered(cases: dict[str, Case]) -> None:
    """No golden case with an answer is left out."""
    answered = {number for number, case in cases.items() if case.expected["kind"] != "error"}
    assert answered == set(SPECS)


def test_generation_is_deterministic() -> None:
    """One seed, one question."""
    for seed in range(0, 600, 7):
        assert generate(seed) == generate(seed)


def test_every_construct_is_met() -> None:
    """Every construct is met often enough."""
    met = Counter(name for seed in SEEDS for name in generate(seed).constructs)
    assert set(met) <= set(CONSTRUCTS)
    assert {name: met[name] for name in CONSTRUCTS if met[name] < 20} == {}


def test_generated_questions_are_small_and_well_formed() -> None:
    """Few rows, in order, with a dense index."""
    for seed in SEEDS:
        question = generate(seed)
        assert 1 <= len(question.schema) <= 3
        assert set(question.inputs) == set(question.schema)
        for name, rows in question.inputs.items():
            assert [row[0] for row in rows] == sorted(row[0] for row in rows)
            if question.schema[name]["kind"] != "stored":
                assert len(rows) <= 14
                assert [row[1] for row in rows] == list(range(1, len(rows) + 1))


def test_generated_select_lists_are_valid() -> None:
    """Output names differ, and stream queries have no aggregates."""
    for seed in SEEDS:
        spec = generate(seed).spec
        top = spec.query if isinstance(spec, Converter) else spec
        for query in subqueries(spec):
            if isinstance(query, Converter) or query.outputs is None:
                continue
            written = [column_name(output) for output in query.outputs]
            seen = [visible_name(output) for output in query.outputs]
            assert len(set(written)) == len(written) > 0
            if query is not top:
                assert len(set(seen)) == len(seen)
                assert not {"tick", "index"} & set(seen)
            if isinstance(query, StreamQuery):
                assert not any(isinstance(expr, Aggregate) for expr in expressions(query))


def test_oracle_answers_generated_questions() -> None:
    """Generated questions run, and twice with the same result."""
    for seed in range(20):
        question = generate(seed)
        result = answer(question)
        assert same(result, answer(question)) is None
        assert all(row[0] <= question.until for row in result["rows"])


def test_compare_tells_differences() -> None:
    """Order, bags, numbers, NULL and truth values are told apart as they should be."""
    stream = {"kind": "tagged-tuples", "columns": ["x"], "rows": [[0, 1, 2], [0, 2, None]]}
    assert same(stream, stream | {"rows": [[0, 1, 2.0], [0, 2, None]]}) is None
    assert same(stream, stream | {"rows": [[0, 2, None], [0, 1, 2]]}) is not None
    assert same(stream, stream | {"rows": [[0, 1, 2]]}) is not None
    assert same(stream, stream | {"rows": [[0, 1, 2], [0, 2, 0]]}) is not None
    assert same(stream, stream | {"columns": ["y"]}) is not None
    windows = {"kind": "windows", "columns": ["x"], "rows": [[0, []], [1, [[1], [1], [2]]]]}
    assert same(windows, windows | {"rows": [[0, []], [1, [[2], [1], [1]]]]}) is None
    assert same(windows, windows | {"rows": [[0, []], [1, [[2], [2], [1]]]]}) is not None
    assert same(windows, windows | {"rows": [[1, [[1], [1], [2]]]]}) is not None
    assert same(windows, windows | {"rows": [[0, []], [1, [[True], [1], [2]]]]}) is not None
    assert same(windows, stream) is not None
