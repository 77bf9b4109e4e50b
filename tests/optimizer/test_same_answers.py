"""The optimizer never changes an answer, whatever rules are on."""

from __future__ import annotations

import random
from collections import Counter

import pytest

import transom
from tests.cases import catalog_of, inputs_of
from tests.optimizer.plans import decorated
from tests.oracle.generate import generate
from transom.algebra.operator import Plan
from transom.algebra.tree import is_stream
from transom.model.bag import Bag, Element, row_key
from transom.optimizer.pipeline import RULES, optimize
from transom.reference.evaluate import evaluate_stream, evaluate_window
from transom.reference.expressions import constant_value
from transom.reference.sources import Inputs

NAMES = [rule.name for rule in RULES]
IN_CI, DEEP = 300, 3000
PART = 100


def evaluate(plan: Plan, inputs: Inputs) -> list[Element] | list[Bag]:
    """The answer in the form in which answers are equal: windows are bags."""
    if is_stream(plan):
        return evaluate_stream(plan, inputs)  # type: ignore[arg-type]
    return [Bag(w.tick, tuple(sorted(w.rows, key=row_key))) for w in evaluate_window(plan, inputs)]  # type: ignore[arg-type]


def check(seed: int) -> set[str]:
    """Compare the answers of one plan with all rules, one rule, and some; gives the rules that fired."""
    rng = random.Random(seed)
    question = generate(seed)
    query = transom.compile(question.text, catalog_of(question.schema), optimize=False)
    inputs = query.inputs(inputs_of(question.schema, question.inputs), question.until)
    plan = decorated(query.algebra, rng)
    expected = evaluate(plan, inputs)
    fired: set[str] = set()
    some = [name for name in NAMES if rng.random() < 0.5]
    alone = rng.choice(NAMES)
    for without in ([], some, [name for name in NAMES if name != alone], [rng.choice(NAMES)]):
        steps = optimize(plan, constant_value, without=without)
        assert not {step.rule for step in steps} & set(without)
        fired |= {step.rule for step in steps}
        if steps:
            assert evaluate(steps[-1].plan, inputs) == expected, f"seed {seed} without {without}\n{question.text}"
    return fired


@pytest.mark.parametrize("part", [0, *(pytest.param(n, marks=pytest.mark.deep) for n in range(1, IN_CI // PART))])
def test_same_answers(part: int) -> None:
    fired = Counter(rule for seed in range(part * PART, (part + 1) * PART) for rule in check(seed))
    assert sum(fired.values()) > PART


@pytest.mark.deep
def test_same_answers_deep() -> None:
    fired = Counter(rule for seed in range(DEEP) for rule in check(seed))
    of_cql = {"cheap_restrictions_first", "relations_in_step"}
    assert {name: fired[name] for name in NAMES if fired[name] < 50 and name not in of_cql} == {}
