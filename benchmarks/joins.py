"""Two sliding windows joined on a key: Transom against the best PySpark written by hand for the same answer.

    python -m benchmarks.joins [--rows 100000] [--times 3] [--copies]

Both windows are 60 s long and slide by 1 s. The answer has a row for every pair and every second in which both of its
rows are in their windows. The version by hand is an interval join, then one row per second that a pair shares. With
`--copies`, a second one copies every row into each of its seconds and joins by equality.

The lines `join latency` count how late rows are emitted: in batches after the one whose watermark closed their tick.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from benchmarks.measure import Plan, agreed, compare, figures, options, ratio, say, session, streamed
from transom.physical.nodes.windows import KernelMode

FILES, KEYS, APART_MS = 10, 1000, 50
EPOCH = "2026-01-01T00:00:00Z"
SECONDS = 1_767_225_600
COLUMNS = ["tick", "k", "v", "w"]


def write(folder: Path, rows: int, name: str, seed: int, files: int = FILES) -> None:
    """Write one side of the join: rows in files of equal size, and a last row an hour later."""
    rng = np.random.default_rng(seed)
    at = np.arange(rows, dtype=np.int64) * APART_MS * 1000 + SECONDS * 1_000_000
    key, value = rng.integers(0, KEYS, rows), rng.integers(0, 10**6, rows)
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(rows), files)):
        table = pa.table({"ts": pa.array(at[part], pa.timestamp("us", "UTC")), "k": key[part], name: value[part]})
        pq.write_table(table, folder / f"{number:03}.parquet")
    last = pa.array([int(at[-1]) + 3_600_000_000], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": last, "k": np.array([-1]), name: np.array([0])}), folder / "999.parquet")
    for number, file in enumerate(sorted(folder.iterdir())):
        os.utime(file, (1_000_000_000 + number,) * 2)  # Spark reads files with equal mtime in any order


def rows_of(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """One side as a stream, one file per micro-batch."""
    reader = spark.readStream.schema(f"ts timestamp, k bigint, {name} bigint").option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder / name))


def ours(spark: SparkSession, folder: Path, until: int, kernel: KernelMode) -> DataFrame:
    """The join in SNEEql."""
    extents = {
        "a": {"kind": "pushed", "attributes": ["k:integer", "v:integer"]},
        "b": {"kind": "pushed", "attributes": ["k:integer", "w:integer"]},
    }
    text = """RSTREAM(SELECT a.k, a.v, b.w FROM a[FROM NOW-59 TO NOW SLIDE 1 SEC], b[FROM NOW-59 TO NOW SLIDE 1 SEC]
              WHERE a.k = b.k)"""
    query = transom.compile(text, transom.Catalog.from_dict({"epoch": EPOCH, "extents": extents}))
    sides = {"a": rows_of(spark, folder, "v"), "b": rows_of(spark, folder, "w")}
    return query.to_df(spark, sides, until=until, kernel=kernel)


def _second(ts: Column) -> Column:
    return F.unix_seconds(ts)


def by_interval(spark: SparkSession, folder: Path, until: int) -> DataFrame:
    """By hand: an interval join of rows less than a minute apart, then one row per second that a pair shares."""
    a = rows_of(spark, folder, "v").withWatermark("ts", "1 millisecond").select(F.col("ts").alias("ts1"), "k", "v")
    b = rows_of(spark, folder, "w").withWatermark("ts", "1 millisecond")
    b = b.select(F.col("ts").alias("ts2"), F.col("k").alias("k2"), "w")
    near = F.expr("k = k2 and ts2 < ts1 + interval 60 seconds and ts1 < ts2 + interval 60 seconds")
    pairs = a.join(b, near)
    one, other = _second(F.col("ts1")), _second(F.col("ts2"))
    first, last = F.greatest(one, other), F.least(one, other) + F.lit(59)
    seconds = F.explode(F.sequence(first, F.least(last, F.lit(SECONDS + until)))).alias("s")
    rows = pairs.where((first <= last) & (first <= F.lit(SECONDS + until))).select(seconds, "k", "v", "w")
    return rows.select(F.timestamp_seconds(F.col("s") + 1).alias("tick"), "k", "v", "w")


def by_copies(spark: SparkSession, folder: Path, until: int) -> DataFrame:
    """By hand: every row copied into each second in which it is in its window, then an equi-join."""
    mark = {"spark.watermarkDelayMs": 0}

    def copied(name: str) -> DataFrame:
        rows = rows_of(spark, folder, name).withWatermark("ts", "1 millisecond")
        second = _second(F.col("ts"))
        seconds = F.explode(F.sequence(second, second + F.lit(59))).alias("s")
        spread = rows.select(seconds, "k", name).where(F.col("s") <= F.lit(SECONDS + until))
        return spread.select(F.timestamp_seconds(F.col("s") + 1).alias("tick", metadata=mark), "k", name)

    return copied("v").join(copied("w"), ["tick", "k"]).select(*COLUMNS)


def throughput(spark: SparkSession, folder: Path, rows: int, times: int, copies: bool) -> dict[str, Any]:
    """Compare the throughput of all versions, after checking that they give the same answer."""
    until = rows * APART_MS // 1000 + 70
    write(folder / "v", rows, "v", 1)
    write(folder / "w", rows, "w", 2)
    plans: dict[str, Plan] = {
        "kernel": partial(ours, spark, folder, until, "on"),
        "native": partial(ours, spark, folder, until, "off"),
        "by hand": partial(by_interval, spark, folder, until),
    }
    if copies:
        plans["by copies"] = partial(by_copies, spark, folder, until)
    answers, _ = agreed(spark, plans, COLUMNS)
    results = compare({name: streamed(plan) for name, plan in plans.items()}, times)
    return {
        "bench": "join",
        "range/slide": 60,
        "keys": KEYS,
        **figures(results, 2 * rows),
        "ratio": ratio(results, "kernel", "by hand", 2 * rows),
        "wanted": 1.5,
        "to native": ratio(results, "kernel", "native", 2 * rows),
        "rows": 2 * rows,
        "answers": answers,
    }


def latency(spark: SparkSession, folder: Path, kernel: KernelMode, batches: int = 30) -> dict[str, Any]:
    """How many batches after its tick was closed by a watermark a row is emitted; a batch is one second of rows."""
    rows = batches * 1000 // APART_MS
    if not folder.exists():
        write(folder / "v", rows, "v", 1, batches)
        write(folder / "w", rows, "w", 2, batches)
    came: dict[int, set[int]] = {}

    def note(frame: DataFrame, batch: int) -> None:
        seconds = frame.select(F.unix_seconds("tick").alias("s")).distinct().collect()
        came[batch] = {row["s"] for row in seconds}

    with tempfile.TemporaryDirectory() as checkpoint:
        frame = ours(spark, folder, batches, kernel)
        running = frame.writeStream.foreachBatch(note).option("checkpointLocation", checkpoint).start()
        try:
            running.processAllAvailable()
        finally:
            running.stop()
        marks = {r["batchId"]: _watermark(r) for r in running.recentProgress if "addBatch" in r["durationMs"]}
    late = [
        batch - min(number for number, mark in marks.items() if mark >= tick)
        for batch, ticks in came.items()
        for tick in ticks
    ]
    if not late:
        raise SystemExit("nothing came out")
    return {
        "bench": "join latency",
        "kernel": kernel,
        "batches too late, at most": max(late),
        "batches ahead, at most": max(0, -min(late)),
        **({"wanted": 0} if kernel == "on" else {}),
        "ticks": len({tick for ticks in came.values() for tick in ticks}),
        "batches": len(marks),
    }


def _watermark(report: Mapping[str, Any]) -> float:
    """The watermark of a batch, in seconds since 1970."""
    text = report["eventTime"].get("watermark", "1970-01-01T00:00:00Z")
    return datetime.fromisoformat(text).astimezone(UTC).timestamp()


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, 100_000)
    parser.add_argument("--copies", action="store_true", help="measure the join of copies as well (slow)")
    given = parser.parse_args()
    spark = session()
    with tempfile.TemporaryDirectory() as place:
        say(throughput(spark, Path(place) / "all", given.rows, given.times, given.copies), given.results)
        for kernel in ("on", "off"):
            say(latency(spark, Path(place) / "few", kernel), given.results)


if __name__ == "__main__":
    main()
