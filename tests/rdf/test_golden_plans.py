"""Every golden case of Streaming SPARQL as a plan built by hand, on the reference engine."""

from __future__ import annotations

import pytest

from tests.cases import Case, golden_cases
from tests.rdf.build import bgp, call, inputs, rows, select, v, wanted, windowed
from transom.algebra.expressions.expression import TRUE
from transom.algebra.expressions.terms import variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe, TripleTemplate
from transom.algebra.rdf.patterns import BasicGraphPattern
from transom.algebra.rdf.solutions import join, left_join, union
from transom.algebra.rdf.statements import StoredGraph, merge_streams, range_window, rdf_stream, union_windows
from transom.algebra.relations import WindowDistinct, WindowSelect
from transom.algebra.sequences import OrderBy, Slice, SortKey
from transom.algebra.sources import Values
from transom.algebra.tree import RdfPlan
from transom.model.rdf.terms import IRI
from transom.reference.rdf.evaluate import evaluate

CASES = {case.name[:3]: case for case in golden_cases("streaming-sparql") if case.expected["kind"] != "error"}
STREAM = range_window(rdf_stream("s"), 10, 1)
G = rdf_stream("g")
EX = "http://ex/"


def on(stream: str, patterns: str, width: int, slide: int) -> Windows:
    """A pattern over a windowed stream."""
    return bgp(patterns, (width, slide), on=rdf_stream(stream))


def named(stream: str, below: Windows) -> Windows:
    """What GRAPH ?g finds in one stream, with the name of the stream."""
    return join(below, Values(v("g"), ((IRI(EX + stream),),)))


def default(first: tuple[str, int], second: tuple[str, int]) -> Windows:
    """Two default streams, each with its window."""
    return union_windows([range_window(rdf_stream(name), width, 1) for name, width in (first, second)])


def optional(left: Windows, right: Windows, *condition: object) -> Windows:
    return left_join(left, right, call(*condition) if condition else TRUE)  # type: ignore[arg-type]


