"""Faults sown into SPARQL on Spark: golden cases and a few small ones must notice each, without the kernel."""

from __future__ import annotations

from functools import cache, partial
from typing import Any, NamedTuple

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import golden_cases
from tests.faults import faulty_tree
from tests.spark.faults.test_faults import Sown, sow, sown
from tests.spark.golden.sparql_cases import CASES, OF_S, SMALL_CATALOG, Small
from tests.spark.kills.shapes_rdf import difference
from tests.spark.trying import ONE_ROW, patiently, plain, side_by_side
from tests.sparql.test_golden import catalog_of
from transom.machines import path_closure, protocol
from transom.machines.aggregates import group_aggregate, multiset, totals
from transom.machines.joins import delta_join, match_counter
from transom.model.rdf.answer import RdfAnswer
from transom.physical.rdf import bindings, joins
from transom.physical.rdf import relations as rdf_arrange
from transom.query import Query
from transom.reference.rdf.evaluate import change_instants, timed_operators
from transom.reference.sources import Inputs
from transom.runtime.verify.harness import replay_answer, stream_answer
from transom.spark import relations
from transom.spark.rdf import messages, patterns, sequences, solutions
from transom.spark.rdf.terms import functions
from transom.spark.stateful import change_join, runner

IN_WORKERS = (multiset, totals, group_aggregate, delta_join, match_counter, path_closure, protocol, runner)
"""Modules that run inside Spark's Python workers; a fault there travels by value."""

SMALL = {
    "two-subjects": Small(
        f"SELECT ?x ?y ?z {OF_S} {{ ?x :p ?y ; :q ?z }}",
        {"s": [(0, ":a", ":p", 1), (1, ":a", ":q", 2), (2, ":b", ":q", 3)]},
    ),
    "some-unbound": Small(
        f"SELECT * {OF_S} {{ {{ {{ ?x :p ?y }} UNION {{ ?x :q ?z }} }} {{ ?w :r ?z }} }}",
        {"s": [(0, ":a", ":p", 1), (1, ":b", ":q", 5), (2, ":c", ":r", 5), (3, ":d", ":r", 6)]},
    ),
    "minus-nothing-common": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y MINUS {{ ?v :q ?w }} }}", {"s": [(0, ":a", ":p", 1), (2, ":a", ":q", 1)]}
    ),
    "minus-unbound": Small(
        f"SELECT * {OF_S} {{ {{ ?x :p ?y }} UNION {{ ?x :q ?z }} MINUS {{ ?v :r ?z }} }}",
        {"s": [(0, ":a", ":p", 1), (1, ":b", ":q", 5), (3, ":c", ":r", 5)]},
    ),
    "minus-for-a-while": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y MINUS {{ ?x :q ?z WINDOW RANGE 2 SLIDE }} }}",
        {"s": [(0, ":a", ":p", 1), (2, ":a", ":q", 1), (3, ":b", ":q", 1)]},
    ),
    "covered-twice": Small(
        f"SELECT * {OF_S} {{ ?x :p ?y OPTIONAL {{ ?x :q ?z FILTER (?z > ?y) WINDOW RANGE 4 SLIDE }} }}",
        {"s": [(0, ":a", ":p", 1), (1, ":a", ":q", 5), (3, ":a", ":q", 6)]},
    ),
    "equal-values": Small(
        f"SELECT ?x (?y = 5 AS ?value) (sameTerm(?y, 5) AS ?term) {OF_S} {{ ?x :p ?y }}",
        {"s": [(0, ":a", ":p", 5), (1, ":b", ":p", "5.0"), (2, ":c", ":p", 6)]},
    ),
    "no-number": Small(
        f"SELECT ?x {OF_S} {{ ?x :p ?y FILTER (?y > 5) }}", {"s": [(0, ":a", ":p", '"word"'), (1, ":b", ":p", 6)]}
    ),
    "stored-partner": Small(
        "SELECT * FROM STREAM :s WINDOW RANGE 5 SLIDE FROM NAMED :g "
        "WHERE { ?x :p ?y OPTIONAL { GRAPH :g { ?x :q ?z } } }",
        {"s": [(0, ":a", ":p", 1), (1, ":b", ":p", 2)], "g": [(":a", ":q", 3)]},
    ),
    "groups": Small(
        f"SELECT ?x (SUM(?y) AS ?sum) (MIN(?y) AS ?least) {OF_S} {{ ?x :p ?y }} GROUP BY ?x",
        {"s": [(0, ":a", ":p", 1), (2, ":a", ":p", 5), (5, ":b", ":p", 2), (6, ":b", ":p", '"word"')]},
    ),
    "one-group": Small(
        f"SELECT (COUNT(*) AS ?n) (MAX(?y) AS ?most) {OF_S} {{ ?x :p ?y }}",
        {"s": [(3, ":a", ":p", 1), (5, ":b", ":p", 2), (5, ":b", ":q", 2)]},
    ),
    "one-message": Small(
        "SELECT * FROM STREAM :m WINDOW RANGE 5 SLIDE WHERE { ?x :p ?y ; :q ?y }",
        {"m": [(0, ":a", ":p", 1), (0, ":a", ":q", 1), (0, ":a", ":q", 2)]},
    ),
    **CASES,
}

