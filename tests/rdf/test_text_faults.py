"""Plausible faults in EXISTS, MINUS, groups, subqueries and paths, one at a time: the drawn texts notice each one."""

from __future__ import annotations

import pytest

pytest.importorskip("pyoxigraph")

from tests.rdf.test_against_oxigraph import check
from tests.rdf.test_texts_against_oxigraph import CHOSEN
from tests.rdf.texts import asked
from tests.test_faults import Fault, seeded
from transom.languages.sparql import translate, translate_expressions
from transom.reference import relations
from transom.reference.rdf import evaluate, expressions, patterns

FAULTS = [
    Fault("EXISTS does not see what is around it", evaluate, "inner = replace(self, outer=outer)\n        return any(", "inner = self\n        return any("),
    Fault("conditions see only their own solution", expressions, "return found if found is not None else self.outer.get(attribute.name)", "return found"),
    Fault("NOT EXISTS is EXISTS", translate_expressions, 'term_call("!", found) if negated else found', "found"),
    Fault("MINUS without variables in common", relations, "if meets or not overlap else None", ""),
    Fault("DISTINCT in an aggregate overlooked", translate_expressions, "node.distinct, separator)", "False, separator)"),
    Fault("HAVING overlooked", translate, "if having:", "if False:"),
    Fault("groups without a key dropped", relations, "groups.setdefault(row_identity(key), (key, []))[1].append(row)", "groups.setdefault(row_identity(key), (key, []))[1].append(row) if None not in key else None"),
    Fault("no group of nothing", relations, "if not op.groups:", "if not op.groups and not rows:\n        return ()\n    if not op.groups:"),
    Fault("a subquery hands out everything", evaluate, "return snapshot(op, (replace(self, outer=kept).rows(input),), self.scopes)", "return replace(self, outer=kept).rows(input)"),
    Fault("an alternative is a set", patterns, "return along(first, start, end) + along(second, start, end)", "return list(dict.fromkeys(along(first, start, end) + along(second, start, end)))"),
    Fault("one or more is none or more", patterns, "return closure(inner, start, end, statements, first=False)", "return closure(inner, start, end, statements, first=True)"),
    Fault("a backward name is a forward one", patterns, "fitting((s.object, s.subject) for s in back", "fitting((s.subject, s.object) for s in back"),
    Fault("no step from no literal", patterns, "for term in (s.subject, s.object)))", "for term in (s.subject,)))"),
    Fault("UNDEF is no row", evaluate, "return self._inside(op.schema, values(op))", "return self._inside(op.schema, tuple(row for row in op.rows if None not in row))"),
    Fault("BIND drops errors", evaluate, "return snapshot(op, (self.rows(input),), self._extending(op))", "return tuple(row for row in snapshot(op, (self.rows(input),), self._extending(op)) if row[-1] is not None)"),
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
