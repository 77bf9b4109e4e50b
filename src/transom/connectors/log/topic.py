"""Read a log that is a Kafka topic in plain Python: its committed messages in offset order."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Any, NamedTuple
from uuid import uuid4

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.extras import require_library
from transom.catalog.servers import KafkaTopic
from transom.connectors.kafka.client import KafkaClient
from transom.connectors.log.encoding import decode_record
from transom.connectors.log.totals import LogTotals
from transom.errors import DataError, UsageError

PARTITION = 0
"""A log has a total order, so its topic has one partition."""
HEADER = "transom"
"""Header on the last entry of each append: the latest tick so far, and the extent's attributes."""
PATIENCE = 20.0
"""Seconds to wait for a broker to answer."""


def kafka_library() -> Any:
    """Import confluent_kafka, the Kafka client for Python; raise UsageError if it is not installed."""
    return require_library("confluent_kafka", "a log in Kafka", "kafka")


def kafka_admin() -> Any:
    """Import confluent_kafka.admin, which creates topics; raise UsageError if it is not installed."""
    return require_library("confluent_kafka.admin", "a log in Kafka", "kafka")


def create_client(location: KafkaTopic, client_class: Any, extra_settings: dict[str, Any]) -> Any:
    """Create a Kafka client, such as a Producer, with `extra_settings`, for a log's topic, or raise UsageError."""
    return KafkaClient(location, str(location), client_class, extra_settings).handle


class TopicReader:
    """Reads the committed messages of a log in Kafka without disturbing its writer."""

    def __init__(self, location: KafkaTopic) -> None:
        """Create a Kafka consumer for the topic of a log; it connects at the first read."""
        self.location = location
        self._kafka = kafka_library()
        extra_settings = {
            "group.id": f"transom-{uuid4().hex}",
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "error",
            "isolation.level": "read_committed",
        }
        self._client = KafkaClient(location, str(location), self._kafka.Consumer, extra_settings)
        self._consumer = self._client.handle
        codes = self._kafka.KafkaError
        not_created_yet = (codes._UNKNOWN_PARTITION, codes._UNKNOWN_TOPIC, codes.UNKNOWN_TOPIC_OR_PART)
        self._temporary_errors = (*not_created_yet, codes.LEADER_NOT_AVAILABLE, codes.NOT_LEADER_FOR_PARTITION)

    def exists(self) -> bool:
        """Whether the log's topic exists; raises UsageError if it has more than one partition."""
        topic = self._client.topic(self.location.topic, PATIENCE)
        if topic.error is not None:
            if topic.error.code() == self._kafka.KafkaError.UNKNOWN_TOPIC_OR_PART:
                return False
            raise DataError(f"cannot read {self.location}", detail=str(topic.error))
        if len(topic.partitions) != 1:
            hint = "a log has one order: give it a topic of its own, of one partition"
            raise UsageError(f"{self.location} has {len(topic.partitions)} partitions", hint=hint)
        return True

    def bounds(self) -> tuple[int, int]:
        """Return the offset of the log's first available message, and the offset after its last one."""
        partition = self._kafka.TopicPartition(self.location.topic, PARTITION)
        end = time.monotonic() + PATIENCE
        with self._translated_errors():
            while True:
                try:
                    low, high = self._consumer.get_watermark_offsets(partition, timeout=PATIENCE)
                    return int(low), int(high)
                except self._kafka.KafkaException as error:
                    if error.args[0].code() not in self._temporary_errors or time.monotonic() > end:
                        raise
                    time.sleep(0.1)

    def messages(self, start: int) -> Iterator[Any]:
        """Yield the committed Kafka messages of the log from offset `start` to its current end."""
        _, end = self.bounds()
        with self._translated_errors():
            self._consumer.assign([self._kafka.TopicPartition(self.location.topic, PARTITION, start)])
        try:
            while start < end:
                message = self._consumer.poll(PATIENCE)
                if message is None:
                    raise DataError(f"no answer from {self.location}", hint="look whether the broker runs")
                if message.error() is not None:
                    if message.error().code() == self._kafka.KafkaError._PARTITION_EOF:
                        return
                    raise DataError(f"cannot read {self.location}", detail=str(message.error()))
                start = message.offset() + 1
                if start <= end:
                    yield message
        finally:
            self._consumer.unassign()  # otherwise it would keep fetching new messages

    def _translated_errors(self) -> _TranslatedErrors:
        """Return a context in which errors of the Kafka library are raised as DataError."""
        return _TranslatedErrors(self._client)

    def close(self) -> None:
        """Close the Kafka consumer."""
        self._consumer.close()

    def __enter__(self) -> TopicReader:
        """Return the reader itself; the end of the `with` block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the Kafka consumer."""
        self.close()


