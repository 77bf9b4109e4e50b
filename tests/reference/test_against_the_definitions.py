"""The reference engine against the definitions of CQL's windows, written a second time in numpy."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from tests.oracle_cql import build, oracle
from tests.oracle_cql.question import KINDS, Question, question
from transom.optimizer.pipeline import optimize
from transom.reference.expressions import EvaluationContext, evaluate_expression

IN_CI = 660
DEEP = 3000


def difference(q: Question) -> str | None:
    """Where the engine and the definitions differ, with the optimizer and without; None where they do not."""
    wanted = oracle.answer(q)
    plan = build.plan(q)
    steps = optimize(plan, lambda e: evaluate_expression(e, EvaluationContext()))
    for which in (plan, *(step.plan for step in steps[-1:])):
        found = build.answer(which, build.given(q))  # type: ignore[arg-type]
        if found != wanted:
            return f"seed {q.seed}: missing {dict(wanted - found)}, too many {dict(found - wanted)}\n{q}"
    return None


def check(seeds: range) -> None:
    """No question of the seeds is answered otherwise, and what should be met is."""
    met: Counter[Any] = Counter()
    for seed in seeds:
        q = question(seed)
        found = difference(q)
        assert found is None, found
        met.update(traits(q))
    least = len(seeds) // 30
    assert {name: met[name] for name in TRAITS if met[name] < least} == {}
    assert all(met[kind] >= 50 for kind in KINDS)


TRAITS = ("stop", "reversal", "leap over marks", "several objects per tick", "equal places", "answers", "by id", "two")


def traits(q: Question) -> set[str]:
    """What is special about a question."""
    found = {q.left.window.kind, *([q.right.window.kind] if q.right else [])}
    rows = [row for row in q.left.rows if row.place is not None]
    for name in "abc":
        own = [row.place for row in rows if row.id == name and row.place is not None]
        steps = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(own)]
        found |= {"stop"} if (0.0, 0.0) in steps else set()
        found |= {"reversal"} if any(x < 0 for x, _ in steps) and any(x > 0 for x, _ in steps) else set()
        if "every way" in q.left.window.kind and any(abs(x) >= 2 * q.left.window.slide for x, _ in steps):
            found.add("leap over marks")
    ticks = Counter(row.t for row in {(row.t, row.id): row for row in rows}.values())
    found |= {"several objects per tick"} if any(n > 1 for n in ticks.values()) else set()
    found |= {"equal places"} if len({row.place for row in rows}) < len(rows) else set()
    found |= {"answers"} if len(oracle.answer(q)) > 3 else set()
    found |= {"by id"} if q.left.window.by_id else set()
    return found | ({"two"} if q.right else set())


def test_generated_questions() -> None:
    check(range(IN_CI))


@pytest.mark.deep
def test_many_generated_questions() -> None:
    check(range(10_000, 10_000 + DEEP))


def test_the_oracle_knows_nothing_of_the_engine() -> None:
    for name in (oracle.__file__, question.__code__.co_filename):
        words = Path(name).read_text("utf-8")
        assert "import transom" not in words
        assert "from transom" not in words
