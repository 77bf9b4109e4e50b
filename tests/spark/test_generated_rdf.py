"""Generated questions over RDF on Spark against the reference engine: many streams travel together, one per lane."""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.rdf import oracle, questions, test_multiplicities
from tests.rdf.build import rows
from tests.spark.trying import SPLITS, patiently, plain
from transom.algebra.rdf.solutions import Project
from transom.algebra.rdf.tree import Question, Solutions, reads_streams
from transom.catalog.extents import Catalog
from transom.catalog.rdf import Rdf, RdfExtent
from transom.errors import Unsupported
from transom.languages.sparql.parse import parse
from transom.model.rdf.answer import RdfAnswer
from transom.model.time import Calendar
from transom.physical.plan import Kernel
from transom.physical.rdf_arrange import arrange
from transom.rdf_query import RdfQuery
from transom.reference.rdf.evaluate import changes, evaluate, timed
from transom.reference.rdf.statements import Inputs
from transom.runtime.rdf_trial import try_replay, try_stream
from transom.spark.terms import unsupported

CATALOG = Catalog(
    Calendar(1000),
    rdf=Rdf(
        {
            "s": RdfExtent("s", "http://ex/s", is_stream=True),
            "u": RdfExtent("u", "http://ex/u", is_stream=True),
            "g": RdfExtent("g", "http://ex/g", is_stream=False),
        }
    ),
)
SEED = int(os.environ.get("TRANSOM_SOAK_SEED", "1"))
LANES = 40


def shown(answer: RdfAnswer) -> list[str]:
    return sorted(map(str, rows(answer)))


def question(seed: int) -> Question | None:
    """A question that Spark runs over streams; every third one over statements that come several times."""
    chance = random.Random(seed)
    plan: Question
    if seed % 3 == 0:
        plan = test_multiplicities.plan(chance, 2)
    else:
        plan = questions.case_of(seed).plan
    if not reads_streams(plan):
        return None
    try:
        arrange(plan)
    except Unsupported:
        return None
    return None if any(map(unsupported, _expressions(plan))) else plan


def _expressions(plan: Any) -> list[Any]:
    from transom.algebra.rdf.expressions import Call
    from transom.algebra.rdf.tree import walk_all

    return [found for found in walk_all(plan) if isinstance(found, Call)]


def drawn(seed: int, lanes: int) -> dict[int, Inputs]:
    """Streams for a question."""
    chance = random.Random(f"streams {seed}")
    make = test_multiplicities.drawn_inputs if seed % 3 == 0 else oracle.streams
    return {lane: make(chance) for lane in range(lanes)}


def query_of(plan: Question) -> RdfQuery:
    return RdfQuery("generated", "sparql", CATALOG, parse("ASK {}"), plan)


def check(spark: Any, seed: int, plan: Question, way: str, kernel: Kernel, lanes: int = LANES) -> Counter[str]:
    """The answers of all lanes; how many were compared, and how many were not empty."""
    given = drawn(seed, lanes)
    expected = {lane: shown(evaluate(plan, inputs)) for lane, inputs in given.items()}
    query = query_of(plan)
    if way == "replay":
        found = patiently(lambda: try_replay(query, spark, given, kernel))
    else:
        last = [max(changes(timed(plan, inputs))) for inputs in given.values()]
        until = max([*last, oracle.LAST])
        found = patiently(lambda: try_stream(query, plain(spark), given, SPLITS[way], until, kernel))
    for lane in given:
        assert shown(found[lane]) == expected[lane], f"seed {seed}, lane {lane}, {way}, {kernel}"
    return Counter({"triples": lanes, "answered": sum(map(bool, expected.values()))})


def chosen(count: int, first: int) -> list[tuple[int, Question]]:
    found: list[tuple[int, Question]] = []
    seed = first
    while len(found) < count:
        plan = question(seed)
        if plan is not None:
            found.append((seed, plan))
        seed += 1
    return found


WAYS = ["uneven-8", "replay", "all-at-once", "replay"]


def test_generated(spark: Any) -> None:
    told: Counter[str] = Counter()
    for number, (seed, plan) in enumerate(chosen(8, 100)):
        kernel: Kernel = "off" if number % 4 == 3 else "on"
        told += check(spark, seed, plan, WAYS[number % len(WAYS)], kernel)
    assert told["triples"] >= 300
    assert told["answered"] > 150


@pytest.mark.soak
def test_many_generated(spark: Any) -> None:
    told: Counter[str] = Counter()
    for number, (seed, plan) in enumerate(chosen(60, SEED * 10_000)):
        way = ["uneven-8", "replay", "all-at-once", "uneven-3", "replay"][number % 5]
        told += check(spark, seed, plan, way, "off" if number % 4 == 3 else "on", 70)
    assert told["triples"] >= 4_000


def test_a_wrong_plan_is_noticed(spark: Any) -> None:
    seed, plan = next((s, p) for s, p in chosen(8, 100) if not isinstance(p, Project) and hasattr(p, "variables"))
    assert isinstance(plan, Solutions)
    given = drawn(seed, 5)
    other = query_of(Project(plan, plan.variables[:-1]))
    found = patiently(lambda: try_replay(other, spark, given, "on"))
    assert any(shown(found[lane]) != shown(evaluate(plan, inputs)) for lane, inputs in given.items())
