"""A topic in plain Python: what is in it now, partition by partition and in the order of its offsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

from transom.catalog.extents import Extent
from transom.catalog.extras import needed
from transom.catalog.kafka_entries import HEADER
from transom.catalog.servers import Kafka, Payload
from transom.connectors.kafka.avro import AvroReader
from transom.connectors.kafka.client import Client
from transom.connectors.payloads import Dead, Reader
from transom.connectors.rdf_payloads import RdfReader, Stamped, rejected_message
from transom.connectors.rows import Given, Origin, tagged
from transom.errors import DataError
from transom.model.bag import Element
from transom.model.rdf.answer import Aside
from transom.model.reasons import Reason
from transom.model.time import Calendar

_PATIENCE = 10.0


def read_topic(
    extent: Extent,
    source: Kafka,
    calendar: Calendar,
    until: int | None = None,
    rejected: list[Aside] | None = None,
) -> list[Element]:
    """The stream that a topic holds: by tick, then by partition and offset (E1), or as the extent orders ties.

    Messages of RDF that give no statements are added to `rejected`.
    """
    if source.payload.statements:
        return tagged(extent, _statements(extent, source, calendar, [] if rejected is None else rejected), None)
    return tagged(extent, _rows(extent, source, calendar), until)


def _statements(extent: Extent, source: Kafka, calendar: Calendar, rejected: list[Aside]) -> Iterator[Given]:
    """The statements of a topic; each message is read alone, whole or not at all."""
    for one in messages(source):
        origin = _origin(extent, source, one)
        try:
            for tick, row in statements_of_message(source, calendar, one.moment, one.value):
                yield Given(tick, row, origin)
        except Dead as dead:
            rejected.append(rejected_message(message_place(source, one.partition, one.offset), dead, one.value))


def statements_of_message(source: Kafka, calendar: Calendar, moment: object, value: bytes | None) -> list[Stamped]:
    """What one message states; its time is the broker's stamp, unless messages state it. Dead if it states nothing."""
    reader = RdfReader(source.payload.value, calendar, source.time)
    return reader.rows(value, moment if source.time is None else None)


def message_place(source: Kafka, partition: int, offset: int) -> str:
    """Where a message of a topic stands."""
    return f"{source.topic}-{partition}@{offset}"


def _origin(extent: Extent, source: Kafka, message: Message) -> Origin:
    return Origin(extent.name, message.offset, "offset", f"partition {message.partition} of {source.topic}")


def _rows(extent: Extent, source: Kafka, calendar: Calendar) -> Iterator[Given]:
    reader = Reader(extent, calendar, source.fields, source.time, source.payload, source.columns)
    if source.payload is Payload.AVRO:
        reader = AvroReader(extent, calendar, source)
    limit = last_tick(extent, source, calendar)
    for message in messages(source):
        origin = _origin(extent, source, message)
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
    more = {"group.id": f"transom-{uuid4().hex}", "enable.auto.commit": "false", "enable.partition.eof": "true"}
    client = Client(source, f"the topic {source.topic} at {source.servers}", kafka.Consumer, more)
    consumer = client.own
    try:
        known = client.topic(source.topic, _PATIENCE)
        if known.error is not None:
            raise DataError(f"no topic {source.topic} at {source.servers}", detail=str(known.error))
        found: list[Message] = []
        for partition in sorted(known.partitions):
            found += _partition(kafka, consumer, source.topic, partition, most, first)
        return found
    except kafka.KafkaException as error:
        raise client.error(error) from error
    finally:
        consumer.close()


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
