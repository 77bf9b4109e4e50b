"""Parameters of SPARQL: variables that nothing binds and that have a value."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

import transom
from transom.errors import UsageError

GRAPH = [
    (":a", ":temp", 20),
    (":b", ":temp", 25),
    (":a", ":in", ":r1"),
    (":b", ":in", ":r2"),
    (":a", ":name", '"Ada"'),
    (":b", ":since", datetime(2026, 1, 1, tzinfo=UTC)),
]


def answer(text: str, declared: dict[str, Any] | None = None, **given: Any) -> list[str]:
    """The subjects of all solutions."""
    catalog = transom.Catalog.from_dict(
        {
            "tick": "1 s",
            "prefixes": {"": "http://ex/"},
            "rdf": {"g": {"graph": "default"}},
            "parameters": declared or {},
        }
    )
    query = transom.compile(text, catalog, language="sparql", parameters=given)
    assert query.warnings == ()
    return sorted(
        str(row.payload.get("s")).removeprefix("<http://ex/")[:-1] for row in query.simulate({"g": GRAPH}).solutions
    )


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("SELECT ?s { ?s :temp ?t FILTER (?t > ?p) }", 20, ["b"]),
        ("SELECT ?s { ?s :temp ?t FILTER (?t > ?p) }", Decimal("19.5"), ["a", "b"]),
        ("SELECT ?s { ?s :temp ?t FILTER (?t = ?p) }", 25.0, ["b"]),
        ("SELECT ?s { ?s :in ?r FILTER (?r = ?p) }", ":r1", ["a"]),
        ("SELECT ?s { ?s :in ?r FILTER (?r = ?p) }", "<http://ex/r2>", ["b"]),
        ("SELECT ?s { ?s :name ?n FILTER (?n = ?p) }", "Ada", ["a"]),
        ("SELECT ?s { ?s :since ?n FILTER (?n >= ?p) }", datetime(2025, 1, 1, tzinfo=UTC), ["b"]),
        ("SELECT ?s { ?s :temp ?t FILTER (?p && EXISTS { ?s :name ?n FILTER (?n = 'Ada' && ?p) }) }", True, ["a"]),
        ("SELECT ?s { ?s :temp ?t BIND (?t * ?p AS ?u) FILTER (?u > 40) }", 2, ["b"]),
    ],
)
def test_values(text: str, value: Any, found: list[str]) -> None:
    assert answer(text, p=value) == found


def test_the_catalog_declares_and_the_caller_decides() -> None:
    text = "SELECT ?s { ?s :temp ?t FILTER (?t > ?p) }"
    assert answer(text, {"p": 20, "t": 1}) == ["b"], "?t is bound by the pattern"
    assert answer(text, {"p": 20}, p=10) == ["a", "b"]


def test_a_column_keeps_its_name() -> None:
    catalog = transom.Catalog.from_dict(
        {"tick": "1 s", "prefixes": {"": "http://ex/"}, "rdf": {"g": {"graph": "default"}}}
    )
    text = "SELECT ?s ?p { ?s :temp 20 }"
    query = transom.compile(text, catalog, language="sparql", parameters={"p": 7})
    assert query.columns == ("s", "p")
    assert query.text == text
    [row] = query.simulate({"g": GRAPH}).solutions
    assert str(row.payload.get("p")) == '"7"^^<http://www.w3.org/2001/XMLSchema#integer>'


@pytest.mark.parametrize(("name", "words"), [("q", "has no parameter q"), ("t", "has no parameter t")])
def test_values_that_nothing_asks_for(name: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        answer("SELECT ?s { ?s :temp ?t FILTER (?t > ?p) }", p=1, **{name: 1})
