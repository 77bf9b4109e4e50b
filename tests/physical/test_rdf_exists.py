"""The patterns of EXISTS over keys, evaluated without Spark: the reference engine asks each one once for all solutions.

`Keyed` evaluates a question as the plan for Spark does: what `correlated` makes of a pattern is evaluated once, and an
EXISTS is true where the keys of a solution are among the result. The reference engine evaluates the pattern anew for
every solution. Both must say the same of the drawn texts, which Oxigraph has judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import pytest

from tests.rdf.build import rows
from tests.rdf.texts import asked
from transom.algebra.rdf.operator import Solutions
from transom.algebra.rdf.solutions import Join, LeftJoin, Minus, Slice
from transom.algebra.rdf.tree import patterns_of
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import Term, in_order
from transom.physical.rdf_exists import UNBOUND, correlated
from transom.physical.rdf_known import is_outer
from transom.reference.rdf import evaluate
from transom.reference.rdf.evaluate import Moment, elements

TEXTS = 400


class Elements(dict[Any, Any]):
    """The elements of windows and patterns, found when they are asked for."""

    def __init__(self, inputs: Any) -> None:
        super().__init__()
        self.inputs = inputs

    def __missing__(self, op: Any) -> Any:
        self[op] = elements(op, self.inputs)
        return self[op]


@dataclass(frozen=True)
class Keyed(Moment):
    """One instant at which every EXISTS is a join on keys; `around` has the solutions that ask."""

    around: Solutions | None = None
    seen: dict[Any, Any] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.known, Elements):
            object.__setattr__(self, "known", Elements(self.inputs))

    def solutions(self, op: Solutions) -> list[Solution]:
        match op:
            case Minus(left=left, right=right):
                others = self.solutions(right)
                return [one for one in self.solutions(left) if not any(_speaks_against(one, o) for o in others)]
            case Slice(input=input, offset=offset, limit=limit):
                below = sorted(self.solutions(input), key=_key)
                return [s for _, each in groupby(below, _key) for s in list(each)[offset:][:limit]]
            case LeftJoin(left=left, right=right) if patterns_of(op):
                return Moment.solutions(replace(self, around=Join(left, right)), op)
            case _:
                below = getattr(op, "input", None) if patterns_of(op) else None
                return Moment.solutions(replace(self, around=below), op)

    def _exists(self, pattern: Solutions, outer: Solution) -> bool:
        assert self.around is not None
        asked = (self.around, pattern)
        if asked not in self.seen:
            found = correlated(*asked)
            have = {tuple(one.get(key) for key in found.keys) for one in self.solutions(found.pattern)}
            self.seen[asked] = (found, have)
            self.asked["joins"] = self.asked.get("joins", 0) + 1
        found, have = self.seen[asked]
        made = {b.variable.name: b.expression.arguments[0].name for b in found.made}
        return tuple(_value(outer, key, made) for key in found.keys) in have


def _value(outer: Solution, key: str, made: dict[str, str]) -> Term | None:
    if key not in made:
        assert outer.get(key) is not None
        return outer.get(key)
    return outer.get(made[key]) or UNBOUND.term


def _speaks_against(one: Solution, other: Solution) -> bool:
    return one.compatible(other) and any(name in set(other) and not is_outer(name) for name in one)


def _key(solution: Solution) -> list[Any]:
    return [(name, in_order(solution.get(name))) for name in solution if is_outer(name)]


def test_patterns_over_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: dict[str, int] = {}
    for seed in range(TEXTS):
        case = asked(seed)
        if "EXISTS" not in case.ours:
            continue
        expected = rows(evaluate.evaluate(case.plan, case.inputs))
        with monkeypatch.context() as patched:
            patched.setattr(evaluate, "Moment", lambda *given: Keyed(*given, asked=counts))
            found = rows(evaluate.evaluate(case.plan, case.inputs))
        assert found == expected, f"text {seed}: {case.ours}"
    assert counts["joins"] > 300
