"""A log in Kafka: one writer, numbers without a gap, nothing lost and nothing twice, whoever is killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime
from itertools import pairwise

import httpx
import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from tests.servers.devices.test_mqtt import POISON, SECRET, publisher
from tests.servers.devices.test_polled import CATALOG as PLANT
from tests.servers.devices.test_polled import plant  # noqa: F401 - a fixture
from tests.servers.kafka.topics import committed, kinds, numbered, wait_for_commit
from tests.servers.start import free_port, listens, make_topic, wait_for
from transom.catalog import Catalog
from transom.catalog.servers import KafkaTopic
from transom.connectors import open_stream
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.read import read_log, rejected_counts
from transom.connectors.log.topic import topic_latest_tick
from transom.connectors.log.topic_writer import TopicLog
from transom.errors import DataError, Fenced, UsageError
from transom.model.bag import Element
from transom.model.reject_reason import RejectReason

CAR = Catalog.read("car: pushed (plate:string, speed:integer)").extents["car"]
NOW = datetime(2024, 6, 1, tzinfo=UTC)


def row(tick, plate="a", speed=1, mark=None):
    return LogRecord(LogRecordKind.ROW, tick, NOW, (plate, speed), "cars", mark)


@pytest.fixture
def place(kafka, request):
    return KafkaTopic(f"127.0.0.1:{kafka}", f"log-{request.node.name}".replace("[", "-").replace("]", ""))


def test_what_is_written_is_read_in_the_order_of_its_numbers(place):
    assert topic_latest_tick(place) == -1
    with pytest.raises(DataError, match="no log of car"):
        read_log(CAR, place, None)
    with TopicLog(place, CAR) as log:
        log.append([row(5, "b", mark="1:x"), row(5, "a", mark="2:y"), LogRecord(LogRecordKind.HEARTBEAT, 9, NOW)])
        dead = LogRecord(LogRecordKind.DEAD, None, NOW, None, "cars", "3:z", b"\xff", RejectReason.BYTES, "no text")
        log.append([dead, row(7, None, None)])
        log.append([])
        assert (log.next, log.latest) == (5, 9)
    assert topic_latest_tick(place) == 9
    found = read_log(CAR, place, None)
    assert found == [Element(5, 1, ("b", 1)), Element(5, 2, ("a", 1)), Element(7, 3, (None, None))]
    assert read_log(CAR, place, None, until=5) == found[:2]
    assert rejected_counts(CAR, place, None) == {"not UTF-8": 1}
    with TopicLog(place, CAR) as log:
        assert (log.next, log.latest) == (5, 9)
        assert [one.token for one in log.recent_outcomes(10)] == ["1:x", "2:y", "3:z"]
        assert list(log.recent_outcomes(1))[-1].token == "3:z"
        log.append([row(10)])
    assert numbered(committed(place.servers, place.topic))
    with pytest.raises(UsageError, match="other attributes"):
        TopicLog(place, Catalog.read("car: pushed (plate:string, speed:float)").extents["car"])


def test_a_new_writer_shuts_the_old_one_out(place):
    with TopicLog(place, CAR) as old, TopicLog(place, CAR) as new:
        with pytest.raises(Fenced, match="was taken over by a newer writer"):
            old.append([row(1)])
        new.append([row(2)])
        new._producer.begin_transaction()
        new._producer.produce(place.topic, b"half", partition=0)
        new._producer.flush(10)
        with TopicLog(place, CAR) as newest:
            assert (newest.next, newest.latest) == (1, 2)
            newest.append([row(3)])
    assert [entry["_tick"] for entry in committed(place.servers, place.topic)] == [2, 3]


def test_topics_that_keep_no_log(place):
    make_topic(place.servers, place.topic, partitions=2)
    with pytest.raises(UsageError, match="has 2 partitions"):
        TopicLog(place, CAR)
    admin = AdminClient({"bootstrap.servers": place.servers})

    def made(name, **config):
        settings = {key.replace("_", "."): value for key, value in config.items()}
        admin.create_topics([NewTopic(name, 1, 1, config=settings)])[name].result(20)
        return KafkaTopic(place.servers, name)

    big = "8388608"
    with pytest.raises(UsageError) as small:
        TopicLog(made("log-compact", cleanup_policy="compact"), CAR)
    assert "set cleanup.policy=delete max.message.bytes=8388608" in str(small.value)
    door = Catalog.read("door: stored (plate:string)").extents["door"]
    short = made("log-short", retention_ms="1000000", max_message_bytes=big)
    with pytest.raises(UsageError, match=r"set retention\.ms=-1"):
        TopicLog(short, door)
    TopicLog(short, CAR).close()
    foreign = made("log-foreign", max_message_bytes=big)
    sender = Producer({"bootstrap.servers": place.servers, "enable.idempotence": True})
    sender.produce(foreign.topic, b"{}")
    sender.flush(10)
    with pytest.raises(DataError, match="no end of a log"):
        TopicLog(foreign, CAR)
    with pytest.raises(DataError, match="no entry of a log"):
        read_log(CAR, foreign, None)


def test_large_entries(place):
    """The largest dead message there is, and a row of control characters."""
    with TopicLog(place, CAR) as log:
        dead = LogRecord(
            LogRecordKind.DEAD, None, NOW, None, "cars", None, os.urandom(1 << 20), RejectReason.SIZE, "large"
        )
        log.append([dead, row(1, "\x01" * (1 << 20)), dead, row(2)])
        with pytest.raises(DataError, match="too large"):
            log.append([row(3), row(3, "\x01" * (1 << 21))])
        log.append([row(4, "b")])  # what was refused has left nothing behind
    with TopicLog(place, CAR) as log:
        assert (log.next, log.latest) == (5, 4)
    assert [e.row[0] for e in read_log(CAR, place, None)] == ["\x01" * (1 << 20), "a", "b"]


WRITER = """
import sys
from datetime import UTC, datetime
from transom.catalog import Catalog
from transom.catalog.servers import KafkaTopic
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.topic_writer import TopicLog
car = Catalog.read("car: pushed (plate:string, speed:integer)").extents["car"]
log = TopicLog(KafkaTopic(*sys.argv[1:]), car)
print("ready", flush=True)
while True:
    now = datetime.now(UTC)
    log.append([LogRecord(LogRecordKind.ROW, n, now, ("x" * 5000, n)) for n in range(log.next, log.next + 50)])
    print(log.next, flush=True)
