"""Generated questions over RDF on Spark against the reference engine: each on long streams, and on tiny ones."""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.rdf.build import rows
from tests.rdf.generated import oracle, questions, test_multiplicities
from tests.rdf.stated import Stated, stated
from tests.spark.together import OverRdf, found_answers
from tests.spark.trying import SPLITS, patiently
from transom.algebra.operator import Windows
from transom.algebra.rdf.solutions import project, variables
from transom.algebra.relations import WindowProject
from transom.algebra.tree import RdfPlan, reads_streams
from transom.catalog.catalog import Catalog
from transom.catalog.rdf import Rdf, rdf_stream, stored_graph
from transom.errors import Unsupported
from transom.languages.sparql.parse import parse
from transom.model.rdf.answer import RdfAnswer
from transom.model.time import Calendar
from transom.physical.nodes.windows import KernelMode
from transom.physical.planner.planner import plan_query
from transom.query import Query
from transom.reference.rdf.evaluate import change_instants, evaluate, timed_operators
from transom.runtime.verify.harness import replay_answer
from transom.spark.expressions.function_gaps import refuse_functions

CATALOG = Catalog(
    Calendar(1000),
    rdf=Rdf(
        {
            "s": rdf_stream("s", "http://ex/s"),
            "u": rdf_stream("u", "http://ex/u"),
            "g": stored_graph("g", "http://ex/g"),
        }
    ),
)
SEED = int(os.environ.get("TRANSOM_SOAK_SEED", "1"))
SOAK_PARTS = 4
PARTS = 40
"""Short streams of a question, of which long ones are made."""


def shown(answer: RdfAnswer) -> list[str]:
    return sorted(map(str, rows(answer)))


def question(seed: int) -> RdfPlan | None:
    """A question that Spark runs over streams; every third one over statements that come several times."""
    chance = random.Random(seed)
    plan: RdfPlan
    if seed % 3 == 0:
        plan = test_multiplicities.plan(chance, 2)
    else:
        plan = questions.case_of(seed).plan
    if not reads_streams(plan):
        return None
    try:
        plan_query(plan)
        refuse_functions(plan)
    except Unsupported:
        return None
    return plan


def drawn(seed: int, parts: int) -> list[Stated]:
    """Short streams for a question."""
    chance = random.Random(f"streams {seed}")
    make = test_multiplicities.drawn_inputs if seed % 3 == 0 else oracle.streams
    return [make(chance) for _ in range(parts)]


def joined(parts: Sequence[Stated]) -> Stated:
    """Streams one after the other as one, with the graphs of the first."""
    streams = {
        name: [(tick + n * (oracle.LAST + 1), one) for n, part in enumerate(parts) for tick, one in part.given[name]]
        for name in parts[0].given
    }
    return stated(streams, parts[0].graphs)


def tiny(seed: int) -> list[Stated]:
    """Streams with one statement, and without any."""
    first = drawn(seed, 1)[0]
    one = {name: given[:1] for name, given in first.given.items()}
    return [stated(one, first.graphs), stated({name: [] for name in one}, first.graphs)]


def query_of(plan: RdfPlan) -> Query:
    return Query("generated", "sparql", CATALOG, parse("ASK {}"), plan)


def check(spark: Any, seed: int, plan: RdfPlan, way: str, kernel: KernelMode, parts: int = PARTS) -> Counter[str]:
    """Compare the answers to long and tiny streams; how many statements there were, and how many rows of answers."""
    short = drawn(seed, parts)
    long = 2 if way == "replay" else 1
    given = {f"long {n}": joined(short[n::long]) for n in range(long)}
    if not way.startswith("uneven"):
        given |= {f"tiny {n}": one for n, one in enumerate(tiny(seed))}
    expected = {name: shown(evaluate(plan, inputs)) for name, inputs in given.items()}
    query = query_of(plan)
    cases = [OverRdf(name, query, inputs, last_tick(plan, inputs)) for name, inputs in given.items()]
    split = None if way == "replay" else replace(SPLITS[way], times=parts)
    found = found_answers(spark, cases, split, kernel)
    for name in given:
        answer = found[name]
        assert not isinstance(answer, str), f"seed {seed}, {name}, {way}, {kernel}: {answer}"
        assert shown(answer) == expected[name], f"seed {seed}, {name}, {way}, {kernel}"
    statements = sum(len(rows) for inputs in given.values() for rows in inputs.streams.values())
    return Counter({"statements": statements, "answered": sum(map(len, expected.values()))})


