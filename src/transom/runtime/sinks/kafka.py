"""Write messages to a Kafka topic; those too large for the topic become dead letters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import KafkaTopic
from transom.connectors.kafka.settings import java_settings
from transom.errors import UsageError
from transom.runtime.sinks.dead_letters import RefusedRow, SinkDeadLetters

MESSAGE_OVERHEAD = 100
"""Bytes of a record batch with one record, without key and value: 61 of the batch, at most 32 of the record."""
INCOMPRESSIBLE = 1000
"""Compression enlarges an incompressible message by less than one byte in this number of bytes."""
ID_BYTES = 100
"""An upper bound on the bytes of a message id."""
JSON_WIDTHS = {"long": 20, "integer": 11, "short": 6, "byte": 4, "double": 26, "float": 26, "boolean": 5} | {
    "timestamp": 64,
    "decimal": 64,
}
"""The most bytes that a value takes in JSON, by Spark's type name; types not listed have no bound."""
MAX_REQUEST_SIZE = 1 << 20
BUFFER_MEMORY = 32 << 20
BATCH_SIZE = 16 << 10
"""The producer's defaults."""
MAX_BROKER_REQUEST = (100 << 20) - (1 << 16)
"""The bytes a broker accepts in one request by default (`socket.request.max.bytes`), less the request header."""


@dataclass(frozen=True)
class MessageLimit:
    """The largest message in bytes including `overhead`, the setting that limits it, and producer options for it."""

    largest: int
    setting: str
    overhead: int = MESSAGE_OVERHEAD
    producer: Mapping[str, str] = field(default_factory=dict)


def message_limit(options: Mapping[str, str], topic: Mapping[str, str]) -> MessageLimit:
    """Return the largest message that a Kafka producer may send, by its options and the settings of a topic.

    The settings are empty if they are not known. A producer without a limit in its options gets that of the topic.
    Messages are measured before compression.
    """
    names = ("max.request.size", "buffer.memory", "batch.size")
    declared = {name: _parse_bytes(name, options[name]) for name in names if name in options}
    limits = {name: size for name, size in declared.items() if name != "batch.size"}
    if "max.message.bytes" in topic:
        limits["max.message.bytes"] = min(int(topic["max.message.bytes"]), MAX_BROKER_REQUEST)
    else:
        limits.setdefault("max.request.size", MAX_REQUEST_SIZE)
    setting, largest = min(limits.items(), key=lambda limit: limit[1])
    compressed = {options.get("compression.type", "none"), topic.get("compression.type", "producer")}
    slack = 0 if compressed <= {"none", "producer", "uncompressed"} else largest // INCOMPRESSIBLE
    return MessageLimit(largest, setting, MESSAGE_OVERHEAD + slack, _producer_options(declared, largest))


def _producer_options(declared: Mapping[str, int], largest: int) -> dict[str, str]:
    """Return the Kafka producer options, name to bytes as text, to set so that `largest` bytes fit into a message.

    Those that the user has `declared` are left out. A topic limits the size of record batches. A producer that may
    build larger ones loops forever: it splits a refused batch by `batch.size`, which gives the same batch again
    (KAFKA-8350).
    """
    defaults = {"max.request.size": MAX_REQUEST_SIZE, "buffer.memory": BUFFER_MEMORY}
    raised = [name for name, size in defaults.items() if name not in declared and largest > size]
    lowered = ["batch.size"] if declared.get("batch.size", BATCH_SIZE) > largest else []
    return dict.fromkeys([*raised, *lowered], str(largest))


def _parse_bytes(name: str, text: str) -> int:
    """Parse a Kafka producer's option that is a number of bytes; raise UsageError if it is not."""
    try:
        return int(resolve_references(text))
    except ValueError:
        raise UsageError(f"the option {name} is a number of bytes", hint=f"write {name}={MAX_REQUEST_SIZE}") from None


def largest_message(schema: StructType) -> int | None:
    """Return the most bytes that a row of a schema can have as JSON with its id; None if there is no limit.

    Columns such as text have no limit.
    """
    total = ID_BYTES
    for column in schema:
        width = JSON_WIDTHS.get(column.dataType.typeName())
        if width is None:
            return None
        total += width + 6 * len(column.name.encode("utf-8")) + len('"":,')
    return total


def write_messages(
    frame: DataFrame,
    topic: KafkaTopic,
    limit: MessageLimit,
    batch: int,
    dead_letters: SinkDeadLetters,
    largest: int | None = None,
) -> None:
    """Write JSON messages to Kafka, those above `limit` as dead letters; `largest`: most bytes of one, None if unknown.

    `largest` is the most bytes that a message can have, if known. If that fits the limit, sizes are not checked.
    Otherwise the frame is computed once and cached: computing it twice would run its state twice and count rows twice.
    """
    if largest is not None and largest + limit.overhead <= limit.largest:
        _write_to_topic(frame, topic, limit)
        dead_letters.write(batch, ())
        return
    size = (F.octet_length("id") + F.octet_length("value") + F.lit(limit.overhead)).cast("long")
    rows = frame.select("tick", "id", "value", size.alias("size"), (size > limit.largest).alias("large")).persist()
    try:
        _write_to_topic(rows.where("NOT large"), topic, limit)
        large = rows.where("large")
        dead_letters.write(batch, _refused_rows(large, limit) if large.count() else ())
    finally:
        rows.unpersist()


def _write_to_topic(rows: DataFrame, topic: KafkaTopic, limit: MessageLimit) -> None:
    """Write messages (id, JSON value) to a Kafka topic with Spark's connector and the producer options of `limit`."""
    settings = {f"kafka.{name}": value for name, value in {**java_settings(topic), **limit.producer}.items()}
    writer = rows.select(F.col("id").alias("key"), "value").write.format("kafka")
    writer.options(**settings).option("topic", resolve_references(topic.topic)).option("kafka.acks", "all").save()


def _refused_rows(large: DataFrame, limit: MessageLimit) -> Iterator[RefusedRow]:
    """Yield dead letters for messages (id, JSON value, size in bytes) above the limit, in order of tick and id.

    The driver holds one partition at a time.
    """
    for row in large.orderBy("tick", "id").select("id", "value", "size").toLocalIterator():
        reason = f"the message has {row['size']:,} bytes, and {limit.setting} allows {limit.largest:,}"
        yield RefusedRow({"_id": row["id"], **json.loads(row["value"])}, reason)