"""


def test_killed_while_writing(place):
    """Whatever was told to be written is there, once, after kills at any moment."""
    for kill in range(4):
        command = [sys.executable, "-c", WRITER, place.servers, place.topic]
        writer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for _ in range(3):
            writer.stdout.readline()
        time.sleep(0.007 * kill)
        os.kill(writer.pid, signal.SIGKILL)
        told = [int(line) for line in writer.stdout.read().splitlines()]
        writer.stdout.close()
        writer.wait()
        with TopicLog(place, CAR) as log:
            assert log.next >= max(told, default=0)
            assert log.next % 50 == 0
    entries = committed(place.servers, place.topic)
    assert numbered(entries)
    assert [entry["speed"] for entry in entries] == list(range(len(entries)))
    assert len(entries) >= 4 * 3 * 50


METER = """
extents:
  meter:
    declare: pushed (line:string, number:integer, value:float)
    source:
      mqtt:
        broker: mqtt://127.0.0.1:{port}
        topic: kafka/{{line}}/power
        user: eng
        password: ${{PLANT_PASSWORD}}
        client: topic-log
        log: {log}
"""


@pytest.mark.nightly
def test_mqtt_killed_again_and_again(collector, broker, place):
    collector.catalog(METER.format(port=broker, log=place))
    options = ("--segment", "100 ms")
    collector.start(*options, **SECRET)
    wait_for(lambda: kinds(place.servers, place.topic)["beat"] > 0, 60, "collector")
    time.sleep(0.5)
    client = publisher(broker)
    sent, enough = [], threading.Event()

    def publish():
        while not enough.is_set():
            number = len(sent)
            poison = POISON[number // 100 % len(POISON)] if number % 100 == 0 else None
            body = poison or json.dumps({"number": number, "value": number / 2}).encode()
            sent.append(client.publish(f"kafka/{number % 3}/power", body, qos=1))
            time.sleep(0.002)

    publishing = threading.Thread(target=publish)
    publishing.start()
    try:
        for kill in range(8):
            wait_for_commit(place.servers, place.topic, "row")
            time.sleep(0.01 * (kill // 4))
            collector.kill()  # the log has messages that the broker has no word of yet, or is about to have some
            collector.start(*options, **SECRET)
        wait_for_commit(place.servers, place.topic, "row")
        enough.set()
        publishing.join()
        count = len(sent)
        sent[-1].wait_for_publish(20)
        wait_for(lambda: sum(kinds(place.servers, place.topic)[k] for k in ("row", "dead")) >= count, 40, "the log")
        time.sleep(0.5)
        said = collector.stop()
    finally:
        enough.set()
        publishing.join()
        client.disconnect()
        client.loop_stop()
    entries = committed(place.servers, place.topic)
    rows = [(e["number"], e["line"], e["value"]) for e in entries if e["_kind"] == "row"]
    assert sorted(rows) == [(n, str(n % 3), n / 2) for n in range(count) if n % 100]
    assert sum(e["_kind"] == "dead" for e in entries) == len(range(0, count, 100))
    assert numbered(entries)
    assert count > 1000
    assert "s3cret" not in said
    ticks = [e["_tick"] for e in entries if e["_kind"] in ("row", "beat")]
    assert ticks == sorted(ticks)


@pytest.mark.nightly
def test_ticks_while_it_was_down_are_missed_and_not_made_up(collector, plant, place):  # noqa: F811
    text = PLANT.format(**plant).replace(
        "fields: {temp: body.temp}", f"fields: {{temp: body.temp}}\n        log: {place}"
    )
    assert str(place) in text
    collector.catalog(text)
    collector.start("room", ROOM_KEY="k3y")
    wait_for(lambda: kinds(place.servers, place.topic)["beat"] > 1, 60, "collector")
    for _ in range(2):
        collector.kill()
        time.sleep(2.2)
        before = kinds(place.servers, place.topic)["beat"]
        collector.start("room", ROOM_KEY="k3y")
        wait_for(lambda: kinds(place.servers, place.topic)["beat"] > before + 1, 40, "collector")  # noqa: B023
    said = collector.stop()
    assert "the collector was down" in said
    entries = committed(place.servers, place.topic)
    assert numbered(entries)
    beats = [e["_tick"] for e in entries if e["_kind"] == "beat"]
    assert beats == sorted(set(beats))
    rows = [(e["_tick"], e["site"], e["temp"]) for e in entries if e["_kind"] == "row"]
    assert rows == [(tick, site, 20 + site) for tick in beats for site in (1, 2)]
    down = [e["_words"] for e in entries if e.get("_reason") == "the collector was down"]
    holes = [(a + 1, b - 1) for a, b in pairwise(beats) if b - a > 1]
    assert down == [f"ticks {first} to {last}" for first, last in holes]
    assert len(holes) == 2
    catalog = Catalog.load(collector.folder / "catalog.yaml")
    found = open_stream(catalog.extents["room"], catalog.calendar, collector.folder)
    assert [(e.tick, *e.row) for e in found] == rows


POSTS = """
epoch: 2024-06-01T00:00:00Z
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    lateness: 10 s
    source: {{http: {{listen: '127.0.0.1:{port}', time: at, log: '{log}'}}}}
