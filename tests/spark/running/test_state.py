"""Rows in state against the bound that is computed before a query runs.

Every shape takes 40,000 rows; with TRANSOM_STATE_ROWS=2000000 (`just state`) two million.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import asdict
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.gate.thin import thinned
from tests.spark.kills.shapes import BATCH_TICKS, SHAPES, Load, Shape
from tests.spark.running.remembered import Remembered, measure
from transom import Query
from transom.physical.nodes.walk import walk
from transom.physical.nodes.windows import IntervalJoin, JoinStrategy, KernelMode, RowWindow, SlidingWindowAggregate
from transom.physical.show import total_state
from transom.runtime.verify.micro_batches import read_streams, table_frames
from transom.spark.relations import sliding_window_specification

ROWS = int(os.environ.get("TRANSOM_STATE_ROWS", "40000"))
BATCHES = 8 if ROWS < 1_000_000 else 40
WARM = 3
"""Micro-batches until a run is in full swing: windows are filled, and the first have been dropped."""


def load_of(shape: Shape) -> Load:
    per_tick = ROWS // len(shape.streams) // (BATCHES * BATCH_TICKS)
    return Load(per_tick // 10 * 10 + 10, BATCHES)


def run(spark: SparkSession, shape: Shape, query: Query, load: Load, folder: Path, kernel: KernelMode) -> Remembered:
    paths = load.write(shape, folder / "in")
    sources = read_streams(spark, query.sources, paths, live=True)
    if shape.stored:
        given = query.inputs({"traffic": [], **load.tables(shape)}, load.until)
        sources |= table_frames(spark, query.sources, given)
    frame = query.to_df(spark, sources, until=load.until, kernel=kernel)
    checkpoint = folder / "checkpoint"
    stream = frame.writeStream.format("noop").option("checkpointLocation", str(checkpoint)).start()
    try:
        stream.processAllAvailable()
        reports = [r for r in stream.recentProgress if r["numInputRows"]]
    finally:
        stream.stop()
    told = specifications(query, kernel)
    return measure(spark, reports, checkpoint, told, max(1, BATCHES // 5), java=kernel == "on")


def specifications(query: Query, kernel: KernelMode) -> list[str]:
    """What the machines of a query were told, those nearer to the answer first, as Spark counts."""
    told = []
    for node in walk(query.physical(kernel=kernel == "on")):
        if isinstance(node, RowWindow):
            told.append(json.dumps({"machine": "window", "window": asdict(node.spec)}))
        elif isinstance(node, SlidingWindowAggregate):
            told.append(sliding_window_specification(node))
        elif isinstance(node, IntervalJoin) and node.how is JoinStrategy.PAIRS:
            told.append(json.dumps({"machine": "pairs"}))
    return told


@pytest.mark.parametrize("kernel", [pytest.param("off", marks=pytest.mark.nightly), "on"])
@pytest.mark.parametrize("name", thinned(SHAPES, 3))
def test_state_stays_below_its_bound(spark: SparkSession, tmp_path: Path, name: str, kernel: KernelMode) -> None:
    shape = SHAPES[name].as_stream
    load = load_of(shape)
    query = shape.query(load.per_tick)
    bound = query.state_of(total_state(query.physical(slack=BATCH_TICKS, kernel=kernel == "on"))).rows
    assert bound is not None
    began = time.monotonic()
    found = run(spark, shape, query, load, tmp_path, kernel)
    took = time.monotonic() - began
    assert found.rows_in >= ROWS
    assert found.dropped == 0
    counted = sorted(found.machines or found.native)
    steady = [batch for batch in counted if WARM <= batch < BATCHES]
    half = len(steady) // 2
    first, second = found.peak(steady[:half]), found.peak(steady[half:])
    said = f"{name}, kernel {kernel}: {found.rows_in:,} rows in {took:.0f} s"
    said = f"{said}, at most {found.peak(counted):,} of {bound:,} in state"
    print(f"{said}, first half {first:,}, second half {second:,}")
    assert 0 < found.peak(counted) <= bound, said
    assert second <= first, f"{said}: grew from {first} to {second}"


@pytest.mark.nightly
def test_a_bound_can_be_exceeded(spark: SparkSession, tmp_path: Path) -> None:
    """The measurement is not blind: with a tenth of the declared rate, the same rows exceed the bound."""
    for name in ("join", "rows"):
        shape = SHAPES[name].as_stream
        load = Load(100, 4)
        query = shape.query(load.per_tick // 10)
        bound = query.state_of(total_state(query.physical(slack=BATCH_TICKS))).rows
        found = run(spark, shape, query, load, tmp_path / name, "off")
        assert bound is not None
        assert found.peak(found.machines or found.native) > bound
