"""Statements that a program gives as rows."""

from __future__ import annotations

import pytest

import transom
from transom.errors import DataError
from transom.model.rdf.terms import IRI, Triple

CATALOG = {"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": {"g": {"graph": "http://ex/g"}}}
QUERY = "SELECT ?s FROM <http://ex/g> WHERE { ?s :p ?o }"


def solutions(*rows: object) -> int:
    query = transom.compile(QUERY, transom.Catalog.from_dict(CATALOG), language="sparql")
    return len(query.simulate({"g": list(rows)}).solutions)


def test_a_statement_is_three_terms_or_a_triple() -> None:
    triple = Triple(IRI("http://ex/b"), IRI("http://ex/p"), IRI("http://ex/c"))
    assert solutions((":a", ":p", 1), triple, (triple,)) == 2


@pytest.mark.parametrize("row", [(":a",), (":a", ":p"), ":a", 7, ((":a", ":p", 1),)])
def test_what_is_no_statement_is_refused(row: object) -> None:
    with pytest.raises(DataError, match="is no statement"):
        solutions(row)
