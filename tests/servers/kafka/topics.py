"""The log of a collector in a topic of Kafka, as somebody else reads it: committed messages, JSON."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from typing import Any
from uuid import uuid4

from confluent_kafka import OFFSET_END, Consumer, KafkaError, TopicPartition


def opened(place: str, **more: object) -> Consumer:
    settings = {"bootstrap.servers": place, "group.id": uuid4().hex, "isolation.level": "read_committed"}
    return Consumer({**settings, "auto.offset.reset": "earliest", **more})


def committed(place: str, topic: str) -> list[dict[str, Any]]:
    """Everything that is committed, in its order; nothing if there is no topic."""
    reader = opened(place, **{"enable.partition.eof": True})
    found = []
    try:
        if topic not in reader.list_topics(timeout=10).topics:
            return []
        reader.assign([TopicPartition(topic, 0, 0)])
        while True:
            message = reader.poll(10)
            assert message is not None, "no end"
            if message.error() is not None:
                assert message.error().code() == KafkaError._PARTITION_EOF, message.error()
                return found
            found.append(json.loads(message.value()))
    finally:
        reader.close()


def wait_for_commit(place: str, topic: str, kind: str) -> None:
    """Return the moment that an entry of a kind is committed."""
    reader = opened(place)
    try:
        reader.assign([TopicPartition(topic, 0, OFFSET_END)])
        end = time.monotonic() + 60
        while time.monotonic() < end:
            message = reader.poll(5)
            if message is not None and message.error() is None and json.loads(message.value())["_kind"] == kind:
                return
        raise TimeoutError(f"no {kind} in {topic}")
    finally:
        threading.Thread(target=reader.close).start()


def kinds(place: str, topic: str) -> Counter[str]:
    return Counter(entry["_kind"] for entry in committed(place, topic))


def numbered(entries: list[dict[str, Any]]) -> bool:
    """Whether the numbers have no gap."""
    return [entry["_seq"] for entry in entries] == list(range(len(entries)))
