"""Queries over RDF on Spark: stars as one operator or none, one scan of each stream, and what users call."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

import transom
from tests.gate.thin import thinned
from tests.spark.trying import side_by_side
from transom.catalog.catalog import Catalog
from transom.errors import CheckpointError
from transom.query import Query
from transom.runtime.kernel import choose_kernel
from transom.runtime.results.rdf import RdfResults, rdf_answer_from_rows
from transom.runtime.results.results import plain_frame

STAR = """SELECT * FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE
          WHERE { ?x :a ?a ; :b ?b ; :c ?c ; :d ?d ; :e ?e ; :f ?f }"""
INPUT = [(tick, f":o{tick}", f":{name}", tick) for tick in (1, 2, 4) for name in "abcdef"]
MORE = [
    *((2, ":other", f":{name}", 7) for name in "fedcba"),
    (2, ":other", ":c", 8),
    (2, ":other", ":note", 9),
    *((4, ":lacking", f":{name}", 4) for name in "abcde"),
    (4, ":o4", ":b", 5),
    (4, ":o4", ":b", 6),
]
"""Several subjects in a message, several objects of a predicate, a subject that lacks one."""


def query(text: str, **more: str) -> Query:
    rdf = {"s": {"stream": "http://ex/s", **more}, "g": {"graph": "http://ex/g"}}
    catalog = Catalog.from_dict({"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": rdf})
    return transom.compile(text, catalog, language="sparql")


def statement(row: tuple[Any, ...]) -> tuple[str, str, str]:
    _, s, p, o = row
    text = f'"{o}"^^<http://www.w3.org/2001/XMLSchema#integer>' if isinstance(o, int) else f"<http://ex/{o[1:]}>"
    return f"<http://ex/{s[1:]}>", f"<http://ex/{p[1:]}>", text


def files(folder: Path, rows: list[tuple[Any, ...]], *, messages: bool) -> str:
    """Statements as files of a stream, one by one or as messages, and a last file that ends it."""
    folder.mkdir()
    ticks = sorted({row[0] for row in rows})
    found = {tick: [dict(zip("spo", statement(row))) for row in rows if row[0] == tick] for tick in ticks}
    for number, tick in enumerate([*ticks, 1000]):
        told = found.get(tick, [])
        if messages:
            kind = pa.list_(pa.struct([(name, pa.string()) for name in "spo"]))
            table = pa.table({"tick": pa.array([tick], pa.int64()), "statements": pa.array([told], kind)})
        else:
            told = told or [dict.fromkeys("spo", "<http://ex/end>")]
            cells = {name: pa.array([one[name] for one in told], pa.string()) for name in "spo"}
            table = pa.table({"tick": pa.array([tick] * len(told), pa.int64()), **cells})
        file = folder / f"{number:03}.parquet"
        pq.write_table(table, file)
        os.utime(file, (1_000_000_000 + number,) * 2)  # Spark takes files of one instant in any order
    return str(folder)


def source(spark: Any, path: str) -> Any:
    return spark.readStream.schema(spark.read.parquet(path).schema).option("maxFilesPerTrigger", 1).parquet(path)


def run(spark: Any, asked: Query, given: Any, folder: Path) -> tuple[Any, Any, list[Any]]:
    """A stream to its end: its answer, Spark's own plan, and its reports."""
    physical = asked.physical(kernel=choose_kernel(spark, "on").used)
    found = asked.to_df(spark, {"s": given}, kernel="on")
    frame = plain_frame(found, physical.schema, asked.catalog.calendar, RdfResults.meta_columns)
    running = (
        frame.writeStream.format("memory").queryName(folder.name).option("checkpointLocation", str(folder)).start()
    )
    try:
        running.processAllAvailable()
        plan = running._jsq.explainInternal(False)
        reports = [report for report in running.recentProgress if report["numInputRows"]]
    finally:
        running.stop()
    rows = spark.table(folder.name).collect()
    return rdf_answer_from_rows(rows, physical, asked.result_kind, asked.columns), plan, reports


@pytest.mark.parametrize("local", [False, True])
def test_a_star_is_one_operator_or_none(spark: Any, tmp_path: Path, local: bool) -> None:
    asked = query(STAR, **({"subjects": "local"} if local else {}))
    rows = INPUT + MORE
    path = files(tmp_path / "in", rows, messages=local)
    found, plan, reports = run(spark, asked, source(spark, path), tmp_path / f"star_{local}")
    assert found == asked.simulate({"s": rows})
    assert len(found.solutions) == 1 + 1 + 2 + 3
    assert plan.count("TransformWithState") == (0 if local else 1)
    assert max(len(report["stateOperators"]) for report in reports) == (0 if local else 1)
    assert sum(report["numInputRows"] for report in reports) == (4 if local else len(rows) + 1)
    assert "Python" not in plan
    assert ("subjects: local" in asked.explain("plan")) == local


STARS = [
    "?x :a ?a ; :b ?b ; :c ?c",
    "?x :a ?a ; :b ?a ; :b ?b",
    "?x :a 1 ; :b ?b",
    ":m3 :a ?a ; :b ?a",
    ":m3 :a 1 ; :b 2",
    "?x :a ?x ; :b ?b",
    "?x ?p ?a ; :b ?a ; ?p ?b",
    "?x :a ?a ; :A ?A",
]


