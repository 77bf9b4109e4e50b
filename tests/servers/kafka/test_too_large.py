"""Rows that are too large for the topic or the broker that they go to: dead letters, and all other rows arrive."""

from __future__ import annotations

import json
import re
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime

import paho.mqtt.client as mqtt
import pytest
from confluent_kafka import Consumer, KafkaError
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.errors import StreamingQueryException

import transom
from tests.servers.start import mosquitto, wait_for
from tests.servers.test_sinks import UsageWarning, expected, letters_of, run
from transom.errors import UsageError
from transom.runtime.sinks import delivery as deliver
from transom.runtime.sinks.dead_letters import SinkDeadLetters
from transom.runtime.sinks.delivery import batch_delivery
from transom.runtime.sinks.sink import Sink

pytestmark = pytest.mark.spark

MB = 1_000_000
OVERHEAD = 100
CATALOG = """
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    source: {files: 'cars-*.jsonl'}
"""
QUERY = "RSTREAM(SELECT plate, COUNT(*) AS n FROM car [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY plate)"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make(place, name, size):
    admin = AdminClient({"bootstrap.servers": place})
    admin.create_topics([NewTopic(name, 2, 1, config={"max.message.bytes": str(size)})])[name].result(20)


def messages(place, topic):
    """All messages of a topic, by key."""
    settings = {"bootstrap.servers": place, "group.id": f"test-{time.monotonic_ns()}", "enable.partition.eof": True}
    reader = Consumer({**settings, "auto.offset.reset": "earliest"})
    reader.subscribe([topic])
    found, ends, end = {}, set(), time.monotonic() + 30
    while len(ends) < 2 and time.monotonic() < end:
        message = reader.poll(5.0)
        if message is None:
            continue
        if message.error() is None:
            found[message.key().decode()] = message.value().decode()
        elif message.error().code() == KafkaError._PARTITION_EOF:
            ends.add(message.partition())
    reader.close()
    return found


def test_topic_takes_2_mb(spark, kafka, tmp_path, monkeypatch):
    """A row of 1.5 MB arrives, one of 2.5 MB is a dead letter, also when the micro-batch is repeated."""
    place = f"127.0.0.1:{kafka}"
    make(place, "two-mb", 2 * MB)
    plates = ["a", "b" * (3 * MB // 2), "c" * (5 * MB // 2), "d"]
    rows = [{"tick": tick, "plate": plate, "speed": 1} for tick, plate in enumerate(plates)]
    (tmp_path / "cars-0.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    query = transom.compile(QUERY, transom.Catalog.read(CATALOG, folder=tmp_path))
    wanted = sorted(row[1:] for row in expected(query))
    sink = f"kafka://{place}/two-mb"
    was, state = deliver._to_kafka, tmp_path / "state"

    def fail_after(*arguments):
        was(*arguments)
        if (state / "dead_letters").exists():
            raise UsageWarning

    monkeypatch.setattr(deliver, "_to_kafka", fail_after)
    with pytest.raises(StreamingQueryException, match="UsageWarning"):
        run(query, spark, sink, tmp_path)
    monkeypatch.setattr(deliver, "_to_kafka", was)
    first = letters_of(state)
    running = run(query, spark, sink, tmp_path)
    arrived = sorted((row["plate"], row["n"]) for row in map(json.loads, messages(place, "two-mb").values()))
    assert arrived == [row for row in wanted if row[0] != plates[2]]
    letters = letters_of(state)
    assert [(one["row"]["plate"], one["row"]["n"]) for one in letters] == [row for row in wanted if row[0] == plates[2]]
    assert first == letters[: len(first)] != []
    said = r"the message has 2,500,\d{3} bytes, and max\.message\.bytes allows 2,000,000"
    assert all(re.fullmatch(said, one["reason"]) for one in letters)
    assert running.progress().refused == {"kafka sink: refused": len(letters)}


def test_largest_message_of_topic(spark, kafka, tmp_path):
    """A message of exactly the largest size arrives, and so do small ones that could share its record batch."""
    place = f"127.0.0.1:{kafka}"
    make(place, "narrow", 5000)
    letters = SinkDeadLetters(tmp_path, "kafka")
    frame = spark.createDataFrame([(NOW, "")], "tick timestamp, text string")
    send = batch_delivery(Sink.read(f"kafka://{place}/narrow?linger.ms=300&max.request.size=3000000"), "run", letters)
    send(frame, 0)
    [(key, value)] = messages(place, "narrow").items()
    room = 5000 - OVERHEAD - len(key) - len(value)
    computed = spark.sparkContext.accumulator(0)

    def count(row):
        computed.add(1)
        return row

    small = range(1, 9)
    rows = [(NOW, "x" * room), (NOW, "ä" * (room // 2) + "xy"), *((NOW, "y" * length) for length in small)]
    send(spark.createDataFrame(spark.sparkContext.parallelize(rows, 2).map(count), frame.schema), 1)
    assert computed.value == len(rows)  # to compute the frame again would run its state again
    found = sorted(len(one) for one in messages(place, "narrow").values())
    assert found == [len(value) + more for more in (0, *small, room)]
    [letter] = letters_of(tmp_path)
    assert letter["row"]["text"][-3:] == "äxy"


@contextmanager
def heard(port, topic):
    """The texts of the messages that a client of our own hears, by id: a message may come twice."""
    texts, ready = {}, threading.Event()

    def note(_, __, message):
        row = json.loads(message.payload)
        texts[row["_id"]] = row["text"]

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.username_pw_set("eng", "s3cret")
    client.on_message = note
    client.on_subscribe = lambda *_: ready.set()
    client.connect("127.0.0.1", port)
    client.subscribe(topic, qos=1)
    client.loop_start()
    assert ready.wait(10)
    yield texts
    client.disconnect()
    client.loop_stop()


LIMITS = {
    "packets": ("max_packet_size 20000\nmax_inflight_messages 3\n", "bytes, and the broker takes 20,000"),
    "payloads": ("message_size_limit 20000\n", "the broker says: Packet too large"),
}


@pytest.mark.parametrize("kind", LIMITS)
def test_broker_takes_20_kb(kind, spark, tmp_path, monkeypatch):
    """A broker has a limit on packets, which it states, or on payloads; a user who may not publish is told so."""
    monkeypatch.setenv("ALARM_WORD", "s3cret")
    settings, reason = LIMITS[kind]
    acl = tmp_path / "acl"
    acl.write_text("user eng\ntopic read #\ntopic write alarms/#\n")
    texts = [f"{number}" for number in range(10)]
    rows = [(NOW, text) for text in (*texts, "x" * 25_000, "y" * 25_000)]
    frame = spark.createDataFrame(rows, "tick timestamp, text string")
    letters = SinkDeadLetters(tmp_path, "mqtt")
    more = f"{settings}acl_file {acl}\n"
    with mosquitto(tmp_path / "broker", "eng", "s3cret", more) as port, heard(port, "alarms/a") as found:
        sink = f"mqtt://eng:${{ALARM_WORD}}@127.0.0.1:{port}/"
        batch_delivery(Sink.read(f"{sink}alarms/a"), "run", letters)(frame, 0)
        wait_for(lambda: len(found) >= len(texts), 10, "the messages")
        assert sorted(found.values()) == texts
        dead = letters_of(tmp_path)
        assert sorted(one["row"]["text"][0] for one in dead) == ["x", "y"]
        assert all(reason in one["reason"] for one in dead)
        with pytest.raises(UsageError, match="refuses a message"):
            batch_delivery(Sink.read(f"{sink}elsewhere"), "run", letters)(frame, 1)
