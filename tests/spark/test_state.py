"""Rows in state against the bound that is computed before a query runs.

Every shape takes 200,000 rows; with TRANSOM_STATE_ROWS=2000000 (`just state`) two million.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.remembered import Remembered, measure
from tests.spark.shapes import BATCH_TICKS, SHAPES, Load, Shape
from transom import Query
from transom.physical.plan import Cut
from transom.physical.show import total
from transom.physical.walk import walk
from transom.runtime.recut import read_streams, table_frames

ROWS = int(os.environ.get("TRANSOM_STATE_ROWS", "200000"))
BATCHES = 12 if ROWS < 1_000_000 else 40
WARM = 3
"""Micro-batches until a run is in full swing: windows are filled, and the first have been dropped."""


def load_of(shape: Shape) -> Load:
    per_tick = ROWS // len(shape.streams) // (BATCHES * BATCH_TICKS)
    return Load(per_tick // 10 * 10 + 10, BATCHES)


def run(spark: SparkSession, shape: Shape, query: Query, load: Load, folder: Path) -> Remembered:
    paths = load.write(shape, folder / "in")
    sources = read_streams(spark, query.reads, paths, False, live=True)
    if shape.stored:
        given = query.inputs({"traffic": [], **load.tables(shape)}, load.until)
        sources |= table_frames(spark, query.reads, {0: given}, False)
    frame = query.to_df(spark, sources, until=load.until, kernel="off")
    checkpoint = folder / "checkpoint"
    stream = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    try:
        stream.processAllAvailable()
        reports = [r for r in stream.recentProgress if r["numInputRows"]]
    finally:
        stream.stop()
    return measure(spark, reports, checkpoint, specification(query), max(1, BATCHES // 10))


def specification(query: Query) -> str | None:
    """What the machine of a query was told, if it has one."""
    cuts = [node for node in walk(query.physical()) if isinstance(node, Cut)]
    return json.dumps({"machine": "window", "window": asdict(cuts[0].spec)}) if cuts else None


@pytest.mark.parametrize("name", SHAPES)
def test_state_stays_below_its_bound(spark: SparkSession, tmp_path: Path, name: str) -> None:
    shape = SHAPES[name].as_stream
    load = load_of(shape)
    query = shape.query(load.per_tick)
    bound = query.state_of(total(query.physical(slack=BATCH_TICKS))).rows
    assert bound is not None
    began = time.monotonic()
    found = run(spark, shape, query, load, tmp_path)
    took = time.monotonic() - began
    assert found.rows_in >= ROWS
    assert found.dropped == 0
    counted = sorted(found.machines or found.native)
    steady = [batch for batch in counted if WARM <= batch < BATCHES]
    half = len(steady) // 2
    first, second = found.peak(steady[:half]), found.peak(steady[half:])
    said = f"{name}: {found.rows_in:,} rows in {took:.0f} s, at most {found.peak(counted):,} of {bound:,} in state"
    print(f"{said}, first half {first:,}, second half {second:,}")
    assert 0 < found.peak(counted) <= bound, said
    assert second <= first, f"{said}: grew from {first} to {second}"


def test_a_bound_can_be_exceeded(spark: SparkSession, tmp_path: Path) -> None:
    """The measurement is not blind: with a tenth of the declared rate, the same rows exceed the bound."""
    for name in ("join", "rows"):
        shape = SHAPES[name].as_stream
        load = Load(100, 4)
        query = shape.query(load.per_tick // 10)
        bound = query.state_of(total(query.physical(slack=BATCH_TICKS))).rows
        found = run(spark, shape, query, load, tmp_path / name)
        assert bound is not None
        assert found.peak(found.machines or found.native) > bound
