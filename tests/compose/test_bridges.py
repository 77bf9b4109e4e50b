"""Between the languages: terms as typed columns, values as terms, and what is refused in words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import transom
from tests.cli.test_app import transom as command
from transom.catalog.catalog import Catalog
from transom.errors import CatalogError, LanguageRule, RunWarning, TransomError, Unsupported
from transom.model.rdf.answer import RdfAnswer
from transom.physical.nodes.bridges import TermsToValues, ValuesToTerms
from transom.physical.nodes.walk import walk

CATALOG = """
prefixes: {"": "http://ex/", x: "http://other/"}
extents:
  cars: {declare: "pushed (id:string, n:integer, f:float, d:decimal, b:boolean, at:timestamp)", rate: 2 per s}
  plain: stored (id:string)
  begun: {declare: "pushed (s:string, t:integer)", source: {query: begun.rq}}
  again: {declare: "pushed (s:string, t:integer)", source: {query: again.cql}}
rdf:
  rooms: {stream: "http://ex/rooms", rate: 3 per s}
  house: {graph: "http://ex/house"}
  made: {stream: "http://ex/made", template: {extent: cars, subject: ":car/{id}/{n}", predicates: {
    n: "x:n", f: ":f", d: ":d", b: ":b", at: ":at", id: ":id"}}}
  deep: {stream: "http://ex/deep", template: {extent: again, subject: ":{s}", predicates: {t: ":t"}}}
  built: {stream: "http://ex/built", query: built.rq}