def last_tick(plan: RdfPlan, inputs: Stated) -> int:
    """The tick of the last change or statement."""
    arrivals = (tick for given in inputs.given.values() for tick, _ in given)
    return max([oracle.LAST, *change_instants(timed_operators(plan, inputs)), *arrivals])


def chosen(count: int, first: int) -> list[tuple[int, RdfPlan]]:
    """Questions with answers; every second one over statements that come several times."""
    found: list[tuple[int, RdfPlan]] = []
    seeds = {True: first, False: first}
    while len(found) < count:
        several = len(found) % 2 == 0
        seed = seeds[several] = seeds[several] + 1
        plan = question(seed) if (seed % 3 == 0) == several else None
        if plan is not None and len(rows(evaluate(plan, joined(drawn(seed, 8))))) > 2:
            found.append((seed, plan))
    return found


WAYS = ["uneven-8", "replay", "all-at-once", "replay"]


@pytest.mark.nightly
def test_generated(spark: Any) -> None:
    told: Counter[str] = Counter()
    for number, (seed, plan) in enumerate(chosen(8, 100)):
        kernel: KernelMode = "off" if number % 4 == 3 else "on"
        told += check(spark, seed, plan, WAYS[number % len(WAYS)], kernel)
    assert told["statements"] >= 2000
    assert told["answered"] > 800


def aggregated(count: int, first: int) -> list[tuple[int, RdfPlan]]:
    """Questions with aggregates that have answers; no seed is a multiple of three, so that statements come once."""
    found: list[tuple[int, RdfPlan]] = []
    seed = first * 3
    while len(found) < count:
        seed += 2 if seed % 3 == 2 else 1
        plan = questions.aggregated(seed)
        try:
            plan_query(plan)
            refuse_functions(plan)
        except Unsupported:
            continue
        if reads_streams(plan) and len(rows(evaluate(plan, joined(drawn(seed, 8))))) > 2:
            found.append((seed, plan))
    return found


@pytest.mark.nightly
def test_generated_aggregates(spark: Any) -> None:
    told: Counter[str] = Counter()
    for number, (seed, plan) in enumerate(aggregated(8, 100)):
        kernel: KernelMode = "off" if number % 4 == 3 else "on"
        told += check(spark, seed, plan, WAYS[number % len(WAYS)], kernel)
    assert told["answered"] > 300


@pytest.mark.soak
@pytest.mark.parametrize("part", range(SOAK_PARTS))
def test_many_generated_aggregates(spark: Any, part: int) -> None:
    for number, (seed, plan) in enumerate(aggregated(40, SEED * 10_000)):
        if number % SOAK_PARTS == part:
            way = ["uneven-8", "replay", "all-at-once", "uneven-3", "replay"][number % 5]
            check(spark, seed, plan, way, "off" if number % 4 == 3 else "on")


@pytest.mark.soak
@pytest.mark.parametrize("part", range(SOAK_PARTS))
def test_many_generated(spark: Any, part: int) -> None:
    told: Counter[str] = Counter()
    for number, (seed, plan) in enumerate(chosen(60, SEED * 10_000)):
        if number % SOAK_PARTS != part:
            continue
        way = ["uneven-8", "replay", "all-at-once", "uneven-3", "replay"][number % 5]
        told += check(spark, seed, plan, way, "off" if number % 4 == 3 else "on", 70)
    assert told["statements"] >= 20_000 // SOAK_PARTS - 1_000


@pytest.mark.nightly
def test_a_wrong_plan_is_noticed(spark: Any) -> None:
    seed, plan = next((s, p) for s, p in chosen(8, 100) if isinstance(p, Windows) and not isinstance(p, WindowProject))
    assert isinstance(plan, Windows)
    inputs = joined(drawn(seed, 5))
    other = query_of(project(plan, variables(plan)[:-1]))
    found = patiently(lambda: replay_answer(other, spark, inputs, "on"))
    assert shown(found) != shown(evaluate(plan, inputs))
