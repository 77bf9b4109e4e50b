"""Queries over answers of other queries on Spark: one plan, which answers as the reference engine does."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from pyspark.sql import SparkSession

import transom
from tests.compose.cases import CASES, Composition
from tests.gate.thin import thinned
from tests.spark.operators.composed import run
from transom.errors import RunWarning
from transom.model.balance import Balance
from transom.runtime.verify.micro_batches import Split
from transom.runtime.verify.verify import verify

SPLITS = (Split(3), Split(1), Split(seed=5))
FIRST = [case for case in CASES if case.number == (2 if case.inner == "sparql" else 0)]


@pytest.mark.parametrize("case", thinned(FIRST, 5, 2), ids=lambda case: case.name)
def test_one_of_each_pair(case: Composition, spark: SparkSession) -> None:
    expected, found = run(case, spark, SPLITS[0])
    assert found == expected


@pytest.mark.nightly
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_composition_under_every_split(case: Composition, spark: SparkSession) -> None:
    for split in (None, *SPLITS):
        expected, found = run(case, spark, split)
        assert found == expected, split


VALUES = """
prefixes: {"": "http://ex/"}
extents:
  cars:
    declare: pushed (id:string, n:integer, f:float, d:decimal, b:boolean, at:timestamp)
    source: {files: cars.csv}
  begun: {declare: "pushed (s:string, o:float)", source: {query: begun.rq}}
rdf:
  made: {stream: "http://ex/made", template: {extent: cars, subject: ":car/{id}", predicates: {
    n: ":n", f: ":f", d: ":d", b: ":b", at: ":at", id: ":id"}}}
"""
CARS = [
    "tick,id,n,f,d,b,at",
    '0,"a b/ü\t""\\",-1,150.25,2.50,true,2024-06-01T00:00:00.5Z',
    "1,b,9007199254740993,1e-7,-0.000000000000000001,false,1969-12-31T23:59:59.000001Z",
    "2,c,0,1e300,123456789012345678.5,,0001-01-01T00:00:00Z",
    "2,,5,,,true,",
    "3,d,,-0.0,,,2024-06-01",
]


def test_values_cross_both_ways_and_what_does_not_fit_is_counted(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_text("\n".join([*CARS, ""]), "utf-8")
    text = "SELECT ?s ?p ?o FROM STREAM :made WINDOW RANGE 1 S SLIDE 1 S WHERE { ?s ?p ?o }"
    catalog = transom.Catalog.read(VALUES, folder=tmp_path)
    spelled = transom.compile(text, catalog, language="sparql")
    ways = verify(spelled, spark, splits=["2"])
    assert [check.difference for check in ways] == [None] * 3

    (tmp_path / "begun.rq").write_text(text.replace("?s ?p ?o FROM", "?s ?o FROM"), "utf-8")
    query = transom.compile("SELECT s, o FROM begun", catalog)
    with pytest.warns(RunWarning, match="rejected: 10 rows of begun"):
        expected = query.simulate(until=9)
    assert len(expected) == 10
    sink = f"parquet:{tmp_path / 'out'}"
    running = query.start(spark, sink, tmp_path / "checkpoint", until=9, once=True)
    assert running.wait()
    balances = running.progress().sources
    assert balances["cars"] == Balance(read=5, used=5)
    assert balances["begun"] == Balance(read=20, used=10, rejected={"wrong type": 10})
    rows = spark.read.parquet(str(tmp_path / "out")).collect()
    assert Counter((row["s"], row["o"]) for row in rows) == Counter(e.row for e in expected.elements)

    given = spark.createDataFrame([(4, "x", 1.0)], "tick long, s string, o double")
    handed = query.to_df(spark, {"begun": given})
    assert [(row["s"], row["o"]) for row in handed.collect()] == [("x", 1.0)]


@pytest.mark.nightly
def test_verify_compares_compositions(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "cars.csv").write_text("\n".join([*CARS, ""]), "utf-8")
    (tmp_path / "begun.rq").write_text(
        "SELECT ?s ?o FROM STREAM :made WINDOW RANGE 2 S SLIDE 1 S WHERE { ?s :n ?o }", "utf-8"
    )
    catalog = transom.Catalog.read(VALUES, folder=tmp_path)
    rows = transom.compile("SELECT IStream(MAX(o)) FROM begun [RANGE '2 s']", catalog, language="cql")
    text = "SELECT ?s ?o FROM STREAM :made WINDOW RANGE 3 S SLIDE 1 S WHERE { ?s :f ?o . ?s :n ?n }"
    statements = transom.compile(text, catalog, language="sparql")
    for start in (0, 1):
        assert [check.difference for check in verify(rows, spark, splits=["2"], start=start)] == [None] * 3
    assert [check.difference for check in verify(statements, spark, splits=["2"])] == [None] * 3