"""
FILES = {
    "begun.rq": "SELECT ?s ?t FROM STREAM :rooms WINDOW RANGE 4 S SLIDE 1 S WHERE { ?s :temp ?t }",
    "again.cql": "SELECT IStream(s, t) FROM begun [RANGE '3 s']",
    "built.rq": "CONSTRUCT { ?s :is ?t } FROM STREAM :deep WINDOW RANGE 2 S SLIDE 1 S WHERE { ?s :t ?t }",
}
ANY = "FROM STREAM :rooms WINDOW ELEMS 1 { ?s ?p ?o }"
ROOMS = [(0, ":a", ":temp", 20), (1, ":a", ":temp", '"warm"'), (2, ":b", ":temp", '" 7 "'), (2, ":b", ":temp", "1.5")]


def catalog(folder: Path, **others: str) -> Catalog:
    for name, text in {**FILES, **{name.replace("_", "."): text for name, text in others.items()}}.items():
        (folder / name).write_text(text, "utf-8")
    return Catalog.read(CATALOG, folder=folder)


def spelled(answer: RdfAnswer) -> list[tuple[str, ...]]:
    return [tuple(map(str, answer.terms(one.payload))) for one in answer.solutions]


def test_terms_that_are_no_values_of_their_type_are_rejected_rows(tmp_path: Path) -> None:
    query = transom.compile("SELECT s, t FROM begun", catalog(tmp_path))
    with pytest.warns(RunWarning, match=r'rejected: 2 rows of begun \(wrong type\); the first is .*"warm"'):
        answer = query.simulate({"rooms": ROOMS})
    assert [(e.tick, *e.row) for e in answer.elements] == [(0, "http://ex/a", 20), (2, "http://ex/b", 7)]


def test_values_are_terms_in_canonical_form_and_null_is_no_statement(tmp_path: Path) -> None:
    text = "SELECT ?s ?p ?o FROM STREAM :made WINDOW RANGE 1 S SLIDE 1 S WHERE { ?s ?p ?o }"
    query = transom.compile(text, catalog(tmp_path), language="sparql")
    rows: list[tuple[Any, ...]] = [
        (0, "a b/ü", 1, 150.0, "2.50", True, "2024-06-01T00:00:00.5Z"),
        (0, 'q"', 2, None, None, False, None),
        (1, None, 3, 1.0, "1", True, None),
        (1, "c", None, 1.0, "1", True, None),
    ]
    xsd = "^^<http://www.w3.org/2001/XMLSchema#"
    one, other = "<http://ex/car/a%20b%2F%C3%BC/1>", "<http://ex/car/q%22/2>"
    assert sorted(spelled(query.simulate({"cars": rows}))) == sorted(
        [
            (one, "<http://other/n>", f'"1"{xsd}integer>'),
            (one, "<http://ex/f>", f'"1.5E2"{xsd}double>'),
            (one, "<http://ex/d>", f'"2.5"{xsd}decimal>'),
            (one, "<http://ex/b>", f'"true"{xsd}boolean>'),
            (one, "<http://ex/at>", f'"2024-06-01T00:00:00.500000Z"{xsd}dateTime>'),
            (one, "<http://ex/id>", '"a b/ü"'),
            (other, "<http://other/n>", f'"2"{xsd}integer>'),
            (other, "<http://ex/b>", f'"false"{xsd}boolean>'),
            (other, "<http://ex/id>", '"q\\""'),
        ]
    )


def test_four_queries_one_above_the_other_are_one_plan(tmp_path: Path) -> None:
    text = "SELECT ?s ?t FROM STREAM :built WINDOW RANGE 2 S SLIDE 1 S WHERE { ?s :is ?t }"
    query = transom.compile(text, catalog(tmp_path), language="sparql")
    answer = query.simulate({"rooms": ROOMS[:1]})
    assert [(one.start, one.end) for one in answer.solutions] == [(0, 2)]
    assert [extent.name for extent in query.sources] == ["rooms"]
    plan = list(walk(query.physical()))
    assert sum(isinstance(node, TermsToValues) for node in plan) == 1
    assert sum(isinstance(node, ValuesToTerms) for node in plan) == 1
    for stage in ("algebra", "plan"):
        assert "rooms" in query.explain(stage)  # type: ignore[arg-type]
    assert "SolutionStream" in query.explain("algebra")
    assert "rate(rooms)" in query.state.formula
    assert query.state.rows
    assert query.spark_state().rows
    rows = transom.compile("SELECT RStream(s) FROM again [RANGE '2 s']", query.catalog, language="cql")
    assert rows.state.rows
    assert "TriplePattern" in rows.explain("optimized")
    assert [extent.name for extent in rows.sources] == ["rooms"]


@pytest.mark.parametrize(
    ("file", "text", "kind", "words", "detail"),
    [
        (
            "again_cql",
            "SELECT s, t FROM begun [NOW]",
            LanguageRule,
            "the query of again has to give a stream",
            "extents.again.source.query",
        ),
        ("begun_rq", f"ASK {ANY}", LanguageRule, "begun has no variables", "extents.begun.source.query"),
        ("built_rq", FILES["begun.rq"], LanguageRule, "built has no statements", "rdf.built.query"),
        ("built_rq", "CONSTRUCT {", TransomError, "", ""),
        (
            "begun_rq",
            "SELECT ?s ?o FROM STREAM :built WINDOW ELEMS 1 { ?s ?p ?o }",
            CatalogError,
            "the query of built reads built",
            "built -> deep -> again -> begun -> built",
        ),
    ],
)  # fmt: skip
def test_queries_that_are_no_streams_and_circles(
    file: str, text: str, kind: type[TransomError], words: str, detail: str, tmp_path: Path
) -> None:
    asked = "SELECT ?s FROM STREAM :built WINDOW RANGE 2 S SLIDE 1 S WHERE { ?s ?p ?o }"
    with pytest.raises(kind) as caught:
        transom.compile(asked, catalog(tmp_path, **{file: text}), language="sparql")
    assert words in caught.value.message
    assert detail in (caught.value.detail or "")
    assert caught.value.hint
    if kind is not CatalogError:
        assert caught.value.source == str(tmp_path / file.replace("_", "."))
        assert caught.value.span is not None


def test_too_many_levels(tmp_path: Path) -> None:
    lines = ["extents:", "  v0: pushed (x:integer)"]
    for level in range(1, 11):
        lines.append(f"  v{level}: {{declare: 'pushed (x:integer)', source: {{query: v{level}.sneeql}}}}")
        (tmp_path / f"v{level}.sneeql").write_text(f"SELECT x FROM v{level - 1}", "utf-8")
    deep = Catalog.read("\n".join(lines), folder=tmp_path)
    assert transom.compile("SELECT x FROM v8", deep).sources[0].name == "v0"
    with pytest.raises(CatalogError, match="more than 8 queries") as caught:
        transom.compile("SELECT x FROM v9", deep)
    assert caught.value.detail is not None
    assert caught.value.detail.startswith("v9 -> v8")


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ("template: {extent: car, subject: ':{id}', predicates: {n: ':n'}}", "no extent 'car'"),
        ("template: {extent: plain, subject: ':{id}', predicates: {id: ':n'}}", "'plain' is a stored table"),
        ("template: {extent: cars, subject: ':{di}', predicates: {n: ':n'}}", "cars has no attribute 'di'"),
        ("template: {extent: cars, subject: '{id}', predicates: {n: ':n'}}", "is not a pattern of an IRI"),
        ("template: {extent: cars, subject: ':{id} {n}', predicates: {n: ':n'}}", "is not a pattern of an IRI"),
        ("template: {extent: cars, subject: ':{id}', predicates: {m: ':n'}}", "cars has no attribute 'm'"),
        ("template: {extent: cars, subject: ':{id}', predicates: {n: n}}", "is not an absolute IRI"),
        ("template: {extent: cars, subject: ':{id}'}", "a template needs a predicate"),
        ("query: built.rq, template: {extent: cars, subject: ':a', predicates: {n: ':n'}}", "a query or a template"),
        ("query: built.rq, files: a.csv", "a stream with a query has no files"),
        ("query: built.rq, rate: 3 per s", "a stream with a query has no rate"),
        ("query: ''", "is not a path"),
    ],
)
def test_entries_that_do_not_fit_point_into_the_catalog(entry: str, words: str) -> None:
    text = f"{CATALOG}  wrong: {{stream: 'http://ex/wrong', {entry}}}\n"
    with pytest.raises(CatalogError) as caught:
        Catalog.read(text)
    assert words in caught.value.message
    assert caught.value.span is not None
    assert caught.value.hint


def test_a_graph_has_neither(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="a graph has no query"):
        Catalog.read(f"{CATALOG}  wrong: {{graph: 'http://ex/wrong', query: a.rq}}\n")
    rows = Catalog.read("rdf: {made: {stream: 'http://ex/made', query: rows.cql}}", folder=tmp_path)
    with pytest.raises(CatalogError, match=r"is not in SPARQL: rows\.cql"):
        transom.compile("SELECT ?s FROM STREAM <http://ex/made> WINDOW ELEMS 1 { ?s ?p ?o }", rows, language="sparql")


def test_what_spark_does_not_run_of_an_inner_query_is_said(tmp_path: Path) -> None:
    like = FILES["begun.rq"].replace("}", "; :like ?p FILTER REGEX(?t, ?p) }")
    counted = "SELECT ?s ?o FROM STREAM :made WINDOW ELEMS 3 WHERE { ?s ?p ?o }"
    for inner, words in ((like, "REGEX"), (counted, "triples that are made from rows")):
        query = transom.compile("SELECT s FROM again", catalog(tmp_path, begun_rq=inner))
        refused = query.engines.refusals["spark"]
        assert words in refused.construct
        assert refused.detail is not None
        assert "in the query of begun" in refused.detail
    text = "SELECT ?s FROM STREAM :made WINDOW ELEMS 3 WHERE { ?s ?p ?o }"
    last = transom.compile(text, catalog(tmp_path), language="sparql")
    with pytest.raises(Unsupported, match="triples that are made from rows") as caught:
        last.physical()
    assert caught.value.position == (1, 29)


def test_the_command_line_says_what_is_rejected(tmp_path: Path) -> None:
    catalog(tmp_path)
    filed = CATALOG.replace('"http://ex/rooms"', '"http://ex/rooms", files: rooms.csv')
    (tmp_path / "catalog.yaml").write_text(filed, "utf-8")
    (tmp_path / "rooms.csv").write_text('t,s,p,o\n0,:a,:temp,20\n1,:a,:temp,"""warm"""\n', "utf-8")
    (tmp_path / "all.sneeql").write_text("SELECT s, t FROM begun", "utf-8")
    said = command("simulate", tmp_path / "all.sneeql", "--format", "csv")
    assert said.stdout.splitlines()[1:] == ["0,1,http://ex/a,20"]
    assert "warning: rejected: 1 rows of begun (wrong type); the first is row 2 of begun" in said.stderr
