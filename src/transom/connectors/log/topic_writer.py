"""Write a log to a Kafka topic: one transaction per append, numbers without gaps, a single writer.

Entries are in the log once their transaction is committed and replicated; an append is atomic. The transactional id
belongs to the topic: a new writer fences the previous one, aborts its open transaction, and reads the end of the topic
before it writes. The last entry of an append carries the header `transom` with the latest tick so far and the
attributes.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from types import TracebackType
from typing import TYPE_CHECKING, Any

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.servers import KafkaTopic
from transom.connectors.log.encoding import decode_record, encode_record
from transom.connectors.log.topic import (
    HEADER,
    PARTITION,
    PATIENCE,
    TopicReader,
    create_client,
    kafka_admin,
    kafka_library,
    read_end,
)
from transom.connectors.log.totals import LogTotals, last_arrival
from transom.errors import DataError, Fenced, TransomError, UsageError

if TYPE_CHECKING:
    from transom.connectors.log.columns import LogRecord, MessageOutcome

LARGEST_ENTRY = 8 << 20
"""Maximum bytes of an entry: a megabyte of a rejected message as base64, or of control characters as JSON."""
_OVERHEAD = 10_000
_FOREVER = {"retention.ms": "-1", "retention.bytes": "-1"}
_WHOLE = 300_000
"""Timeout of a transaction in milliseconds."""
_OUTAGE = 180.0
"""Seconds that an append waits for brokers that are down."""
_SHOWN = 5.0
"""Seconds that an append waits until readers can see its entries."""


class TopicLog:
    """The single writer of a log in Kafka; `next` is the next entry's number, `latest` the latest tick."""

    def __init__(self, location: KafkaTopic, extent: Extent) -> None:
        """Open a log in Kafka for writing where it ends, and stop its previous writer by fencing.

        The topic is created if it is missing.
        """
        self.location = location
        self.extent = extent
        self._kafka = kafka_library()
        self.next, self.latest, self.totals = 0, -1, LogTotals()
        self.last_row: datetime | None = None
        """When the newest row that this writer has appended arrived."""
        self._offset = -1
        self._reader = TopicReader(location)
        try:
            self._open()
        except BaseException:
            self._reader.close()
            raise

    def _open(self) -> None:
        """Check or create the topic, create the transactional producer, and find the end of the log."""
        if not self._reader.exists():
            self._create_topic()
        self._check()
        producer_settings = {
            "transactional.id": f"transom-log-{self.location.topic}",
            "transaction.timeout.ms": _WHOLE,
            "message.timeout.ms": _WHOLE // 2,
            "message.max.bytes": LARGEST_ENTRY,
            "compression.type": "zstd",
            "linger.ms": 5,
            "on_delivery": self._delivered,
        }
        self._producer = create_client(self.location, self._kafka.Producer, producer_settings)
        try:
            self._retry(self._producer.init_transactions, time.monotonic() + 2 * PATIENCE)
        except self._kafka.KafkaException as error:
            raise self._write_error(error) from None
        self._recover()

    def _create_topic(self) -> None:
        """Create the log's topic, which keeps messages forever; raise UsageError if the brokers refuse."""
        config = {**_FOREVER, "max.message.bytes": str(LARGEST_ENTRY)}
        name = self.location.topic
        admin = create_client(self.location, kafka_admin().AdminClient, {})
        topic = kafka_admin().NewTopic(name, 1, config=config)
        try:
            admin.create_topics([topic], request_timeout=PATIENCE)[name].result(PATIENCE)
        except self._kafka.KafkaException as error:
            if error.args[0].code() == self._kafka.KafkaError.TOPIC_ALREADY_EXISTS:
                return
            settings_text = " ".join(f"{key}={value}" for key, value in config.items())
            hint = f"make it by hand, with one partition and {settings_text}"
            raise UsageError(f"cannot make {self.location}", detail=error.args[0].str(), hint=hint) from None

    def _check(self) -> None:
        """Raise UsageError if the settings of the log's topic could lose entries; unreadable settings are accepted."""
        resource_class = kafka_admin().ConfigResource
        admin = create_client(self.location, kafka_admin().AdminClient, {})
        resource = resource_class(resource_class.Type.TOPIC, self.location.topic)
        try:
            entries = admin.describe_configs([resource], request_timeout=PATIENCE)[resource].result(PATIENCE)
        except self._kafka.KafkaException:
            return
        settings = {name: str(entry.value) for name, entry in entries.items()}
        corrections = []
        if "compact" in settings.get("cleanup.policy", ""):
            corrections.append("cleanup.policy=delete")
        if int(settings.get("max.message.bytes", LARGEST_ENTRY)) < LARGEST_ENTRY:
            corrections.append(f"max.message.bytes={LARGEST_ENTRY}")
        if self.extent.kind is ExtentKind.STORED:  # a table needs all its entries
            corrections += [f"{name}={value}" for name, value in _FOREVER.items() if settings.get(name, value) != value]
        if corrections:
            hint = f"set {' '.join(corrections)}, or name a topic that is not there: the collector makes it"
            raise UsageError(f"{self.location} cannot keep the log of {self.extent.name}", hint=hint)

    def _recover(self) -> None:
        """Find the log's next entry number and latest tick; UsageError if the extent's attributes differ."""
        log_end = read_end(self._reader)
        if log_end is None:
            return
        if log_end.attributes != _attributes(self.extent):
            hint = "give the extent a new log: log: kafka://HOST:PORT/TOPIC"
            detail = json.dumps(log_end.attributes)
            raise UsageError(f"{self.location} was made for other attributes", hint=hint, detail=detail)
        self.next, self.latest, self.totals = log_end.number + 1, log_end.latest, log_end.totals
        self.totals.check(str(self.location))

    def append(self, entries: Sequence[LogRecord], arrived: int | None = None) -> None:
        """Append entries in a Kafka transaction; they stem from `arrived` readings and messages (None: not counted).

        `arrived` is how many readings and messages arrived for them, None if nobody counts them; LostRows if they do
        not add up. Waits at most `_SHOWN` seconds until readers can see them.
        """
        if not entries:
            return
        self._offset = -1
        latest = max(
            [self.latest, *(e.tick for e in entries if e.tick is not None and e.kind.value in ("row", "beat"))]
        )
        totals = self.totals.after(entries, arrived)
        totals.check(str(self.location))
        about = {"latest": latest, "attributes": _attributes(self.extent), "totals": totals.to_json()}
        header = json.dumps(about).encode()
        values = [self._encoded(number, entry) for number, entry in enumerate(entries, self.next)]
        deadline = time.monotonic() + _OUTAGE
        while True:
            try:
                self._producer.begin_transaction()
                for index, (entry, value) in enumerate(zip(entries, values, strict=True)):
                    headers = [(HEADER, header)] if index == len(entries) - 1 else None
                    self._send(entry, value, headers, deadline)
                self._retry(self._producer.commit_transaction, deadline)
                break
            except self._kafka.KafkaException as error:
                if not error.args[0].txn_requires_abort() or time.monotonic() > deadline:
                    raise self._write_error(error) from None
                self._undo(deadline)
            except TransomError:
                self._undo(deadline)
                raise
        self.last_row = last_arrival(entries) or self.last_row
        self.next += len(entries)
        self.latest, self.totals = latest, totals
        self._wait_until_shown()

    def _delivered(self, error: Any, message: Any) -> None:
        """Remember the offset of a sent message if the Kafka library reports that it was delivered."""
        if error is None:
            self._offset = max(self._offset, message.offset())

    def _wait_until_shown(self) -> None:
        """Wait until readers can see the last appended entries, which is slightly after their commit."""
        end = time.monotonic() + _SHOWN
        with contextlib.suppress(DataError):
            while self._reader.bounds()[1] <= self._offset and time.monotonic() < end:
                time.sleep(0.001)

    def _encoded(self, number: int, entry: LogRecord) -> bytes:
        """Encode a log entry, with its number, as the value of a Kafka message; raise DataError if it is too large.

        An append encodes all of its entries before it begins a transaction, so that a refused entry does not abort one:
        a producer that aborts before the broker has seen a message may get INVALID_TXN_STATE and become unusable.
        """
        value = encode_record(self.extent, number, entry)
        if len(value) > LARGEST_ENTRY - _OVERHEAD:
            hint = "keep the log in a folder, or leave the long attribute out"
            raise DataError(f"an entry of {len(value)} bytes is too large for {self.location}", hint=hint)
        return value

    def _send(
        self, entry: LogRecord, value: bytes, headers: list[tuple[str, bytes]] | None, monotonic_deadline: float
    ) -> None:
        """Queue a log entry as a Kafka message, waiting while the queue is full; DataError after the deadline."""
        timestamp = int(entry.at.timestamp() * 1000)
        optional = {} if headers is None else {"headers": headers}
        while True:
            try:
                self._producer.produce(self.location.topic, value, partition=PARTITION, timestamp=timestamp, **optional)
                return
            except BufferError:  # the queue is full: wait for the brokers
                if time.monotonic() > monotonic_deadline:
                    raise DataError(f"{self.location} takes no more", hint="look whether the broker runs") from None
                self._producer.poll(0.1)

    def _undo(self, monotonic_deadline: float) -> None:
        """Abort the open Kafka transaction, so that the log keeps none of its entries; retry until the deadline."""
        try:
            self._retry(self._producer.abort_transaction, monotonic_deadline)
        except self._kafka.KafkaException as error:
            raise self._write_error(error) from None

    def _retry(self, call: Callable[[float], object], monotonic_deadline: float) -> None:
        """Run `call` with a timeout of 5 s, again on retriable Kafka errors, up to a deadline in monotonic seconds."""
        while True:
            try:
                call(5.0)
                return
            except self._kafka.KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > monotonic_deadline:
                    raise

    def _write_error(self, error: Any) -> TransomError:
        """Translate an error of the Kafka library, to Fenced if another writer has taken over the log."""
        codes = self._kafka.KafkaError
        if error.args[0].code() in (codes._FENCED, codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_EPOCH):
            hint = "a log has one writer: leave one of the two collectors stopped"
            return Fenced(f"the log {self.location} was taken over by a newer writer", hint=hint)
        return DataError(
            f"cannot write {self.location}", detail=error.args[0].str(), hint="look whether the broker runs"
        )

    def recent_outcomes(self, limit: int) -> Iterator[MessageOutcome]:
        """Yield the outcomes of recent messages, if possible at least `limit`, to recognise redelivered ones.

        There may be more than `limit`. It searches at most the last `_FURTHEST` times `limit` messages. There are at
        least `limit` if the log has so many. A token identifies a message that is sent again.
        """
        with TopicReader(self.location) as reader:
            low, high = reader.bounds()
            distance = 2 * limit
            while True:
                start = max(low, high - distance)
                outcomes = [
                    outcome for message in reader.messages(start) for outcome in _message_outcomes(self.extent, message)
                ]
                if len(outcomes) >= limit or start == low or distance >= _FURTHEST * limit:
                    break
                distance *= 2
        yield from outcomes

    def close(self) -> None:
        """Close the Kafka producer and the reader of the log."""
        self._producer.flush(PATIENCE)
        self._reader.close()

    def __enter__(self) -> TopicLog:
        """Return the log itself; the end of the `with` block closes it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the Kafka producer and the reader of the log."""
        self.close()


_FURTHEST = 8
"""Maximum number of messages to search per token."""


def _message_outcomes(extent: Extent, message: Any) -> list[MessageOutcome]:
    """Return a log entry's outcome (message token, reject reason or None, detail) as a list; empty if no token.

    A token identifies a message that is sent again.
    """
    from transom.connectors.log.columns import MessageOutcome

    value = message.value() or b""
    if b'"_token":"' not in value:
        return []
    token, reason, detail = decode_record(extent, value, ["_token", "_reason", "_words"]).values()
    return [
        MessageOutcome(str(token), None if reason is None else str(reason), None if detail is None else str(detail))
    ]


def _attributes(extent: Extent) -> dict[str, str]:
    """Return the attributes of a source with the names of their types, to check that a log belongs to it."""
    return {attribute.name: attribute.type.value for attribute in extent.schema}
