"""Read a Kafka topic with Spark's connector, with the same ticks and values as the plain reader.

A message that is not a row stops the query, unless the source names a folder for dead letters. Then it is counted by
reason and skipped, and a run writes it to the dead letters, together with late rows.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from pyspark.sql import Column, DataFrame, DataFrameReader, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import DataStreamReader

from transom.catalog.extent import Extent
from transom.catalog.resolve.kafka import HEADER_PREFIX
from transom.catalog.servers import MICRO_BATCH_OPTIONS, Kafka
from transom.connectors.kafka.client import check_access
from transom.connectors.kafka.read import (
    KafkaMessage,
    last_tick,
    message_location,
    row_decoder,
    statements_of_message,
)
from transom.connectors.kafka.rejected import MESSAGE_COLUMNS, DeadLetterSink
from transom.connectors.kafka.settings import COMMITTED, ISOLATION, java_settings
from transom.connectors.kafka.spark_values import Decoded, decode_messages, first_reason
from transom.connectors.payloads import RejectError
from transom.connectors.rdf.payloads import rejected_message
from transom.connectors.rdf.spark import DecodedStatements, decode_statements
from transom.errors import UsageError
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar
from transom.spark.columns import IS_HEARTBEAT, ORDER, ORIGIN_ORDER, REJECT_REASON, REJECTED_MESSAGE, TICK_NUMBER
from transom.spark.input.balance import RowCounter, uncounted
from transom.spark.input.cells import cell_forms, text_cell, typed_cell
from transom.spark.input.cells import tick_cell as tick_of

_ROWS_PER_OFFSET = 1 << 21  # a message has at most one statement for each of its bytes


def stream(
    spark: SparkSession,
    extent: Extent,
    source: Kafka,
    calendar: Calendar,
    *,
    live: bool,
    with_order: bool,
    dead_letters: DeadLetterSink | None = None,
    allow_data_loss: bool = False,
    count_rows: RowCounter = uncounted,
) -> DataFrame:
    """Read a topic as a DataFrame, streaming if `live`; `allow_data_loss`: go on if the broker deleted unread messages.

    Its columns are `tick_number`, `c0`, ... and, if `with_order`, `row_order`. `count_rows` counts the messages. If the
    source has dead letters, a frame of rows also has `reject_reason` and, if live, `is_heartbeat`, else the columns of
    `_rejected_columns`. With `allow_data_loss`, a live run continues when the broker has deleted messages before they
    were read.
    """
    if source.payload.is_rdf:
        columns = [name for name in MESSAGE_COLUMNS if name != "headers" or source.dead is not None]
        messages = _messages(spark, source, live=live, allow_data_loss=allow_data_loss).select(*columns)
        return decode_statements(
            messages, extent, partial(_statements, source, calendar), dead_letters=dead_letters, count_rows=count_rows
        )
    rows = _read(
        count_rows(_messages(spark, source, live=live, allow_data_loss=allow_data_loss), F.lit(1)),
        extent,
        source,
        calendar,
    )
    if dead_letters is not None:
        rows = dead_letters.with_reject_reasons(rows)
    cells = [F.col(f"v{index}").alias(f"c{index}") for index in range(len(extent.schema))]
    order_columns = [F.struct("partition", "offset").alias(ORDER)] if with_order else []
    if source.dead is None:
        location = F.concat(
            F.lit(f"{extent.name}: offset "), F.col("offset"), F.lit(" of partition "), F.col("partition"), F.lit(": ")
        )
        failed = F.raise_error(F.concat(location, F.col("reason"))).cast("long")
        return rows.select(
            F.when(F.col("reason").isNotNull(), failed).otherwise(F.col(TICK_NUMBER)).alias(TICK_NUMBER),
            *cells,
            *order_columns,
        )
    if not live:
        return rows.select(TICK_NUMBER, *cells, *order_columns, *_rejected_columns(rows, extent, source, calendar))
    return rows.select(
        TICK_NUMBER,
        *cells,
        *order_columns,
        F.lit(False).alias(IS_HEARTBEAT),
        F.col("reason").alias(REJECT_REASON),
    )


def _rejected_columns(rows: DataFrame, extent: Extent, source: Kafka, calendar: Calendar) -> list[Column]:
    """Build a replay's columns of rejected messages: reason, origin, the message, and their order in the topic.

    All of them are NULL for a row. `reject_detail` reads the message.
    """
    limit, reason = last_tick(extent, source, calendar), F.col("reason")
    if limit is not None:
        is_ahead = reason.isNull() & (F.col(TICK_NUMBER) > F.lit(limit))
        reason = F.when(is_ahead, F.lit(RejectReason.AHEAD.value)).otherwise(reason)
    origin = F.concat(F.lit(f"{source.topic}-"), F.col("partition"), F.lit("@"), F.col("offset"))
    parts = [name for name in MESSAGE_COLUMNS if name != "timestamp"]
    parts += ["headers"] if "headers" in rows.columns else []
    columns = {
        "origin": origin,
        REJECTED_MESSAGE: F.struct(*parts, F.unix_millis("timestamp").alias("stamp")),
        ORIGIN_ORDER: F.struct("partition", "offset"),
    }
    return [
        reason.alias(REJECT_REASON),
        *(F.when(reason.isNotNull(), column).alias(name) for name, column in columns.items()),
    ]


def reject_detail(extent: Extent, source: Kafka, calendar: Calendar, rejected: Any) -> str:
    """Say why a replay rejected a message, a row of a frame of `stream`, in the words of the plain reader."""
    row = rejected[REJECTED_MESSAGE]
    headers = [(header["key"], header["value"]) for header in row["headers"] or ()] if "headers" in row else ()
    value = None if row["value"] is None else bytes(row["value"])
    message = KafkaMessage(row["partition"], row["offset"], row["stamp"], row["key"], headers, value)
    try:
        row_decoder(extent, source, calendar)(message)
    except RejectError as rejection:
        return rejection.detail
    return str(rejected[REJECT_REASON])


def _statements(source: Kafka, calendar: Calendar, entry: dict[str, Any]) -> DecodedStatements:
    """Decode the RDF statements of a Kafka message; `entry` has its partition, offset, timestamp and value.

    The numbers of the statements follow the message's offset.
    """
    partition, offset, value = entry["partition"], entry["offset"], entry["value"]
    try:
        statements, rejected = statements_of_message(source, calendar, entry["timestamp"], value), []
    except RejectError as rejection:
        statements, rejected = [], [rejected_message(message_location(source, partition, offset), rejection, value)]
    return DecodedStatements(partition, source.topic, offset * _ROWS_PER_OFFSET, statements, rejected)


def _read(messages: DataFrame, extent: Extent, source: Kafka, calendar: Calendar) -> DataFrame:
    """Decode Kafka messages: add columns `tick_number`, attributes `v0`, ..., and reject `reason` (NULL if valid).

    The columns are `tick_number`, `v0`, ... and `reason`, which is NULL if the message is valid. Later columns are
    small, because Spark copies all columns from one projection to the next.
    """
    decoded = decode_messages(messages, extent, source)
    forms_by_cell = {name: cell_forms(F.col(f"r{name}"), kind) for name, kind in decoded.kinds.items()}
    missing = [F.col(f"r{index}").isNull().alias(f"m{index}") for index in sorted(decoded.fields)]
    forms_of = (c.alias(f"r{i}_{name}") for i, forms in forms_by_cell.items() for name, c in forms.items())
    raw = decoded.frame.select("*", *forms_of, *missing)
    form_columns = {i: {name: F.col(f"r{i}_{name}") for name in forms} for i, forms in forms_by_cell.items()}
    values = [
        text_cell(F.col(f"r{i}"), a.type)
        if i in decoded.texts
        else typed_cell(F.col(f"r{i}"), form_columns[str(i)], a.type, decoded.kinds[str(i)])
        for i, a in enumerate(extent.schema)
    ]
    read = raw.select(
        "*",
        tick_of(F.col("rt"), form_columns["t"], decoded.kinds["t"], calendar).alias(TICK_NUMBER),
        *(cell.value.alias(f"v{i}") for i, cell in enumerate(values)),
        *(cell.is_given.alias(f"s{i}") for i, cell in enumerate(values)),
    )
    return read.select("*", _reject_reason(decoded, len(values), source.time is not None).alias("reason"))


def _reject_reason(decoded: Decoded, attribute_count: int, has_time: bool) -> Column:
    """Build the column with the first reason to reject a message (NULL if valid); `has_time`: messages state times.

    `attribute_count` is the number of its attributes; `has_time` says whether messages state their time.
    """
    before_epoch = [(F.col(TICK_NUMBER) < 0, RejectReason.EPOCH)]
    conditions = [(F.col(TICK_NUMBER).isNull(), RejectReason.TIME), *before_epoch] if has_time else []
    conditions += [(F.col(f"m{index}"), RejectReason.MISSING) for index in sorted(decoded.fields)]
    conditions += [(F.col("unfit"), RejectReason.TYPE)]
    conditions += [
        (F.col(f"v{index}").isNull() & F.col(f"s{index}"), RejectReason.TYPE) for index in range(attribute_count)
    ]
    if not has_time:
        conditions += before_epoch
    return first_reason(F.when(F.col("why").isNotNull(), F.col("why")), conditions)


def _messages(spark: SparkSession, source: Kafka, *, live: bool, allow_data_loss: bool = False) -> DataFrame:
    """Load a topic as a DataFrame, streaming if `live`; `allow_data_loss`: unread messages may have been deleted.

    The query fails if messages were deleted before they were read, unless `allow_data_loss`. Messages of aborted
    transactions are not read, as in plain Python; this is not the default of the Java client.
    """
    check_access(source, f"the topic {source.topic} at {source.servers}", source.topic)
    options = {f"kafka.{name}": value for name, value in ({ISOLATION: COMMITTED} | java_settings(source)).items()}
    if live:
        options |= {name: value for name, value in source.options if name in MICRO_BATCH_OPTIONS}
        options["failOnDataLoss"] = str(not allow_data_loss).lower()
    options |= {"subscribe": source.topic, "startingOffsets": "earliest"}
    if source.dead is not None or any(field.startswith(HEADER_PREFIX) for _, field in source.envelope):
        options["includeHeaders"] = "true"
    return load_kafka((spark.readStream if live else spark.read).format("kafka").options(**options))


def load_kafka(reader: DataFrameReader | DataStreamReader) -> DataFrame:
    """Load a DataFrame from a Kafka reader; raise UsageError, naming the jar, if Spark's Kafka connector is missing."""
    try:
        return reader.load()
    except Exception as error:
        if "kafka" not in str(error).lower() or "find" not in str(error).lower():
            raise
        from pyspark import __version__

        jar = f"org.apache.spark:spark-sql-kafka-0-10_2.13:{__version__}"
        hint = (
            f"write `spark.jars.packages {jar}` in a file spark-defaults.conf, and set SPARK_CONF_DIR to its folder; "
            f"or start the command with spark-submit --packages {jar}"
        )
        raise UsageError("Spark has no connector for Kafka", hint=hint) from error
