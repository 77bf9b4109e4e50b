"""Terms as short text in tables and pictures."""

from __future__ import annotations

import pytest

import transom
from transom.model.rdf.abbreviate import display_term
from transom.model.rdf.terms import IRI, RDF, RDFS, XSD


@pytest.mark.parametrize(
    ("iri", "prefixes", "expected"),
    [
        (RDF + "type", {}, "rdf:type"),
        (RDFS + "label", {}, "rdfs:label"),
        (XSD + "integer", {}, "xsd:integer"),
        (RDF + "type", {"r": RDF}, "r:type"),
        (RDF + "type", {"rdf": "http://ex/"}, f"<{RDF}type>"),
        ("http://ex/a", {"rdf": "http://ex/"}, "rdf:a"),
        ("http://ex/a", {}, "<http://ex/a>"),
    ],
)
def test_display_of_an_iri(iri: str, prefixes: dict[str, str], expected: str) -> None:
    assert display_term(IRI(iri), prefixes) == expected


def test_tables_and_pictures_shorten_and_data_formats_do_not() -> None:
    catalog = {"tick": "1 s", "prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s"}}}
    text = "CONSTRUCT { ?x a :Room } FROM STREAM :s WINDOW RANGE 3 S SLIDE { ?x :m ?y }"
    query = transom.compile(text, catalog, language="sparql")
    inputs = {"s": [(0, ":a", ":m", 1)]}
    answer = query.simulate(inputs)
    assert list(query.semantics.table(answer, 0, None))[1] == ("0", "3", "1", ":a", "rdf:type", ":Room")
    drawing = query.picture(inputs).svg
    assert "rdf:type" in drawing
    assert f"{RDF}type" not in drawing
    for form in ("csv", "jsonl", "nq"):
        lines = "\n".join(query.semantics.lines(answer, form, 0, None, escape_formulas=False))
        assert f"{RDF}type" in lines