def test_stars_inside_messages_are_those_of_the_reference(spark: Any, tmp_path: Path) -> None:
    """Several subjects in a message or one, predicates said once, twice or not at all, and the same again."""
    rng = Random(5)
    rows: list[tuple[Any, ...]] = [(3, ":m3", p, o) for p, o in ((":a", 1), (":b", 2), (":b", 1), (":a", ":m3"))]
    for tick in range(60):
        for _ in range(1 + rng.randrange(7)):
            subject = f":{rng.choice('mn'[: 1 + tick % 2])}{tick}"
            rows.append((tick, subject, f":{rng.choice('abcA')}", rng.choice([subject, 1, 2])))
    rows.sort(key=lambda row: row[0])
    path = files(tmp_path / "in", rows, messages=True)
    window = "SELECT * FROM STREAM <http://ex/s> WINDOW RANGE 7 SLIDE 2"
    asked = [query(f"{window} WHERE {{ {star} }}", subjects="local") for star in STARS]
    reader = spark.readStream.schema(spark.read.parquet(path).schema)
    jobs = [partial(run, spark, one, reader.parquet(path), tmp_path / f"star{at}") for at, one in enumerate(asked)]
    for one, (found, plan, _) in zip(asked, side_by_side(jobs), strict=True):
        assert found == one.simulate({"s": rows}), one.text
        assert found.solutions, one.text
        shares = "?" in one.text.split("WHERE")[1]  # patterns without a variable are no star
        assert ("TransformWithState" in plan) is not shares, one.text


SCANS = {
    "beside": "{ ?x :a ?a } UNION { ?x :b ?b } UNION { ?x :c ?c }",
    "above": "?x :a ?a OPTIONAL { ?x :b ?b . ?x :c ?c OPTIONAL { ?x :d ?d FILTER(?d > 1) } }",
}


@pytest.mark.parametrize("place", thinned(SCANS, 2, 1))
def test_a_stream_is_scanned_once(spark: Any, tmp_path: Path, place: str) -> None:
    """However many patterns it feeds, beside each other or machines above machines."""
    asked = query(f"SELECT * FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE WHERE {{ {SCANS[place]} }}")
    rows = [row for row in INPUT if row[2] in (":a", ":b", ":c", ":d")]
    path = files(tmp_path / "in", rows, messages=False)
    found, plan, reports = run(spark, asked, source(spark, path), tmp_path / f"once_{place}")
    assert found == asked.simulate({"s": rows})
    assert len(plan_reads(plan)) <= 1  # the last micro-batch may be one without rows
    assert sum(report["numInputRows"] for report in reports) == len(rows) + 1


def plan_reads(plan: str) -> list[str]:
    """The scans of files in a plan as it was run."""
    return [line for line in plan.split("== Initial Plan ==")[0].splitlines() if "FileScan" in line]


def test_replays_are_intervals(spark: Any) -> None:
    asked = query("SELECT ?x ?n FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE WHERE { ?x :a ?n }")
    frame = spark.createDataFrame(
        [(row[0], *statement(row)) for row in INPUT], "tick long, s string, p string, o string"
    )
    found = asked.replay(spark, {"s": frame}).orderBy("start").collect()
    assert [tuple(row)[:4] for row in found] == [(tick, tick + 10, 1, f"<http://ex/o{tick}>") for tick in (1, 2, 4)]
    assert found[0]["n_"] == '"1"^^<http://www.w3.org/2001/XMLSchema#integer>'


@pytest.mark.nightly
def test_calls_in_calls(spark: Any) -> None:
    """Spark's own bound of passes over an expression is too low for these."""
    spark.conf.set("spark.sql.analyzer.maxIterations", "100")
    window = "FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE"
    asked = query(f"SELECT ?x (COALESCE(YEAR(TIMEZONE(YEAR(?n))), ?n) AS ?v) {window} WHERE {{ ?x :a ?n }}")
    frame = spark.createDataFrame(
        [(row[0], *statement(row)) for row in INPUT], "tick long, s string, p string, o string"
    )
    found = asked.replay(spark, {"s": frame}).orderBy("start").collect()
    assert [(row["start"], row["v"]) for row in found] == [
        (tick, f'"{tick}"^^<http://www.w3.org/2001/XMLSchema#integer>') for tick in (1, 2, 4)
    ]


def test_running_and_going_on(spark: Any, tmp_path: Path) -> None:
    asked = query("SELECT DISTINCT ?x FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE WHERE { ?x ?p ?o }")
    path = files(tmp_path / "in", INPUT, messages=False)
    for resumed in (False, True):
        running = asked.start(
            spark, f"parquet:{tmp_path}/out", tmp_path / "checkpoint", sources={"s": source(spark, path)}, once=True
        )
        assert running.resumed is resumed
        assert running.wait()
    rows = spark.read.parquet(f"{tmp_path}/out").groupBy("x").count().collect()
    assert {row["x"]: row["count"] for row in rows} == {f"<http://ex/o{tick}>": 2 for tick in (1, 2, 4)}
    other = query("SELECT ?x FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE WHERE { ?x ?p ?o }")
    given = {"s": source(spark, path)}
    with pytest.raises(CheckpointError, match="belongs to another query"):
        other.start(spark, "console", tmp_path / "checkpoint", sources=given, once=True)
