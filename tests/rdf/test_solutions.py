"""Operators of SPARQL 1.1 that no golden case has: paths, MINUS, groups, EXISTS, orders, forms; derived by hand."""

from __future__ import annotations

import pytest

from tests.rdf.build import aggregate_of, bgp, call, expression, inputs, item, path, rows, select, term, v
from transom.algebra.expressions.expression import Exists
from transom.algebra.expressions.terms import term_call, term_literal, variable
from transom.algebra.operator import Windows
from transom.algebra.rdf.forms import Ask, Construct, Describe, TripleTemplate
from transom.algebra.rdf.patterns import (
    AlternativePath,
    InversePath,
    NegatedPropertySet,
    OneOrMorePath,
    PredicatePath,
    PropertyPath,
    SequencePath,
    ZeroOrMorePath,
    ZeroOrOnePath,
)
from transom.algebra.rdf.solutions import extend, join, left_join, minus, project, union
from transom.algebra.rdf.statements import StoredGraph, range_window, rdf_stream, union_windows
from transom.algebra.relations import WindowAggregation, WindowDistinct, WindowSelect
from transom.algebra.sequences import OrderBy, Slice, SortKey
from transom.algebra.sources import Values
from transom.algebra.tree import RdfPlan
from transom.model.rdf.terms import IRI, BlankNode, integer
from transom.reference.rdf.evaluate import evaluate

G = StoredGraph(("g",))
P, Q = PredicatePath(IRI("http://ex/p")), PredicatePath(IRI("http://ex/q"))
X, Y, Z, N = v("x y z n")
GRAPH = [(":a", ":p", ":b"), (":b", ":p", ":c"), (":c", ":p", ":a"), (":a", ":q", ":b"), (":d", ":q", 7)]


def found(plan: RdfPlan, graph: list[tuple[object, ...]] = GRAPH, **more: list[tuple[object, ...]]) -> list[object]:
    """The rows of an answer over stored graphs: multiplicity and terms in short; sequences as lists of rows."""
    answer = evaluate(plan, inputs(g=graph, **more))
    for row in rows(answer):
        assert row[:2] == [0, "inf"]
    if answer.kind == "boolean":
        return [answer.truth[0].value]
    if answer.kind == "sequences":
        return [[short(one) for one in line] for line in rows(answer)[0][2]] if len(answer) else []
    return sorted(([row[2], *map(short, row[3:])] for row in rows(answer)), key=str)


def short(one: object) -> object:
    """A term as it is written here."""
    if isinstance(one, IRI):
        return one.value.replace("http://ex/", ":")
    if isinstance(one, BlankNode):
        return "_"
    return int(one.lexical) if one is not None and one.datatype.endswith("#integer") else one and one.lexical  # type: ignore[attr-defined]


def stored(patterns: str) -> Windows:
    return bgp(patterns, None, on=G)


@pytest.mark.parametrize(
    ("way", "start", "wanted"),
    [
        (P, ":a", [[1, ":b"]]),
        (InversePath(P), ":a", [[1, ":c"]]),
        (AlternativePath(P, Q), ":a", [[2, ":b"]]),
        (SequencePath(AlternativePath(P, Q), P), ":a", [[2, ":c"]]),
        (OneOrMorePath(P), ":a", [[1, ":a"], [1, ":b"], [1, ":c"]]),
        (ZeroOrMorePath(Q), ":a", [[1, ":a"], [1, ":b"]]),
        (ZeroOrOnePath(AlternativePath(P, Q)), ":a", [[1, ":a"], [1, ":b"]]),
        (ZeroOrMorePath(P), ":nowhere", [[1, ":nowhere"]]),
        (OneOrMorePath(P), ":nowhere", []),
        (OneOrMorePath(ZeroOrMorePath(P)), ":nowhere", [[1, ":nowhere"]]),
        (SequencePath(ZeroOrMorePath(P), ZeroOrMorePath(Q)), ":nowhere", []),
        (SequencePath(ZeroOrMorePath(P), Q), ":c", [[1, ":b"]]),
        (NegatedPropertySet((P.predicate,)), ":a", [[1, ":b"]]),
        (NegatedPropertySet((), (Q.predicate,)), ":a", [[1, ":c"]]),
        (NegatedPropertySet((P.predicate,), (Q.predicate,)), ":a", [[1, ":b"], [1, ":c"]]),
        (NegatedPropertySet(()), ":a", [[2, ":b"]]),
    ],
    ids=str,
)
def test_path(way: PropertyPath, start: str, wanted: list[object]) -> None:
    assert found(select("x", path(start, way, "?x", G))) == wanted
    assert found(select("x", path("?x", InversePath(way), start, G))) == wanted


