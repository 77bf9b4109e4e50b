"""A log on Spark: its segments by Spark's own file source, as a stream or as a batch.

A live frame has two columns more than others: `beat`, true in an entry that only moves time on, and `dead`, the reason
of an entry that is no row. Both are taken away above the watermark.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extents import Extent
from transom.catalog.servers import Place, Topic
from transom.connectors.log import topic_spark
from transom.connectors.log.read import log_folder
from transom.connectors.log.segments import check_segments
from transom.connectors.private import make_folder
from transom.spark.balance import CountRead, uncounted
from transom.spark.types import spark_type

_FOREVER = "36500d"  # Spark would pass over files older than a week


def stream(
    spark: SparkSession,
    extent: Extent,
    log: Place,
    folder: Path | None,
    *,
    live: bool,
    position: bool,
    files_per_batch: int | None = None,
    count: CountRead = uncounted,
) -> DataFrame:
    """The rows of a log: `t`, `c0`, ..., with `position` also `o`; a live frame goes on as the log does."""
    raw = count(_entries(spark, extent, log, folder, live=live, files_per_batch=files_per_batch), _entry())
    if not live:
        raw = raw.where(F.col("_kind") == "row")
    cells = [F.col(f"`{name}`").alias(f"c{place}") for place, name in enumerate(extent.names)]
    more = [F.col("_seq").alias("o")] if position else []
    if live:
        more += [(F.col("_kind") == "beat").alias("beat"), F.col("_reason").alias("dead")]
    return raw.select(F.col("_tick").alias("t"), *cells, *more)


def table(spark: SparkSession, extent: Extent, log: Place, folder: Path | None) -> DataFrame:
    """The rows of a scanned table: `v`, the scan that saw a row first, `gone`, the first that did not, `c0`, ...

    The n-th departure of a row ends the n-th appearance of an equal one. Rows with `e` say that there is a version.
    """
    raw = _entries(spark, extent, log, folder, live=False)
    names = [f"c{place}" for place in range(len(extent.schema))]
    cells = [F.col(f"`{name}`").alias(c) for c, name in zip(names, extent.names)]
    entries = raw.select(F.col("_tick").alias("v"), "_kind", F.col("_seq").alias("o"), *cells)
    nth = F.row_number().over(Window.partitionBy("_kind", *names).orderBy("o"))
    changes = entries.where(F.col("_kind").isin("row", "left")).select("*", nth.alias("n"))
    here, left = changes.where(F.col("_kind") == "row").alias("h"), changes.where(F.col("_kind") == "left").alias("l")
    same = F.col("h.n") == F.col("l.n")
    for name in names:
        same = same & F.col(f"h.{name}").eqNullSafe(F.col(f"l.{name}"))
    kept = [F.col("h.v"), F.col("l.v").alias("gone"), F.col("h.o"), *(F.col(f"h.{name}") for name in names)]
    rows = here.join(left, same, "left").select(*kept, F.lit(False).alias("e"))
    first = entries.where(F.col("_kind") == "beat").agg(F.min("v").alias("v")).where(F.col("v").isNotNull())
    scans = changes.select("v").union(first).distinct().select("v", F.lit(True).alias("e"))
    return rows.unionByName(scans, allowMissingColumns=True)


def scans(
    spark: SparkSession,
    extent: Extent,
    log: Place,
    folder: Path | None,
    files_per_batch: int | None = None,
    count: CountRead = uncounted,
) -> DataFrame:
    """The log of a scanned table as it grows: `v`, `n` (1 a row appeared, -1 it left), `c0`, ..., `beat` and `dead`."""
    kind = F.col("_kind")
    cells = [F.col(f"`{name}`").alias(f"c{place}") for place, name in enumerate(extent.names)]
    sign = F.when(kind == "row", F.lit(1)).when(kind == "left", F.lit(-1)).alias("n")
    rest = [(kind == "beat").alias("beat"), F.col("_reason").alias("dead")]
    raw = count(_entries(spark, extent, log, folder, live=True, files_per_batch=files_per_batch), _entry())
    return raw.select(F.col("_tick").alias("v"), sign, *cells, *rest)


def _entry() -> Column:
    """1 for an entry that is a row, has left or is dead; 0 for a heartbeat."""
    return (F.col("_kind") != "beat").cast("long")


def _entries(
    spark: SparkSession,
    extent: Extent,
    log: Place,
    folder: Path | None,
    *,
    live: bool,
    files_per_batch: int | None = None,
) -> DataFrame:
    """The entries of a log: `_seq`, `_kind`, `_tick`, `_reason` and the attributes; as they come, if `live`."""
    if isinstance(log, Topic):
        return topic_spark.entries(spark, extent, log, live=live)
    path, shape = _place(extent, log, folder)
    check_segments(log_folder(log, folder))
    if not live:
        return spark.read.schema(shape).option("pathGlobFilter", "*.parquet").parquet(path)
    reader = spark.readStream.schema(shape).option("maxFileAge", _FOREVER).option("pathGlobFilter", "*.parquet")
    if files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
    return reader.parquet(path)


def _place(extent: Extent, log: str, folder: Path | None) -> tuple[str, T.StructType]:
    """Where a log lies, and what Spark reads of it."""
    place = log_folder(log, folder).absolute()
    make_folder(place)  # Spark asks for the folder before the collector has made it
    shape = T.StructType().add("_seq", "long").add("_kind", "string").add("_tick", "long").add("_reason", "string")
    for attribute in extent.schema:
        shape = shape.add(attribute.name, spark_type(attribute.type))
    return f"file:{place}", shape
