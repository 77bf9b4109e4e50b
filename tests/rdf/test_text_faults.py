"""Plausible faults in EXISTS, MINUS, groups, subqueries and paths, one at a time: the drawn texts notice each one."""

from __future__ import annotations

import pytest

pytest.importorskip("pyoxigraph")

from tests.rdf.test_against_oxigraph import check
from tests.rdf.test_texts_against_oxigraph import CHOSEN
from tests.rdf.texts import asked
from tests.test_faults import Fault, seeded
from transom.languages.sparql import translate, translate_expressions
from transom.reference.rdf import evaluate, expressions, patterns, solutions

FAULTS = [
    Fault("EXISTS does not see what is around it", evaluate, "inner = replace(self, outer=outer)\n        return any(solution.compatible(outer)", "inner = self\n        return any(solution.compatible(outer)"),
    Fault("conditions see only their own solution", expressions, "return found if found is not None else self.outer.get(attribute.name)", "return found"),
    Fault("NOT EXISTS is EXISTS", translate_expressions, 'term_call("!", found) if negated else found', "found"),
    Fault("MINUS without variables in common", solutions, " and not set(one).isdisjoint(other)", ""),
    Fault("DISTINCT in an aggregate overlooked", translate_expressions, "node.distinct, separator)", "False, separator)"),
    Fault("HAVING overlooked", translate, "if having:", "if False:"),
    Fault("groups without a key dropped", solutions, "groups.setdefault(key, []).append(solution)", "groups.setdefault(key, []).append(solution) if None not in key else None"),
    Fault("no group of nothing", solutions, "{(): []} if not op.groups else {}", "{}"),
    Fault("a subquery hands out everything", solutions, "[solution.only(v.name for v in op.schema) for solution in solutions]", "list(solutions)"),
    Fault("an alternative is a set", patterns, "return along(first, start, end) + along(second, start, end)", "return list(dict.fromkeys(along(first, start, end) + along(second, start, end)))"),
    Fault("one or more is none or more", patterns, "return closure(inner, start, end, statements, first=False)", "return closure(inner, start, end, statements, first=True)"),
    Fault("a backward name is a forward one", patterns, "fitting((s.object, s.subject) for s in back", "fitting((s.subject, s.object) for s in back"),
    Fault("no step from no literal", patterns, "for term in (s.subject, s.object)))", "for term in (s.subject,)))"),
    Fault("UNDEF is no row", solutions, "for row in op.rows\n", "for row in op.rows if None not in row\n"),
    Fault("BIND drops errors", solutions, "for solution, term in zip(solutions, computed, strict=True)\n", "for solution, term in zip(solutions, computed, strict=True) if term is not None\n"),
]  # fmt: skip


SLOW = {
    "EXISTS does not see what is around it",
    "one or more is none or more",
    "conditions see only their own solution",
}


@pytest.mark.parametrize(
    "fault",
    [pytest.param(f, marks=[pytest.mark.deep] if f.name in SLOW else [], id=f.name) for f in FAULTS],
)
def test_a_fault_is_noticed(fault: Fault) -> None:
    with seeded(fault):
        assert any(notices(seed) for seed in CHOSEN)


def notices(seed: int) -> bool:
    """Whether the answer to a question differs, or there is none."""
    try:
        check(seed, asked)
    except Exception:
        return True
    return False