SOWN = [
    sow(
        "an interval one instant too long",
        patterns.window_end,
        "div(tick + F.lit(width), slide) * F.lit(slide)",
        "div(tick + F.lit(width), slide) * F.lit(slide) + F.lit(1)",
        ("r02", "replay"),
    ),
    sow(
        "set union",
        solutions.union_all,
        "_union_side(node, node.left, left, 0).unionByName(_union_side(node, node.right, right, 1))",
        "_union_side(node, node.left, left, 0).unionByName(_union_side(node, node.right, right, 1)).distinct()",
        ("r11", "replay"),
    ),
    sow(
        "a filter outside its optional",
        rdf_arrange.plan_relation,
        "return joins.plan_join(A_, B_)",
        "found = joins.plan_join(A_, replace(B_, predicate=conjunction([])))\n"
        "return joins.filter_rows(found, B_.predicate) if B_.join_type is JoinType.LEFT else found",
        ("r40", "replay"),
    ),
    sow(
        "ELEMS of a pattern counts statements",
        rdf_arrange.plan_window,
        "A_(B_, index=False)",
        "A_(getattr(getattr(B_, 'input', B_), 'input', B_), index=False)",
        ("r07", "replay"),
    ),
    sow(
        "one element too many",
        rdf_arrange.plan_window,
        "1 - A_",
        "-A_",
        ("r06", "replay"),
    ),
    sow(
        "a star over all subjects",
        joins._join_star,
        "equal = A_((name for name in star[0].schema.names if name in keys))",
        "equal: A_[str, ...] = ()",
        ("two-subjects", "replay"),
    ),
    sow(
        "unbound is a value",
        change_join._compatible,
        "A_.isNull() | B_.isNull() | (A_ == B_)",
        "A_.eqNullSafe(B_)",
        ("some-unbound", "replay"),
    ),
    sow(
        "what does not match is never told",
        delta_join.DeltaJoin.take,
        "A_ != 'inner'",
        "A_ not in ('inner', 'left')",
        ("r16", "replay"),
    ),
    sow(
        "a solution does not come back when its partner has gone",
        delta_join.DeltaJoin._pairs,
        "if not A_:\n    del A_",
        "pass",
        ("r13", "replay"),
        ("minus-for-a-while", "replay"),
    ),
    sow(
        "a solution alone again when the first of its partners goes",
        match_counter.MatchCounter.take,
        "B_.matches += A_",
        "B_.matches = max(A_, 0)",
        ("covered-twice", "replay"),
    ),
    sow(
        "pairs counted once",
        delta_join.DeltaJoin._pairs,
        "count *= A_",
        "count *= 1 if A_ > 0 else -1",
        ("r34", "replay"),
    ),
    sow(
        "what goes is added again",
        totals.RetractableTermSum.add,
        "A_ * units",
        "abs(A_) * units",
        ("groups", "replay"),
    ),
    sow(
        "there is no group without solutions",
        group_aggregate.GroupAggregate.take,
        "A_ or self.spec.is_global",
        "A_",
        ("one-group", "replay"),
    ),
    sow(
        "values are terms",
        functions,
        "A_(equal(B_, C_))",
        "A_(B_.term() == C_.term())",
        ("equal-values", "replay"),
    ),
    sow(
        "terms are values",
        functions,
        "A_.term() == B_.term()",
        "equal(A_, B_)",
        ("equal-values", "replay"),
    ),
]
MORE = [
    sow(
        "an error is left out of a sum",
        totals.RetractableTermSum._sum,
        "self.counts[0]",
        "False",
        ("groups", "replay"),
    ),
    sow(
        "the least value stays when it goes",
        multiset.Multiset.add,
        "del self.order[A_]",
        "pass",
        ("groups", "replay"),
    ),
    sow(
        "the row of a group is forgotten between batches",
        group_aggregate.GroupAggregate.load,
        "machine.emitted",
        "_",
        ("one-group", "stream"),
    ),
    sow(
        "the window of Algorithm 2",
        patterns.window_end,
        "C_(D_ + B_, slide) * A_",
        "C_(D_, slide) * A_ + B_",
        ("r05", "replay"),
    ),
    sow(
        "a variable that stands twice finds two terms",
        patterns._matches_pattern,
        "A_ = A_ & (B_ == F.col(f'c{first[C_.name]}'))",
        "pass",
        ("r29", "replay"),
    ),
    sow(
        "in a message what is known is found again",
        messages._conditions,
        "A_ in bound",
        "False",
        ("one-message", "replay"),
    ),
    sow(
        "an error is true",
        relations.filter_rows,
        "holds(B_, A_, C_)",
        "F.coalesce(value(B_, A_, C_), F.lit(True))",
        ("no-number", "replay"),
    ),
    sow(
        "a stored partner is a must",
        change_join._join_static_table,
        "A_(B_, C_, 'left')",
        "A_(B_, C_)",
        ("stored-partner", "replay"),
    ),
    sow(
        "what one side of a UNION binds is always bound",
        bindings.bound_variables,
        "A_ & B_",
        "A_ | B_",
        ("some-unbound", "replay"),
    ),
    sow(
        "MINUS without a common variable",
        joins.plan_minus,
        "not A_ and (not B_)",
        "False",
        ("minus-nothing-common", "replay"),
    ),
    sow(
        "MINUS where nothing in common is bound",
        joins.plan_minus,
        "overlap = not A_",
        "overlap = False",
        ("minus-unbound", "replay"),
    ),
    sow(
        "DISTINCT keeps all",
        match_counter.MatchCounter._target_counts,
        "min(A_, 1)",
        "A_",
        ("r22", "replay"),
    ),
    sow(
        "descending forgotten",
        sequences._compare_values,
        "(1, -1) if descending else A_",
        "A_",
        ("r30", "replay"),
    ),
    sow(
        "what is out is forgotten between batches",
        match_counter.MatchCounter.load,
        "machine.emitted",
        "_",
        ("r22", "stream"),
    ),
]


