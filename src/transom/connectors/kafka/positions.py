"""A topic's id, and the first available offset of each partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from transom.catalog.extras import require_library
from transom.catalog.servers import Kafka, KafkaTopic
from transom.connectors.kafka.client import SilentLogger
from transom.connectors.kafka.settings import python_settings
from transom.errors import Unavailable

_PATIENCE = 10.0


@dataclass(frozen=True)
class TopicPositions:
    """The id of a topic, which changes if the topic is recreated, and first offsets by partition."""

    id: str
    first: dict[int, int]


def topic_positions(source: Kafka | KafkaTopic) -> TopicPositions:
    """Ask the broker for a topic's id and each partition's first available offset, or raise Unavailable."""
    kafka, admin = (
        require_library("confluent_kafka", "kafka", "kafka"),
        require_library("confluent_kafka.admin", "kafka", "kafka"),
    )
    settings = python_settings(source)
    try:
        client = admin.AdminClient(settings, logger=SilentLogger())
        descriptions = client.describe_topics(kafka.TopicCollection([source.topic]), request_timeout=_PATIENCE)
        description = descriptions[source.topic].result()
        partitions = [partition.id for partition in description.partitions]
        return TopicPositions(str(description.topic_id), _first_offsets(kafka, settings, source.topic, partitions))
    except kafka.KafkaException as error:
        raise Unavailable(
            f"cannot look at the topic {source.topic} at {source.servers}", detail=str(error.args[0])
        ) from error


def _first_offsets(kafka: Any, settings: dict[str, Any], topic: str, partitions: list[int]) -> dict[int, int]:
    """Return the first available offset of each partition of a topic, by partition; `kafka` is the library.

    `kafka` is the client library, and `settings` are its options.
    """
    consumer = kafka.Consumer({**settings, "group.id": f"transom-{uuid4().hex}"}, logger=SilentLogger())
    try:
        topic_partitions = {number: kafka.TopicPartition(topic, number) for number in partitions}
        return {
            number: consumer.get_watermark_offsets(partition, timeout=_PATIENCE)[0]
            for number, partition in topic_partitions.items()
        }
    finally:
        consumer.close()
