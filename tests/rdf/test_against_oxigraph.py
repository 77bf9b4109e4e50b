"""At every instant the snapshot of the reference engine is Oxigraph's answer on what is valid then."""

from __future__ import annotations

import pytest

pytest.importorskip("pyoxigraph")

from tests.rdf.oracle import LAST, Case, bag, oxigraph, seen
from tests.rdf.questions import case_of
from transom.model.rdf.answer import RdfAnswer
from transom.reference.rdf.evaluate import evaluate

CASES, BLOCK = 240, 20


def check(seed: int) -> None:
    """One question, instant by instant, a little beyond the last thing that came."""
    case = case_of(seed)
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
    return f"seed {seed} at {t}\n{case.text}\n{data}\nours {here}\ntheirs {there}"


@pytest.mark.parametrize("block", range(CASES // BLOCK))
def test_snapshots(block: int) -> None:
    for seed in range(block * BLOCK, (block + 1) * BLOCK):
        check(seed)


@pytest.mark.deep
@pytest.mark.parametrize("block", range(150))
def test_more_snapshots(block: int) -> None:
    for seed in range(10_000 + block * BLOCK, 10_000 + (block + 1) * BLOCK):
        check(seed)
