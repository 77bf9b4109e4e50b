"""Sources of rows on Spark: `open_stream` and `open_table` make a frame of whatever source an extent has."""

from __future__ import annotations

from pathlib import Path
from typing import assert_never

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructType

from transom.catalog.extents import Extent, Kind
from transom.catalog.servers import HttpPoll, HttpPush, Kafka, Modbus, Mqtt, OpcUa, Postgres, Topic
from transom.catalog.sources import Files, FileVersions, Format, FromQuery, Generate, StatementTemplate, Table
from transom.connectors import _no_source
from transom.connectors.files import spark as files
from transom.connectors.files import spark_statements as statements
from transom.connectors.generate import spark as generate
from transom.connectors.kafka import spark as kafka
from transom.connectors.kafka.aside import Aside
from transom.connectors.log import spark as logs
from transom.connectors.log.read import log_folder
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.spark.balance import CountRead, uncounted
from transom.spark.types import spark_type

__all__ = ["open_scans", "open_stream", "open_table", "scanned_up_to"]


def open_stream(
    spark: SparkSession,
    extent: Extent,
    calendar: Calendar,
    folder: Path | None,
    *,
    live: bool,
    position: bool,
    until: int | None = None,
    files_per_batch: int | None = None,
    checkpoint: Path | None = None,
    waits: bool = False,
    may_lose: bool = False,
    count: CountRead = uncounted,
) -> DataFrame:
    """The rows of a sensed or pushed extent: `t`, `c0`, ... and with `position` also `o`; streaming if `live`.

    `until` ends a generator; files are read to their end. A run with a `checkpoint` puts dead letters of topics
    aside, also late rows if it `waits` for ticks to close. With `may_lose` it goes on where a broker has deleted
    messages before they were read. `count` counts what the scans give.
    """
    match extent.source:
        case None:
            raise _no_source(extent)
        case Files(format=Format.STATEMENTS) as source if extent.is_stream:
            return statements.stream(
                spark,
                extent,
                source,
                calendar,
                folder,
                live=live,
                files_per_batch=files_per_batch,
                count=count,
            )
        case Files() if extent.kind is not Kind.STORED:
            return files.stream(
                spark,
                extent,
                calendar,
                folder,
                live=live,
                position=position,
                files_per_batch=files_per_batch,
                count=count,
            )
        case Generate() if extent.kind is not Kind.STORED:
            return count(generate.stream(spark, extent, calendar, live=live, position=position, until=until), F.lit(1))
        case Modbus(log=log) | OpcUa(log=log) | HttpPoll(log=log) | HttpPush(log=log) | Mqtt(log=log):
            return logs.stream(
                spark, extent, log, folder, live=live, position=position, files_per_batch=files_per_batch, count=count
            )
        case Kafka() as source:
            aside = None
            if live and checkpoint is not None:
                late = waits and not source.payload.statements  # a message may hold statements of several ticks
                aside = Aside.of(extent, source, calendar, folder, checkpoint, waits=late)
            return kafka.stream(
                spark,
                extent,
                source,
                calendar,
                live=live,
                position=position,
                aside=aside,
                may_lose=may_lose,
                count=count,
            )
        case Files() | FileVersions() | Generate() | Table() | Postgres() | FromQuery() | StatementTemplate():
            raise UsageError(f"{extent.name} is no stream", hint="open_table reads stored extents")
        case _:
            assert_never(extent.source)


def open_table(
    spark: SparkSession, extent: Extent, calendar: Calendar, folder: Path | None, *, position: bool
) -> DataFrame:
    """The rows of a stored extent: `v`, the tick from which a row's version holds, `c0`, ..., `e` and perhaps `o`.

    `e` is true in a row that only says that a version exists, since a version may be empty. A graph has neither `v` nor
    `e`: it has one version.
    """
    match extent.source:
        case None:
            raise _no_source(extent)
        case Files(format=Format.STATEMENTS) as source if extent.kind is Kind.STORED:
            return statements.table(spark, extent, source, folder)
        case Files() | FileVersions() if extent.kind is Kind.STORED:
            return _with_versions(spark, extent, files.table(spark, extent, calendar, folder, position=position))
        case Postgres(log=log):
            return logs.table(spark, extent, log, folder)
        case Table() as source if extent.kind is Kind.STORED:
            return _with_versions(spark, extent, _inline(spark, extent, source, position))
        case (
            Files()
            | FileVersions()
            | Generate()
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
    folder: Path | None,
    *,
    files_per_batch: int | None = None,
    count: CountRead = uncounted,
) -> DataFrame:
    """The scans of a stored extent as its log grows, streaming: `v`, `n`, `c0`, ..., `beat` and `dead`."""
    if not isinstance(extent.source, Postgres):
        raise UsageError(f"{extent.name} has no log that grows", hint="open_table reads its versions")
    return logs.scans(spark, extent, extent.source.log, folder, files_per_batch, count)


def scanned_up_to(extent: Extent, folder: Path | None) -> int:
    """The latest tick of which the log of a scanned table tells; -1 if there is none."""
    from transom.connectors.log.segments import latest_tick
    from transom.connectors.log.topic import topic_latest

    if not isinstance(extent.source, Postgres):
        return -1
    log = extent.source.log
    return topic_latest(log) if isinstance(log, Topic) else latest_tick(log_folder(log, folder))


def _with_versions(spark: SparkSession, extent: Extent, rows: DataFrame) -> DataFrame:
    """The rows of a table, and a row for each version that the catalog itself dates."""
    match extent.source:
        case FileVersions(versions=dated):
            ticks = {tick for tick, _ in dated}
        case Table(versions=versions):
            ticks = {version.tick for version in versions}
        case _:
            ticks = set()
    told = rows.select(*rows.columns, F.lit(False).alias("e"))
    if not ticks:
        return told
    marks = spark.createDataFrame([(tick,) for tick in sorted(ticks)], "v long")
    return told.unionByName(marks.select("v", F.lit(True).alias("e")), allowMissingColumns=True)


def _inline(spark: SparkSession, extent: Extent, source: Table, position: bool) -> DataFrame:
    schema = StructType().add("v", LongType())
    for place, attribute in enumerate(extent.schema):
        schema = schema.add(f"c{place}", spark_type(attribute.type))
    if position:
        schema = schema.add("o", LongType())
    rows = [
        (version.tick, *row, *([number] if position else []))
        for version in source.versions
        for number, row in enumerate(version.rows)
    ]
    return spark.createDataFrame(rows, schema)
