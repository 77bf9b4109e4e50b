"""A topic on Spark, by Spark's own connector: the same ticks and values as the plain reader gives.

A message that is no row stops the query, unless the source names a folder for such messages: then it is counted by
reason and passed over, and a run puts it aside, with the rows that are late.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamReader

from transom.catalog.extents import Extent
from transom.catalog.kafka_entries import HEADER
from transom.catalog.servers import BATCHES, Kafka
from transom.connectors.kafka.aside import MESSAGE, Aside
from transom.connectors.kafka.client import check_access
from transom.connectors.kafka.read import last_tick, message_place, statements_of_message
from transom.connectors.kafka.settings import java_settings
from transom.connectors.kafka.spark_values import Apart, said, take_apart
from transom.connectors.payloads import Dead
from transom.connectors.rdf_payloads import rejected_message
from transom.connectors.rdf_spark import Part, decoded
from transom.errors import UsageError
from transom.model.reasons import Reason
from transom.model.time import Calendar
from transom.spark.balance import CountRead, uncounted
from transom.spark.cells import forms, text_cell, typed_cell
from transom.spark.cells import tick as tick_of

_ROOM = 1 << 21  # a message has at most one statement for each of its bytes


def stream(
    spark: SparkSession,
    extent: Extent,
    source: Kafka,
    calendar: Calendar,
    *,
    live: bool,
    position: bool,
    aside: Aside | None = None,
    may_lose: bool = False,
    count: CountRead = uncounted,
) -> DataFrame:
    """The rows of a topic: `t`, `c0`, ..., with `position` also `o`; a live one with `beat` and `dead` where needed.

    With `may_lose` a live one goes on where the broker has deleted messages before they were read. `count` counts the
    messages.
    """
    if source.payload.statements:
        taken = _messages(spark, source, live=live, may_lose=may_lose).select(*MESSAGE)
        return decoded(taken, extent, partial(_statements, source, calendar), letters=aside, count=count)
    read = _read(count(_messages(spark, source, live=live, may_lose=may_lose), F.lit(1)), extent, source, calendar)
    if aside is not None:
        read = aside.sifted(read)
    cells = [F.col(f"v{place}").alias(f"c{place}") for place in range(len(extent.schema))]
    more = [F.struct(F.col("partition").alias("p"), F.col("offset").alias("r")).alias("o")] if position else []
    if source.dead is None:
        words = F.concat(
            F.lit(f"{extent.name}: offset "), F.col("offset"), F.lit(" of partition "), F.col("partition"), F.lit(": ")
        )
        failed = F.raise_error(F.concat(words, F.col("reason"))).cast("long")
        return read.select(F.when(F.col("reason").isNotNull(), failed).otherwise(F.col("n")).alias("t"), *cells, *more)
    if not live:
        limit = last_tick(extent, source, calendar)
        is_row = F.col("reason").isNull() & (F.lit(True) if limit is None else F.col("n") <= F.lit(limit))
        return read.where(is_row).select(F.col("n").alias("t"), *cells, *more)
    return read.select(F.col("n").alias("t"), *cells, *more, F.lit(False).alias("beat"), F.col("reason").alias("dead"))


def _statements(source: Kafka, calendar: Calendar, entry: dict[str, Any]) -> Part:
    """What one message states; its rows ascend with its offset."""
    partition, offset, value = entry["partition"], entry["offset"], entry["value"]
    try:
        found, rejected = statements_of_message(source, calendar, entry["timestamp"], value), []
    except Dead as dead:
        found, rejected = [], [rejected_message(message_place(source, partition, offset), dead, value)]
    return Part(partition, source.topic, offset * _ROOM, found, rejected)


def _read(messages: DataFrame, extent: Extent, source: Kafka, calendar: Calendar) -> DataFrame:
    """Messages with their tick `n`, values `v0`, ... and `reason`, NULL where all is well.

    What is named later is small: Spark copies whatever goes from one step to the next.
    """
    apart = take_apart(messages, extent, source)
    formed = {name: forms(F.col(f"r{name}"), kind) for name, kind in apart.kinds.items()}
    missing = [F.col(f"r{place}").isNull().alias(f"m{place}") for place in sorted(apart.fields)]
    forms_of = (c.alias(f"r{i}_{name}") for i, found in formed.items() for name, c in found.items())
    raw = apart.frame.select("*", *forms_of, *missing)
    named = {i: {name: F.col(f"r{i}_{name}") for name in found} for i, found in formed.items()}
    values = [
        text_cell(F.col(f"r{i}"), a.type)
        if i in apart.texts
        else typed_cell(F.col(f"r{i}"), named[str(i)], a.type, apart.kinds[str(i)])
        for i, a in enumerate(extent.schema)
    ]
    read = raw.select(
        "*",
        tick_of(F.col("rt"), named["t"], apart.kinds["t"], calendar).alias("n"),
        *(cell.value.alias(f"v{i}") for i, cell in enumerate(values)),
        *(cell.present.alias(f"s{i}") for i, cell in enumerate(values)),
    )
    return read.select("*", _reason(apart, len(values), source.time is not None).alias("reason"))


def _reason(apart: Apart, width: int, timed: bool) -> Column:
    """Why a message is no row, in the order in which the plain reader looks."""
    early = [(F.col("n") < 0, Reason.EPOCH)]
    wrong = [(F.col("n").isNull(), Reason.TIME), *early] if timed else []
    wrong += [(F.col(f"m{place}"), Reason.MISSING) for place in sorted(apart.fields)]
    wrong += [(F.col("unfit"), Reason.TYPE)]
    wrong += [(F.col(f"v{place}").isNull() & F.col(f"s{place}"), Reason.TYPE) for place in range(width)]
    if not timed:
        wrong += early
    return said(F.when(F.col("why").isNotNull(), F.col("why")), wrong)


def _messages(spark: SparkSession, source: Kafka, *, live: bool, may_lose: bool = False) -> DataFrame:
    check_access(source, f"the topic {source.topic} at {source.servers}", source.topic)
    options = {f"kafka.{name}": value for name, value in java_settings(source).items()}
    if live:
        options |= {name: value for name, value in source.options if name in BATCHES}
        options["failOnDataLoss"] = str(not may_lose).lower()
    options |= {"subscribe": source.topic, "startingOffsets": "earliest"}
    if any(what.startswith(HEADER) for _, what in source.envelope):
        options["includeHeaders"] = "true"
    return loaded((spark.readStream if live else spark.read).format("kafka").options(**options))


def loaded(reader: DataFrameReader | DataStreamReader) -> DataFrame:
    """What a reader reads; UsageError says which jar is missing."""
    try:
        return reader.load()
    except Exception as error:
        if "kafka" not in str(error).lower() or "find" not in str(error).lower():
            raise
        from pyspark import __version__

        jar = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"
        raise UsageError("Spark has no connector for Kafka", hint=f"start it with --packages {jar}") from error
