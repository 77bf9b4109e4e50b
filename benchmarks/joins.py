"""Two sliding windows joined on a key: Transom against the best PySpark written by hand for the same answer.

    python -m benchmarks.joins [--rows 100000] [--times 3]

Both windows are 60 s long and slide by 1 s; the answer has a row for every pair and every second in which both rows of
it are in their windows. By hand: an interval join of the rows, then one row per second that a pair shares, and for
comparison the join of rows that were copied into every second first.
"""

from __future__ import annotations

import argparse
import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from benchmarks.measure import answer, compare, say, session

FILES, KEYS, APART_MS = 10, 1000, 50
EPOCH = "2026-01-01T00:00:00Z"
SECONDS = 1_767_225_600
COLUMNS = ["tick", "k", "v", "w"]


def write(folder: Path, rows: int, name: str, seed: int) -> None:
    """One side: so many rows in ten files, and a last row an hour later."""
    rng = np.random.default_rng(seed)
    at = np.arange(rows, dtype=np.int64) * APART_MS * 1000 + SECONDS * 1_000_000
    key, value = rng.integers(0, KEYS, rows), rng.integers(0, 10**6, rows)
    folder.mkdir(parents=True)
    for number, part in enumerate(np.array_split(np.arange(rows), FILES)):
        table = pa.table({"ts": pa.array(at[part], pa.timestamp("us", "UTC")), "k": key[part], name: value[part]})
        pq.write_table(table, folder / f"{number:03}.parquet")
    last = pa.array([int(at[-1]) + 3_600_000_000], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": last, "k": np.array([-1]), name: np.array([0])}), folder / "999.parquet")


def rows_of(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """One side as a stream, a file per micro-batch."""
    reader = spark.readStream.schema(f"ts timestamp, k bigint, {name} bigint").option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder / name))


def ours(spark: SparkSession, folder: Path, until: int) -> DataFrame:
    """The query in SNEEql."""
    extents = {
        "a": {"kind": "pushed", "attributes": ["k:integer", "v:integer"]},
        "b": {"kind": "pushed", "attributes": ["k:integer", "w:integer"]},
    }
    text = """RSTREAM(SELECT a.k, a.v, b.w FROM a[FROM NOW-59 TO NOW SLIDE 1 SEC], b[FROM NOW-59 TO NOW SLIDE 1 SEC]
              WHERE a.k = b.k)"""
    query = transom.compile(text, transom.Catalog.from_dict({"epoch": EPOCH, "extents": extents}))
    return query.to_df(spark, {"a": rows_of(spark, folder, "v"), "b": rows_of(spark, folder, "w")}, until=until)


def _second(ts: Column) -> Column:
    return F.unix_seconds(ts)


def by_interval(spark: SparkSession, folder: Path, until: int) -> DataFrame:
    """By hand: pairs that are less than a minute apart, then one row for every second that they share."""
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
    """By hand: every row copied into every second in which its window holds it, then an equality."""
    mark = {"spark.watermarkDelayMs": 0}

    def copied(name: str) -> DataFrame:
        rows = rows_of(spark, folder, name).withWatermark("ts", "1 millisecond")
        second = _second(F.col("ts"))
        seconds = F.explode(F.sequence(second, second + F.lit(59))).alias("s")
        spread = rows.select(seconds, "k", name).where(F.col("s") <= F.lit(SECONDS + until))
        return spread.select(F.timestamp_seconds(F.col("s") + 1).alias("tick", metadata=mark), "k", name)

    return copied("v").join(copied("w"), ["tick", "k"]).select(*COLUMNS)


def main() -> None:
    """Measure and print."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rows", type=int, default=100_000, help="rows of each side")
    options.add_argument("--times", type=int, default=3)
    options.add_argument("--copies", action="store_true", help="measure the join of copies as well (slow)")
    given = options.parse_args()
    spark = session()
    until = given.rows * APART_MS // 1000 + 70
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write(folder / "v", given.rows, "v", 1)
        write(folder / "w", given.rows, "w", 2)
        plans = {"ours": partial(ours, spark, folder, until), "by hand": partial(by_interval, spark, folder, until)}
        if given.copies:
            plans["by copies"] = partial(by_copies, spark, folder, until)
        alike = {name: answer(spark, plan(), COLUMNS) for name, plan in plans.items()}
        if len(set(alike.values())) > 1:
            raise SystemExit(f"the answers differ: {alike}")
        rates = compare(plans, 2 * given.rows, given.times)
    say(
        {
            "bench": "join",
            **{name: round(rate) for name, rate in rates.items()},
            "ratio": round(rates["ours"] / rates["by hand"], 2),
            "wanted": 1.0,
            "rows": 2 * given.rows,
            "answers": alike["ours"][0],
        }
    )


if __name__ == "__main__":
    main()
