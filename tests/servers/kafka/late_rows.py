"""Rows of which one in twenty is late, in a topic of Kafka: what is sent, and what is to become of it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from confluent_kafka import Producer

from tests.servers.start import make_topic

LATENESS = 10
QUERY = "RSTREAM(SELECT number FROM power [FROM NOW TO NOW SLIDE 1 ROWS])"
"""Every row once, when its tick is closed."""
CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (number:integer)
    rate: 100 per s
    lateness: 10 s
    source:
      kafka:
        servers: {place}
        topic: {topic}
        time: at
        dead: dead
        options: {{maxOffsetsPerTrigger: '{most}'}}
"""


@dataclass(frozen=True)
class Sent:
    """What is in a topic: tick and number of the rows in time, value by number of the late ones."""

    used: Counter[int]
    late: dict[int, bytes]


def send(place: str, topic: str, count: int, partitions: int) -> Sent:
    """So many rows, every twentieth late in its partition by 1 to 50 ticks; then one that closes all ticks."""
    make_topic(place, topic, partitions)
    sender = Producer({"bootstrap.servers": place, "enable.idempotence": True, "linger.ms": 50})
    rng = Random(4)
    used: Counter[int] = Counter()
    late: dict[int, bytes] = {}
    latest = [0] * partitions
    for number in range(count):
        partition = number % partitions
        tick = 100 + number // 100
        if number % 20 == 13:
            tick = latest[partition] - LATENESS - rng.randint(1, 50)
        else:
            tick -= rng.choice((0, 0, 0, 1, 3, 5))
        value = json.dumps({"at": tick, "number": number}).encode()
        if tick < latest[partition] - LATENESS:
            late[number] = value
        else:
            used[number] += 1
        latest[partition] = max(latest[partition], tick)
        sender.produce(topic, value, partition=partition)
        if number % 1000 == 0:
            sender.poll(0)
    sender.produce(topic, json.dumps({"at": 1_000_000, "number": -1}).encode(), partition=0)
    sender.flush(30)
    return Sent(used, late)


def send_apart(place: str, topic: str, count: int) -> dict[int, bytes]:
    """Rows in two partitions, each in order, the second a minute behind the first; then one that closes all ticks."""
    make_topic(place, topic, 2)
    sender = Producer({"bootstrap.servers": place, "enable.idempotence": True})
    sent = {}
    for number in range(count):
        at = 100 + number // 20 - 60 * (number % 2)
        sent[number] = json.dumps({"at": at, "number": number}).encode()
        sender.produce(topic, sent[number], partition=number % 2)
    sender.produce(topic, json.dumps({"at": 1_000_000, "number": -1}).encode(), partition=0)
    sender.flush(30)
    return sent


def write_catalog(folder: Path, place: str, topic: str, most: int) -> str:
    text = CATALOG.format(place=place, topic=topic, most=most)
    folder.mkdir(exist_ok=True)
    (folder / "catalog.yaml").write_text(text)
    return text


def check(spark: Any, folder: Path, sent: Sent, topic: str) -> None:
    """Used and put aside, each exactly once; nothing else."""
    assert put_aside(spark, folder, topic) == sent.late
    assert Counter(row["number"] for row in spark.read.parquet(str(folder / "out")).collect()) == sent.used


def put_aside(spark: Any, folder: Path, topic: str) -> dict[int, bytes]:
    """The late rows by number, each once."""
    dead = spark.read.parquet(str(folder / "dead")).collect()
    assert {(row["source"], row["topic"], row["reason"]) for row in dead} == {("power", topic, "late")}
    found = {json.loads(bytes(row["value"]))["number"]: bytes(row["value"]) for row in dead}
    assert len(found) == len({(row["partition"], row["offset"]) for row in dead}) == len(dead)
    return found
