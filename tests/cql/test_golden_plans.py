"""The golden cases of CQL, from plans built by hand to answers: the meaning without the language."""

from __future__ import annotations

import pytest

from tests.cases import Case, golden_cases
from tests.cql.golden_plans import GOLDEN
from tests.cql.plans import answer, in_order, inputs

ANSWERS = [c for c in golden_cases("cql") if c.expected["kind"] != "error"]


def test_every_case_has_a_plan() -> None:
    assert {c.name[:3] for c in ANSWERS} >= set(GOLDEN)
    assert len(GOLDEN) == 24


@pytest.mark.parametrize("case", [c for c in ANSWERS if c.name[:3] in GOLDEN], ids=lambda c: c.name)
def test_answer(case: Case) -> None:
    plan = GOLDEN[case.name[:3]](case.schema)
    assert answer(plan, inputs(case.schema, case.inputs, case.until)) == in_order(case.expected["rows"])
