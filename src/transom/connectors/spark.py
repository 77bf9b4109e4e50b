"""Sources of rows on Spark: `open_stream` and `open_table` build a DataFrame for an extent's source."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import assert_never

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructType

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.servers import HttpPoll, HttpPush, Kafka, KafkaTopic, Modbus, Mqtt, OpcUa, Postgres
from transom.catalog.sources import Files, FileVersions, Format, FromQuery, Generator, StatementTemplate, Table
from transom.connectors import missing_source
from transom.connectors.files import spark as files
from transom.connectors.files import spark_statements as statements
from transom.connectors.generate import spark as generate
from transom.connectors.kafka import spark as kafka
from transom.connectors.kafka.rejected import DeadLetterSink
from transom.connectors.log import spark as logs
from transom.connectors.log.read import log_folder
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.spark.columns import IS_VERSION, ORDER, VERSION
from transom.spark.expressions.types import spark_type
from transom.spark.input.balance import RowCounter, uncounted

__all__ = ["message_detail", "open_scans", "open_stream", "open_table", "scanned_up_to"]


def open_stream(
    spark: SparkSession,
    extent: Extent,
    calendar: Calendar,
    catalog_folder: Path | None,
    *,
    live: bool,
    with_order: bool,
    until: int | None = None,
    files_per_batch: int | None = None,
    checkpoint: Path | None = None,
    reject_late: bool = False,
    allow_data_loss: bool = False,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Read a stream from its source as a DataFrame, streaming if `live`; a generator stops after tick `until`.

    Its columns are `tick_number`, `c0`, ... and, if `with_order`, `row_order`. The frame is streaming if `live`.
    `until` ends a generator; files are read to their end. If a Kafka source names a folder for dead letters, a live run
    with a `checkpoint` writes rejected messages there, and with `reject_late` late rows too. With `allow_data_loss`, it
    continues when a broker has deleted messages before they were read. `count_rows` counts the rows that are read.
    """
    match extent.source:
        case None:
            raise missing_source(extent)
        case Files(format=Format.STATEMENTS) as source if extent.is_stream:
            return statements.stream(
                spark,
                extent,
                source,
                calendar,
                catalog_folder,
                live=live,
                files_per_batch=files_per_batch,
                count_rows=count_rows,
            )
        case Files() if extent.kind is not ExtentKind.STORED:
            return files.stream(
                spark,
                extent,
                calendar,
                catalog_folder,
                live=live,
                with_order=with_order,
                files_per_batch=files_per_batch,
                count_rows=count_rows,
            )
        case Generator() if extent.kind is not ExtentKind.STORED:
            return count_rows(
                generate.stream(spark, extent, calendar, live=live, with_order=with_order, until=until), F.lit(1)
            )
        case Modbus(log=log) | OpcUa(log=log) | HttpPoll(log=log) | HttpPush(log=log) | Mqtt(log=log):
            return logs.stream(
                spark,
                extent,
                log,
                catalog_folder,
                live=live,
                with_order=with_order,
                files_per_batch=files_per_batch,
                count_rows=count_rows,
            )
        case Kafka() as source:
            dead_letters = None
            if live and checkpoint is not None:
                late = reject_late and not source.payload.is_rdf  # a message may hold statements of several ticks
                dead_letters = DeadLetterSink.for_extent(
                    extent, source, calendar, catalog_folder, checkpoint, reject_late=late
                )
            return kafka.stream(
                spark,
                extent,
                source,
                calendar,
                live=live,
                with_order=with_order,
                dead_letters=dead_letters,
                allow_data_loss=allow_data_loss,
                count_rows=count_rows,
            )
        case Files() | FileVersions() | Generator() | Table() | Postgres() | FromQuery() | StatementTemplate():
            raise UsageError(f"{extent.name} is no stream", hint="open_table reads stored extents")
        case _:
            assert_never(extent.source)


def message_detail(extent: Extent, calendar: Calendar) -> Callable[[Row], str]:
    """Return a function that says why a replay rejected a message of a topic, given the row of its frame."""
    if not isinstance(extent.source, Kafka):
        raise UsageError(f"{extent.name} is no topic")
    return partial(kafka.reject_detail, extent, extent.source, calendar)


