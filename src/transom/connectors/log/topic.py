"""A log that is a topic of Kafka, in plain Python: its committed messages, in the order of their offsets."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple
from uuid import uuid4

from transom.catalog.extents import Extent, Kind
from transom.catalog.extras import needed
from transom.catalog.servers import Topic
from transom.connectors.kafka.client import Client
from transom.connectors.log.encoding import decode
from transom.errors import DataError, UsageError

PARTITION = 0
"""A log has one order, so its topic has one partition."""
HEADER = "transom"
"""The header of the last entry of an append: the latest tick so far, and the attributes of the extent."""
PATIENCE = 20.0
"""Seconds to wait for a broker that does not answer."""


def library() -> Any:
    """Kafka's client for Python."""
    return needed("confluent_kafka", "a log in Kafka", "kafka")


def administration() -> Any:
    """The part of the client that makes topics."""
    return needed("confluent_kafka.admin", "a log in Kafka", "kafka")


def made(place: Topic, make: Any, more: dict[str, Any]) -> Any:
    """A client of Kafka; UsageError if the options are not its own."""
    return Client(place, str(place), make, more).own


class TopicReader:
    """The messages of a log; whoever writes it is not disturbed."""

    def __init__(self, place: Topic) -> None:
        self.place = place
        self._kafka = library()
        more = {
            "group.id": f"transom-{uuid4().hex}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
        }
        self._client = Client(place, str(place), self._kafka.Consumer, more)
        self._consumer = self._client.own
        codes = self._kafka.KafkaError
        made_now = (codes._UNKNOWN_PARTITION, codes._UNKNOWN_TOPIC, codes.UNKNOWN_TOPIC_OR_PART)
        self._soon = (*made_now, codes.LEADER_NOT_AVAILABLE, codes.NOT_LEADER_FOR_PARTITION)

    def exists(self) -> bool:
        """Whether the topic is there; UsageError if it has more than one partition."""
        known = self._client.topic(self.place.topic, PATIENCE)
        if known.error is not None:
            if known.error.code() == self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
                return False
            raise DataError(f"cannot read {self.place}", detail=str(known.error))
        if len(known.partitions) != 1:
            hint = "a log has one order: give it a topic of its own, of one partition"
            raise UsageError(f"{self.place} has {len(known.partitions)} partitions", hint=hint)
        return True

    def bounds(self) -> tuple[int, int]:
        """The offset of the first message that is there, and of the next one to come."""
        partition = self._kafka.TopicPartition(self.place.topic, PARTITION)
        end = time.monotonic() + PATIENCE
        with self._words():
            while True:
                try:
                    low, high = self._consumer.get_watermark_offsets(partition, timeout=PATIENCE)
                    return int(low), int(high)
                except self._kafka.KafkaException as error:
                    if error.args[0].code() not in self._soon or time.monotonic() > end:
                        raise
                    time.sleep(0.1)

    def messages(self, start: int) -> Iterator[Any]:
        """All committed messages from an offset up to the end as it is now."""
        _, end = self.bounds()
        with self._words():
            self._consumer.assign([self._kafka.TopicPartition(self.place.topic, PARTITION, start)])
        try:
            while start < end:
                message = self._consumer.poll(PATIENCE)
                if message is None:
                    raise DataError(f"no answer from {self.place}", hint="look whether the broker runs")
                if message.error() is not None:
                    if message.error().code() == self._kafka.KafkaError._PARTITION_EOF:
                        return
                    raise DataError(f"cannot read {self.place}", detail=str(message.error()))
                start = message.offset() + 1
                if start <= end:
                    yield message
        finally:
            self._consumer.unassign()  # or it would go on and fetch what comes

    def _words(self) -> _Words:
        return _Words(self._client)

    def close(self) -> None:
        """Hang up."""
        self._consumer.close()

    def __enter__(self) -> TopicReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class End(NamedTuple):
    """The last entry of a log: its number, the latest tick of a row or a beat, and the attributes by name."""

    number: int
    latest: int
    attributes: dict[str, str]


def end_of(reader: TopicReader) -> End | None:
    """The end of a log, None if it has no entries."""
    low, high = reader.bounds()
    found: deque[Any] = deque(maxlen=1)
    back = 64
    while not found and high > low:  # the last messages may be ends of transactions, or undone
        found.extend(reader.messages(max(low, high - back)))
        if high - back <= low:
            break
        back *= 16
    if not found:
        if low > 0:
            hint = "give the extent a new log, in a topic that keeps what it has"
            raise UsageError(f"all entries of {reader.place} have been deleted", hint=hint)
        return None
    [last] = found
    try:
        about = json.loads(dict(last.headers() or [])[HEADER])
        return End(int(json.loads(last.value() or b"")["_seq"]), int(about["latest"]), dict(about["attributes"]))
    except (ValueError, KeyError, TypeError) as error:
        what = f"the message at offset {last.offset()} is no end of a log"
        hint = "somebody else wrote it: give the extent a topic of its own"
        raise DataError(what, detail=str(error), hint=hint, source=str(reader.place)) from None


def topic_latest(place: Topic) -> int:
    """The latest tick of a row or a beat that a log knows, -1 if of none."""
    with TopicReader(place) as reader:
        last = end_of(reader) if reader.exists() else None
    return -1 if last is None else last.latest


def topic_entries(extent: Extent, place: Topic, columns: list[str]) -> Iterator[tuple[str, int, dict[str, object]]]:
    """Where each entry of a log stands, its number, and some of its columns."""
    with TopicReader(place) as reader:
        if not reader.exists():
            raise DataError(f"no log of {extent.name} in {place}", hint="transom collect writes it")
        low, _ = reader.bounds()
        last: int | None = -1 if extent.kind is Kind.STORED else None  # a table is the sum of all its entries
        for message in reader.messages(low):
            try:
                entry = decode(extent, message.value() or b"", ["_seq", *columns])
            except ValueError as error:
                what = f"the message at offset {message.offset()} is no entry of a log"
                raise DataError(what, detail=str(error), hint="somebody else wrote it", source=str(place)) from None
            number = entry["_seq"]
            assert isinstance(number, int)  # noqa: S101 - decode looked
            if last is not None and number != last + 1:
                what = f"entries {last + 1} to {number - 1} of the log are missing before offset {message.offset()}"
                hint = "give the extent a new log, in a topic that keeps what it has"
                raise DataError(what, hint=hint, source=str(place))
            last = number
            yield str(place), number, entry


class _Words:
    """Turns errors of the client into Transom's own."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, self._client.kafka.KafkaException):
            raise self._client.error(error) from None
