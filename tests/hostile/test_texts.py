"""Queries and catalogs that somebody wrote to do harm: each is refused as stated, or means what is stated."""

from __future__ import annotations

import warnings

import pytest

import transom
from transom.catalog import Catalog
from transom.errors import QueryWarning
from transom.model.rdf.ntriples import encode_term

from . import catalogs, queries
from .case import Case, check
from .queries import ROWS, Text

CATALOG = Catalog.read("""
epoch: 2024-01-01T00:00:00Z
extents:
  s: pushed (x:integer, name:string, f:float)
  cars: {declare: 'pushed (id:string, lon:float, lat:float)', position: {lon: lon, lat: lat}, object: id}
regions:
  Yard: {polygon: [[0, 0], [9, 0], [9, 9]], on: plane}
rdf:
  td: {stream: 'http://ex/td', files: td.csv}
""")
GIVEN = {"s": ROWS, "cars": [{"tick": 0, "id": "a", "lon": 0.0, "lat": 0.0}]}
XSD = "<http://www.w3.org/2001/XMLSchema#"


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """The tables of the parsers are loaded once; that is no fault of an input."""
    for text in (
        Text("sneeql", "SELECT x FROM s"),
        Text("cql", "SELECT RStream(x) FROM s [NOW]"),
        Text("sparql", "ASK {}"),
    ):
        answer_of(text)


def answer_of(given: Text) -> list[tuple[object, ...]]:
    """The rows that a query answers, without their ticks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", QueryWarning)
        if given.language == "sparql":
            asked = transom.compile(given.text, CATALOG, language="sparql")
            found = asked.simulate()
            return [
                tuple(None if term is None else short(encode_term(term)) for term in found.terms(valid.payload))
                for valid in found.solutions
            ]
        query = transom.compile(given.text, CATALOG, language="cql" if given.language == "cql" else "sneeql")
        answer = query.simulate({one.name: GIVEN[one.name] for one in query.sources}, until=2)
    return [element.row for element in answer.elements]


def short(term: str) -> str:
    return term.replace(XSD, "xsd:").removesuffix(">") if XSD in term else term


@pytest.mark.parametrize("case", queries.CASES, ids=lambda case: f"{case.given.language}: {case.why}")
def test_query(case: Case) -> None:
    check(case, answer_of)


@pytest.mark.parametrize("case", catalogs.CASES, ids=lambda case: case.why)
def test_catalog(case: Case) -> None:
    check(case, lambda text: [extent.declaration for extent in Catalog.read(text).extents.values()])