class Asked(NamedTuple):
    """A question, what it reads, the reference's answer, and the last tick at which something happens."""

    query: Query
    inputs: Inputs
    expected: RdfAnswer
    until: int


@cache
def asked(name: str) -> Asked:
    small = SMALL.get(name)
    if small is None:
        case = next(c for c in golden_cases("streaming-sparql") if c.name.startswith(name))
        small, catalog = Small(case.text, case.inputs), catalog_of(case)
    else:
        catalog = SMALL_CATALOG
    query = transom.compile(small.text, catalog, language="sparql")
    inputs = query.inputs(small.inputs)
    return Asked(
        query, inputs, query.simulate(small.inputs), max(change_instants(timed_operators(query.algebra, inputs)))
    )


def notices(spark: Any, name: str, way: str) -> str | None:
    """How an answer without the kernel differs from the right one; an engine that falls over is an error."""
    query, inputs, expected, until = asked(name)
    if way == "replay":
        found = patiently(lambda: replay_answer(query, spark, inputs, "off"))
    else:
        found = patiently(lambda: stream_answer(query, plain(spark), inputs, ONE_ROW, until, "off"))
    return difference(expected, found)


def tries(faults: list[Sown]) -> list[tuple[str, str]]:
    return sorted({one for fault in faults for one in fault.tries})


def nothing_is_noticed(spark: Any, questions: list[tuple[str, str]]) -> None:
    assert all(len(asked(name).expected) for name, _ in questions)
    found = side_by_side([partial(notices, spark, name, way) for name, way in questions])
    assert dict(zip(questions, found, strict=True)) == dict.fromkeys(questions)


def is_noticed(spark: Any, one: Sown) -> None:
    for name, _ in one.tries:
        asked(name)  # the right answer, before anything is wrong
    with sown(one.fault, IN_WORKERS):
        assert any(notices(spark, name, way) for name, way in one.tries)


def test_enough_faults_of_every_kind() -> None:
    assert len(SOWN) >= 8
    assert {one.fault.module for one in SOWN} >= {
        rdf_arrange,
        joins,
        patterns,
        solutions,
        change_join,
        delta_join,
    }
    for fault in (one.fault for one in (*SOWN, *MORE)):
        assert faulty_tree(fault), fault.name


@pytest.mark.nightly
def test_without_a_fault_nothing_is_noticed(spark: Any) -> None:
    nothing_is_noticed(spark, tries(SOWN))


@pytest.mark.nightly
@pytest.mark.parametrize("one", SOWN, ids=lambda one: one.fault.name)
def test_fault_is_noticed(spark: Any, one: Sown) -> None:
    is_noticed(spark, one)


@pytest.mark.soak
def test_without_a_fault_nothing_more_is_noticed(spark: Any) -> None:
    nothing_is_noticed(spark, tries(MORE))


@pytest.mark.soak
@pytest.mark.parametrize("one", MORE, ids=lambda one: one.fault.name)
def test_another_fault_is_noticed(spark: Any, one: Sown) -> None:
    is_noticed(spark, one)
