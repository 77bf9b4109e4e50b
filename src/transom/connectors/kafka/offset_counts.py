"""What the offsets of a topic are: messages, messages of aborted transactions, and offsets without a message.

An offset without a message is a transaction marker, or its message was deleted by compaction or retention. A client
cannot tell these apart, except that only compacted topics are compacted.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from transom.catalog.servers import Kafka
from transom.connectors.kafka.client import KafkaClient
from transom.connectors.kafka.settings import COMMITTED, ISOLATION
from transom.errors import Unavailable

MAX_OFFSETS = 200_000
"""The most offsets that are read again to count them."""
_PATIENCE = 60.0
Offsets = Mapping[str, int]


@dataclass(frozen=True)
class OffsetCounts:
    """A number of offsets of a topic, the messages that can be read there, and those of aborted transactions."""

    offsets: int
    messages: int
    aborted: int

    def sentence(self, rows: int) -> str:
        """Say what the offsets are, given `rows` read: `9 offsets = 6 rows + 2 of aborted transactions + 1 ...`."""
        others = self.offsets - rows - self.aborted
        return (
            f"{self.offsets:,} offsets = {rows:,} rows + {self.aborted:,} of aborted transactions + {others:,} markers "
            "of transactions or deleted messages"
        )


def count_offsets(source: Kafka, begins: Offsets, ends: Offsets) -> OffsetCounts:
    """Count the offsets from `begins` to before `ends` (by partition), and their readable and aborted messages.

    Aborted messages are rows if the source has the option to read uncommitted messages.
    """
    spans = {int(partition): (begins.get(partition, 0), end) for partition, end in ends.items()}
    offsets = sum(end - begin for begin, end in spans.values())
    every = _count_messages(source, spans, "read_uncommitted")
    if dict(source.options).get(ISOLATION, COMMITTED) != COMMITTED:
        return OffsetCounts(offsets, every, 0)
    committed = _count_messages(source, spans, COMMITTED)
    return OffsetCounts(offsets, committed, every - committed)


def _count_messages(source: Kafka, spans: Mapping[int, tuple[int, int]], isolation: str) -> int:
    """Count messages in `spans`, (begin, end) offsets by partition, that Kafka isolation level `isolation` shows."""
    import confluent_kafka as kafka

    settings: dict[str, Any] = {
        "group.id": f"transom-{uuid4().hex}",
        "enable.auto.commit": False,
        "enable.partition.eof": True,
        "auto.offset.reset": "earliest",
        ISOLATION: isolation,
    }
    consumer = KafkaClient(source, source.topic, kafka.Consumer, settings).handle
    unread = {partition for partition, (begin, end) in spans.items() if begin < end}
    count, deadline = 0, time.monotonic() + _PATIENCE
    try:
        consumer.assign([kafka.TopicPartition(source.topic, number, spans[number][0]) for number in sorted(unread)])
        while unread:
            message = consumer.poll(1.0)
            if time.monotonic() > deadline:
                raise Unavailable(f"the topic {source.topic} cannot be counted", detail="the brokers are too slow")
            if message is None:
                continue
            partition, error = message.partition(), message.error()
            if error is not None and error.code() != kafka.KafkaError._PARTITION_EOF:
                raise Unavailable(f"the topic {source.topic} cannot be counted", detail=error.str())
            if error is not None or message.offset() >= spans[partition][1]:
                unread.discard(partition)
            elif partition in unread:
                count += 1
    finally:
        consumer.close()
    return count