LISTING = ("?w my:name ?x", "?y my:power ?z")
PLANS: dict[str, RdfPlan] = {
    "r01": select(
        "x y z",
        optional(
            bgp("?x wtur:StrCnt ?y", (1800000, 60000), on=rdf_stream("td")),
            bgp("?x wtur:StopCnt ?z", own=1500, on=rdf_stream("td")),
        ),
    ),
    "r02": select("x y", bgp("?x :p ?y", (10, 5))),
    "r03": select("x", bgp("?x :p ?y", (2000, 1000))),
    "r04": select("x", bgp("?x :p ?y", (10, 10))),
    "r05": select("x", bgp("?x :p ?y", (6, 4))),
    "r06": select("x y", bgp("?x :p ?y", 2)),
    "r07": select("x y", bgp("?x :p ?y", own=2)),
    "r08": select("x", bgp("?x :p ?y", 2)),
    "r09": select("w x y z", union(bgp(LISTING[0], (1000, 1), on=G), bgp(LISTING[1], (1000, 1), on=G))),
    "r10": select("w x y z", union(*(bgp(p, None, on=StoredGraph(("g",))) for p in LISTING))),
    "r11": select("x y", union(bgp("?x :p ?y"), bgp("?x :p ?y"))),
    "r12": select("x y z", bgp("?x :p ?y . ?x :q ?z")),
    "r13": select("x y z", optional(bgp("?x :p ?y", (20, 1)), bgp("?x :q ?z", own=(3, 1)))),
    "r14": select(
        "x y z",
        optional(bgp("?x :p ?y", (20, 1)), union(bgp("?x :q ?z", own=(10, 1)), bgp("?x :r ?z", own=(2, 1)))),
    ),
    "r15": select("x y z", optional(bgp("?x :p ?y"), bgp("?x :q ?z"), ">", "?z", 5)),
    "r16": select("x y z", optional(bgp("?x :p ?y", (5, 1)), bgp("?x :q ?z", (5, 1)))),
    "r17": select("x y z", optional(bgp("?x :start ?y", (100, 1)), bgp("?x :stop ?z", own=1))),
    "r18": select("x y", WindowSelect(bgp("?x :p ?y"), call("&&", call(">", "?y", 5), call("!=", "?x", ":b")))),
    "r19": select("g x y", union(named("s1", on("s1", "?x :p ?y", 10, 1)), named("s2", on("s2", "?x :p ?y", 5, 5)))),
    "r20": select("x y z", join(on("s1", "?x :p ?y", 10, 1), on("s2", "?x :q ?z", 5, 5))),
    "r21": select(
        "g x y z", join(on("s1", "?x :p ?y", 10, 1), named("s2", bgp("?x :q ?z", own=(2, 1), on=rdf_stream("s2"))))
    ),
    "r22": WindowDistinct(select("x y", bgp("?x :p ?y"))),
    "r23": select("x y", bgp("?x :p ?y")),
    "r24": select("x", bgp("?x :p ?y")),
    "r25": Ask(WindowSelect(bgp("?x :p ?y", (4, 1)), call(">", "?y", 5))),
    "r26": Construct(
        optional(bgp("?x :p ?y"), bgp("?x :q ?z", own=(1, 1))),
        (
            TripleTemplate(variable("x"), IRI(EX + "state"), IRI(EX + "active")),
            TripleTemplate(variable("x"), IRI(EX + "last"), variable("z")),
        ),
    ),
    "r27": Describe(WindowSelect(bgp("?x :p ?y"), call(">", "?y", 5)), v("x"), STREAM),
    "r28": select("x z", bgp("?x :part _:b . _:b :temp ?z")),
    "r29": select("x", bgp("?x :p ?x")),
    "r30": Slice(select("x y", OrderBy(bgp("?x :p ?y"), (SortKey(variable("y"), True),), v("x y"))), 0, 2),
    "r31": select("x", bgp("?x :p ?y", own=(5, 1))),
    "r32": select("x y z", join(bgp("?x :p ?y", own=(5, 1)), bgp("?x :q ?z", own=(5, 1)))),
    "r33": select("x y z", bgp("?x :p ?y . ?x :q ?z", None, on=default(("s1", 10), ("s2", 3)))),
    "r34": select("x y z", optional(bgp("?x :p ?y"), bgp("?x :q ?z"))),
    "r35": select("s p o", bgp("?s ?p ?o", (2, 1))),
    "r36": select("x y z v", optional(bgp("?x :p ?y"), bgp("?x :q ?z . ?x :r ?v"))),
    "r37": select("x y z", bgp("?x :p ?y . ?x :q ?z", 2)),
    "r38": select("x", bgp("?x :p ?y", (1000, 400))),
    "r39": bgp("?x :part _:b"),
    "r40": select("x y z", optional(bgp("?x :p ?y"), bgp("?x :q ?z"), ">", "?z", "?y")),
    "r41": select("x y", union(on("s2", "?x :p ?y", 10, 1), bgp("?x :p ?y", None, on=union_windows(())))),
    "r42": select(
        "x",
        BasicGraphPattern((windowed("?x :p ?y", merge_streams([rdf_stream("s1"), rdf_stream("s2")]), 1),)),
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=lambda case: case.name)
def test_case(case: Case) -> None:
    streams = {name: given for name, given in case.inputs.items() if case.schema[name]["kind"] == "rdf-stream"}
    graphs = {name: given for name, given in case.inputs.items() if case.schema[name]["kind"] == "rdf-graph"}
    answer = evaluate(PLANS[case.name[:3]], inputs(streams, **graphs))
    kind, expected = case.expected["kind"], case.expected["rows"]
    assert answer.kind == kind
    assert list(answer.columns) == case.expected["columns"]
    assert sorted(rows(answer), key=str) == sorted(wanted(kind, expected), key=str)


def test_every_case_has_a_plan() -> None:
    assert set(PLANS) == set(CASES)
    assert len(PLANS) == 42
