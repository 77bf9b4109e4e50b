"""A Kafka broker for the benchmarks, and functions that create, fill and read its topics."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from tests.servers import start

JARS = Path(os.environ.get("TRANSOM_JARS", "build/servers"))
PATIENCE = 20.0


@contextmanager
def broker() -> Iterator[str]:
    """Run a Kafka broker of one node inside the block; yields its address."""
    with tempfile.TemporaryDirectory() as place, start.kafka(Path(place) / "node", start.jars("broker", JARS)) as port:
        yield f"127.0.0.1:{port}"


def connector() -> dict[str, str]:
    """The Spark setting that adds the jars of the Kafka connector."""
    return {"spark.jars": ",".join(map(str, sorted(start.jars("connector", JARS).glob("*.jar"))))}


def make(place: str, topic: str, partitions: int = 2, **settings: str) -> None:
    """Create a topic; underscores in the names of `settings` become dots."""
    config = {name.replace("_", "."): value for name, value in settings.items()}
    admin = AdminClient({"bootstrap.servers": place})
    admin.create_topics([NewTopic(topic, partitions, 1, config=config)])[topic].result(PATIENCE)


def fill(place: str, topic: str, values: Iterable[bytes], partitions: int = 2) -> None:
    """Send messages in order, round-robin over the partitions; SystemExit if one is not delivered."""
    sender = Producer(
        {
            "bootstrap.servers": place,
            "linger.ms": 100,
            "batch.size": 1_000_000,
            "queue.buffering.max.messages": 200_000,
            "enable.idempotence": True,
        }
    )
    lost: list[KafkaError] = []
    told = {"on_delivery": lambda error, _: lost.append(error) if error else None}
    for number, value in enumerate(values):
        while True:
            try:
                sender.produce(topic, value, partition=number % partitions, **told)
                break
            except BufferError:
                sender.poll(0.1)
        if number % 10_000 == 0:
            sender.poll(0)
    if sender.flush(60) or lost:
        raise SystemExit(f"the broker did not take all messages: {lost[:1]}")


def read(place: str, topic: str) -> Iterator[tuple[int, bytes]]:
    """Yield the timestamp in milliseconds and the value of every message that a topic holds now."""
    settings = {"bootstrap.servers": place, "group.id": "benchmarks", "enable.auto.commit": "false"}
    consumer = Consumer(settings)
    try:
        for partition in consumer.list_topics(topic, timeout=PATIENCE).topics[topic].partitions:
            low, high = consumer.get_watermark_offsets(TopicPartition(topic, partition), timeout=PATIENCE)
            consumer.assign([TopicPartition(topic, partition, low)])
            while low < high:
                for message in consumer.consume(min(high - low, 10_000), timeout=PATIENCE):
                    low = message.offset() + 1
                    yield message.timestamp()[1], message.value()
    finally:
        consumer.close()
