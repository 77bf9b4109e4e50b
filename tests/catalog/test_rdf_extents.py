"""Streams of statements and stored graphs are extents: what they declare, and what a query then knows."""

from __future__ import annotations

import pytest

import transom
from transom import Catalog
from transom.catalog.extent import Extent, ExtentKind
from transom.errors import CatalogError
from transom.model.time import Rate
from transom.model.types import Type

ENTRIES = """
rdf:
  s: {stream: "http://ex/s", rate: 20 per min, lateness: 5 s, idle_after: 1500 ms}
  g: {graph: "http://ex/g", rows: 7}
"""
JOINED = """
PREFIX : <http://ex/>
SELECT ?a ?c FROM STREAM :s WINDOW RANGE 60 S SLIDE 1 S FROM :g WHERE { ?a :p ?b . ?b :q ?c }
"""


def test_statements_are_tuples_of_terms() -> None:
    streams = Catalog.read(ENTRIES).rdf.extents
    stream, graph = streams["s"], streams["g"]
    for extent in (stream, graph):
        assert isinstance(extent, Extent)
        assert [(attribute.name, attribute.type) for attribute in extent.schema] == [(n, Type.TERM) for n in "spo"]
    assert (stream.kind, stream.rate, stream.lateness, stream.idle_after) == (ExtentKind.PUSHED, Rate(20, 60), 5, 2)
    assert (graph.kind, graph.rows) == (ExtentKind.STORED, 7)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ("{graph: 'http://ex/g', rate: 20 per min}", "a graph has no rate"),
        ("{graph: 'http://ex/g', idle_after: 1 s}", "a graph has no idle_after"),
        ("{stream: 'http://ex/s', rows: 7}", "a stream has no rows"),
        ("{stream: 'http://ex/s', rate: often}", "rate"),
        ("{stream: 'http://ex/s', idle_after: soon}", "soon"),
    ],
)
def test_what_does_not_fit_is_refused(entry: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message) as refused:
        Catalog.read(f"rdf:\n  s: {entry}")
    assert refused.value.position is not None


def test_state_bound_is_a_number_where_all_is_declared() -> None:
    query = transom.compile(JOINED, Catalog.read(ENTRIES), language="sparql")
    assert query.state.rows is not None
    assert query.spark_state("off").rows is not None
    assert query.state.hints == ()
    bare = ENTRIES.replace("rate: 20 per min, ", "").replace(", rows: 7", "")
    unknown = transom.compile(JOINED, Catalog.read(bare), language="sparql").state
    assert unknown.rows is None
    assert set(unknown.hints) == {
        "declare the rate of s, for example `rate: 20 per min`",
        "declare the size of g, for example `rows: 100`",
    }


def test_order_puts_statements_of_one_tick_in_order() -> None:
    text = "rdf:\n  s: {stream: 'http://ex/s', order: [o, s]}"
    asked = "PREFIX : <http://ex/> SELECT ?o FROM STREAM :s WINDOW ELEMS 1 WHERE { ?a :p ?o }"
    rows = [(0, f"<http://ex/{s}>", "<http://ex/p>", f"<http://ex/{o}>") for s, o in ("az", "by", "cx")]
    for entries, last in ((text, "z"), (text.replace(", order: [o, s]", ""), "x")):
        answer = transom.compile(asked, Catalog.read(entries), language="sparql").simulate({"s": rows})
        assert [str(one.payload.get("o")) for one in answer.solutions] == [f"<http://ex/{last}>"]
    with pytest.raises(CatalogError, match="no attribute 'time'"):
        Catalog.read(text.replace("order: [o, s]", "order: [time]"))
    with pytest.raises(CatalogError, match="a graph has no order"):
        Catalog.read("rdf:\n  g: {graph: 'http://ex/g', order: [s]}")