def test_paths_with_two_open_ends_two_given_ends_and_the_same_end() -> None:
    assert len(found(path("?x", ZeroOrMorePath(Q), "?y", G))) == 7  # five nodes and two steps
    assert found(Ask(path(":a", OneOrMorePath(P), ":a", G))) == [True]
    assert found(Ask(path(":d", OneOrMorePath(P), ":a", G))) == [False]
    assert found(path("?x", OneOrMorePath(P), "?x", G)) == [[1, ":a"], [1, ":b"], [1, ":c"]]
    assert found(select("x", path("?x", AlternativePath(P, Q), "_:b", G))) == [
        [1, ":b"],
        [1, ":c"],
        [1, ":d"],
        [2, ":a"],
    ]


def test_a_path_leads_through_statements_that_are_valid_together() -> None:
    given = inputs({"s": [(0, ":a", ":p", ":b"), (3, ":b", ":p", ":c")]})
    plan = select("x", path(":a", OneOrMorePath(P), "?x", range_window(rdf_stream("s"), 5, 1)))
    assert rows(evaluate(plan, given)) == [[0, 5, 1, term(":b")], [3, 5, 1, term(":c")]]


def test_minus_needs_a_variable_in_common() -> None:
    assert found(select("x", minus(stored("?x :p ?y"), stored("?x :q ?z")))) == [[1, ":b"], [1, ":c"]]
    assert len(found(minus(stored("?x :p ?y"), stored("?v :q ?w")))) == 3
    half = left_join(stored("?x :p ?y"), stored("?y :q ?z"))
    assert len(found(minus(half, Values((Z,), ((term(7),),))))) == 3
    assert found(minus(stored("?x :p ?y"), Values((X, Z), ((None, term(7)),)))) == found(stored("?x :p ?y"))


def test_unbound_is_compatible_with_anything() -> None:
    table = Values((X, Y), ((term(":a"), None), (None, term(":c")), (term(":a"), None)))
    assert found(join(stored("?x :p ?y"), table)) == [[1, ":b", ":c"], [2, ":a", ":b"]]


def test_extend_leaves_unbound_what_is_an_error() -> None:
    plan = extend(stored("?x :q ?y"), item(N, call("+", "?y", 1)))
    assert found(plan) == [[1, ":a", ":b", None], [1, ":d", 7, 8]]


def test_groups() -> None:
    counts = (aggregate_of(N, "COUNT"), aggregate_of(Z, "SUM", Y))
    by = WindowAggregation(stored("?x ?p ?y"), (item(X, X),), counts)
    assert found(by) == [[1, ":a", 2, None], [1, ":b", 1, None], [1, ":c", 1, None], [1, ":d", 1, 7]]
    assert found(WindowAggregation(stored("?x :none ?y"), (item(X, X),), counts)) == []
    assert found(WindowAggregation(stored("?x :none ?y"), (), counts)) == [[1, 0, 0]]
    errors = WindowAggregation(stored("?x :q ?y"), (item(X, call("+", "?y", 1)),), counts[:1])
    assert found(errors) == [[1, 8, 1], [1, None, 1]]
    twice = union(stored("?x :q ?y"), stored("?x :q ?y"))
    assert found(WindowAggregation(twice, (), (aggregate_of(N, "COUNT", None, True), aggregate_of(Z, "COUNT")))) == [
        [1, 2, 4]
    ]


def test_groups_change_over_time() -> None:
    plan = WindowAggregation(bgp("?x :p ?y", (4, 1)), (), (aggregate_of(N, "SUM", Y),))
    given = inputs({"s": [(1, ":a", ":p", 5), (2, ":a", ":p", 5), (3, ":b", ":p", 1)]})
    numbers = [[0, 1, 0], [1, 2, 5], [2, 3, 10], [3, 5, 11], [5, 6, 6], [6, 7, 1], [7, "inf", 0]]
    assert rows(evaluate(plan, given)) == [[start, end, 1, term(total)] for start, end, total in numbers]


def test_exists_puts_terms_in_the_place_of_variables() -> None:
    inner = stored("?x :q ?z")
    assert found(select("x", WindowSelect(stored("?x :p ?y"), Exists(inner)))) == [[1, ":a"]]
    assert found(select("x", WindowSelect(stored("?x :p ?y"), call("!", Exists(inner))))) == [[1, ":b"], [1, ":c"]]
    compared = WindowSelect(stored("?v :q ?w"), call("=", "?w", "?y"))  # ?y comes from outside
    assert found(select("x y", WindowSelect(stored("?x :p ?y"), Exists(compared)))) == [[1, ":a", ":b"]]
    hidden = Exists(project(stored("?y :q ?w"), (variable("w"),)))  # this ?y is another one
    assert len(found(WindowSelect(stored("?x :p ?y"), hidden))) == 3
    nested = Exists(WindowSelect(stored("?y :p ?z"), Exists(stored("?z :p ?x"))))
    assert len(found(WindowSelect(stored("?x :p ?y"), nested))) == 3
    disjoint = Exists(minus(stored("?x :p ?z"), stored("?x :q ?w")))  # once ?x is a term nothing is in common
    assert len(found(WindowSelect(stored("?x :p ?y"), disjoint))) == 3
    assert found(extend(stored("?x :q ?y"), item(N, call("IF", Exists(stored("?y :p ?x")), 1, 0)))) == [
        [1, ":a", ":b", 0],
        [1, ":d", 7, 0],
    ]


