"""What a straightforward evaluation remembers never exceeds the bound that was computed at compile time."""

from __future__ import annotations

from collections import Counter

import pytest

import transom
from tests.cases import Case, catalog_of, golden_cases, inputs_of
from tests.oracle.generate import generate
from tests.state.incremental import machines, run
from transom.algebra.state.bounds import operator_state, plan_state
from transom.algebra.state.formula import DeclaredStatistics, evaluate_rows
from transom.model.bag import Bag
from transom.model.time import Rate
from transom.reference.evaluate import evaluate_stream, evaluate_window
from transom.reference.sources import Inputs

ANSWERS = [c for c in golden_cases() if c.expected["kind"] != "error"]


def knowledge(schema: dict, inputs: Inputs) -> DeclaredStatistics:
    """What a careful author would declare: the rate of a sensed extent, the busiest tick of a pushed one."""
    rates: dict[str, Rate | None] = {}
    for name, entry in schema.items():
        if entry["kind"] == "sensed":
            rates[name] = Rate(len(entry["sites"]), entry["interval"])
        else:
            busiest = Counter(e.tick for e in inputs.streams.get(name, ()))
            rates[name] = Rate(max(busiest.values(), default=0), 1)
    tables = {name: max((len(v.rows) for v in versions), default=0) for name, versions in inputs.tables.items()}
    return DeclaredStatistics(rates, tables)


def check(case: Case, optimize: bool) -> int:
    """Compare every operator with its bound, and the answer with the reference; gives the rows held at most."""
    query = transom.compile(case.text, catalog_of(case.schema), optimize=optimize)
    inputs = query.inputs(inputs_of(case.schema, case.inputs), case.until)
    known = knowledge(case.schema, inputs)
    output, top = run(query.optimized, inputs)
    windows = query.result_kind == "windows"
    assert output == (evaluate_window if windows else evaluate_stream)(query.optimized, inputs)
    assert all(isinstance(one, Bag) == windows for one in output)
    for machine in machines(top):
        bound = evaluate_rows(operator_state(machine.op), known)
        assert bound is not None
        assert machine.most <= bound, f"{type(machine.op).__name__} holds {machine.most} rows, the bound is {bound}"
    whole = evaluate_rows(plan_state(query.optimized), known)
    held = sum(machine.most for machine in machines(top))
    assert whole is not None
    assert held <= whole
    return held


@pytest.mark.parametrize("optimize", [True, False], ids=["optimised", "as-written"])
@pytest.mark.parametrize("case", ANSWERS, ids=lambda c: c.name)
def test_golden_case_stays_within_its_bound(case: Case, optimize: bool) -> None:
    check(case, optimize)


def test_generated_questions_stay_within_their_bounds() -> None:
    held = 0
    for seed in range(150):
        question = generate(seed)
        if question.until <= 4000:
            held += check(question, optimize=bool(seed % 2))
    assert held > 500


def test_most_golden_cases_remember_something() -> None:
    assert sum(check(case, optimize=False) > 0 for case in ANSWERS) >= 25
