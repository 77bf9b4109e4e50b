"""Faults sown into SPARQL on Spark: golden cases and a few small ones must notice each, without the kernel."""

from __future__ import annotations

import inspect
from functools import cache, partial
from typing import Any, NamedTuple

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import golden_cases
from tests.spark.shapes_rdf import difference
from tests.spark.sparql_cases import CASES, OF_S, SMALL_CATALOG, Small
from tests.spark.test_faults import Sown, sow, sown
from tests.spark.trying import ONE_ROW, patiently, plain, side_by_side
from tests.sparql.test_golden import catalog_of
from transom.machines import delta_join, group_aggregate, match_counter, multiset, paths, steps, totals
from transom.model.rdf.answer import RdfAnswer
from transom.physical import rdf_arrange, rdf_join, rdf_known
from transom.query import Query
from transom.reference.rdf.evaluate import changes, timed
from transom.reference.sources import Inputs
from transom.runtime.harness import replay_answer, stream_answer
from transom.spark import (
    change_join,
    rdf_messages,
    rdf_patterns,
    rdf_sequences,
    rdf_solutions,
    relations,
    runner,
    term_functions,
)

IN_WORKERS = (multiset, totals, group_aggregate, delta_join, match_counter, paths, steps, runner)
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
        rdf_patterns,
        "return div(tick + F.lit(width), slide) * F.lit(slide)",
        "return div(tick + F.lit(width), slide) * F.lit(slide) + F.lit(1)",
        ("r02", "replay"),
    ),
    sow(
        "set union",
        rdf_solutions,
        "_side(node, node.right, right, 1))",
        "_side(node, node.right, right, 1)).distinct()",
        ("r11", "replay"),
    ),
    sow(
        "a filter outside its optional",
        rdf_arrange,
        "return rdf_join.join(planner, op)",
        "found = rdf_join.join(planner, replace(op, predicate=conjunction([])))\n"
        "            return rdf_join.kept(found, op.predicate) if op.join_type is JoinType.LEFT else found",
        ("r40", "replay"),
    ),
    sow(
        "ELEMS of a pattern counts statements",
        rdf_arrange,
        "below = planner.in_order(op.input, index=False)",
        "below = planner.in_order(getattr(getattr(op.input, 'input', op.input), 'input', op.input), index=False)",
        ("r07", "replay"),
    ),
    sow(
        "one element too many",
        rdf_arrange,
        'Reach("index", (1, 1 - count), (1, 0))',
        'Reach("index", (1, -count), (1, 0))',
        ("r06", "replay"),
    ),
    sow(
        "a star over all subjects",
        rdf_join,
        "equal = tuple(name for name in star[0].schema.names if name in keys)",
        "equal: tuple[str, ...] = ()",
        ("two-subjects", "replay"),
    ),
    sow(
        "unbound is a value",
        change_join,
        "found[0].isNull() | other.isNull() | (found[0] == other)",
        "found[0].eqNullSafe(other)",
        ("some-unbound", "replay"),
    ),
    sow(
        "what does not match is never told",
        delta_join,
        'if self.emit != "inner":',
        'if self.emit not in ("inner", "left"):',
        ("r16", "replay"),
    ),
    sow(
        "a solution does not come back when its partner has gone",
        delta_join,
        "                if not bag[row]:\n                    del bag[row]\n",
        "",
        ("r13", "replay"),
        ("minus-for-a-while", "replay"),
    ),
    sow(
        "a solution alone again when the first of its partners goes",
        match_counter,
        "self.matches += count",
        "self.matches = max(count, 0)",
        ("covered-twice", "replay"),
    ),
    sow(
        "pairs counted once",
        delta_join,
        "count *= times",
        "count *= 1 if times > 0 else -1",
        ("r34", "replay"),
    ),
    sow(
        "what goes is added again",
        totals,
        "self.sums[0] += count * whole",
        "self.sums[0] += abs(count) * whole",
        ("groups", "replay"),
    ),
    sow(
        "there is no group without solutions",
        group_aggregate,
        "if self.rows or self.spec.whole:",
        "if self.rows:",
        ("one-group", "replay"),
    ),
    sow(
        "values are terms",
        term_functions,
        '"=": lambda one, other: truths(equal(one, other))',
        '"=": lambda one, other: truths(one.term() == other.term())',
        ("equal-values", "replay"),
    ),
    sow(
        "terms are values",
        term_functions,
        '"sameTerm": lambda one, other: truths(one.term() == other.term())',
        '"sameTerm": lambda one, other: truths(equal(one, other))',
        ("equal-values", "replay"),
    ),
]
MORE = [
    sow(
        "an error is left out of a sum",
        totals,
        "if self.counts[0]:",
        "if False:",
        ("groups", "replay"),
    ),
    sow(
        "the least value stays when it goes",
        multiset,
        "        del self.order[place]\n",
        "",
        ("groups", "replay"),
    ),
    sow(
        "the row of a group is forgotten between batches",
        group_aggregate,
        "machine.key, machine.emitted = map(encoding.unpack_deep, rows)",
        "machine.key, _ = map(encoding.unpack_deep, rows)",
        ("one-group", "stream"),
    ),
    sow(
        "the window of Algorithm 2",
        rdf_patterns,
        "return div(tick + F.lit(width), slide) * F.lit(slide)",
        "return div(tick, slide) * F.lit(slide) + F.lit(width)",
        ("r05", "replay"),
    ),
    sow(
        "a variable that stands twice finds two terms",
        rdf_patterns,
        'fits = fits & (F.col(f"c{at}") == F.col(f"c{first[place.name]}"))',
        "pass",
        ("r29", "replay"),
    ),
    sow(
        "in a message what is known is found again",
        rdf_messages,
        "elif place.name in known:",
        "elif False:",
        ("one-message", "replay"),
    ),
    sow(
        "an error is true",
        relations,
        "true = holds(node.predicate, node.input.schema, run)",
        "true = F.coalesce(value(node.predicate, node.input.schema, run), F.lit(True))",
        ("no-number", "replay"),
    ),
    sow(
        "a stored partner is a must",
        change_join,
        'found = one.join(other, meets, "left")',
        "found = one.join(other, meets)",
        ("stored-partner", "replay"),
    ),
    sow(
        "what one side of a UNION binds is always bound",
        rdf_known,
        "return bound(left) & bound(right)",
        "return bound(left) | bound(right)",
        ("some-unbound", "replay"),
    ),
    sow(
        "MINUS without a common variable",
        rdf_join,
        "if not own and not loose:",
        "if False:",
        ("minus-nothing-common", "replay"),
    ),
    sow(
        "MINUS where nothing in common is bound",
        rdf_join,
        "overlap = not own",
        "overlap = False",
        ("minus-unbound", "replay"),
    ),
    sow(
        "DISTINCT keeps all",
        match_counter,
        "return [min(self.copies, 1), 0]",
        "return [self.copies, 0]",
        ("r22", "replay"),
    ),
    sow(
        "descending forgotten",
        rdf_sequences,
        "less, more = (1, -1) if descending else (-1, 1)",
        "less, more = -1, 1",
        ("r30", "replay"),
    ),
    sow(
        "what is out is forgotten between batches",
        match_counter,
        "machine.copies, machine.matches, *machine.emitted, row = encoding.load(cls.kind, state)",
        "machine.copies, machine.matches, *_, row = encoding.load(cls.kind, state)",
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
    return Asked(query, inputs, query.simulate(small.inputs), max(changes(timed(query.algebra, inputs))))


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
        rdf_join,
        rdf_patterns,
        rdf_solutions,
        change_join,
        delta_join,
    }
    for fault in (one.fault for one in (*SOWN, *MORE)):
        assert inspect.getsource(fault.module).count(fault.right) == 1, fault.name


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