"""


def test_posts_are_answered_when_kafka_has_them(collector, place):
    port = free_port()
    collector.catalog(POSTS.format(port=port, log=place))

    def again():
        collector.kill()
        collector.start("--segment", "100 ms")
        wait_for(lambda: listens(port), 60, "the collector")

    def send(key, **content):
        answer = httpx.post(f"http://127.0.0.1:{port}/", json=content, headers={"Idempotency-Key": key}, timeout=20)
        there = len(committed(place.servers, place.topic))
        return answer.status_code, answer.json().get("taken"), there

    again()
    assert send("1", at=7, plate="a", speed=50) == (200, True, 1)
    assert send("1", at=7, plate="a", speed=50) == (200, False, 1)
    again()
    assert send("1", at=7, plate="a", speed=50) == (200, False, 1)
    assert send("2", at=100, plate="b", speed=60) == (200, True, 2)
    again()
    assert send("3", at=89, plate="c", speed=60) == (422, None, 3)  # late
    assert send("4", at=101, plate="c") == (422, None, 4)
    collector.stop()
    found = [(e["_kind"], e.get("_tick"), e.get("_reason")) for e in committed(place.servers, place.topic)]
    assert found == [("row", 7, None), ("row", 100, None), ("dead", 89, "late"), ("dead", None, "missing field")]