def open_table(
    spark: SparkSession, extent: Extent, calendar: Calendar, catalog_folder: Path | None, *, with_order: bool
) -> DataFrame:
    """Read a stored table as a DataFrame of rows, valid from tick `version`; `with_order` adds `row_order`.

    Its columns are the tick `version`, `c0`, ... and, if `with_order`, `row_order`. Relative paths start from
    `catalog_folder`. `is_version` is true in marker rows, one per version, because a version may be empty. A graph has
    one version, and neither `version` nor `is_version`.
    """
    match extent.source:
        case None:
            raise missing_source(extent)
        case Files(format=Format.STATEMENTS) as source if extent.kind is ExtentKind.STORED:
            return statements.table(spark, extent, source, catalog_folder)
        case Files() | FileVersions() if extent.kind is ExtentKind.STORED:
            return _with_versions(
                spark, extent, files.table(spark, extent, calendar, catalog_folder, with_order=with_order)
            )
        case Postgres(log=log):
            return logs.table(spark, extent, log, catalog_folder)
        case Table() as source if extent.kind is ExtentKind.STORED:
            return _with_versions(spark, extent, _inline(spark, extent, source, with_order))
        case (
            Files()
            | FileVersions()
            | Generator()
            | Table()
            | Modbus()
            | OpcUa()
            | HttpPoll()
            | HttpPush()
            | Mqtt()
            | Kafka()
            | FromQuery()
            | StatementTemplate()
        ):
            raise UsageError(f"{extent.name} is no stored table", hint="open_stream reads sensed and pushed extents")
        case _:
            assert_never(extent.source)


def open_scans(
    spark: SparkSession,
    extent: Extent,
    catalog_folder: Path | None,
    *,
    files_per_batch: int | None = None,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Read the inserted (+1) and deleted (-1) rows of a polled SQL table as a streaming Spark DataFrame.

    Its columns are `version`, `c0`, ... and +1 or -1. A micro-batch reads at most `files_per_batch` files of the log.

    Heartbeats have `is_heartbeat`, rejected entries `reject_reason`.
    """
    if not isinstance(extent.source, Postgres):
        raise UsageError(f"{extent.name} has no log that grows", hint="open_table reads its versions")
    return logs.scans(spark, extent, extent.source.log, catalog_folder, files_per_batch, count_rows)


def scanned_up_to(extent: Extent, catalog_folder: Path | None) -> int:
    """Return the tick up to which a table's log records its changes; -1 if the log is empty or missing."""
    from transom.connectors.log.segments import latest_tick
    from transom.connectors.log.topic import topic_latest_tick

    if not isinstance(extent.source, Postgres):
        return -1
    log = extent.source.log
    return topic_latest_tick(log) if isinstance(log, KafkaTopic) else latest_tick(log_folder(log, catalog_folder))


def _with_versions(spark: SparkSession, extent: Extent, rows: DataFrame) -> DataFrame:
    """Add column `is_version`: true in a new row per version dated in the catalog, false in the table's rows.

    The rows of the table itself are marked as false.
    """
    match extent.source:
        case FileVersions(versions=dated):
            ticks = {tick for tick, _ in dated}
        case Table(versions=versions):
            ticks = {version.tick for version in versions}
        case _:
            ticks = set()
    unmarked = rows.select(*rows.columns, F.lit(False).alias(IS_VERSION))
    if not ticks:
        return unmarked
    markers = spark.createDataFrame([(tick,) for tick in sorted(ticks)], f"{VERSION} long")
    return unmarked.unionByName(markers.select(VERSION, F.lit(True).alias(IS_VERSION)), allowMissingColumns=True)


def _inline(spark: SparkSession, extent: Extent, source: Table, with_order: bool) -> DataFrame:
    """Build the Spark DataFrame of a table whose rows are in the catalog; `with_order` adds `row_order`.

    Its columns are `version`, `c0`, ... and, if `with_order`, `row_order`.
    """
    schema = StructType().add(VERSION, LongType())
    for index, attribute in enumerate(extent.schema):
        schema = schema.add(f"c{index}", spark_type(attribute.type))
    if with_order:
        schema = schema.add(ORDER, LongType())
    rows = [
        (version.tick, *row, *([number] if with_order else []))
        for version in source.versions
        for number, row in enumerate(version.rows)
    ]
    return spark.createDataFrame(rows, schema)
