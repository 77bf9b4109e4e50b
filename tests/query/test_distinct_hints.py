"""The hints about aggregates of distinct values are queries that give them."""

from __future__ import annotations

import re

import pytest

import transom
from transom.catalog.catalog import Catalog
from transom.errors import ParseError

CATALOG = Catalog.read("extents:\n  gate: {declare: 'pushed (plate:string, weight:integer)', rate: 9 per s}\n")
ROWS = [(0, "a", 1), (2, "a", 1), (3, "b", 1), (5, "a", 3), (6, "a", None), (11, "c", 7), (12, "c", 8), (14, "a", 8)]
WINDOWS = {"sneeql": "[FROM NOW-4 TO NOW SLIDE 5 SEC]", "cql": "[RANGE '4 seconds', SLIDE '5 seconds']"}


@pytest.mark.parametrize("language", ["sneeql", "cql"])
@pytest.mark.parametrize(("function", "column"), [("COUNT", "plate"), ("COUNT", "gate.weight"), ("SUM", "weight")])
def test_the_query_of_the_hint_aggregates_distinct_values(language: str, function: str, column: str) -> None:
    window = WINDOWS[language]
    with pytest.raises(ParseError) as refused:
        transom.compile(f"SELECT {function}(DISTINCT {column}) FROM gate {window}", CATALOG, language=language)
    assert refused.value.hint is not None
    text = refused.value.hint.removeprefix("write ").replace("[..]", window)
    answer = transom.compile(text, CATALOG, language=language).simulate({"gate": ROWS}, until=20)
    index = 2 if "weight" in column else 1
    for tick in (5, 10, 15, 20):
        distinct = {row[index] for row in ROWS if tick - 4 <= row[0] <= tick and row[index] is not None}
        expected = len(distinct) if function == "COUNT" else sum(distinct) if distinct else None
        [found] = [one.rows for one in answer.windows if one.tick == tick]
        assert found == ((expected,),)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        (
            "SELECT COUNT(DISTINCT plate) FROM gate",
            r"FROM gate \[\.\.\] GROUP BY plate\)\) \[FROM NOW TO NOW SLIDE 1 MIN\]",
        ),
        ("SELECT COUNT(DISTINCT plate) FROM gate [FROM NOW-9 TO NOW SLIDE 1 ROWS]", "needs a window of time"),
        ("SELECT COUNT(ALL plate) FROM gate", "^GROUP BY gives each value once$"),
        ("SELECT COUNT(DISTINCT weight + 1) FROM gate", "^GROUP BY gives each value once$"),
    ],
)
def test_hints_about_other_uses_of_distinct(text: str, hint: str) -> None:
    with pytest.raises(ParseError) as refused:
        transom.compile(text, CATALOG, language="sneeql")
    assert re.search(hint, str(refused.value.hint))
