"""Joins with aggregates of windows, and windows of keys as an answer, on Spark against the reference engine."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.spark.trying import SPLITS, replay, side_by_side, stream
from transom.catalog.catalog import Catalog
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results.rows import row_difference

CATALOG = Catalog.from_dict(
    {
        "extents": {
            "car": {"kind": "pushed", "attributes": ["id:integer", "speed:integer"], "rate": "3 per s"},
            "lim": {"kind": "stored", "attributes": ["id:integer", "most:integer"], "rows": 3},
        }
    }
)
FAST, SLOW = "[RANGE '8 s', SLIDE '2 s']", "[RANGE '6 s', SLIDE '3 s']"
MEAN = "(SELECT AVG(speed) AS mean FROM car {}) AS lately"
BY_CAR = "(SELECT id AS whose, COUNT(*) AS many FROM car {} GROUP BY id) AS each_one"
QUERIES = {
    "rows above the mean": f"SELECT RStream(car.id, car.speed) FROM car {FAST}, {MEAN.format(FAST)} "
    "WHERE car.speed > lately.mean",
    "rows that come above the mean": f"SELECT IStream(car.id, car.speed) FROM car {FAST}, {MEAN.format(FAST)} "
    "WHERE car.speed > lately.mean",
    "by key, at other ticks": f"SELECT RStream(car.speed, each_one.many) FROM car {FAST}, {BY_CAR.format(SLOW)} "
    "WHERE car.id = each_one.whose",
    "two aggregates": f"SELECT RStream(lately.mean, each_one.many) FROM {MEAN.format(FAST)}, {BY_CAR.format(FAST)}",
    "with a table": f"SELECT RStream(lim.most, each_one.many) FROM lim, {BY_CAR.format(FAST)} "
    "WHERE lim.id = each_one.whose",
    "of last rows": f"SELECT RStream(car.id, car.speed) FROM car [ROWS 3], {MEAN.format(FAST)} "
    "WHERE car.speed > lately.mean",
    "windows as an answer": f"SELECT car.id, lately.mean FROM car {FAST}, {MEAN.format(FAST)} "
    "WHERE car.speed > lately.mean",
    "windows of keys as an answer": "SELECT id, speed FROM car [PARTITION BY id ROWS 2]",
    "aggregates of windows of keys": "SELECT id, SUM(speed) AS total FROM car [PARTITION BY id ROWS 2] GROUP BY id",
    "timed windows of keys": "SELECT id, speed FROM car [PARTITION BY id RANGE '4 s', SLIDE '2 s'] WHERE speed > 3",
}
LIVE = ("rows that come above the mean", "by key, at other ticks")
"""What CI runs as a stream; the others are streams at night."""
UNTIL = 22


def given(seed: int) -> dict[str, Any]:
    """Cars that come in bursts, with ticks at which none does, and a limit that changes."""
    draw = random.Random(seed)
    ticks = sorted(draw.choice([0, 1, 2, 3, 4, 9, 10, 11, 17]) for _ in range(14))
    rows = [(tick, draw.randint(1, 3), draw.randint(0, 9)) for tick in ticks]
    return {"car": rows, "lim": {0: [(1, 5), (2, 6)], 9: [(1, 7)]}}


def wrong(spark: Any, name: str, way: str, kernel: KernelMode) -> str | None:
    """How an answer differs from that of the reference engine."""
    query = transom.compile(QUERIES[name], CATALOG, language="cql")
    data = {extent: rows for extent, rows in given(len(name)).items() if extent in {e.name for e in query.sources}}
    expected, rows = query.simulate(data, until=UNTIL), query.inputs(data, until=UNTIL)
    assert len(expected), name
    if way == "replay":
        found = replay(query, spark, rows, kernel=kernel)
    else:
        found = stream(query, spark, rows, SPLITS[way], kernel=kernel)
    return row_difference(expected, found, index=False)


def differences(spark: Any, names: Iterable[str], way: str, kernel: KernelMode) -> dict[str, str]:
    """By the name of a query, how its answer differs."""
    jobs = {name: partial(wrong, spark, name, way, kernel) for name in names}
    return {name: why for name, why in zip(jobs, side_by_side(list(jobs.values())), strict=True) if why}


@pytest.mark.nightly
def test_as_a_replay(spark: Any) -> None:
    assert not differences(spark, QUERIES, "replay", "off")


def test_as_a_stream(spark: Any) -> None:
    assert not differences(spark, LIVE, "uneven-3", "on")


@pytest.mark.nightly
@pytest.mark.parametrize(("way", "kernel"), [("uneven-3", "on"), ("one-row", "on"), ("uneven-8", "off")])
def test_all_as_streams(spark: Any, way: str, kernel: KernelMode) -> None:
    assert not differences(spark, QUERIES, way, kernel)
