"""A topic in plain Python: what is in it now, partition by partition and in the order of its offsets."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from transom.catalog.extents import Extent
from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import BATCHES, Kafka, Payload
from transom.connectors.payloads import Dead, Reader
from transom.connectors.rows import Given, Origin, tagged
from transom.errors import DataError
from transom.model.bag import Element
from transom.model.reasons import Reason
from transom.model.time import Calendar

_PATIENCE = 10.0


def read_topic(extent: Extent, source: Kafka, calendar: Calendar, until: int | None = None) -> list[Element]:
    """The stream that a topic holds: by tick, then by partition and offset (E1), or as the extent orders ties."""
    return tagged(extent, _rows(extent, source, calendar), until)


def _rows(extent: Extent, source: Kafka, calendar: Calendar) -> Iterator[Given]:
    reader = Reader(extent, calendar, source.fields, source.time, Payload.JSON)
    for partition, offset, stamp, raw in messages(source):
        origin = Origin(extent.name, offset, "offset", f"partition {partition} of {source.topic}")
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=stamp)
        try:
            for tick, row in reader.rows(raw, {}, moment):
                at = calendar.tick_of(moment) if tick is None else tick
                if at < 0:
                    raise Dead(Reason.EPOCH, f"{moment} lies before tick 0")
                yield Given(at, row, origin)
        except Dead as dead:
            if source.dead is None:
                raise origin.error(
                    f"{dead.reason.value}: {dead.words}", "name a folder for such messages: dead: PATH"
                ) from None


def messages(source: Kafka, most: int | None = None) -> list[tuple[int, int, int, bytes]]:
    """Partition, offset, stamp in milliseconds and value of what is in a topic now; at most so many per partition."""
    kafka = needed("confluent_kafka", "kafka", "kafka")
    settings = {name: resolved(value) for name, value in source.options if name not in BATCHES}
    settings |= {
        "bootstrap.servers": source.servers,
        "group.id": f"transom-{uuid4().hex}",
        "enable.auto.commit": "false",
    }
    consumer = kafka.Consumer({**settings, "enable.partition.eof": "true"}, logger=_Silent())
    try:
        known = consumer.list_topics(source.topic, timeout=_PATIENCE).topics[source.topic]
        if known.error is not None:
            raise DataError(f"no topic {source.topic} at {source.servers}", detail=str(known.error))
        found: list[tuple[int, int, int, bytes]] = []
        for partition in sorted(known.partitions):
            found += _partition(kafka, consumer, source.topic, partition, most)
        return found
    except kafka.KafkaException as error:
        raise DataError(f"cannot read the topic {source.topic} at {source.servers}", detail=str(error)) from error
    finally:
        consumer.close()


def _partition(
    kafka: Any, consumer: Any, topic: str, partition: int, most: int | None
) -> Iterator[tuple[int, int, int, bytes]]:
    place = kafka.TopicPartition(topic, partition)
    low, high = consumer.get_watermark_offsets(place, timeout=_PATIENCE)
    if most is not None:
        low = max(low, high - most)
    consumer.assign([kafka.TopicPartition(topic, partition, low)])
    while low < high:
        message = consumer.poll(_PATIENCE)
        if message is None:
            raise DataError(f"no answer from partition {partition} of {topic}", hint="look whether the broker runs")
        if message.error() is not None:
            if message.error().code() == kafka.KafkaError._PARTITION_EOF:
                return
            raise DataError(f"cannot read the topic {topic}", detail=str(message.error()))
        if message.offset() >= high:
            return
        low = message.offset() + 1
        yield partition, message.offset(), message.timestamp()[1], message.value() or b""


class _Silent:
    """Takes the words that the library would print."""

    def log(self, *words: object) -> None:
        """Nothing: what goes wrong is told by the error."""
