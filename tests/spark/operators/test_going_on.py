"""What users put after `to_df` (E14): their own windows and their own joins, exact however the streams are cut."""

from __future__ import annotations

import os
from collections import Counter
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from tests.gate.thin import thinned
from transom import Catalog, Query
from transom.runtime.verify.harness import streaming_frame
from transom.runtime.verify.micro_batches import Split

UNTIL = 39
CATALOG = Catalog.from_dict(
    {
        "tick": "1 s",
        "epoch": "2026-01-01T00:00:00Z",
        "extents": {"traffic": {"kind": "pushed", "rate": "9 per s", "attributes": ["site:integer", "weight:integer"]}},
    }
)
EPOCH = CATALOG.calendar.epoch
NATIVE = "RSTREAM(SELECT site, COUNT(weight) AS n FROM traffic [FROM NOW-3 TO NOW SLIDE 3 SEC] GROUP BY site)"
BY_ROW = "RSTREAM(SELECT SUM(weight) AS n FROM traffic [FROM NOW-4 TO NOW SLIDE 3 ROWS])"
SPLITS = (Split(5), Split(seed=3))


def rows_of(seed: int) -> list[tuple[int, int, int]]:
    rng = Random(seed)
    ticks = [*sorted(rng.randrange(UNTIL + 1) for _ in range(60)), *[UNTIL] * 3]
    return [(tick, rng.randrange(3), rng.randrange(100)) for tick in ticks]


def answer(query: Query) -> list[tuple[int, tuple[Any, ...]]]:
    """Tick and values of every tuple, by the reference."""
    return [(e.tick, e.row) for e in query.simulate({"traffic": rows_of(1)}, until=UNTIL).elements]


def streamed(query: Query, spark: SparkSession, split: Split, folder: Path) -> DataFrame:
    return streaming_frame(query, spark, query.inputs({"traffic": rows_of(1)}, UNTIL), split, folder)


def collect(spark: SparkSession, frame: DataFrame, folder: Path) -> Counter[tuple[Any, ...]]:
    """All that a streaming frame gives."""
    name = f"going_on_{uuid4().hex}"
    writer = frame.writeStream.format("memory").queryName(name).outputMode("append")
    running = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        running.processAllAvailable()
    finally:
        running.stop()
    return Counter(tuple(row) for row in spark.table(name).collect())


def second(instant: str) -> Any:
    """Whole seconds since the epoch of the catalog, which no time zone can bend."""
    return (F.unix_micros(F.col(instant)) / 1_000_000).cast("long") - F.lit(int(EPOCH.timestamp()))


@pytest.mark.parametrize("split", thinned(SPLITS, 2), ids=str)
@pytest.mark.parametrize("text", [pytest.param(NATIVE, marks=pytest.mark.nightly), BY_ROW], ids=["native", "machine"])
def test_a_window_of_ones_own(spark: SparkSession, tmp_path: Path, text: str, split: Split) -> None:
    query = transom.compile(text, CATALOG)
    frame = streamed(query, spark, split, tmp_path)
    windows = frame.groupBy(F.window("tick", "10 seconds")).agg(F.count("*"), F.sum("n"))
    found = collect(spark, windows.select(second("window.end"), "count(1)", "sum(n)"), tmp_path)
    sums: dict[int, list[int]] = {}
    for tick, row in answer(query):
        end = ((tick + 1) // 10 + 1) * 10  # a row of a tick carries the instant at which the tick ends (E2)
        sums.setdefault(end, []).append(row[-1])
    # the stream ends at tick 40, so the watermark is before 41 s and the window that ends at 50 s stays open
    expected = {(end, len(n), sum(n)) for end, n in sums.items() if end <= UNTIL + 1}
    assert found == Counter(expected)
    assert len(expected) == 4
    assert max(sums) == 50


def sensors(spark: SparkSession, folder: Path, pieces: int) -> tuple[DataFrame, list[tuple[int, int, str]]]:
    """Another stream: instants in whole seconds, a place, a name; the last one is far ahead and ends it."""
    rng = Random(5)
    instants = sorted(rng.randrange(1, UNTIL + 2) for _ in range(30))
    events = [(at, rng.randrange(3), f"e{n}") for n, at in enumerate(instants)]
    folder.mkdir()
    size = -(-len(events) // pieces)
    chunks = [events[at : at + size] for at in range(0, len(events), size)] + [[(1000, 0, "end")]]
    for number, chunk in enumerate(chunks):
        table = {
            "at": pa.array([EPOCH + timedelta(seconds=at) for at, _, _ in chunk], pa.timestamp("us", tz="UTC")),
            "place": pa.array([place for _, place, _ in chunk], pa.int64()),
            "name": pa.array([name for _, _, name in chunk]),
        }
        path = folder / f"{number:04}.parquet"
        pq.write_table(pa.table(table), path)
        os.utime(path, (1_700_000_000 + number,) * 2)  # Spark takes the oldest first, to the millisecond
    reader = spark.readStream.schema("at timestamp, place long, name string").option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder)).withWatermark("at", "1 second"), events


@pytest.mark.parametrize("split", thinned(SPLITS, 2), ids=str)
@pytest.mark.parametrize("reach", [0, pytest.param(3, marks=pytest.mark.nightly)], ids=["equal", "range"])
def test_a_join_with_another_stream(spark: SparkSession, tmp_path: Path, reach: int, split: Split) -> None:
    query = transom.compile(NATIVE, CATALOG)
    frame = streamed(query, spark, split, tmp_path)
    other, events = sensors(spark, tmp_path / "sensors", pieces=4 if split.rows else 9)
    if reach:  # Spark joins two streams only where something is equal
        lowest = F.col("tick") - F.expr(f"interval {reach} seconds")
        near = (F.col("place") == F.col("site")) & (F.col("at") <= F.col("tick")) & (F.col("at") >= lowest)
    else:
        near = F.col("at") == F.col("tick")
    pairs = frame.join(other, near).select(second("tick"), "site", "n", "name")
    expected = Counter(
        (tick + 1, *row, name)
        for tick, row in answer(query)
        for at, place, name in events
        if 0 <= tick + 1 - at <= reach and (not reach or place == row[0])
    )
    assert collect(spark, pairs, tmp_path) == expected
    assert len(expected) > 15


def test_a_union_of_two_answers(spark: SparkSession, tmp_path: Path) -> None:
    """Two queries over one extent run as one streaming query."""
    queries = [transom.compile(text, CATALOG) for text in (NATIVE, BY_ROW)]
    frames = [streamed(one, spark, Split(9), tmp_path / str(n)) for n, one in enumerate(queries)]
    both = frames[0].select(second("tick"), "n").union(frames[1].select(second("tick"), "n"))
    expected = Counter((tick + 1, row[-1]) for query in queries for tick, row in answer(query))
    assert collect(spark, both, tmp_path) == expected
    assert len(expected) > 30
