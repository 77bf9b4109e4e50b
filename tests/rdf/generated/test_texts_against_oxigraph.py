"""Drawn texts of SPARQL 1.1 over streams: parsed, translated and answered as Oxigraph answers what is valid."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest

pytest.importorskip("pyoxigraph")

from tests.rdf.generated.met import features
from tests.rdf.generated.test_against_oxigraph import check
from tests.rdf.generated.texts import asked, worded

BLOCK, LARGE = 20, 200
CHOSEN = range(200)
NIGHTLY = range(10_000, 13_800)
FEATURES = {
    *("aggregates", "COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT", "COUNT(*)"),
    *(f"{name} DISTINCT" for name in ("COUNT", "SUM", "AVG", "MIN", "MAX", "SAMPLE", "GROUP_CONCAT")),
    *("GROUP BY", "GROUP BY an expression", "HAVING", "an expression over aggregates"),
    *("paths", *(f"path {sign}" for sign in "/|^!?*+")),
    *("EXISTS or NOT EXISTS", "EXISTS", "NOT EXISTS", "EXISTS in EXISTS", "EXISTS within a condition"),
    *("EXISTS in BIND", "EXISTS in SELECT", "EXISTS in OPTIONAL", "EXISTS with a condition on what is around it"),
    *(f"EXISTS with {said} in it" for said in ("FILTER", "MINUS", "BIND", "a subquery")),
    *("subqueries", "a subquery with aggregates", "a subquery with DISTINCT", "a subquery with ORDER BY and LIMIT"),
    *("MINUS", *(f"MINUS {with_} variables in common" for with_ in ("with", "without"))),
    *("MINUS with variables in common that may be unbound", "VALUES", "VALUES with UNDEF"),
    *("BIND", "OPTIONAL", "UNION", "GRAPH"),
}
ROOTS = ("aggregates", "paths", "EXISTS or NOT EXISTS", "subqueries", "MINUS")


@pytest.mark.parametrize("block", range(0, len(CHOSEN), BLOCK))
def test_texts(block: int) -> None:
    for seed in CHOSEN[block : block + BLOCK]:
        check(seed, asked)


@pytest.mark.deep
@pytest.mark.parametrize("block", range(0, len(NIGHTLY), LARGE))
def test_more_texts(block: int) -> None:
    for seed in NIGHTLY[block : block + LARGE]:
        check(seed, asked)


def met(seeds: Iterable[int]) -> Counter[str]:
    """How many questions have each feature."""
    return Counter(feature for seed in seeds for feature in features(worded(seed).ours))


def test_the_chosen_texts_meet_everything() -> None:
    found = met(CHOSEN)
    assert set(found) == FEATURES
    assert {root: found[root] for root in ROOTS if found[root] < 30} == {}


@pytest.mark.deep
def test_all_texts_meet_everything_often() -> None:
    found = met([*CHOSEN, *NIGHTLY])
    assert {feature: found[feature] for feature in FEATURES if found[feature] < 150} == {}
