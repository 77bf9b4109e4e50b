"""Plausible faults, put into the reference engine for RDF one at a time: the golden cases notice each one."""

from __future__ import annotations

import pytest

from tests.rdf.build import inputs, rows, wanted
from tests.rdf.test_golden_plans import CASES, PLANS
from tests.test_faults import Fault, seeded
from transom.model.rdf import answer
from transom.reference import relations, streams, windows
from transom.reference.rdf import evaluate, forms, patterns

FAULTS = [
    Fault("interval one instant too long", windows, "// low.step + 1) * low.step) for e in elements]", "// low.step + 1) * low.step + 1) for e in elements]"),
    Fault("window of Algorithm 2", windows, "((e.tick - low.offset) // low.step + 1) * low.step)", "e.tick // low.step * low.step + low.step - low.offset)"),
    Fault("window rounds up", windows, "((e.tick - low.offset) // low.step + 1) * low.step)", "-((low.offset - low.step - e.tick) // low.step) * low.step)"),
    Fault("one element too many", windows, "for e in elements[1 - offset :]]", "for e in elements[2 - offset :]]"),
    Fault("merged part by part", streams, "renumber(sorted((element for part in parts for element in part), key=lambda element: element.tick))", "renumber([element for part in parts for element in part])"),
    Fault("repeated variable not tested", patterns, "wanted = found.setdefault(place.name, term) if isinstance(place, Column) else place", "found.setdefault(place.name, term) if isinstance(place, Column) else place\n        wanted = term if isinstance(place, Column) else place"),
    Fault("blank nodes in the answer", patterns, "return aligned(tuple(joined), schema, op.schema)", "return tuple(joined)"),
    Fault("set for bag in a pattern", patterns, "return aligned(tuple(joined), schema, op.schema)", "return tuple(dict.fromkeys(aligned(tuple(joined), schema, op.schema)))"),
    Fault("set union", relations, "return aligned(left, op.left.schema, wanted) + aligned(right, op.right.schema, wanted)", "return tuple(dict.fromkeys(aligned(left, op.left.schema, wanted) + aligned(right, op.right.schema, wanted)))"),
    Fault("projection makes a set", relations, "for place in kept))\n    return tuple(found)", "for place in kept))\n    return tuple(dict.fromkeys(found))"),
    Fault("optional is a join", relations, "for row in (pairs or (one + nothing,))", "for row in pairs"),
    Fault("optional always keeps the left", relations, "for row in (pairs or (one + nothing,))", "for row in (*pairs, one + nothing)"),
    Fault("condition outside the optional", relations, "found = [(one, select(op.predicate, pairs, scopes(schema))) for one, pairs in tried]", "found = [(one, select(op.predicate, pairs or [one + nothing], scopes(schema))) for one, pairs in tried]\n    return tuple(row for _, pairs in found for row in pairs)"),
    Fault("join ignores what is shared", relations, "                    return None\n                meets = True", "                    pass\n                meets = True"),
    Fault("distinct keeps all", relations, "return tuple(first.values())", "return rows"),
    Fault("descending forgotten", relations, "reverse=key.descending", "reverse=False"),
    Fault("limit before offset of one", relations, "rows[op.offset :][: op.limit]", "rows[op.offset + 1 :][: op.limit]"),
    Fault("unbound places filled", forms, "and object is not None", "and (object := object or subject)"),
    Fault("describes objects", forms, "if s[0] in about", "if s[2] in about"),
    Fault("ask is its opposite", forms, "return bool(rows)", "return not rows"),
    Fault("runs not put together", answer, "if found and found[-1][0] == value:", "if False:"),
    Fault("change where something ends overlooked", evaluate, "for end in (one.start, one.end) if end is not None", "for end in (one.start,)"),
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
