"""Read the current content of a Kafka topic in plain Python, by partition and offset."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from uuid import uuid4

from transom.catalog.extent import Extent
from transom.catalog.extras import require_library
from transom.catalog.reading.wording import display_value
from transom.catalog.resolve.kafka import HEADER_PREFIX
from transom.catalog.servers import Kafka, Payload
from transom.connectors.kafka.avro import AvroReader
from transom.connectors.kafka.client import KafkaClient
from transom.connectors.payloads import MessageReader, RejectError
from transom.connectors.rdf.payloads import RdfReader, TimedStatement, rejected_message
from transom.connectors.rows import Origin, SourceRow, ordered_elements
from transom.errors import DataError
from transom.model.bag import Element
from transom.model.rdf.answer import RejectedMessage
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

_PATIENCE = 10.0


def read_topic(
    extent: Extent,
    source: Kafka,
    calendar: Calendar,
    until: int | None = None,
    rejected: list[RejectedMessage] | None = None,
) -> list[Element]:
    """Read a Kafka topic up to tick `until`, ordered by tick; invalid messages are appended to `rejected`.

    Ties keep the declared order, else that of the offsets (E1). If a topic of rows has no folder for dead letters, its
    first invalid message raises DataError.
    """
    rejected = [] if rejected is None else rejected
    if source.payload.is_rdf:
        return ordered_elements(extent, _statements(extent, source, calendar, rejected), None)
    return ordered_elements(extent, _rows(extent, source, calendar, rejected), until)


def _statements(
    extent: Extent, source: Kafka, calendar: Calendar, rejected: list[RejectedMessage]
) -> Iterator[SourceRow]:
    """Read the RDF statements in a Kafka topic; a message with an invalid statement is rejected as a whole."""
    for message in messages(source):
        origin = _origin(extent, source, message)
        try:
            for tick, row in statements_of_message(source, calendar, message.moment, message.value):
                yield SourceRow(tick, row, origin)
        except RejectError as rejection:
            location = message_location(source, message.partition, message.offset)
            rejected.append(rejected_message(location, rejection, message.value))


def statements_of_message(
    source: Kafka, calendar: Calendar, broker_time: object, value: bytes | None
) -> list[TimedStatement]:
    """Decode a Kafka message's RDF statements, at `broker_time` unless they state theirs; RejectError if invalid.

    They have the time `broker_time`, that of the broker, unless the message states their times.
    """
    reader = RdfReader(source.payload.value, calendar, source.time)
    return reader.rows(value, broker_time if source.time is None else None)


def message_location(source: Kafka, partition: int, offset: int) -> str:
    """Return the position of a Kafka message as text for dead letters: topic-partition@offset."""
    return f"{source.topic}-{partition}@{offset}"


def _origin(extent: Extent, source: Kafka, message: KafkaMessage) -> Origin:
    """Return where a row comes from, for error messages: partition and offset of its Kafka message."""
    return Origin(extent.name, message.offset, "offset", f"partition {message.partition} of {source.topic}")


def _rows(extent: Extent, source: Kafka, calendar: Calendar, rejected: list[RejectedMessage]) -> Iterator[SourceRow]:
    """Read the rows now in a Kafka topic; an invalid message raises or, with dead letters, is added to `rejected`."""
    decode = row_decoder(extent, source, calendar)
    for message in messages(source):
        origin = _origin(extent, source, message)
        try:
            for tick, row in decode(message):
                yield SourceRow(tick, row, origin)
        except RejectError as rejection:
            if source.dead is None:
                raise origin.error(
                    f"{rejection.reason.value}: {rejection.detail}", "name a folder for such messages: dead: PATH"
                ) from None
            location = message_location(source, message.partition, message.offset)
            rejected.append(rejected_message(location, rejection, message.value))


def row_decoder(
    extent: Extent, source: Kafka, calendar: Calendar
) -> Callable[[KafkaMessage], list[tuple[int, tuple[Any, ...]]]]:
    """Return a function that decodes a topic's message to (tick, row) pairs, or raises RejectError with the reason."""
    reader = MessageReader(extent, calendar, source.fields, source.time, source.payload, source.columns)
    if source.payload is Payload.AVRO:
        reader = AvroReader(extent, calendar, source)
    limit = last_tick(extent, source, calendar)

    def decode(message: KafkaMessage) -> list[tuple[int, tuple[Any, ...]]]:
        """Decode a message to (tick, row) pairs; raise RejectError if it is invalid, too early or ahead of time."""
        envelope = {name: message.envelope_value(field) for name, field in source.envelope}
        decoded: list[tuple[int, tuple[Any, ...]]] = []
        for tick, row in reader.rows(message.value or b"", envelope, message.moment):
            row_tick = calendar.tick_of(message.moment) if tick is None else tick
            if row_tick < 0:
                raise RejectError(RejectReason.EPOCH, f"{display_value(message.moment)} lies before tick 0")
            if limit is not None and row_tick > limit:
                raise RejectError(RejectReason.AHEAD, f"tick {row_tick}, the last one that is allowed now is {limit}")
            decoded.append((row_tick, row))
        return decoded

    return decode


