"""Drawn texts of SPARQL 1.1 on Spark against the reference engine, which Oxigraph has judged on the same ones."""

from __future__ import annotations

import os
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.rdf.build import rows
from tests.rdf.generated.oracle import LAST, Case
from tests.rdf.generated.texts import CATALOG, asked
from tests.spark.kills.shapes_rdf import difference
from tests.spark.together import OverRdf, differences
from tests.spark.trying import SPLITS
from transom.algebra.rdf.patterns import PathPattern
from transom.algebra.tree import reads_streams, walk
from transom.errors import Unsupported
from transom.languages.sparql.parse import parse
from transom.model.rdf.answer import RdfAnswer
from transom.physical.nodes.windows import KernelMode
from transom.physical.rdf.paths import has_repetition
from transom.query import Query
from transom.reference.rdf.evaluate import change_instants, evaluate, timed_operators

SEED = int(os.environ.get("TRANSOM_SOAK_SEED", "1"))
SOAK_PARTS = 8


def has_exists(case: Case) -> bool:
    return "EXISTS" in case.ours


def has_path(case: Case) -> bool:
    """Whether there is a path with `?`, `*` or `+`."""
    return any(isinstance(op, PathPattern) and has_repetition(op.path) for op in walk(case.plan))


KINDS = {"EXISTS": has_exists, "paths": has_path}


def questions(kind: str, count: int, first: int) -> list[tuple[int, Case]]:
    """Texts of a kind that have an answer over streams, and that Spark has a plan for."""
    found: list[tuple[int, Case]] = []
    seed = first
    while len(found) < count:
        seed += 1
        case = asked(seed)
        if not KINDS[kind](case) or not reads_streams(case.plan):
            continue
        if len(rows(evaluate(case.plan, case.inputs))) < 2:
            continue
        try:
            query_of(case).physical()
        except Unsupported:
            continue
        found.append((seed, case))
    return found


def query_of(case: Case) -> Query[RdfAnswer]:
    return Query(case.ours, "sparql", CATALOG, parse(case.ours), case.plan)


def wrong(spark: Any, cases: list[tuple[int, Case]], way: str, kernel: KernelMode) -> dict[str, str]:
    """How the answers to some texts differ from those of the reference engine."""
    given, expected = [], {}
    for seed, case in cases:
        name = f"text {seed}, {way}, {kernel}: {case.ours}"
        until = max([LAST, *change_instants(timed_operators(case.plan, case.inputs))])
        given.append(OverRdf(name, query_of(case), case.inputs, until))
        expected[name] = evaluate(case.plan, case.inputs)
    split = None if way == "replay" else SPLITS[way]
    return differences(spark, given, split, kernel, lambda name, answer: difference(expected[name], answer))


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_texts(spark: Any, kind: str) -> None:
    cases = questions(kind, 6, 1000)
    assert not wrong(spark, cases[:4], "replay", "on")
    assert not wrong(spark, cases[4:], "all-at-once", "off")


@pytest.mark.soak
@pytest.mark.parametrize("part", range(SOAK_PARTS))
def test_many_texts(spark: Any, part: int) -> None:
    for kind in KINDS:
        cases = questions(kind, 80, SEED * 10_000)[part::SOAK_PARTS]
        assert not wrong(spark, cases[:7], "replay", "on")
        assert not wrong(spark, cases[7:], "uneven-8", "off")
