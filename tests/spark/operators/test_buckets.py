"""Many keys that share buckets, on Spark: live in several micro-batches and as a replay, in Python and in Java."""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from tests.gate.thin import thinned
from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.machines.buckets import Bucket, TimedMachineFactory
from transom.machines.protocol import InputRow
from transom.machines.windows.distance import PositionSpec
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec, RangeSpec
from transom.model.schema import Attribute, Schema
from transom.model.time import Calendar
from transom.model.types import Type
from transom.spark.columns import COUNT, IS_ROW, WINDOW
from transom.spark.event_time import with_watermark
from transom.spark.frames import LoweringContext
from transom.spark.stateful import kernel
from transom.spark.stateful.operator import machine_input, run_machine

UNTIL = 60
PLACE = PositionSpec(0, None, False, 1, (50, 1))
KEY, X, TICK = Attribute("id", Type.STRING), Attribute("x", Type.FLOAT), Attribute("tick", Type.INTEGER)
PATH = (SlidingAggregateSpec("count", "integer", None), SlidingAggregateSpec("path", "integer", None))
SPECS = {
    "space/space": KeyedWindowSpec(
        "distance",
        (RangeSpec("distance", (10, -30), (10, 0)),),
        10,
        position=PLACE,
        output="aggregates",
        aggregates=PATH,
    ),
    "space/time": KeyedWindowSpec(
        "tick",
        (RangeSpec("distance", (1, -25), (1, 0)),),
        7,
        until=UNTIL,
        position=PLACE,
        output="changes",
        tags=("tick",),
    ),
    "forgotten": KeyedWindowSpec(
        "tick", (RangeSpec("tick", (1, -9), (1, 0)),), 5, until=UNTIL, tags=("tick",), forget_after=12
    ),
}


def journeys() -> list[list[Any]]:
    """Rows of 60 objects, most of them silent most of the time, and one more that ends it all."""
    rng, rows = random.Random(3), list[list[Any]]()
    for key in range(60):
        x, tick = 0.0, rng.randrange(20)
        for order in range(rng.randint(1, 12)):
            rows.append([tick, f"o{key}", x, order])
            x += rng.choice([0, 1, 4, -6, 25, 70])
            tick += rng.choice([0, 0, 1, 2, 9])
    return [row for row in rows if row[0] <= UNTIL]


def told(spec: KeyedWindowSpec, rows: list[list[Any]]) -> Counter[Any]:
    """What one bucket tells when all is over."""
    ordered = sorted(rows, key=lambda row: (row[0], row[3]))
    arrivals = [(tick, InputRow(0, 1, True, 1, None, (key,), (x,))) for tick, key, x, _ in ordered]
    found: Counter[Any] = Counter()
    width = len(spec.aggregates) if spec.aggregates else 1 + len(spec.tags)
    for key, (tick, seq, present, place, row) in Bucket(TimedMachineFactory(spec.to_json())).run(arrivals, UNTIL):
        found[tick, seq, present, place, *key, *(row or (None,) * width)] += 1
    return found


def through(frame: DataFrame, spec: KeyedWindowSpec, run: LoweringContext) -> DataFrame:
    values = Schema((X, TICK) if spec.tags else (Attribute("n", Type.INTEGER), Attribute("path", Type.INTEGER)))
    key = [F.col("id")]
    given = machine_input(frame, run, values=[F.col("x")], order=F.col("o"), pair_keys=key, buckets=8, bucket_by=key)
    out = Schema((KEY, *values))
    made = run_machine(
        [given], spec.to_json(), run, values_per_side=[1], output_columns=out, pair_key_count=1, buckets=8
    )
    return made.select(
        run.time.tick_number().alias("t"), WINDOW, IS_ROW, COUNT, *(f"c{place}" for place in range(len(out)))
    )


@pytest.mark.parametrize(
    "java", [pytest.param(False, marks=pytest.mark.nightly, id="python"), pytest.param(True, id="java")]
)
@pytest.mark.parametrize("name", thinned(SPECS, 3))
def test_buckets(spark: SparkSession, tmp_path: Path, name: str, java: bool) -> None:
    spec, rows = SPECS[name], journeys()
    if java and (why := kernel.load_kernel(spark)):
        pytest.skip(why)
    wanted = told(spec, rows)
    assert sum(wanted.values()) > 100
    files = tmp_path / "rows"
    files.mkdir()
    for place, low in enumerate(range(0, UNTIL, 6)):
        batch = [row for row in rows if low <= row[0] < low + 6] + ([[UNTIL + 100, "end", 0.0, 0]] if low > 53 else [])
        lines = "".join(json.dumps(dict(zip(("t", "id", "x", "o"), row))) + "\n" for row in batch)
        (files / f"{place:03}.json").write_text(lines)
        os.utime(files / f"{place:03}.json", (place, place))  # Spark reads files by their age
    read = spark.readStream.option("maxFilesPerTrigger", 1).schema("t bigint, id string, x double, o int")
    live = LoweringContext(spark, Calendar(), {}, {}, live=True, kernel=java)
    marked = read.json(str(files)).select(live.time.as_event_time(F.col("t")), "id", "x", "o")
    query = (
        through(with_watermark(marked, 0, "rows"), spec, live)
        .writeStream.format("parquet")
        .option("path", str(tmp_path / "out"))
        .option("checkpointLocation", str(tmp_path / "checkpoint"))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert counted(spark.read.parquet(str(tmp_path / "out"))) == wanted
    batch_run = LoweringContext(spark, Calendar(), {}, {}, live=False, kernel=java)
    still = spark.createDataFrame([tuple(row) for row in rows], "t bigint, id string, x double, o int")
    replay = through(still.select(batch_run.time.as_event_time(F.col("t")), "id", "x", "o"), spec, batch_run)
    assert counted(replay) == wanted


def counted(frame: DataFrame) -> Counter[Any]:
    return Counter(tuple(row) for row in frame.where(F.col("c0") != "end").collect())
