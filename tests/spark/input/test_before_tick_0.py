"""A row before tick 0, or without a tick, stops a query on Spark as it stops the reference engine."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("pyspark")

from pyspark.errors import PySparkException

import transom
from transom import Catalog
from transom.errors import DataError

CATALOG = Catalog.from_dict(
    {
        "epoch": "2026-01-01T00:00:00Z",
        "prefixes": {"": "http://ex/"},
        "extents": {"s": {"declare": "pushed (a:integer)"}, "t": {"declare": "stored (a:integer)"}},
        "rdf": {"r": {"stream": "http://ex/r"}},
    }
)
TEXT = "SELECT a FROM s"
SPARQL = "SELECT ?x FROM STREAM <http://ex/r> WINDOW RANGE 5 S SLIDE WHERE { ?x :a 1 }"


@pytest.mark.parametrize(
    ("tick", "words"),
    [("-1L", "s: tick -1 lies before tick 0"), ("CAST(NULL AS long)", "s: a row has no tick"),
     ("timestamp'2025-12-31 23:59:59Z'", "s: tick -1 lies before tick 0")],
)  # fmt: skip
def test_rows(spark: Any, tick: str, words: str) -> None:
    query = transom.compile(TEXT, CATALOG)
    frame = spark.sql(f"SELECT 1L AS a, {tick} AS tick")
    with pytest.raises(PySparkException, match=words):
        query.to_df(spark, {"s": frame}).collect()


def test_versions_of_a_table(spark: Any) -> None:
    query = transom.compile("SELECT a FROM t", CATALOG)
    with pytest.raises(PySparkException, match="t: tick -3 lies before tick 0"):
        query.to_df(spark, {"t": spark.sql("SELECT 1L AS a, -3L AS tick")}).collect()


def test_statements(spark: Any) -> None:
    query = transom.compile(SPARQL, CATALOG, language="sparql")
    row = (-2, "<http://ex/x>", "<http://ex/a>", '"1"^^<http://www.w3.org/2001/XMLSchema#integer>')
    frame = spark.createDataFrame([row], "tick long, s string, p string, o string")
    with pytest.raises(PySparkException, match="r: tick -2 lies before tick 0"):
        query.to_df(spark, {"r": frame}).collect()


def test_the_reference_engine_refuses_the_same() -> None:
    query = transom.compile(TEXT, CATALOG)
    for tick in (-1, None, "2025-12-31T23:59:59Z"):
        with pytest.raises(DataError):
            query.simulate({"s": [(tick, 1)]})
