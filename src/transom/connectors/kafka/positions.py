"""What a broker says of a topic beside its messages: its id, and the first offset that each partition still has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from transom.catalog.extras import needed
from transom.catalog.servers import Kafka, Topic
from transom.connectors.kafka.client import Silent
from transom.connectors.kafka.settings import python_settings
from transom.errors import Unavailable

_PATIENCE = 10.0


@dataclass(frozen=True)
class Positions:
    """The id of a topic, which a topic of the same name that is made again does not have, and first offsets."""

    id: str
    first: dict[int, int]


def positions(source: Kafka | Topic) -> Positions:
    """What a topic has now; Unavailable if the broker does not answer."""
    kafka, admin = needed("confluent_kafka", "kafka", "kafka"), needed("confluent_kafka.admin", "kafka", "kafka")
    settings = python_settings(source)
    try:
        client = admin.AdminClient(settings, logger=Silent())
        about = client.describe_topics(kafka.TopicCollection([source.topic]), request_timeout=_PATIENCE)
        found = about[source.topic].result()
        partitions = [partition.id for partition in found.partitions]
        return Positions(str(found.topic_id), _first(kafka, settings, source.topic, partitions))
    except kafka.KafkaException as error:
        raise Unavailable(
            f"cannot look at the topic {source.topic} at {source.servers}", detail=str(error.args[0])
        ) from error


def _first(kafka: Any, settings: dict[str, Any], topic: str, partitions: list[int]) -> dict[int, int]:
    consumer = kafka.Consumer({**settings, "group.id": f"transom-{uuid4().hex}"}, logger=Silent())
    try:
        places = {number: kafka.TopicPartition(topic, number) for number in partitions}
        return {n: consumer.get_watermark_offsets(p, timeout=_PATIENCE)[0] for n, p in places.items()}
    finally:
        consumer.close()