def last_tick(extent: Extent, source: Kafka, calendar: Calendar) -> int | None:
    """Return the latest tick that a row may have now before it is rejected as ahead of time; None: no limit.

    There is no limit for sources without dead letters.
    """
    if source.dead is None:
        return None
    return calendar.tick_of(datetime.now(UTC)) + extent.max_ahead_ticks(calendar)


class KafkaMessage(NamedTuple):
    """A message of a topic: its position, the broker's timestamp in milliseconds, and its content."""

    partition: int
    offset: int
    stamp: int
    key: bytes | None
    headers: Sequence[tuple[str, bytes | None]]
    value: bytes | None

    @property
    def moment(self) -> datetime:
        """The time that the broker recorded for the message, in UTC."""
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=self.stamp)

    def envelope_value(self, field: str) -> str | datetime | None:
        """Return the message's part `field`: `timestamp`, `key` or `header.NAME`; None if it is absent.

        Key and header become text; of several headers with the same name the last one counts. RejectError if it is not
        UTF-8.
        """
        if field == "timestamp":
            return self.moment
        headers = [content for name, content in self.headers if HEADER_PREFIX + name == field]
        raw = self.key if field == "key" else headers[-1] if headers else None
        try:
            return None if raw is None else raw.decode("utf-8")
        except UnicodeDecodeError as error:
            raise RejectError(RejectReason.BYTES, f"{field}: {error}") from None


def messages(source: Kafka, limit: int | None = None, *, first: bool = False) -> list[KafkaMessage]:
    """Read the messages that a Kafka topic holds now; with `limit`, only the last or `first` ones of each partition."""
    kafka = require_library("confluent_kafka", "kafka", "kafka")
    extra_settings = {
        "group.id": f"transom-{uuid4().hex}",
        "enable.auto.commit": "false",
        "enable.partition.eof": "true",
    }
    client = KafkaClient(source, f"the topic {source.topic} at {source.servers}", kafka.Consumer, extra_settings)
    consumer = client.handle
    try:
        topic = client.topic(source.topic, _PATIENCE)
        if topic.error is not None:
            raise DataError(f"no topic {source.topic} at {source.servers}", detail=str(topic.error))
        topic_messages: list[KafkaMessage] = []
        for partition in sorted(topic.partitions):
            topic_messages += _partition(kafka, consumer, source.topic, partition, limit, first)
        return topic_messages
    except kafka.KafkaException as error:
        raise client.error(error) from error
    finally:
        consumer.close()


def _partition(
    kafka: Any, consumer: Any, topic: str, partition: int, limit: int | None, first: bool
) -> Iterator[KafkaMessage]:
    """Read the messages of one partition; with `limit`, only the last ones, or the first ones if `first`.

    `kafka` is the Python client's library.
    """
    topic_partition = kafka.TopicPartition(topic, partition)
    low, high = consumer.get_watermark_offsets(topic_partition, timeout=_PATIENCE)
    if limit is not None:
        low, high = (low, min(high, low + limit)) if first else (max(low, high - limit), high)
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
        yield KafkaMessage(partition, message.offset(), stamp, message.key(), headers, message.value())
