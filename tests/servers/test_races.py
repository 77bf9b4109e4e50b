"""Runs that are stopped, replaced and woken up: every answer is in PostgreSQL once, and in Kafka once by its key."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import datetime
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import Consumer

from tests.servers import start
from tests.servers.start import make_topic
from tests.spark.kills.race_child import JARS
from tests.spark.kills.races import Rows, race
from transom.errors import Fenced

RACES = [1, pytest.param(50, marks=pytest.mark.nightly)]


@pytest.mark.parametrize("races", RACES)
def test_table_has_every_answer_once(tmp_path: Path, database: int, races: int) -> None:
    place, table = f"postgresql://test@127.0.0.1:{database}/postgres", f"raced_{races}"

    def read() -> Rows:
        with psycopg.connect(place) as connection:
            text = f"SELECT extract(epoch FROM tick)::bigint - 1, plate, n FROM {table}"
            return Counter(connection.execute(text).fetchall())

    result = race(tmp_path, f"{place}/{table}", read, races)
    assert result.codes == [Fenced.exit_code] * races
    assert result.wrong is None, result
    assert result.answers > 0


@pytest.mark.nightly
@pytest.mark.parametrize("races", [2, 50])
def test_topic_has_every_answer_once_by_key(
    tmp_path: Path, kafka: int, jars: Path, monkeypatch: pytest.MonkeyPatch, races: int
) -> None:
    monkeypatch.setenv(JARS, ",".join(map(str, sorted(start.jars("connector", jars).glob("*.jar")))))
    place, topic = f"127.0.0.1:{kafka}", f"raced-{races}-{os.getpid()}"
    make_topic(place, topic)
    times: Counter[bytes] = Counter()

    def read() -> Rows:
        values: dict[bytes, dict[str, object]] = {}
        for key, value in messages(place, topic):
            times[key] += 1
            assert values.setdefault(key, json.loads(value)) == json.loads(value)
        return Counter(
            (int(datetime.fromisoformat(str(row["tick"])).timestamp()) - 1, str(row["plate"]), int(str(row["n"])))
            for row in values.values()
        )

    result = race(tmp_path, f"kafka://{place}/{topic}", read, races)
    assert result.codes == [Fenced.exit_code] * races
    assert result.wrong is None, result
    assert result.answers > 0
    print(f"{times.total() - len(times)} messages came again, with the key of the first one")


def messages(place: str, topic: str) -> list[tuple[bytes, bytes]]:
    """All messages of a topic with one partition."""
    reader = Consumer({"bootstrap.servers": place, "group.id": topic, "auto.offset.reset": "earliest"})
    found: list[tuple[bytes, bytes]] = []
    try:
        reader.subscribe([topic])
        idle = 0
        while idle < 8:
            message = reader.poll(1.0)
            if message is None:
                idle += 1
            elif message.error() is None:
                idle = 0
                found.append((message.key(), message.value()))
    finally:
        reader.close()
    return found
