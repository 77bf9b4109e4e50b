"""Spark takes a column in a lambda's body for an earlier alias of the projection: no plan of ours may meet that."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import catalog_of
from tests.covering import Language, cases
from tests.sparql.test_golden import catalog_of as rdf_catalog_of
from transom import Catalog
from transom.catalog.extent import ExtentKind
from transom.spark.expressions.types import spark_type

SETTING = "spark.sql.lateralColumnAlias.enableImplicitResolution"
CATALOG = {"tick": "1 s", "extents": {"s": {"kind": "pushed", "attributes": ["a:integer", "b:integer", "c:float"]}}}
ROWS = [(0, 7, 2, 0.5), (1, -9, 4, 1.25), (2, 5, -3, 2.75)]
TEXTS = [
    "SELECT b, ROUND(ABS(c) * 3, a) FROM s [FROM NOW TO NOW SLIDE 1 SEC]",
    "SELECT b, a, POWER(ABS(c), a), MOD(ABS(a), b) FROM s [FROM NOW TO NOW SLIDE 1 SEC]",
    "SELECT b, a, CASE WHEN ABS(a) > b THEN ROUND(ABS(c), b) ELSE c END FROM s [FROM NOW TO NOW SLIDE 1 SEC]",
]


@contextmanager
def lateral_aliases(spark: Any, allowed: bool) -> Iterator[None]:
    """Spark with lateral column aliases, which are its default, or without."""
    spark.conf.set(SETTING, str(allowed).lower())
    try:
        yield
    finally:
        spark.conf.unset(SETTING)


def test_spark_still_prefers_the_alias(spark: Any) -> None:
    """When this fails, Spark has changed, and `select_new` may go."""
    from pyspark.sql import functions as F

    frame = spark.createDataFrame([(1, 10)], "a int, b int")
    made = F.transform(F.array(F.lit(0)), lambda zero: zero + F.col("a"))
    assert frame.select(F.col("b").alias("a"), made.alias("x")).collect() == [(10, [10])]


@pytest.mark.parametrize("text", TEXTS)
def test_columns_in_another_order(spark: Any, text: str) -> None:
    query = transom.compile(text, Catalog.from_dict(CATALOG), language="sneeql")
    expected = [(window.tick, *row) for window in query.simulate({"s": ROWS}, until=2).windows for row in window.rows]
    frame = spark.createDataFrame(ROWS, "tick long, a long, b long, c double")
    found = query.to_df(spark, {"s": frame}, until=2).collect()
    assert sorted((round(row["tick"].timestamp()) - 1, *row[3:]) for row in found) == sorted(expected)


def empty_frames(spark: Any, query: Any, language: str) -> Mapping[str, Any]:
    """A DataFrame without rows for every source of a query."""
    found = {}
    for extent in query.sources:
        if language == "sparql":
            columns = (["tick bigint"] if extent.is_stream else []) + ["s string", "p string", "o string"]
        else:
            columns = ["tick bigint", "empty boolean" if extent.kind is ExtentKind.STORED else "position bigint"]
            columns += [f"`{a.name}` {spark_type(a.type).simpleString()}" for a in extent.schema]
        found[extent.name] = spark.createDataFrame([], ", ".join(columns))
    return found


def analyzed(spark: Any, query: Any, frames: Mapping[str, Any], language: str, *, allowed: bool) -> str:
    """The analyzed plan of a replay, without the numbers that Spark gives to columns, variables and objects."""
    with lateral_aliases(spark, allowed):
        frame = query.replay(spark, frames) if language == "sparql" else query.to_df(spark, frames, until=9)
        return re.sub(
            r"#\d+L?|T\d+ms|\b(x|y|z|_t)_?\d+|@[0-9a-f]+", "#", frame._jdf.queryExecution().analyzed().toString()
        )


@pytest.mark.nightly
@pytest.mark.parametrize("language", ["sneeql", "cql", "sparql"])
def test_no_plan_has_one(spark: Any, language: Language) -> None:
    """Plans of the golden cases are the same whether Spark allows lateral aliases or not."""
    compared = 0
    for case in cases(language):
        catalog = rdf_catalog_of(case) if language == "sparql" else catalog_of(case.schema)
        query: Any = transom.compile(case.text, catalog, language=language)
        if "spark" not in query.engines.runs:
            continue
        frames = empty_frames(spark, query, language)
        plans = [analyzed(spark, query, frames, language, allowed=allowed) for allowed in (True, False)]
        assert plans[0] == plans[1], case.name
        compared += 1
    assert compared > 20
