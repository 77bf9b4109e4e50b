"""Ranges that reach very far back: Spark makes only the windows that are asked for."""

from __future__ import annotations

from typing import Any, Literal

import pytest

pytest.importorskip("pyspark")

import transom
from tests.gate.thin import thinned
from transom import Catalog
from transom.errors import UsageError
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.harness import replay_answer, stream_answer
from transom.runtime.verify.micro_batches import Split

CATALOG = Catalog.read("extents:\n  s: {declare: 'pushed (a:integer)'}\n  r: {declare: 'pushed (a:integer)'}\n")
ROWS = {"s": [(0, 1), (1, 1), (1, 2), (3, 3), (4, 1)], "r": [(0, 1), (2, 3)]}
LONG = "[FROM NOW-100000000 TO NOW SLIDE 1 SEC]"
LONGER = "[FROM NOW-4000000000 TO NOW SLIDE 1 SEC]"
QUERIES: dict[str, tuple[Literal["sneeql", "cql"], str]] = {
    "count": ("sneeql", f"SELECT COUNT(*) FROM s {LONG}"),
    "groups": ("sneeql", f"SELECT a, COUNT(*), AVG(a) FROM s {LONG} GROUP BY a"),
    "rstream": ("sneeql", f"RSTREAM(SELECT a FROM s {LONGER})"),
    "join": ("sneeql", f"RSTREAM(SELECT s.a FROM s {LONGER}, r {LONGER} WHERE s.a = r.a)"),
    "days": ("cql", "SELECT RStream(a) FROM s [RANGE '100000 days']"),
}


@pytest.mark.parametrize("kernel", ["auto", pytest.param("off", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("name", thinned(QUERIES, 2))
def test_only_the_windows_that_are_asked_for(spark: Any, name: str, kernel: Literal["auto", "off"]) -> None:
    language, text = QUERIES[name]
    query = transom.compile(text, CATALOG, language=language)
    given = {extent.name: ROWS[extent.name] for extent in query.sources}
    expected = query.simulate(given, until=5)
    inputs = query.inputs(given, 5)
    assert row_difference(expected, replay_answer(query, spark, inputs, kernel=kernel), index=False) is None
    assert row_difference(expected, stream_answer(query, spark, inputs, Split(2), kernel=kernel), index=False) is None


def test_a_live_run_without_an_end_is_refused(spark: Any) -> None:
    query = transom.compile(QUERIES["rstream"][1], CATALOG)
    frame = spark.readStream.format("rate").load().selectExpr("value AS tick", "value AS a")
    with pytest.raises(UsageError, match="a row is in 4,000,000,001 windows"):
        query.to_df(spark, {"s": frame}, kernel="off")
