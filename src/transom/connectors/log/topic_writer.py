"""A log as a topic of Kafka: a transaction for each append, numbers without a gap, one writer.

Entries are in the log when their transaction is committed, by brokers that all have them, and then all of an append or
none. The transactional id is that of the topic: a new writer shuts the one before out, undoes what it had begun, and
reads the end of the topic before it writes. The last entry of an append carries the header `transom` with the latest
tick so far and the attributes.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any

from transom.catalog.extents import Extent, Kind
from transom.catalog.servers import Topic
from transom.connectors.log.encoding import decode, encode
from transom.connectors.log.topic import HEADER, PARTITION, PATIENCE, TopicReader, administration, end_of, library, made
from transom.errors import DataError, TransomError, UsageError

if TYPE_CHECKING:
    from transom.connectors.log.columns import Answered, Entry

LARGEST_ENTRY = 8 << 20
"""Bytes that an entry may have: a megabyte of a dead message as base64, or of control characters as JSON."""
_OVERHEAD = 10_000
_FOREVER = {"retention.ms": "-1", "retention.bytes": "-1"}
_WHOLE = 300_000
"""Milliseconds that a transaction may take."""
_OUTAGE = 180.0
"""Seconds that an append waits for brokers that are away."""
_SHOWN = 5.0
"""Seconds that an append waits for a broker to show what it has."""


class TopicLog:
    """The one writer of a log; `next` is the number of the next entry, `latest` the latest tick so far."""

    def __init__(self, place: Topic, extent: Extent) -> None:
        self.place = place
        self.extent = extent
        self._kafka = library()
        self.next, self.latest = 0, -1
        self._offset = -1
        self._reader = TopicReader(place)
        try:
            self._open()
        except BaseException:
            self._reader.close()
            raise

    def _open(self) -> None:
        if not self._reader.exists():
            self._make()
        self._check()
        more = {
            "transactional.id": f"transom-log-{self.place.topic}",
            "transaction.timeout.ms": _WHOLE,
            "message.timeout.ms": _WHOLE // 2,
            "message.max.bytes": LARGEST_ENTRY,
            "compression.type": "zstd",
            "linger.ms": 5,
            "on_delivery": self._delivered,
        }
        self._producer = made(self.place, self._kafka.Producer, more)
        try:
            self._again(self._producer.init_transactions, time.monotonic() + 2 * PATIENCE)
        except self._kafka.KafkaException as error:
            raise self._failed(error) from None
        self._recover()

    def _make(self) -> None:
        """The topic, which forgets nothing."""
        config = {**_FOREVER, "max.message.bytes": str(LARGEST_ENTRY)}
        name = self.place.topic
        admin = made(self.place, administration().AdminClient, {})
        topic = administration().NewTopic(name, 1, config=config)
        try:
            admin.create_topics([topic], request_timeout=PATIENCE)[name].result(PATIENCE)
        except self._kafka.KafkaException as error:
            if error.args[0].code() == self._kafka.KafkaError.TOPIC_ALREADY_EXISTS:
                return
            told = " ".join(f"{key}={value}" for key, value in config.items())
            hint = f"make it by hand, with one partition and {told}"
            raise UsageError(f"cannot make {self.place}", detail=error.args[0].str(), hint=hint) from None

    def _check(self) -> None:
        """Refuse a topic that would not keep all entries of the log; one whose settings are hidden is trusted."""
        kinds = administration().ConfigResource
        admin = made(self.place, administration().AdminClient, {})
        resource = kinds(kinds.Type.TOPIC, self.place.topic)
        try:
            found = admin.describe_configs([resource], request_timeout=PATIENCE)[resource].result(PATIENCE)
        except self._kafka.KafkaException:
            return
        known = {name: str(entry.value) for name, entry in found.items()}
        wrong = []
        if "compact" in known.get("cleanup.policy", ""):
            wrong.append("cleanup.policy=delete")
        if int(known.get("max.message.bytes", LARGEST_ENTRY)) < LARGEST_ENTRY:
            wrong.append(f"max.message.bytes={LARGEST_ENTRY}")
        if self.extent.kind is Kind.STORED:  # what a table holds is the sum of all entries
            wrong += [f"{name}={value}" for name, value in _FOREVER.items() if known.get(name, value) != value]
        if wrong:
            hint = f"set {' '.join(wrong)}, or name a topic that is not there: the collector makes it"
            raise UsageError(f"{self.place} cannot keep the log of {self.extent.name}", hint=hint)

    def _recover(self) -> None:
        last = end_of(self._reader)
        if last is None:
            return
        if last.attributes != _attributes(self.extent):
            hint = "give the extent a new log: log: kafka://HOST:PORT/TOPIC"
            detail = json.dumps(last.attributes)
            raise UsageError(f"{self.place} was made for other attributes", hint=hint, detail=detail)
        self.next, self.latest = last.number + 1, last.latest

    def append(self, entries: Sequence[Entry]) -> None:
        """Put entries into the log, all of them or none; when this returns, the brokers have them.

        They show them to readers, too, unless something keeps them from it for longer than anybody should wait.
        """
        if not entries:
            return
        self._offset = -1
        latest = max(
            [self.latest, *(e.tick for e in entries if e.tick is not None and e.kind.value in ("row", "beat"))]
        )
        about = json.dumps({"latest": latest, "attributes": _attributes(self.extent)}).encode()
        values = [self._encoded(number, entry) for number, entry in enumerate(entries, self.next)]
        end = time.monotonic() + _OUTAGE
        while True:
            try:
                self._producer.begin_transaction()
                for place, (entry, value) in enumerate(zip(entries, values, strict=True)):
                    headers = [(HEADER, about)] if place == len(entries) - 1 else None
                    self._send(entry, value, headers, end)
                self._again(self._producer.commit_transaction, end)
                break
            except self._kafka.KafkaException as error:
                if not error.args[0].txn_requires_abort() or time.monotonic() > end:
                    raise self._failed(error) from None
                self._undo(end)
            except TransomError:
                self._undo(end)
                raise
        self.next += len(entries)
        self.latest = latest
        self._wait_until_shown()

    def _delivered(self, error: Any, message: Any) -> None:
        if error is None:
            self._offset = max(self._offset, message.offset())

    def _wait_until_shown(self) -> None:
        """A broker answers a commit a moment before readers get what was committed; it keeps it, shown or not."""
        end = time.monotonic() + _SHOWN
        with contextlib.suppress(DataError):
            while self._reader.bounds()[1] <= self._offset and time.monotonic() < end:
                time.sleep(0.001)

    def _encoded(self, number: int, entry: Entry) -> bytes:
        """The message of an entry.

        An append encodes all of its entries before it begins a transaction. A refused entry then aborts nothing: a
        producer that aborts before the broker has seen a message may get INVALID_TXN_STATE and is lost.
        """
        value = encode(self.extent, number, entry)
        if len(value) > LARGEST_ENTRY - _OVERHEAD:
            hint = "keep the log in a folder, or leave the long attribute out"
            raise DataError(f"an entry of {len(value)} bytes is too large for {self.place}", hint=hint)
        return value

    def _send(self, entry: Entry, value: bytes, headers: list[tuple[str, bytes]] | None, end: float) -> None:
        stamp = int(entry.at.timestamp() * 1000)
        more = {} if headers is None else {"headers": headers}
        while True:
            try:
                self._producer.produce(self.place.topic, value, partition=PARTITION, timestamp=stamp, **more)
                return
            except BufferError:  # the queue is full: wait for the brokers
                if time.monotonic() > end:
                    raise DataError(f"{self.place} takes no more", hint="look whether the broker runs") from None
                self._producer.poll(0.1)

    def _undo(self, end: float) -> None:
        try:
            self._again(self._producer.abort_transaction, end)
        except self._kafka.KafkaException as error:
            raise self._failed(error) from None

    def _again(self, call: Callable[[float], object], end: float) -> None:
        """Call something that may be called again until the brokers have answered."""
        while True:
            try:
                call(5.0)
                return
            except self._kafka.KafkaException as error:
                if not error.args[0].retriable() or time.monotonic() > end:
                    raise

    def _failed(self, error: Any) -> TransomError:
        codes = self._kafka.KafkaError
        if error.args[0].code() in (codes._FENCED, codes.PRODUCER_FENCED, codes.INVALID_PRODUCER_EPOCH):
            hint = "a log has one writer: stop the other collector"
            return UsageError(f"somebody else writes {self.place} now", hint=hint)
        return DataError(f"cannot write {self.place}", detail=error.args[0].str(), hint="look whether the broker runs")

    def answered(self, most: int) -> Iterator[Answered]:
        """The messages of the last entries that have a token, in the order in which they came."""
        with TopicReader(self.place) as reader:
            low, high = reader.bounds()
            back = 2 * most
            while True:
                start = max(low, high - back)
                found = [one for message in reader.messages(start) for one in _answered(self.extent, message)]
                if len(found) >= most or start == low or back >= _FURTHEST * most:
                    break
                back *= 2
        yield from found

    def close(self) -> None:
        """Nothing is under way between two appends."""
        self._producer.flush(PATIENCE)
        self._reader.close()

    def __enter__(self) -> TopicLog:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_FURTHEST = 8
"""How many messages are looked through for one token."""


def _answered(extent: Extent, message: Any) -> list[Answered]:
    from transom.connectors.log.columns import Answered

    value = message.value() or b""
    if b'"_token":"' not in value:
        return []
    token, reason, words = decode(extent, value, ["_token", "_reason", "_words"]).values()
    return [Answered(str(token), None if reason is None else str(reason), None if words is None else str(words))]


def _attributes(extent: Extent) -> dict[str, str]:
    return {attribute.name: attribute.type.value for attribute in extent.schema}
