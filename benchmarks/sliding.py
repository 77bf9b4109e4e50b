"""Sliding sums: Transom against Spark's `window()` by hand, for the same answer.

    python -m benchmarks.sliding [--rows N] [--times 3] [--settings 1,60,120,120k] [--results lines.jsonl]

Rows are 1 ms apart, the slide is 1 s, values are 64-bit integers. One line of JSON per setting. The time is from the
start of the query to its last row. Each setting has enough rows that the cost of a start (a Python process for the
clock, 1-2 s) is not significant; --rows sets one number for all.
"""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from benchmarks.measure import agreed, compare, figures, options, ratio, say, session, streamed

FILES = 10
EPOCH = "2026-01-01T00:00:00Z"
SECONDS = 1_767_225_600
SETTINGS = {"1": (1, 1), "60": (60, 1), "120": (120, 1), "120k": (120, 1000)}
ROWS = {"1": 30_000_000, "60": 6_000_000, "120": 6_000_000, "120k": 2_000_000}
LEAST = {"1": 0.9, "60": 3.0, "120": 4.5, "120k": 1.2}


def write(folder: Path, rows: int, keys: int) -> None:
    """Write the input: rows in ten files, and a last row an hour later that closes all windows."""
    rng = np.random.default_rng(7)
    at = np.arange(rows, dtype=np.int64) * 1000 + SECONDS * 1_000_000
    key = rng.integers(0, keys, rows)
    value = rng.integers(-(10**12), 10**12, rows)
    for number, part in enumerate(np.array_split(np.arange(rows), FILES)):
        table = pa.table({"ts": pa.array(at[part], pa.timestamp("us", "UTC")), "k": key[part], "v": value[part]})
        pq.write_table(table, folder / f"{number:03}.parquet")
    last = pa.array([int(at[-1]) + 3_600_000_000], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"ts": last, "k": np.array([0]), "v": np.array([0])}), folder / "999.parquet")


def rows_of(spark: SparkSession, folder: Path) -> DataFrame:
    """The input as a stream, one file per micro-batch."""
    reader = spark.readStream.schema("ts timestamp, k bigint, v bigint").option("maxFilesPerTrigger", 1)
    return reader.parquet(str(folder))


def ours(spark: SparkSession, folder: Path, windows: int, keys: int, until: int) -> DataFrame:
    """The query in SNEEql."""
    catalog = transom.Catalog.from_dict(
        {"epoch": EPOCH, "extents": {"s": {"kind": "pushed", "attributes": ["k:integer", "v:integer"]}}}
    )
    group, column = (" GROUP BY s.k", "s.k, ") if keys > 1 else ("", "")
    text = (
        f"RSTREAM(SELECT {column}SUM(s.v) AS total, COUNT(*) AS n "
        f"FROM s[FROM NOW-{windows - 1} TO NOW SLIDE 1 SEC]{group})"
    )
    return transom.compile(text, catalog).to_df(spark, {"s": rows_of(spark, folder)}, until=until)


def by_hand(spark: SparkSession, folder: Path, windows: int, keys: int, until: int) -> DataFrame:
    """The same answer with Spark's window(); the end of its window is our tick, shown as the instant at its end."""
    window = F.window("ts", f"{windows} seconds", "1 second")
    rows = rows_of(spark, folder).withWatermark("ts", "1 millisecond")
    grouped = rows.groupBy(window, *(["k"] if keys > 1 else []))
    sums = grouped.agg(F.sum("v").alias("total"), F.count("*").alias("n"))
    end = F.timestamp_seconds(F.lit(SECONDS + until + 1))
    kept = sums.where(F.col("window.end") <= end)
    return kept.select(F.col("window.end").alias("tick"), *(["k"] if keys > 1 else []), "total", "n")


def main() -> None:
    """Measure and print."""
    parser = options(__doc__, None)
    parser.add_argument("--settings", default=",".join(SETTINGS))
    given = parser.parse_args()
    spark = session()
    for name in given.settings.split(","):
        windows, keys = SETTINGS[name]
        rows = given.rows or ROWS[name]
        until = rows // 1000 + 130
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            write(folder, rows, keys)
            plans = {
                "ours": partial(ours, spark, folder, windows, keys, until),
                "by hand": partial(by_hand, spark, folder, windows, keys, until),
            }
            columns = ["tick", *(["k"] if keys > 1 else []), "total", "n"]
            full = {name: partial(lambda plan: plan().where("n > 0"), plan) for name, plan in plans.items()}
            answers, _ = agreed(spark, full, columns)
            results = compare({name: streamed(plan) for name, plan in plans.items()}, given.times)
        entry = {
            "bench": "sliding",
            "range/slide": windows,
            "keys": keys,
            **figures(results, rows),
            "ratio": ratio(results, "ours", "by hand", rows),
            "wanted": LEAST[name],
            "rows": rows,
            "answers": answers,
        }
        say(entry, given.results)


if __name__ == "__main__":
    main()
