"""Warnings about graphs that a query does not read, although a pattern needs them."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import transom
from transom import Catalog

OVER = "FROM STREAM :s WINDOW RANGE 5 SLIDE"
PATTERN = "{ ?b :of ?x ; rdfs:label ?n }"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
PREFIXES = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "


def catalog(folder: Path, **branches: object) -> Catalog:
    """Return a catalog with a stream and the graph of branches, whose labels are in a file of the folder."""
    (folder / "branches.ttl").write_text(f'<http://ex/b1> {LABEL} "one" .\n')
    entries = {
        "s": {"stream": "http://ex/s"},
        "branches": {"files": str(folder / "branches.ttl"), "graph": "http://ex/branches", **branches},
    }
    return Catalog.from_dict({"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": entries})


def warnings_of(folder: Path, text: str, **branches: object) -> tuple[list[str], list[str]]:
    """Return the warnings that a query gives when it is compiled, and those when it is simulated."""
    with warnings.catch_warnings(record=True, action="always") as compiled:
        query = transom.compile(PREFIXES + text, catalog(folder, **branches), language="sparql", name="q.rq")
    with warnings.catch_warnings(record=True, action="always") as simulated:
        query.simulate({"s": [(0, "<http://ex/b1>", "<http://ex/of>", 1)]})
    return _texts(compiled), _texts(simulated)


def _texts(caught: list[warnings.WarningMessage]) -> list[str]:
    """Return the texts of warnings, without the file and the place."""
    return [str(one.message).split(": ", 1)[1] for one in caught]


def test_simulate_names_the_unread_graph_that_has_the_predicate(tmp_path: Path) -> None:
    said = "rdfs:label occurs in <http://ex/branches>, which the query does not read: add FROM <http://ex/branches>"
    assert warnings_of(tmp_path, f"SELECT ?n {OVER} {PATTERN}") == ([], [said])
    assert warnings_of(tmp_path, f"SELECT ?n {OVER} FROM :branches {PATTERN}") == ([], [])


def test_an_unread_graph_without_iri_needs_one(tmp_path: Path) -> None:
    _, simulated = warnings_of(tmp_path, f"SELECT ?n {OVER} {PATTERN}", graph="default")
    assert simulated == [
        "rdfs:label occurs in the catalog's default graph, which a query with FROM does not read: give the graph an IRI"
    ]


def test_an_unread_graph_whose_file_is_wrong_has_no_predicates(tmp_path: Path) -> None:
    query = transom.compile(f"{PREFIXES}SELECT ?n {OVER} {PATTERN}", catalog(tmp_path), language="sparql")
    (tmp_path / "branches.ttl").write_text("this is no Turtle")
    with pytest.warns(transom.QueryWarning, match="no statement has the predicate"):
        query.simulate({"s": [(0, "<http://ex/b1>", "<http://ex/of>", 1)]})


def test_predicates_that_the_catalog_lists_are_found_without_data() -> None:
    entries = {
        "s": {"stream": "http://ex/s", "predicates": [":of"]},
        "t": {"stream": "http://ex/t", "predicates": [":temp"]},
        "g": {"graph": "http://ex/g", "predicates": [":in"]},
        "default": {"graph": "default", "predicates": [":of"]},
    }
    declared = Catalog.from_dict({"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": entries})
    over, no_from = f"SELECT ?x {OVER} {{ ?x :temp ?y ; :in ?z }}", "SELECT ?x { ?x :in ?z }"
    with warnings.catch_warnings(record=True, action="always") as caught:
        transom.compile(over, declared, language="sparql", name="q.rq")
        transom.compile(no_from, declared, language="sparql", name="q.rq")
    assert _texts(caught) == [
        ":temp occurs in <http://ex/t>, which the query does not read: add FROM STREAM <http://ex/t> with a window",
        ":in occurs in <http://ex/g>, which the query does not read: add FROM <http://ex/g>",
        ":in occurs in <http://ex/g>, which the query does not read: write GRAPH <http://ex/g> { ... }",
    ]


@pytest.mark.parametrize(
    ("clauses", "graph", "expected"),
    [
        (OVER, ":branches", "; add FROM NAMED <http://ex/branches>"),
        (f"{OVER} FROM :branches", ":branches", "; add FROM NAMED <http://ex/branches>"),
        (OVER, ":s", "; add FROM NAMED STREAM <http://ex/s> with a window"),
        (f"{OVER} FROM NAMED :branches", ":branchse", "; did you mean <http://ex/branches>?"),
        (f"{OVER} FROM NAMED :branches", "<urn:z>", "; the catalog has no such graph"),
    ],
)
def test_graph_of_an_iri_outside_the_dataset(tmp_path: Path, clauses: str, graph: str, expected: str) -> None:
    text = f"SELECT ?n {clauses} {{ ?b :of ?x . GRAPH {graph} {{ ?b rdfs:label ?n }} }}"
    iri = graph.strip("<>") if graph.startswith("<") else graph.replace(":", "http://ex/")
    said = f"GRAPH <{iri}> matches nothing: the query does not read this graph{expected}"
    assert warnings_of(tmp_path, text) == ([said], [])


def test_graph_variable_without_named_sources(tmp_path: Path) -> None:
    text = f"SELECT ?n {OVER} {{ ?b :of ?x . GRAPH ?g {{ ?b rdfs:label ?n }} }}"
    assert warnings_of(tmp_path, text)[0] == ["GRAPH ?g matches nothing without FROM NAMED"]


def test_graph_of_an_iri_in_the_dataset(tmp_path: Path) -> None:
    pattern = "{ ?b :of ?x . GRAPH :branches { ?b rdfs:label ?n } GRAPH ?g { ?b rdfs:label ?n } }"
    assert warnings_of(tmp_path, f"SELECT ?n {OVER} FROM NAMED :branches {pattern}") == ([], [])
    no_from = "SELECT ?n { GRAPH :branches { ?b rdfs:label ?n } GRAPH ?g { ?b rdfs:label ?n } }"
    with warnings.catch_warnings(record=True, action="always") as caught:
        transom.compile(PREFIXES + no_from, catalog(tmp_path), language="sparql")
    assert not caught
