"""The columns of an answer over RDF: no variable has the column of an interval, in any form."""

from __future__ import annotations

import csv
import json

import pytest

import transom
from transom.model.rdf.formats import lines, table

CATALOG = {"prefixes": {"": "http://e.org/"}, "rdf": {"s": {"stream": "http://e.org/s"}}}
QUERY = """
SELECT ?n ?start ?END ?place ?tick ?n_ ?x FROM STREAM <http://e.org/s> WINDOW RANGE 10 S SLIDE
WHERE { ?n :p ?start . BIND(?n AS ?END) BIND(?n AS ?place) BIND(?n AS ?tick) BIND(?n AS ?n_) BIND(?n AS ?x) }
"""
HEADER = ["start", "end", "n", "n_", "start_", "END_", "place_", "tick_", "n__", "x"]
STATEMENTS = {"s": [(0, ":a", ":p", 7)]}


def test_no_column_has_the_name_of_another_one() -> None:
    answer = transom.compile(QUERY, CATALOG, language="sparql").simulate(STATEMENTS)
    assert list(answer.header) == HEADER
    header, row = table(answer, {})
    assert list(header) == HEADER
    assert row[:5] == ("0", "10", "1", "<http://e.org/a>", "7")
    [record] = csv.DictReader(lines("csv", answer, 0, None))
    assert list(record) == HEADER
    assert (record["n"], record["n_"], record["start"]) == ("1", "<http://e.org/a>", "0")
    [line] = map(json.loads, lines("jsonl", answer, 0, None))
    assert (line["n"], line["row"]["n"], line["start"]) == (1, "<http://e.org/a>", 0)


@pytest.mark.parametrize("form", ["ASK", "CONSTRUCT"])
def test_other_answers_keep_their_columns(form: str) -> None:
    text = {"ASK": "ASK", "CONSTRUCT": "CONSTRUCT { ?n :q 1 }"}[form]
    query = f"{text} FROM STREAM <http://e.org/s> WINDOW RANGE 10 S SLIDE WHERE {{ ?n :p ?start }}"
    answer = transom.compile(query, CATALOG, language="sparql").simulate(STATEMENTS)
    names = {"ASK": ["ask"], "CONSTRUCT": ["s", "p", "o"]}[form]
    assert next(iter(lines("csv", answer, 0, None))).strip().split(",") == ["start", "end", "n", *names]
