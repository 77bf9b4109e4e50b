"""Produce dead letters to a Kafka topic, with their original key, headers, value and timestamp.

A message goes to its original partition if it returns to its topic. In another topic, the partition follows from the
key, as for Java's producers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

from transom.catalog.extras import require_library
from transom.catalog.kafka_options import SECURITY
from transom.catalog.reading.references import resolve_references
from transom.catalog.servers import Kafka, KafkaTopic
from transom.connectors.dead_letters.letters import DeadLetter
from transom.connectors.dead_letters.resend import Receipt
from transom.connectors.kafka.client import KafkaClient
from transom.connectors.kafka.topic_settings import topic_settings
from transom.errors import DataError, Unavailable

_PATIENCE = 10.0
_DELIVERY_MS = 30_000
_LARGEST = 1_000_000_000
"""The highest limit of librdkafka for a message; the topic sets the real limit."""
_BATCH_BYTES = 1_000_000
_PORTION = 500


class TopicSender:
    """A producer for one topic of the brokers of an extent; `close` it at the end."""

    portion = _PORTION

    def __init__(self, source: Kafka, topic: str) -> None:
        """Connect to the brokers of a source with its TLS and login; raise DataError if the topic does not exist."""
        self.target = topic
        self._source_topic = source.topic
        kafka = require_library("confluent_kafka", "kafka", "kafka")
        options = tuple(option for option in source.options if option[0] in SECURITY)  # the others are of a consumer
        destination = KafkaTopic(source.servers, topic, options, source.user, source.password, source.tls)
        self._partitions = _partition_count(kafka, destination)
        largest = int(topic_settings(destination).get("max.message.bytes", _BATCH_BYTES))
        settings = {
            "enable.idempotence": True,
            "delivery.timeout.ms": _DELIVERY_MS,
            "linger.ms": 5,
            "message.max.bytes": _LARGEST,
            "batch.size": max(1, min(_BATCH_BYTES, largest)),  # the broker refuses larger batches, with all messages
            "partitioner": "murmur2_random",
        }
        self._client = KafkaClient(destination, f"the topic {topic} at {source.servers}", kafka.Producer, settings)
        self._kafka = kafka

    def send(self, letters: Sequence[DeadLetter]) -> Receipt:
        """Produce dead letters in their order, and wait until all in-sync replicas have acknowledged them."""
        accepted: list[str] = []
        problems: dict[str, Any] = {}
        for letter in letters:

            def record_outcome(problem: Any, _: Any, letter_id: str = letter.id) -> None:
                """Note whether the broker has acknowledged or refused a message."""
                if problem is None:
                    accepted.append(letter_id)
                else:
                    problems[letter_id] = problem

            try:
                self._client.handle.produce(
                    self.target, letter.value, letter.key, on_delivery=record_outcome, **self._envelope(letter)
                )
            except self._kafka.KafkaException as error:
                problems[letter.id] = error.args[0]
            self._client.handle.poll(0)
        self._client.handle.flush()  # every message is acknowledged or refused within the delivery timeout
        down = [problem for problem in problems.values() if problem.code() in self._unavailable]
        refused = {name: str(why.str()) for name, why in problems.items() if why.code() not in self._unavailable}
        if not down:
            return Receipt(accepted, refused)
        reason = self._client.error(self._kafka.KafkaException(down[0]))
        problem = Unavailable(f"the topic {self.target} does not answer", detail=reason.detail, hint=reason.hint)
        return Receipt(accepted, refused, error=problem)

    @property
    def _unavailable(self) -> frozenset[int]:
        """The error codes after which a later attempt may help."""
        codes = self._kafka.KafkaError
        return frozenset((codes._MSG_TIMED_OUT, codes._TIMED_OUT, codes._TRANSPORT, codes._ALL_BROKERS_DOWN))

    def _envelope(self, letter: DeadLetter) -> dict[str, Any]:
        """Return the headers, the timestamp and the partition with which to produce a dead letter."""
        stamp = math.floor((letter.at - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() * 1000)
        envelope: dict[str, Any] = {"headers": list(letter.headers)}
        if stamp >= 0:  # negative: the message has no timestamp
            envelope["timestamp"] = stamp
        returns = letter.origin == self.target == self._source_topic
        if returns and letter.partition is not None and letter.partition < self._partitions:
            envelope["partition"] = letter.partition
        return envelope

    def close(self) -> None:
        """Discard what is not sent; `send` leaves nothing behind unless it was interrupted."""
        self._client.handle.purge()


def _partition_count(kafka: Any, topic: KafkaTopic) -> int:
    """Return how many partitions a topic has; raise DataError if it does not exist, or if the brokers refuse us."""
    name = resolve_references(topic.topic)
    settings = {"group.id": f"transom-{uuid4().hex}"}  # unlike a producer, a consumer does not create the topic
    client = KafkaClient(topic, f"the topic {name} at {topic.servers}", kafka.Consumer, settings)
    try:
        metadata = client.topic(name, _PATIENCE)
    except DataError as error:
        if client.is_refused:
            raise
        raise Unavailable(f"no answer from {topic.servers}", detail=error.detail, hint=error.hint) from None
    finally:
        client.handle.close()
    if metadata.error is not None:
        hint = "create it first, or name another one with --to"
        raise DataError(f"no topic {name} at {topic.servers}", detail=str(metadata.error), hint=hint)
    return len(metadata.partitions)
