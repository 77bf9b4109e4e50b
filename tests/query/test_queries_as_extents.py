"""A query as an extent of another, also of the other language, in one plan."""

from __future__ import annotations

from pathlib import Path

import pytest

import transom
from transom.algebra.streams import StreamProject
from transom.algebra.tree import walk
from transom.catalog.catalog import Catalog
from transom.errors import CatalogError, LanguageRule, NameProblem, TransomError, UsageError

CATALOG = """
extents:
  cars: pushed (id:string, speed:integer)
  fast:
    declare: pushed (id:string, speed:integer)
    source: {query: fast.sneeql}
  counts:
    declare: pushed (n:float)
    source: {query: counts.cql}
  again:
    declare: pushed (n:float)
    source: {query: again.sneeql}
"""
FILES = {
    "fast.sneeql": "SELECT id, speed FROM cars WHERE speed > 50",
    "counts.cql": "SELECT RStream(COUNT(*)) FROM fast [RANGE '1 s']",
    "again.sneeql": "SELECT n FROM counts WHERE n > 0",
}
ROWS = {"cars": [(0, "a", 60), (0, "b", 40), (1, "a", 70), (1, "b", 80), (3, "c", 51)]}


def catalog(folder: Path, **others: str) -> Catalog:
    for name, text in {**FILES, **{name.replace("_", "."): text for name, text in others.items()}}.items():
        (folder / name).write_text(text, "utf-8")
    return Catalog.read(CATALOG, folder=folder)


def values(text: str, folder: Path, language: str) -> list[tuple[object, ...]]:
    answer = transom.compile(text, catalog(folder), language=language).simulate(ROWS, until=3)
    return [(e.tick, *e.row) for e in answer.elements]


def test_cql_over_sneeql(tmp_path: Path) -> None:
    text = "SELECT IStream(f.id) FROM f=fast [ROWS 1]"
    assert values(text, tmp_path, "cql") == [(0, "a"), (1, "b"), (3, "c")]


def test_sneeql_over_cql_over_sneeql(tmp_path: Path) -> None:
    assert values("SELECT n FROM again", tmp_path, "sneeql") == [(0, 1.0), (1, 3.0), (2, 2.0), (3, 1.0)]
    text = "RSTREAM(SELECT MAX(c.n) FROM counts [FROM NOW-1 TO NOW SLIDE 1 ROWS] AS c)"
    assert values(text, tmp_path, "sneeql") == [(0, 1.0), (1, 3.0), (2, 3.0), (3, 2.0)]


def test_it_is_one_plan_over_the_rows_below(tmp_path: Path) -> None:
    query = transom.compile("SELECT n FROM again", catalog(tmp_path))
    assert [extent.name for extent in query.sources] == ["cars"]
    assert any(isinstance(op, StreamProject) for op in walk(query.algebra))
    assert "StreamReceive(extent=cars)" in query.explain("optimized")


@pytest.mark.parametrize(
    ("file", "text", "kind", "words"),
    [
        ("fast_sneeql", "SELECT id, speed FORM cars", TransomError, "'FORM' is not expected here"),
        ("fast_sneeql", "SELECT id, sped FROM cars", NameProblem, "no attribute is called sped"),
        ("fast_sneeql", "SELECT id FROM cars", CatalogError, "the query of fast gives 1 columns, not 2"),
        ("fast_sneeql", "SELECT speed, id FROM cars", CatalogError, "has type string"),
        ("fast_sneeql", "SELECT id, 1 FROM again", CatalogError, "the query of again reads again"),
        ("counts_cql", "SELECT COUNT(*) FROM cars [NOW]", LanguageRule, "the query of counts has to give a stream"),
    ],
)
def test_what_is_wrong_in_it_is_shown_there(
    tmp_path: Path, file: str, text: str, kind: type[TransomError], words: str
) -> None:
    with pytest.raises(kind) as caught:
        transom.compile("SELECT n FROM again", catalog(tmp_path, **{file: text}))
    assert words in caught.value.message
    assert caught.value.hint
    if kind is not CatalogError:
        assert caught.value.source == str(tmp_path / file.replace("_", "."))


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the query of fast"):
        transom.compile("SELECT id FROM fast", Catalog.read(CATALOG, folder=tmp_path))
    other = Catalog.read("extents: {v: {declare: 'pushed (x:integer)', source: {query: v.sql}}}", folder=tmp_path)
    with pytest.raises(CatalogError, match=r"the ending of v\.sql is not that of a query language"):
        transom.compile("SELECT x FROM v", other)
    with pytest.raises(CatalogError, match="a stored extent has no query"):
        Catalog.read("extents: {v: {declare: 'stored (x:integer)', source: {query: v.cql}}}")


RDF = """
prefixes: {"": "http://ex/"}
extents:
  warm:
    declare: pushed (sensor:string, temp:float, door:string)
    source: {query: warm.rq}
rdf:
  rooms: {stream: "http://ex/rooms", files: rooms.csv}
"""
ROOMS = 't,s,p,o\n0,:s1,:temp,20\n2,:s1,:temp,20\n3,_:b,:temp,25.5\n4,:s1,:door,"""open"""\n'
WARM = "FROM STREAM :rooms WINDOW RANGE 5 S SLIDE WHERE { ?s :temp ?t OPTIONAL { ?s :door ?d } }"


def over_rdf(folder: Path, text: str, asked: str, language: str) -> list[tuple[object, ...]]:
    (folder / "rooms.csv").write_text(ROOMS, "utf-8")
    (folder / "warm.rq").write_text(text, "utf-8")
    answer = transom.compile(asked, Catalog.read(RDF, folder=folder), language=language).simulate()
    return [(e.tick, *e.row) for e in answer.elements]


def test_solutions_are_rows_when_they_begin(tmp_path: Path) -> None:
    rows = over_rdf(tmp_path, f"SELECT ?s ?t ?d {WARM}", "SELECT sensor, temp, door FROM warm", "sneeql")
    first = (0, "http://ex/s1", 20.0, None)
    open_door = (4, "http://ex/s1", 20.0, "open")
    assert rows == [first, (2, *first[1:]), (3, "_:b", 25.5, None), open_door, open_door]
    asked = "SELECT IStream(MAX(temp)) FROM warm [RANGE '2 s']"
    assert over_rdf(tmp_path, f"SELECT ?s ?t ?d {WARM}", asked, "cql") == [(0, 20.0), (3, 25.5)]


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (f"SELECT ?s ?t {WARM}", CatalogError, "the query of warm gives 2 variables, not 3"),
        (f"ASK {WARM}", LanguageRule, "warm has no variables"),
        ("SELECT ?s", TransomError, "warm.rq"),
        ("SELECT ?s ?t ?d FROM STREAM :halls WINDOW ELEMS 1 { ?s ?t ?d }", NameProblem, "no stream"),
    ],
)
def test_queries_over_rdf_that_are_no_extent(text: str, kind: type[TransomError], words: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=words):
        over_rdf(tmp_path, text, "SELECT sensor FROM warm", "sneeql")
