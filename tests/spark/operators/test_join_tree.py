"""Joins by the same key, which run in one stateful operator, on Spark against the reference engine."""

from __future__ import annotations

import random
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.rdf.build import term
from tests.rdf.stated import Stated, stated
from tests.spark.kills.shapes_rdf import difference
from tests.spark.together import OverRdf, differences
from tests.spark.trying import SPLITS
from transom import Catalog, compile
from transom.model.rdf.terms import Triple
from transom.physical.nodes.change_join import is_fused
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import KernelMode
from transom.reference.rdf.evaluate import evaluate

CATALOG = Catalog.from_dict(
    {
        "tick": "1 s",
        "prefixes": {"": "http://ex/"},
        "rdf": {"s": {"stream": "http://ex/s"}, "u": {"stream": "http://ex/u"}},
    }
)
FROM = "FROM STREAM :s WINDOW RANGE 4 S SLIDE 1 S FROM STREAM :u WINDOW RANGE 6 S SLIDE 2 S"
PATTERNS = {
    "optionals": "?x :p ?y OPTIONAL { ?x :q ?z } OPTIONAL { ?x :r ?w }",
    "a star and a nested optional": "?x :p ?y ; :q ?z OPTIONAL { ?x :r ?w OPTIONAL { ?x :p ?v } }",
    "two keys": "?x :p ?y . ?x :q ?y MINUS { ?x :r ?y OPTIONAL { ?x :q ?y } } FILTER EXISTS { ?x :p ?y }",
    "minus and exists": "?x :p ?y OPTIONAL { ?x :q ?z } MINUS { ?x :r ?w . ?x :q ?v } FILTER NOT EXISTS { ?x :r :b }",
}
LAST = 12


def statements(seed: int) -> Stated:
    """Two streams of statements over few terms, some of which come several times."""
    chance = random.Random(f"join tree {seed}")

    def drawn(count: int) -> list[tuple[int, Triple]]:
        terms = ([":a", ":b"], [":p", ":q", ":r"], [":a", ":b", 1])
        made = [Triple(*(term(chance.choice(of)) for of in terms)) for _ in range(count)]
        return list(zip(sorted(chance.choices(range(LAST + 1), k=count)), made, strict=True))

    return stated({"s": drawn(24), "u": drawn(12)})


def asked(seed: int) -> tuple[list[OverRdf], dict[str, Any]]:
    cases, expected = [], {}
    for name, pattern in PATTERNS.items():
        query = compile(f"SELECT * {FROM} WHERE {{ {pattern} }}", CATALOG, language="sparql")
        assert any(is_fused(node) for node in walk(query.physical())), name
        inputs = statements(seed)
        cases.append(OverRdf(name, query, inputs, LAST + 8))
        expected[name] = evaluate(query.optimized, inputs)
    return cases, expected


@pytest.mark.parametrize(
    ("kernel", "split"),
    [
        pytest.param("on", "uneven-3", marks=pytest.mark.nightly),
        ("off", "replay"),
        ("on", "replay"),
    ],
)
def test_fused_joins_on_spark(spark: Any, kernel: KernelMode, split: str) -> None:
    cases, expected = asked(len(split))
    cut = SPLITS.get(split)
    assert not differences(spark, cases, cut, kernel, lambda name, found: difference(expected[name], found))


@pytest.mark.nightly
@pytest.mark.parametrize("split", ["one-row", "uneven-8", "all-at-once"])
def test_fused_joins_in_python_as_streams(spark: Any, split: str) -> None:
    cases, expected = asked(7)
    assert not differences(spark, cases, SPLITS[split], "off", lambda name, found: difference(expected[name], found))


def test_answers_are_not_empty() -> None:
    for seed in (7, 8):
        _, expected = asked(seed)
        assert all(len(answer.solutions) > 3 for answer in expected.values())