def test_exists_asks_at_the_same_instant() -> None:
    plan = select("x", WindowSelect(bgp("?x :p ?y"), call("!", Exists(bgp("?x :q ?z", (3, 1))))))
    given = inputs({"s": [(0, ":a", ":p", 1), (4, ":a", ":q", 2)]})
    assert rows(evaluate(plan, given)) == [[0, 4, 1, term(":a")], [7, 10, 1, term(":a")]]


def test_orders() -> None:
    table = Values(
        (X, Y), tuple((term(x), None if y is None else term(y)) for x, y in [(1, 2), (2, None), (3, ":a"), (4, 2)])
    )
    up = OrderBy(table, (SortKey(Y),), (X,))
    assert found(up) == [[2, None], [3, ":a"], [1, 2], [4, 2]]
    assert found(OrderBy(table, (SortKey(Y, True), SortKey(X, True)), ())) == [[4, 2], [1, 2], [3, ":a"], [2, None]]
    assert found(Slice(OrderBy(table, (), (Y, X)), 1, 2)) == [[3, ":a"], [1, 2]]
    assert found(Slice(up, 1)) == [[3, ":a"], [1, 2], [4, 2]]
    assert found(Slice(up, 0, 0)) == []
    assert found(WindowDistinct(project(up, (Y,)))) == [[None], [":a"], [2]]
    assert found(OrderBy(table, (SortKey(call("/", "?y", 0)),), (X,)))[0] == [1, 2]


def test_stored_graphs_are_sets_and_merged_streams_are_not() -> None:
    assert found(bgp("?x :p ?y", None, on=StoredGraph(("g", "h"))), GRAPH[:1], h=GRAPH[:1]) == [[1, ":a", ":b"]]
    assert found(bgp("?x :p ?y", None, on=union_windows((G, StoredGraph(("h",))))), GRAPH[:1], h=GRAPH[:1]) == [
        [2, ":a", ":b"]
    ]
    assert found(stored("?x :p ?y"), []) == []
    assert found(Ask(bgp("?x :p ?y", None, on=union_windows(())))) == [False]


def test_construct_makes_new_nodes_for_each_solution() -> None:
    line = TripleTemplate(BlankNode("n"), IRI("http://ex/of"), X)
    other = TripleTemplate(BlankNode("n"), IRI("http://ex/also"), Y)
    answer = evaluate(Construct(stored("?x :p ?y"), (line, other)), inputs(g=GRAPH))
    subjects = [one.payload.subject for one in answer.triples]
    assert len(subjects) == 6
    assert len(set(subjects)) == 3
    twice = evaluate(Construct(union(stored("?x :q 7"), stored("?x :q 7")), (line,)), inputs(g=GRAPH))
    assert [one.n for one in twice.triples] == [1, 1]
    wrong = TripleTemplate(Y, IRI("http://ex/of"), X)
    assert found(Construct(stored("?x :q ?y"), (wrong, TripleTemplate(X, Y, X)))) == [
        [1, ":a", ":b", ":a"],
        [1, ":b", ":of", ":a"],
    ]


def test_constructed_nodes_stay_the_same_over_time() -> None:
    plan = Construct(bgp("?x :p ?y", (10, 1)), (TripleTemplate(BlankNode("n"), IRI("http://ex/of"), X),))
    given = inputs({"s": [(0, ":a", ":p", 1), (3, ":b", ":p", 1)]})
    assert [(one.start, one.end) for one in evaluate(plan, given).triples] == [(0, 10), (3, 13)]


def test_describe_names_and_variables() -> None:
    assert found(Describe(stored("?x :q 7"), (X, IRI("http://ex/c")), G)) == [[1, ":c", ":p", ":a"], [1, ":d", ":q", 7]]


def test_new_nodes_of_expressions() -> None:
    first = extend(stored("?x :q ?y"), item(N, term_call("BNODE", term_literal(term('"k"')))))
    second = extend(first, item(Z, term_call("BNODE", term_literal(term('"k"')))))
    nodes = [answer.payload for answer in evaluate(second, inputs(g=GRAPH)).solutions]
    assert [one.get("n") == one.get("z") for one in nodes] == [True, True]
    assert nodes[0].get("n") != nodes[1].get("n")
    fresh = extend(union(stored("?x :q 7"), stored("?x :q 7")), item(N, term_call("BNODE")))
    assert len(evaluate(fresh, inputs(g=GRAPH)).solutions) == 2


def test_an_answer_that_never_ends_has_no_end() -> None:
    answer = evaluate(Values((X,), ((integer(1),),)), inputs())
    assert rows(answer) == [[0, "inf", 1, term(1)]]
    assert expression("?x") == X
