"""A log on Spark, read by Spark's file source as a stream or a batch.

A live frame has two more columns: `is_heartbeat`, true for a heartbeat, and `reject_reason`, set if an entry is not
a row. Both are dropped above the watermark.
"""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F
from pyspark.sql import types as T

from transom.catalog.extent import Extent
from transom.catalog.servers import KafkaTopic, LogLocation
from transom.connectors.log import topic_spark
from transom.connectors.log.read import log_folder
from transom.connectors.log.segments import check_segments
from transom.connectors.private_files import make_folder
from transom.spark.columns import COUNT, IS_HEARTBEAT, IS_VERSION, ORDER, REJECT_REASON, TICK_NUMBER, VERSION
from transom.spark.expressions.types import spark_type
from transom.spark.input.balance import RowCounter, uncounted

_FOREVER = "36500d"  # by default, Spark ignores files older than a week


def stream(
    spark: SparkSession,
    extent: Extent,
    log: LogLocation,
    catalog_folder: Path | None,
    *,
    live: bool,
    with_order: bool,
    files_per_batch: int | None = None,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Read a log as a Spark DataFrame of ticks, attributes and, if `with_order`, `row_order`; streaming if `live`.

    Its columns are `tick_number`, `c0`, ... and, if `with_order`, `row_order`. `count_rows` counts the entries.
    """
    raw = count_rows(
        _entries(spark, extent, log, catalog_folder, live=live, files_per_batch=files_per_batch), _is_counted()
    )
    if not live:
        raw = raw.where(F.col("_kind") == "row")
    cells = [F.col(f"`{name}`").alias(f"c{index}") for index, name in enumerate(extent.names)]
    extra_columns = [F.col("_seq").alias(ORDER)] if with_order else []
    if live:
        extra_columns += [(F.col("_kind") == "beat").alias(IS_HEARTBEAT), F.col("_reason").alias(REJECT_REASON)]
    return raw.select(F.col("_tick").alias(TICK_NUMBER), *cells, *extra_columns)


def table(spark: SparkSession, extent: Extent, log: LogLocation, catalog_folder: Path | None) -> DataFrame:
    """Read a polled SQL table's log as a DataFrame of rows valid from tick `version` to before `gone` (NULL: now, too).

    A row with attributes `c0`, ... is valid from tick `version` up to before tick `gone`.

    The n-th deletion of a row ends the n-th insertion of an equal row. `is_version` rows say that a version exists.
    `gone` is NULL for rows that are still in the table.
    """
    raw = _entries(spark, extent, log, catalog_folder, live=False)
    names = [f"c{index}" for index in range(len(extent.schema))]
    cells = [F.col(f"`{name}`").alias(c) for c, name in zip(names, extent.names)]
    entries = raw.select(F.col("_tick").alias(VERSION), "_kind", F.col("_seq").alias(ORDER), *cells)
    occurrence = F.row_number().over(Window.partitionBy("_kind", *names).orderBy(ORDER))
    changes = entries.where(F.col("_kind").isin("row", "left")).select("*", occurrence.alias("occurrence"))
    inserted, deleted = (
        changes.where(F.col("_kind") == "row").alias("inserted"),
        changes.where(F.col("_kind") == "left").alias("deleted"),
    )
    is_same_row = F.col("inserted.occurrence") == F.col("deleted.occurrence")
    for name in names:
        is_same_row = is_same_row & F.col(f"inserted.{name}").eqNullSafe(F.col(f"deleted.{name}"))
    row_columns = [
        F.col(f"inserted.{VERSION}"),
        F.col(f"deleted.{VERSION}").alias("gone"),
        F.col(f"inserted.{ORDER}"),
        *(F.col(f"inserted.{name}") for name in names),
    ]
    rows = inserted.join(deleted, is_same_row, "left").select(*row_columns, F.lit(False).alias(IS_VERSION))
    first_scan = (
        entries.where(F.col("_kind") == "beat").agg(F.min(VERSION).alias(VERSION)).where(F.col(VERSION).isNotNull())
    )
    scans = changes.select(VERSION).union(first_scan).distinct().select(VERSION, F.lit(True).alias(IS_VERSION))
    return rows.unionByName(scans, allowMissingColumns=True)


def scans(
    spark: SparkSession,
    extent: Extent,
    log: LogLocation,
    catalog_folder: Path | None,
    files_per_batch: int | None = None,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Read row changes in a polled SQL table's log as a stream of (tick `version`, +1 inserted or -1 deleted, row).

    Its columns are the tick `version`, +1 or -1, and the attributes. A micro-batch reads `files_per_batch` files;
    `count_rows` counts the rows.

    `is_heartbeat` is true for a heartbeat; `reject_reason` is set if an entry is not a change.
    """
    kind = F.col("_kind")
    cells = [F.col(f"`{name}`").alias(f"c{index}") for index, name in enumerate(extent.names)]
    sign = F.when(kind == "row", F.lit(1)).when(kind == "left", F.lit(-1)).alias(COUNT)
    status_columns = [(kind == "beat").alias(IS_HEARTBEAT), F.col("_reason").alias(REJECT_REASON)]
    raw = count_rows(
        _entries(spark, extent, log, catalog_folder, live=True, files_per_batch=files_per_batch), _is_counted()
    )
    return raw.select(F.col("_tick").alias(VERSION), sign, *cells, *status_columns)


def _is_counted() -> Column:
    """Build the column by which a run counts the entries of a log: 0 for a heartbeat, 1 for any other entry."""
    return (F.col("_kind") != "beat").cast("long")


def _entries(
    spark: SparkSession,
    extent: Extent,
    log: LogLocation,
    catalog_folder: Path | None,
    *,
    live: bool,
    files_per_batch: int | None = None,
) -> DataFrame:
    """Read a log's entries (number, kind, tick, reject reason, attributes) as a DataFrame, streaming if `live`.

    Its columns are number, kind, tick, reject reason and attributes. A micro-batch reads `files_per_batch` files.
    """
    if isinstance(log, KafkaTopic):
        return topic_spark.topic_records_frame(spark, extent, log, live=live)
    path, schema = _folder_and_schema(extent, log, catalog_folder)
    check_segments(log_folder(log, catalog_folder))
    if not live:
        return spark.read.schema(schema).option("pathGlobFilter", "*.parquet").parquet(path)
    reader = spark.readStream.schema(schema).option("maxFileAge", _FOREVER).option("pathGlobFilter", "*.parquet")
    if files_per_batch is not None:
        reader = reader.option("maxFilesPerTrigger", files_per_batch)
    return reader.parquet(path)


def _folder_and_schema(extent: Extent, log: str, catalog_folder: Path | None) -> tuple[str, T.StructType]:
    """Return the file URL of a log's folder, which is created if missing, and the Spark schema of its entries."""
    path = log_folder(log, catalog_folder).absolute()
    make_folder(path)  # Spark needs the folder even before the collector has created it
    schema = T.StructType().add("_seq", "long").add("_kind", "string").add("_tick", "long").add("_reason", "string")
    for attribute in extent.schema:
        schema = schema.add(attribute.name, spark_type(attribute.type))
    return f"file:{path}", schema
