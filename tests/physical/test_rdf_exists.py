"""The patterns of EXISTS over keys, evaluated without Spark: the reference engine asks each one once for all solutions.

`Keyed` evaluates a question as the plan for Spark does: what `decorrelate` makes of a pattern is evaluated once, and an
EXISTS is true where the keys of a solution are among the result. The reference engine evaluates the pattern anew for
every solution. Both must say the same of the drawn texts, which Oxigraph has judged.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby
from typing import Any

import pytest

import transom
from tests.faults import Fault, seeded
from tests.rdf.build import rows
from tests.rdf.generated.texts import CATALOG, asked, triple
from tests.rdf.stated import stated
from tests.spark.golden.sparql_cases import EXISTS, PATHS, SMALL_CATALOG, Small
from transom.algebra.expressions.expression import TRUE
from transom.algebra.operator import Windows
from transom.algebra.relations import JoinType, RelationJoin
from transom.algebra.sequences import Slice
from transom.algebra.tree import exists_patterns
from transom.languages.sparql.parse import parse
from transom.languages.sparql.translate import translate
from transom.model.bag import Row
from transom.model.rdf.solutions import Solution
from transom.model.rdf.terms import Term, term_order_key
from transom.physical.rdf import exists
from transom.physical.rdf.bindings import is_outer_key
from transom.reference.rdf import evaluate
from transom.reference.rdf.evaluate import InstantSnapshot, valid_elements
from transom.reference.relations import Rows

TEXTS = 120
SMALL = [*EXISTS.values(), PATHS["path-in-exists"]]
SMALL += [
    Small("ASK FROM STREAM :s WINDOW RANGE 3 SLIDE WHERE { VALUES ?x { :n } FILTER EXISTS { ?x :p* ?y } }", {"s": []}),
    Small(
        "SELECT * FROM STREAM :s WINDOW RANGE 3 SLIDE WHERE { VALUES ?y { 1 2 } FILTER EXISTS { "
        "{ SELECT ?x { ?x :p ?y FILTER (?y > 1) } } FILTER BOUND(?y) } }",
        {"s": [(0, ":a", ":p", 2)]},
    ),
]
"""Questions that notice faults of the rewriting."""
FAULTS = [
    Fault("no domain is joined", exists.OuterScope.bind_keys, "set(needed) <= bound_variables(op)", "True"),
    Fault(
        "no group without solutions",
        exists.OuterScope._rewrite_aggregation,
        "if op.groups:\n    return A_",
        "if True:\n    return A_",
    ),
    Fault(
        "what a subquery hides is seen",
        exists.OuterScope.rewrite_pattern,
        "{B_: C_ for name, key in A_ if B_ in visible}",
        "{B_: C_ for name, key in A_}",
    ),
    Fault(
        "another term may be bound inside",
        exists.OuterScope.filter_compatible,
        "op = WindowSelect(self.bind_keys(op, [key]), fits)",
        "pass",
    ),
    Fault(
        "no step outside the statements",
        exists.OuterScope._rewrite_closure,
        "not count_zero_length_matches(op.path, start, end)",
        "True",
    ),
    Fault("what is unbound outside fits nothing", exists.decorrelate, "(True, False)", "(True,)"),
    Fault("an EXISTS inside sees nothing", exists.OuterScope._inner_exists, "rename_variables(A_, self.keys)", "A_"),
]


class Elements(dict[Any, Any]):
    """The elements of windows and patterns, found when they are asked for."""

    def __init__(self, inputs: Any) -> None:
        super().__init__()
        self.inputs = inputs

    def __missing__(self, op: Any) -> Any:
        self[op] = valid_elements(op, self.inputs)
        return self[op]


@dataclass(frozen=True)
class Keyed(InstantSnapshot):
    """One instant at which every EXISTS is a join on keys; `around` has the solutions that ask."""

    around: Windows | None = None
    seen: dict[Any, Any] = field(default_factory=dict)
    asked: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.timed, Elements):
            object.__setattr__(self, "timed", Elements(self.inputs))

    def rows(self, op: Windows) -> Rows:
        match op:
            case RelationJoin(left=left, right=right, join_type=JoinType.ANTI):
                others = self.rows(right)
                return tuple(one for one in self.rows(left) if not any(_speaks_against(op, one, o) for o in others))
            case Slice(input=input, offset=offset, limit=limit):
                key = partial(_key, op.schema.names)
                below = sorted(self.rows(input), key=key)
                return tuple(s for _, each in groupby(below, key) for s in list(each)[offset:][:limit])
            case RelationJoin(left=left, right=right) if exists_patterns(op):
                return InstantSnapshot.rows(replace(self, around=RelationJoin(left, right, TRUE, natural=True)), op)
            case _:
                below = getattr(op, "input", None) if exists_patterns(op) else None
                return InstantSnapshot.rows(replace(self, around=below), op)

    def _exists(self, pattern: Windows, outer: Mapping[str, Term]) -> bool:
        assert self.around is not None
        asked = (self.around, pattern)
        if asked not in self.seen:
            found = exists.decorrelate(*asked)
            names = found.pattern.schema.names
            rows = [dict(zip(names, row, strict=True)) for row in self.rows(found.pattern)]
            have = {tuple(one[key] for key in found.keys) for one in rows}
            self.seen[asked] = (found, have)
            self.asked["joins"] = self.asked.get("joins", 0) + 1
        found, have = self.seen[asked]
        made = {one.attribute.name: one.expression.arguments[0].name for one in found.key_items}
        return tuple(_value(outer, key, made) for key in found.keys) in have


def _value(outer: Mapping[str, Term], key: str, made: dict[str, str]) -> Term | None:
    if key not in made:
        assert outer.get(key) is not None
        return outer.get(key)
    return outer.get(made[key]) or exists.UNBOUND.value  # type: ignore[return-value]


def _speaks_against(op: RelationJoin, one: Row, other: Row) -> bool:
    left, right = Solution.from_row(op.left.schema.names, one), Solution.from_row(op.right.schema.names, other)
    return left.compatible(right) and any(name in set(right) and not is_outer_key(name) for name in left)


def _key(names: tuple[str, ...], row: Row) -> list[Any]:
    solution = Solution.from_row(names, row)
    return [(name, term_order_key(solution.get(name))) for name in solution if is_outer_key(name)]


def _both(plan: Any, inputs: Any, patch: pytest.MonkeyPatch, counts: dict[str, int]) -> tuple[Any, Any]:
    """What the reference engine says, and what it says over keys."""
    expected = rows(evaluate.evaluate(plan, inputs))
    with patch.context() as patched:
        patched.setattr(evaluate, "InstantSnapshot", lambda *given: Keyed(*given, asked=counts))
        return expected, rows(evaluate.evaluate(plan, inputs))


@pytest.mark.parametrize("outside", ["?x", "?y", "?x ?y", "?y ?x", "?z"])
@pytest.mark.parametrize("way", [":p?", ":p*", ":p+", "(:p?)+", ":p?/:p*", ":p*|:q?", "^(:p*)", "(:p/:p)*", "!:p*"])
def test_no_step_leads_from_what_is_outside(monkeypatch: pytest.MonkeyPatch, outside: str, way: str) -> None:
    """A path of no step leads from a term to itself, whether or not the statements have it."""
    name, *more = outside.split()
    known = f"VALUES ({outside}) {{ (:a{' :a' * bool(more)}) (:b{' :n' * bool(more)}) (:n{' :n' * bool(more)}) }}"
    for ends in ("?x W ?y", "?x W ?x", ":n W ?y", "?x W :a", "?x W ?s . ?s W ?y"):
        pattern = ends.replace("W", way)
        text = f"SELECT * FROM STREAM :s WINDOW RANGE 9 SLIDE WHERE {{ {known} FILTER EXISTS {{ {pattern} }} }}"
        given = [(0, triple(":a", ":p", ":b")), (2, triple(":b", ":p", ":c")), (4, triple(":n", ":q", ":c"))]
        expected, found = _both(translate(parse(text), CATALOG).plan, stated({"s": given}), monkeypatch, {})
        assert found == expected, f"{name}: {text}"


def test_patterns_over_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    counts: dict[str, int] = {}
    for seed in range(TEXTS):
        case = asked(seed)
        if "EXISTS" not in case.ours:
            continue
        expected, found = _both(case.plan, case.inputs, monkeypatch, counts)
        assert found == expected, f"text {seed}: {case.ours}"
    assert counts["joins"] > 80


def _differs(small: Small, monkeypatch: pytest.MonkeyPatch) -> bool:
    query = transom.compile(small.text, SMALL_CATALOG, language="sparql")
    try:
        expected, found = _both(query.algebra, query.inputs(small.inputs), monkeypatch, {})
    except Exception:
        return True
    return bool(found != expected)


@pytest.mark.filterwarnings("ignore::transom.QueryWarning")
def test_faults_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any(_differs(small, monkeypatch) for small in SMALL)
    for fault in FAULTS:
        with seeded(fault):
            assert any(_differs(small, monkeypatch) for small in SMALL), fault.name
