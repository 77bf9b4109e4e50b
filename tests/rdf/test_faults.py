"""Plausible faults, put into the reference engine for RDF one at a time: the golden cases notice each one."""

from __future__ import annotations

import pytest

from tests.faults import Fault, seeded
from tests.rdf.build import inputs, rows, wanted
from tests.rdf.test_golden_plans import CASES, PLANS
from transom.model.rdf import answer
from transom.reference import relations, streams, windows
from transom.reference.rdf import evaluate, forms, patterns

FAULTS = [
    Fault("interval one instant too long", windows.validity, "((e.tick - low.offset) // low.step + 1) * low.step", "((e.tick - low.offset) // low.step + 1) * low.step + 1"),
    Fault("window of Algorithm 2", windows.validity, "((B_ - C_) // A_ + 1) * A_", "B_ // A_ * A_ + A_ - C_"),
    Fault("window rounds up", windows.validity, "(B_ - C_) // A_ + 1", "-((C_ - A_ - B_) // A_)"),
    Fault("one element too many", windows.validity, "1 - A_", "2 - A_"),
    Fault("merged part by part", streams.stream_union, "sorted((A_ for part in B_ for element in C_), key=lambda element: A_.tick)", "[A_ for part in B_ for element in C_]"),
    Fault("repeated variable not tested", patterns.match_statement, "expected = A_", 'A_\nexpected = term if isinstance(item, Column) else item'),
    Fault("blank nodes in the answer", patterns.basic_graph_pattern, "align_columns(A_, schema, op.schema)", "A_"),
    Fault("set for bag in a pattern", patterns.basic_graph_pattern, "align_columns(tuple(joined), schema, op.schema)", "tuple(dict.fromkeys(align_columns(tuple(joined), schema, op.schema)))"),
    Fault("set union", relations.relation_union, "align_columns(left, op.left.schema, A_) + align_columns(right, op.right.schema, A_)", "tuple(dict.fromkeys(align_columns(left, op.left.schema, A_) + align_columns(right, op.right.schema, A_)))"),
    Fault("projection makes a set", relations.window_project, "A_(projected)", "A_(dict.fromkeys(projected))"),
    Fault("optional is a join", relations.relation_join, "A_ or (row + nulls,)", "A_"),
    Fault("optional always keeps the left", relations.relation_join, "B_ or (A_,)", "(*B_, A_)"),
    Fault("condition outside the optional", relations.relation_join, "matches = [(C_, E_(B_, F_, A_)) for row, pairs in D_]", 'matches = [(C_, E_(B_, F_ or [C_ + nulls], A_)) for row, pairs in D_]\nreturn tuple((row for _, pairs in matches for row in F_))'),
    Fault("join ignores what is shared", relations.compatible_pairing, "return None", "pass"),
    Fault("distinct keeps all", relations.window_distinct, "tuple(first.values())", "rows"),
    Fault("descending forgotten", relations.order_by, "key.descending", "False"),
    Fault("limit before offset of one", relations.slice, "op.offset", "op.offset + 1"),
    Fault("unbound places filled", forms.construct, "A_ is not None", "(object := (A_ or subject))"),
    Fault("describes objects", forms.describe, "B_[0] in A_", "B_[2] in A_"),
    Fault("ask is its opposite", forms.ask, "bool(A_)", "not A_"),
    Fault("runs not put together", answer.merge_equal_neighbours, "runs and runs[-1][0] == value", "False"),
    Fault("change where something ends overlooked", evaluate.change_instants, "(C_ for rows in A_ for row in D_ for end in (B_, row.end) if C_ is not None)", "(C_ for rows in A_ for row in D_ for end in (B_,))"),
]  # fmt: skip


def notice() -> int:
    """How many golden cases notice; an engine that falls over is noticed."""
    return sum(map(differs, CASES))


def differs(name: str) -> bool:
    """Whether the answer to a golden case is not the one derived by hand."""
    case = CASES[name]
    kinds = {extent: case.schema[extent]["kind"] for extent in case.inputs}
    streams = {extent: given for extent, given in case.inputs.items() if kinds[extent] == "rdf-stream"}
    graphs = {extent: given for extent, given in case.inputs.items() if kinds[extent] == "rdf-graph"}
    try:
        found = rows(evaluate.evaluate(PLANS[name], inputs(streams, **graphs)))
    except Exception:
        return True
    return sorted(found, key=str) != sorted(wanted(case.expected["kind"], case.expected["rows"]), key=str)


def test_without_a_fault_nothing_is_noticed() -> None:
    assert notice() == 0


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_fault_is_noticed(fault: Fault) -> None:
    with seeded(fault):
        assert notice() > 0
    assert notice() == 0
