"""A topic in plain Python: what is in it now, partition by partition and in the order of its offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

from transom.catalog.extents import Extent
from transom.catalog.extras import needed
from transom.catalog.kafka_entries import HEADER
from transom.catalog.references import resolved
from transom.catalog.servers import BATCHES, Kafka, Payload
from transom.connectors.kafka.avro import AvroReader
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
    reader = Reader(extent, calendar, source.fields, source.time, source.payload, source.columns)
    if source.payload is Payload.AVRO:
        reader = AvroReader(extent, calendar, source)
    limit = last_tick(extent, source, calendar)
    for message in messages(source):
        origin = Origin(extent.name, message.offset, "offset", f"partition {message.partition} of {source.topic}")
        try:
            known = {name: message.beside(what) for name, what in source.envelope}
            for tick, row in reader.rows(message.value or b"", known, message.moment):
                at = calendar.tick_of(message.moment) if tick is None else tick
                if at < 0:
                    raise Dead(Reason.EPOCH, f"{message.moment} lies before tick 0")
                if limit is not None and at > limit:
                    raise Dead(Reason.AHEAD, f"tick {at}, the last one that is allowed now is {limit}")
                yield Given(at, row, origin)
        except Dead as dead:
            if source.dead is None:
                raise origin.error(
                    f"{dead.reason.value}: {dead.words}", "name a folder for such messages: dead: PATH"
                ) from None


def last_tick(extent: Extent, source: Kafka, calendar: Calendar) -> int | None:
    """The last tick that a row of a topic may have now; without a place for dead letters there is no limit."""
    if source.dead is None:
        return None
    return calendar.tick_of(datetime.now(UTC)) + extent.most_ahead(calendar)


class Message(NamedTuple):
    """What a topic holds: where it stands, the broker's stamp in milliseconds, and what was sent."""

    partition: int
    offset: int
    stamp: int
    key: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    value: bytes | None

    @property
    def moment(self) -> datetime:
        """The broker's stamp as an instant."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.stamp)

    def beside(self, what: str) -> str | datetime | None:
        """What comes with the value: the stamp, or as text the key or the last header of a name; None for neither."""
        if what == "timestamp":
            return self.moment
        found = [content for name, content in self.headers if HEADER + name == what]
        raw = self.key if what == "key" else found[-1] if found else None
        try:
            return None if raw is None else raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Dead(Reason.BYTES, f"{what}: {error}") from None


def messages(source: Kafka, most: int | None = None, *, first: bool = False) -> list[Message]:
    """What is in a topic now; of each partition at most so many, the last or the first."""
    kafka = needed("confluent_kafka", "kafka", "kafka")
    settings = settings_of(source)
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
        found: list[Message] = []
        for partition in sorted(known.partitions):
            found += _partition(kafka, consumer, source.topic, partition, most, first)
        return found
    except kafka.KafkaException as error:
        if error.args and error.args[0].code() in (kafka.KafkaError._TRANSPORT, kafka.KafkaError._ALL_BROKERS_DOWN):
            hint = "look whether the broker runs, and at the address"
            raise DataError(f"cannot reach Kafka at {source.servers}", hint=hint) from error
        raise DataError(f"cannot read the topic {source.topic} at {source.servers}", detail=str(error)) from error
    finally:
        consumer.close()


def settings_of(source: Kafka) -> dict[str, str]:
    """The options of a source as the library knows them; those of Java have one text for user and password."""
    settings = {name: resolved(value) for name, value in source.options if name not in BATCHES}
    login = settings.pop("sasl.jaas.config", "")
    for name in ("username", "password"):
        said = re.search(rf'\b{name}\s*=\s*"((?:[^"\\]|\\.)*)"', login)
        if said:
            settings[f"sasl.{name}"] = re.sub(r"\\(.)", r"\1", said[1])
    return settings


def _partition(
    kafka: Any, consumer: Any, topic: str, partition: int, most: int | None, first: bool
) -> Iterator[Message]:
    place = kafka.TopicPartition(topic, partition)
    low, high = consumer.get_watermark_offsets(place, timeout=_PATIENCE)
    if most is not None:
        low, high = (low, min(high, low + most)) if first else (max(low, high - most), high)
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
        stamp, headers = message.timestamp()[1], message.headers() or ()
        yield Message(partition, message.offset(), stamp, message.key(), headers, message.value())


class _Silent:
    """Takes the words that the library would print."""

    def log(self, *words: object) -> None:
        """Nothing: what goes wrong is told by the error."""
