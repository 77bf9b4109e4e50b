"""Keys of GROUP BY that get a name."""

from __future__ import annotations

from typing import Any

from transom import Catalog, compile

CATALOG = Catalog.from_dict(
    {"tick": "1 s", "prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s", "files": []}}}
)
ROWS = [(0, ":a", ":p", 1), (0, ":b", ":p", 1), (0, ":c", ":p", 2)]


def asked(select: str, keys: str) -> list[list[Any]]:
    """The rows of an answer at tick 0, terms as text."""
    text = f"SELECT {select} FROM STREAM :s WINDOW RANGE 1 S FIXED WHERE {{ ?x :p ?v }} GROUP BY {keys}"
    answer = compile(text, CATALOG, language="sparql").simulate({"s": ROWS})
    found = [answer.terms(one.payload) for one in answer.solutions]
    return sorted([None if term is None else term.lexical for term in row] for row in found)


def test_an_aggregate_sees_a_key_by_its_name() -> None:
    assert asked("?k (COUNT(*) AS ?n) (SUM(?k) AS ?s)", "(?v + 1 AS ?k)") == [["2", "2", "4"], ["3", "1", "3"]]
    assert asked("(SAMPLE(?k) AS ?s) (MAX(?k * ?v) AS ?m)", "(?v + 1 AS ?k)") == [["2", "2"], ["3", "6"]]


def test_a_key_sees_the_one_before_it() -> None:
    assert asked("?l (COUNT(DISTINCT *) AS ?n)", "(?v + 1 AS ?k) (?k * 2 AS ?l)") == [["4", "2"], ["6", "1"]]
