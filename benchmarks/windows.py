"""Shared by the benchmarks of sliding windows: the input, the query in SNEEql, and the same query by hand.

Rows are 1 ms apart, the slide is 1 s; SUM, COUNT, AVG and MAX of a value per key.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import transom
from transom.physical.nodes.windows import KernelMode

EPOCH = "2026-01-01T00:00:00Z"
SECONDS = 1_767_225_600
COLUMNS = ["tick", "k", "total", "n", "mean", "top"]
ROW_COLUMNS = ["tick", "total", "n", "mean", "top"]
AGGREGATES = "SUM(s.v) AS total, COUNT(*) AS n, AVG(s.v) AS mean, MAX(s.v) AS top"


@dataclass(frozen=True)
class Input:
    """A folder with rows in files of equal size, and a last row an hour later that closes all windows."""

    folder: Path
    rows: int
    keys: int
    files: int = 10
    floats: bool = False

    def write(self) -> Input:
        """Write the files, floats with two decimals; returns itself."""
        rng = np.random.default_rng(7)
        at = np.arange(self.rows, dtype=np.int64) * 1000 + SECONDS * 1_000_000
        key = rng.integers(0, self.keys, self.rows)
        value = rng.integers(-(10**8), 10**8, self.rows) / 100 if self.floats else _whole(rng, self.rows)
        self.folder.mkdir(parents=True, exist_ok=True)
        for number, part in enumerate(np.array_split(np.arange(self.rows), self.files)):
            table = pa.table({"ts": pa.array(at[part], pa.timestamp("us", "UTC")), "k": key[part], "v": value[part]})
            pq.write_table(table, self.folder / f"{number:04}.parquet")
        last = pa.array([int(at[-1]) + 3_600_000_000], pa.timestamp("us", "UTC"))
        closing = pa.table({"ts": last, "k": np.array([0]), "v": np.zeros(1, value.dtype)})
        pq.write_table(closing, self.folder / "9999.parquet")
        return self

    @property
    def until(self) -> int:
        """The last tick of a run, by which all windows of up to 250 s are empty."""
        return self.rows // 1000 + 250

    def stream(self, spark: SparkSession) -> DataFrame:
        """The rows as a stream, one file per micro-batch."""
        columns = f"ts timestamp, k bigint, v {'double' if self.floats else 'bigint'}"
        return spark.readStream.schema(columns).option("maxFilesPerTrigger", 1).parquet(str(self.folder))

    @property
    def catalog(self) -> transom.Catalog:
        """The catalog of the input."""
        value = f"v:{'float' if self.floats else 'integer'}"
        extents = {"s": {"kind": "pushed", "attributes": ["k:integer", value]}}
        return transom.Catalog.from_dict({"epoch": EPOCH, "extents": extents})


def _whole(rng: np.random.Generator, rows: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Integers small enough that a sum of doubles, from which Spark computes a mean, is exact."""
    return rng.integers(-(10**10), 10**10, rows)


def ours(spark: SparkSession, source: Input, width: int, kernel: KernelMode, *, offset: int = 0) -> DataFrame:
    """The query in SNEEql; the window ends `offset` seconds before now."""
    window = f"s[FROM NOW-{offset + width - 1} TO NOW-{offset} SLIDE 1 SEC]"
    query = transom.compile(f"RSTREAM(SELECT s.k, {AGGREGATES} FROM {window} GROUP BY s.k)", source.catalog)
    return query.to_df(spark, {"s": source.stream(spark)}, until=source.until, kernel=kernel)


def by_hand(spark: SparkSession, source: Input, width: int, *, offset: int = 0) -> DataFrame:
    """The same answer with Spark's window(), which is half open; its end is our tick, shown as the instant at its end.

    Floats with two decimals are summed exactly as whole hundredths, divided once.
    """
    window = F.window("ts", f"{width} seconds", "1 second") if width > 1 else F.window("ts", "1 second")
    rows = source.stream(spark).withWatermark("ts", "1 millisecond")
    if source.floats:
        rows = rows.select("ts", "k", "v", F.round(F.col("v") * 100).cast("bigint").alias("c"))
    total, mean, top = F.sum("c" if source.floats else "v"), F.avg("v").alias("mean"), F.max("v").alias("top")
    sums = rows.groupBy(window, "k").agg(total.alias("total"), F.count("*").alias("n"), mean, top)
    if source.floats:
        exact = F.col("total").cast("double") / F.lit(100.0)
        sums = sums.select("window", "k", exact.alias("total"), "n", (exact / F.col("n")).alias("mean"), "top")
    tick = F.timestamp_seconds(F.unix_seconds(F.col("window.end")) + F.lit(offset)).alias("tick")
    end = F.timestamp_seconds(F.lit(SECONDS + source.until + 1))
    return sums.select(tick, "k", "total", "n", "mean", "top").where(F.col("tick") <= end)


def by_rows(spark: SparkSession, source: Input, width: int, kernel: KernelMode) -> DataFrame:
    """The aggregates over the last `width` rows of all keys, every `width` rows."""
    window = f"s[FROM NOW-{width - 1} TO NOW SLIDE {width} ROWS]"
    query = transom.compile(f"RSTREAM(SELECT {AGGREGATES} FROM {window})", source.catalog)
    return query.to_df(spark, {"s": source.stream(spark)}, until=source.until, kernel=kernel)