class LogEnd(NamedTuple):
    """The last entry of a log: its number, the latest tick of a row or heartbeat, the attributes, and the counts."""

    number: int
    latest: int
    attributes: dict[str, str]
    totals: LogTotals


def read_end(reader: TopicReader) -> LogEnd | None:
    """Read the last entry of a log in Kafka; None if it is empty. Raise UsageError if all entries were deleted."""
    low, high = reader.bounds()
    last_messages: deque[Any] = deque(maxlen=1)
    distance = 64
    while not last_messages and high > low:  # the last offsets may be transaction markers or aborted messages
        last_messages.extend(reader.messages(max(low, high - distance)))
        if high - distance <= low:
            break
        distance *= 16
    if not last_messages:
        if low > 0:
            hint = "give the extent a new log, in a topic that keeps what it has"
            raise UsageError(f"all entries of {reader.location} have been deleted", hint=hint)
        return None
    [last] = last_messages
    try:
        about = json.loads(dict(last.headers() or [])[HEADER])
        number = int(json.loads(last.value() or b"")["_seq"])
        totals = LogTotals.from_json(about.get("totals"), number + 1)
        return LogEnd(number, int(about["latest"]), dict(about["attributes"]), totals)
    except (ValueError, KeyError, TypeError) as error:
        message = f"the message at offset {last.offset()} is no end of a log"
        hint = "somebody else wrote it: give the extent a topic of its own"
        raise DataError(message, detail=str(error), hint=hint, source=str(reader.location)) from None


def topic_latest_tick(location: KafkaTopic) -> int:
    """Return the latest tick of a row or heartbeat in a log in Kafka; -1 if it has none."""
    with TopicReader(location) as reader:
        last = read_end(reader) if reader.exists() else None
    return -1 if last is None else last.latest


def topic_records(
    extent: Extent, location: KafkaTopic, columns: list[str]
) -> Iterator[tuple[str, int, dict[str, object]]]:
    """Yield (location, number, values of `columns`) per entry of a Kafka log; DataError if entries are missing."""
    with TopicReader(location) as reader:
        if not reader.exists():
            raise DataError(f"no log of {extent.name} in {location}", hint="transom collect writes it")
        low, _ = reader.bounds()
        last_number: int | None = -1 if extent.kind is ExtentKind.STORED else None  # a table needs all its entries
        for message in reader.messages(low):
            try:
                entry = decode_record(extent, message.value() or b"", ["_seq", *columns])
            except ValueError as error:
                problem = f"the message at offset {message.offset()} is no entry of a log"
                raise DataError(
                    problem, detail=str(error), hint="somebody else wrote it", source=str(location)
                ) from None
            number = entry["_seq"]
            assert isinstance(number, int)  # noqa: S101 - decode_record checks it
            if last_number is not None and number != last_number + 1:
                problem = (
                    f"entries {last_number + 1} to {number - 1} of the log are missing before offset {message.offset()}"
                )
                hint = "give the extent a new log, in a topic that keeps what it has"
                raise DataError(problem, hint=hint, source=str(location))
            last_number = number
            yield str(location), number, entry


class _TranslatedErrors:
    """Context manager that translates the Kafka client's errors into Transom's."""

    def __init__(self, client: KafkaClient) -> None:
        """Prepare to translate errors of the Kafka library, with the reasons that the client has noted."""
        self._client = client

    def __enter__(self) -> None:
        """Do nothing; errors are translated when the `with` block ends."""

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Raise a DataError instead of an error of the Kafka library; other errors are raised as they are."""
        if isinstance(error, self._client.kafka.KafkaException):
            raise self._client.error(error) from None
