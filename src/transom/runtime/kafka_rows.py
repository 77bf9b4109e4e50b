"""Rows into a topic of Kafka: those that are too large for the topic are found and left out, all others go in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from transom.catalog.references import resolved
from transom.catalog.servers import Topic
from transom.connectors.kafka.settings import java_settings
from transom.errors import UsageError
from transom.runtime.sink_dead_letters import Refused, SinkDeadLetters

OVERHEAD = 100
"""Bytes of a record batch that has one record, beside its key and value: 61 of the batch, at most 32 of the record."""
INCOMPRESSIBLE = 1000
"""Compression makes a message that cannot be compressed larger by less than one byte in so many."""
ID_BYTES = 100
"""More than the id of a message has."""
WIDTHS = {"long": 20, "integer": 11, "short": 6, "byte": 4, "double": 26, "float": 26, "boolean": 5} | {
    "timestamp": 64,
    "decimal": 64,
}
"""The most bytes that a value takes in JSON, by Spark's name for its type; what is not here has no bound."""
MAX_REQUEST_SIZE = 1 << 20
BUFFER_MEMORY = 32 << 20
BATCH_SIZE = 16 << 10
"""The producer's defaults."""
LARGEST_REQUEST = (100 << 20) - (1 << 16)
"""What a broker takes in one request by default, `socket.request.max.bytes`, less the request's own header."""


@dataclass(frozen=True)
class Limit:
    """The bytes that a message may have, with its overhead; the setting that says so; what the producer is told."""

    largest: int
    setting: str
    overhead: int = OVERHEAD
    producer: Mapping[str, str] = field(default_factory=dict)


def limit_of(options: Mapping[str, str], topic: Mapping[str, str]) -> Limit:
    """The limit for a producer with these options and a topic with these settings, which are empty if not known.

    A producer without a limit of its own is given that of the topic. A message is measured before compression.
    """
    names = ("max.request.size", "buffer.memory", "batch.size")
    own = {name: _bytes(name, options[name]) for name in names if name in options}
    limits = {name: size for name, size in own.items() if name != "batch.size"}
    if "max.message.bytes" in topic:
        limits["max.message.bytes"] = min(int(topic["max.message.bytes"]), LARGEST_REQUEST)
    else:
        limits.setdefault("max.request.size", MAX_REQUEST_SIZE)
    setting, largest = min(limits.items(), key=lambda one: one[1])
    compressed = {options.get("compression.type", "none"), topic.get("compression.type", "producer")}
    slack = 0 if compressed <= {"none", "producer", "uncompressed"} else largest // INCOMPRESSIBLE
    return Limit(largest, setting, OVERHEAD + slack, _producer(own, largest))


def _producer(own: Mapping[str, int], largest: int) -> dict[str, str]:
    """What a producer with these sizes needs to be told for messages of at most `largest` bytes.

    A topic's limit is one on record batches. A producer that may build larger ones does not end: it splits a batch that
    the broker refuses by `batch.size`, which gives the same batch again (KAFKA-8350).
    """
    defaults = {"max.request.size": MAX_REQUEST_SIZE, "buffer.memory": BUFFER_MEMORY}
    raised = [name for name, size in defaults.items() if name not in own and largest > size]
    lowered = ["batch.size"] if own.get("batch.size", BATCH_SIZE) > largest else []
    return dict.fromkeys([*raised, *lowered], str(largest))


def _bytes(name: str, text: str) -> int:
    try:
        return int(resolved(text))
    except ValueError:
        raise UsageError(f"the option {name} is a number of bytes", hint=f"write {name}={MAX_REQUEST_SIZE}") from None


def largest_message(schema: StructType) -> int | None:
    """The most bytes that a row takes as a JSON object, with its id; None where a column has no bound, as text has."""
    total = ID_BYTES
    for column in schema:
        width = WIDTHS.get(column.dataType.typeName())
        if width is None:
            return None
        total += width + 6 * len(column.name.encode("utf-8")) + len('"":,')
    return total


def write_messages(
    frame: DataFrame, place: Topic, limit: Limit, batch: int, letters: SinkDeadLetters, largest: int | None = None
) -> None:
    """Write the messages that the topic takes; those that are too large become dead letters.

    If no message can be too large, since it has at most `largest` bytes, all are written as they are. Otherwise the
    frame is computed once and cached: to compute it again would run its state again, and count its rows twice.
    """
    if largest is not None and largest + limit.overhead <= limit.largest:
        _write(frame, place, limit)
        letters.write(batch, ())
        return
    size = (F.octet_length("id") + F.octet_length("value") + F.lit(limit.overhead)).cast("long")
    rows = frame.select("tick", "id", "value", size.alias("size"), (size > limit.largest).alias("large")).persist()
    try:
        _write(rows.where("NOT large"), place, limit)
        large = rows.where("large")
        letters.write(batch, _refused(large, limit) if large.count() else ())
    finally:
        rows.unpersist()


def _write(rows: DataFrame, place: Topic, limit: Limit) -> None:
    """Write messages with Spark's connector."""
    settings = {f"kafka.{name}": value for name, value in {**java_settings(place), **limit.producer}.items()}
    writer = rows.select(F.col("id").alias("key"), "value").write.format("kafka")
    writer.options(**settings).option("topic", resolved(place.topic)).option("kafka.acks", "all").save()


def _refused(large: DataFrame, limit: Limit) -> Iterator[Refused]:
    """The messages that are too large, always in the same order; the driver holds those of one partition at a time."""
    for row in large.orderBy("tick", "id").select("id", "value", "size").toLocalIterator():
        reason = f"the message has {row['size']:,} bytes, and {limit.setting} allows {limit.largest:,}"
        yield Refused({"_id": row["id"], **json.loads(row["value"])}, reason)
