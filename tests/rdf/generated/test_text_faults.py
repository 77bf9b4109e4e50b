"""Plausible faults in EXISTS, MINUS, groups, subqueries and paths, one at a time: the drawn texts notice each one."""

from __future__ import annotations

import pytest

pytest.importorskip("pyoxigraph")

from tests.faults import Fault, seeded
from tests.rdf.generated.test_against_oxigraph import check
from tests.rdf.generated.test_texts_against_oxigraph import CHOSEN
from tests.rdf.generated.texts import asked
from transom.languages.sparql import translate
from transom.languages.sparql.translation import expressions as translate_expressions
from transom.reference import relations
from transom.reference.rdf import evaluate, expressions, patterns

FAULTS = [
    Fault("EXISTS does not see what is around it", evaluate.InstantSnapshot._exists, "replace(A_, outer=outer)", "A_"),
    Fault("conditions see only their own solution", expressions.SolutionContext.cell, "A_ if A_ is not None else self.outer.get(attribute.name)", "A_"),
    Fault("NOT EXISTS is EXISTS", translate_expressions.ExpressionTranslator._translate, "term_call('!', A_) if negated else A_", "A_"),
    Fault("MINUS without variables in common", relations.compatible_pairing, "A_ if overlaps or not overlap else None", "A_"),
    Fault("DISTINCT in an aggregate overlooked", translate_expressions.ExpressionTranslator.aggregate, "node.distinct", "False"),
    Fault("HAVING overlooked", translate._SparqlTranslator.sorted_solutions, 'if having:\n    solutions = A_', 'if False:\n    solutions = A_'),
    Fault("groups without a key dropped", relations.aggregate_over_window, "groups.setdefault(row_identity(key), (key, []))[1].append(row)", "groups.setdefault(row_identity(key), (key, []))[1].append(row) if None not in key else None"),
    Fault("no group of nothing", relations.aggregate_over_window, 'if not op.groups:\n    return A_', 'if not op.groups:\n    return A_ if rows else ()'),
    Fault("a subquery hands out everything", evaluate.InstantSnapshot.rows, "snapshot(op, (A_,), self.scopes)", "A_"),
    Fault("an alternative is a set", patterns.evaluate_path, "along(first, start, end) + along(second, start, end)", "list(dict.fromkeys(along(first, start, end) + along(second, start, end)))"),
    Fault("one or more is none or more", patterns.evaluate_path, "A_(B_, C_, D_, E_, include_start=False)", "A_(B_, C_, D_, E_, include_start=True)"),
    Fault("a backward name is a forward one", patterns.evaluate_path, "(A_, s.subject)", "(s.subject, A_)"),
    Fault("no step from no literal", patterns.nodes, "(A_, s.object)", "(A_,)"),
    Fault("UNDEF is no row", evaluate.InstantSnapshot.rows, "values(A_)", "tuple((row for row in A_.rows if None not in row))"),
    Fault("BIND drops errors", evaluate.InstantSnapshot.rows, "snapshot(op, (self.rows(input),), self._bind_contexts(op))", "tuple((row for row in snapshot(op, (self.rows(input),), self._bind_contexts(op)) if row[-1] is not None))"),
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
