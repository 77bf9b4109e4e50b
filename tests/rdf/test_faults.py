"""Plausible faults, put into the reference engine for RDF one at a time: the golden cases notice each one."""

from __future__ import annotations

import pytest

from tests.rdf.build import inputs, rows, wanted
from tests.rdf.test_golden_plans import CASES, PLANS
from tests.test_faults import Fault, seeded
from transom.model.rdf import answer
from transom.reference import streams, windows
from transom.reference.rdf import evaluate, forms, patterns, solutions

FAULTS = [
    Fault("interval one instant too long", windows, "// low.step + 1) * low.step) for e in elements]", "// low.step + 1) * low.step + 1) for e in elements]"),
    Fault("window of Algorithm 2", windows, "((e.tick - low.offset) // low.step + 1) * low.step)", "e.tick // low.step * low.step + low.step - low.offset)"),
    Fault("window rounds up", windows, "((e.tick - low.offset) // low.step + 1) * low.step)", "-((low.offset - low.step - e.tick) // low.step) * low.step)"),
    Fault("one element too many", windows, "for e in elements[1 - offset :]]", "for e in elements[2 - offset :]]"),
    Fault("merged part by part", streams, "renumber(sorted((element for part in parts for element in part), key=lambda element: element.tick))", "renumber([element for part in parts for element in part])"),
    Fault("repeated variable not tested", patterns, "wanted = found.setdefault(place.name, term) if isinstance(place, Column) else place", "found.setdefault(place.name, term) if isinstance(place, Column) else place\n        wanted = term if isinstance(place, Column) else place"),
    Fault("blank nodes in the answer", patterns, "[solution.without_hidden() for solution in joined]", "joined"),
    Fault("set for bag in a pattern", patterns, "[solution.without_hidden() for solution in joined]", "list(dict.fromkeys(solution.without_hidden() for solution in joined))"),
    Fault("set union", solutions, "return [*left, *right]", "return list(dict.fromkeys([*left, *right]))"),
    Fault("projection makes a set", solutions, "return [solution.only(v.name for v in op.schema) for solution in solutions]", "return list(dict.fromkeys(solution.only(v.name for v in op.schema) for solution in solutions))"),
    Fault("optional is a join", solutions, "found += pairs or [one]", "found += pairs"),
    Fault("optional always keeps the left", solutions, "found += pairs or [one]", "found += [*pairs, one]"),
    Fault("condition outside the optional", solutions, "pairs = [pair for pair in join([one], right) if holds(pair)]\n        found += pairs or [one]", "found += [pair for pair in join([one], right) or [one] if holds(pair)]"),
    Fault("join ignores what is shared", solutions, "if one.compatible(other)]\n\n\ndef left_join", "]\n\n\ndef left_join"),
    Fault("distinct keeps all", solutions, "return list(dict.fromkeys(solutions))", "return list(solutions)"),
    Fault("descending forgotten", solutions, "reverse=key.descending", "reverse=False"),
    Fault("limit before offset of one", solutions, "solutions[op.offset :][: op.limit]", "solutions[op.offset + 1 :][: op.limit]"),
    Fault("unbound places filled", forms, "and object is not None", "and (object := object or subject)"),
    Fault("describes objects", forms, "if s.subject in about", "if s.object in about"),
    Fault("ask is its opposite", forms, "return bool(solutions)", "return not solutions"),
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
