"""At every instant the snapshot of the reference engine is Oxigraph's answer on what is valid then."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

import pytest

pytest.importorskip("pyoxigraph")

from tests.rdf.generated.oracle import LAST, Case, bag, oxigraph, seen
from tests.rdf.generated.questions import case_of
from transom.algebra.expressions.terms import STATEMENT
from transom.algebra.operator import Windows
from transom.algebra.state.bounds import window_size
from transom.algebra.state.formula import DeclaredStatistics
from transom.algebra.state.formula import evaluate_rows as rows_of
from transom.algebra.tree import walk
from transom.model.rdf.answer import RdfAnswer
from transom.model.time import Rate
from transom.reference.rdf.evaluate import InstantSnapshot, change_instants, evaluate, timed_operators

CASES, BLOCK = 600, 20


def check(seed: int, draw: Callable[[int], Case] = case_of) -> None:
    """One question, instant by instant, a little beyond the last thing that came."""
    case = draw(seed)
    answer = evaluate(case.plan, case.inputs)
    known: dict[object, object] = {}
    for t in range(LAST + 16):
        content = tuple(tuple(at(t)) for at in case.graphs.values())
        if content not in known:
            known[content] = oxigraph(case, t)
        there, here = known[content], snapshot(case, answer, t)
        if isinstance(there, list) and not case.ordered:
            assert bag(here) == bag(there), told(seed, case, t, here, there)  # type: ignore[arg-type]
        else:
            assert here == there, told(seed, case, t, here, there)


def snapshot(case: Case, answer: RdfAnswer, t: int) -> object:
    """What an answer with intervals says of one instant."""
    if answer.kind == "boolean":
        [now] = [one.value for one in answer.truth if one.start <= t and (one.end is None or t < one.end)]
        return now
    if answer.kind == "sequences":
        lists = [one.solutions for one in answer.sequences if one.start <= t and (one.end is None or t < one.end)]
        assert len(lists) <= 1
        return [tuple(map(seen, answer.terms(s))) for found in lists for s in found]
    return [tuple(map(seen, answer.terms(v.payload))) for v in answer.solutions if v.at(t) for _ in range(v.n)]


def told(seed: int, case: Case, t: int, here: object, there: object) -> str:
    """What to look at when two answers differ."""
    data = "\n".join(f"{name}: {' '.join(map(str, at(t)))}" for name, at in case.graphs.items())
    return f"seed {seed} at {t}\n{case.ours}\n{case.text}\n{data}\nours {here}\ntheirs {there}"


@pytest.mark.parametrize("block", range(CASES // BLOCK))
def test_snapshots(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check(seed)


@pytest.mark.deep
@pytest.mark.parametrize("block", range(150))
def test_more_snapshots(block: int) -> None:
    for seed in range(10_000 + block * BLOCK, 10_000 + (block + 1) * BLOCK):
        check(seed)


def test_no_more_is_valid_at_once_than_the_bound_says() -> None:
    tight = 0
    for seed in range(60):
        case = case_of(seed)
        rates = {name: rate(rows) for name, rows in case.inputs.given.items()}
        known = DeclaredStatistics(rates, {"g": len(case.inputs.graphs["g"])})
        lists = timed_operators(case.plan, case.inputs)
        for part in walk(case.plan):
            if isinstance(part, Windows) and part.schema != STATEMENT:
                most = rows_of(window_size(part), known)
                held = max(len(InstantSnapshot(case.inputs, lists, t).rows(part)) for t in change_instants(lists))
                assert most is not None
                assert held <= most, (seed, part)
                tight += held == most > 0
    assert tight > 20


def rate(rows: Sequence[tuple[int, object]]) -> Rate:
    """The most elements that come at one instant."""
    return Rate(max(Counter(t for t, _ in rows).values(), default=1), 1)
