"""Kafka with TLS and SASL/SCRAM: as a source, as a log, as a sink; refused in words, or rows flow."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime

import pytest
from confluent_kafka import Consumer, Producer

import transom
from tests.servers.start import make_topic
from tests.servers.tls.secure import USER, WORD
from transom.catalog.servers import KafkaTopic
from transom.catalog.tls import Tls
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.read import read_log
from transom.connectors.log.topic_writer import TopicLog
from transom.errors import DataError
from transom.runtime.sinks.dead_letters import SinkDeadLetters
from transom.runtime.sinks.delivery import batch_delivery
from transom.runtime.sinks.sink import Sink

CASES = {
    "right": "",
    "other": "unable to get local issuer certificate",
    "expired": "certificate has expired",
    "elsewhere": "mismatch",
    "stranger": "uthentication failed",
}
NOW = datetime(2024, 6, 1, tzinfo=UTC)
CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (line:string, watts:integer)
    source:
      kafka:
        servers: 127.0.0.1:{port}
        topic: tls-power
        time: at
        dead: dead/power
        {login}
        tls: {{{tls}}}
"""


@pytest.fixture
def words(monkeypatch):
    monkeypatch.setenv("RIGHT", WORD)
    monkeypatch.setenv("NO", "wrong")


@pytest.fixture(scope="module")
def power(kafka, secure_kafka):
    """A topic with some rows; the ports of the listeners."""
    place = f"127.0.0.1:{kafka}"
    make_topic(place, "tls-power", 1)
    sender = Producer({"bootstrap.servers": place})
    for number in range(10):
        sender.produce("tls-power", json.dumps({"at": number, "line": "ab"[number % 2], "watts": number}).encode())
    sender.produce("tls-power", b"{")
    sender.flush(20)
    return secure_kafka


def where(case, power, certificates):
    """The port, the authority and the reference of a case."""
    ca = certificates.other_ca if case == "other" else certificates.ca
    return power.get(case, power["right"]), ca, "NO" if case == "stranger" else "RIGHT"


def catalog_of(case, power, certificates, folder):
    port, ca, word = where(case, power, certificates)
    login = f"user: {USER}\n        password: ${{{word}}}"
    return transom.Catalog.read(CATALOG.format(port=port, login=login, tls=f"ca: '{ca}'"), folder=folder)


def refuses(call, words):
    """Whether something is refused at once and in words."""
    started = time.monotonic()
    with pytest.raises(DataError) as refused:
        call()
    said = str(refused.value)
    assert words in said, said
    assert WORD not in said
    assert len(said.splitlines()) <= 3, said
    assert time.monotonic() - started < 9, said


def test_source_verifies_the_brokers(power, certificates, tmp_path, words):
    for case, expected in CASES.items():
        query = transom.compile("SELECT line, watts FROM power", catalog_of(case, power, certificates, tmp_path))
        if case == "right":
            assert [e.row for e in query.simulate().elements] == [("ab"[n % 2], n) for n in range(10)]
        else:
            refuses(query.simulate, expected)
    files = f"ca: '{certificates.ca}', certificate: '{certificates.client}'"
    text = CATALOG.format(port=power["mutual"], login="fields: {}", tls=files)
    shown = transom.compile("SELECT line FROM power", transom.Catalog.read(text, folder=tmp_path))
    assert len(shown.simulate().elements) == 10


def test_log_in_a_topic(power, certificates, words):
    car = transom.Catalog.read("car: pushed (plate:string)").extents["car"]
    for case, expected in CASES.items():
        port, ca, word = where(case, power, certificates)
        place = KafkaTopic(f"127.0.0.1:{port}", "tls-log", (), USER, f"${{{word}}}", Tls(str(ca)))
        if case == "right":
            with TopicLog(place, car) as log:
                log.append([LogRecord(LogRecordKind.ROW, 1, NOW, ("a",)), LogRecord(LogRecordKind.HEARTBEAT, 2, NOW)])
            assert [e.row for e in read_log(car, place, None)] == [("a",)]
        else:
            refuses(lambda place=place: TopicLog(place, car), expected)
            refuses(lambda place=place: list(read_log(car, place, None)), expected)


@pytest.mark.spark
@pytest.mark.covers("tls:kafka")
def test_from_topic_to_topic_on_spark(kafka, power, certificates, spark, tmp_path, words):
    """A live run reads and writes with TLS and a login; whoever is refused is told before Spark starts."""
    make_topic(f"127.0.0.1:{kafka}", "tls-answers", 1)
    letters = SinkDeadLetters(tmp_path, "kafka")
    for case, expected in CASES.items():
        query = transom.compile("SELECT line, watts FROM power", catalog_of(case, power, certificates, tmp_path))
        port, ca, word = where(case, power, certificates)
        sink = f"kafka://{USER}:${{{word}}}@127.0.0.1:{port}/tls-answers?ca={ca}&compression.type=gzip"
        if case == "right":
            query.start(spark, sink, tmp_path / "state", once=True).wait()
            assert sorted(row["watts"] for row in query.to_df(spark).collect()) == list(range(10))
        else:
            checkpoint = tmp_path / case
            refuses(lambda query=query, at=checkpoint: query.start(spark, "console", at, once=True), expected)
            refuses(lambda sink=sink: batch_delivery(Sink.read(sink), "run", letters), expected)
    assert answers(kafka, "tls-answers") == list(range(10))
    both = f"kafka://127.0.0.1:{power['mutual']}/tls-answers?ca={certificates.ca}&certificate={certificates.client}"
    frame = spark.createDataFrame([(NOW, 77)], "tick timestamp, watts long")
    batch_delivery(Sink.read(both), "run", letters)(frame, 0)
    assert answers(kafka, "tls-answers") == [*range(10), 77]


def answers(port, topic):
    """What a topic holds."""
    settings = {"bootstrap.servers": f"127.0.0.1:{port}", "group.id": f"test-{time.monotonic_ns()}"}
    reader = Consumer({**settings, "auto.offset.reset": "earliest", "enable.partition.eof": True})
    reader.subscribe([topic])
    found, end = [], time.monotonic() + 30
    while time.monotonic() < end:
        message = reader.poll(5.0)
        if message is not None and message.error() is not None:
            break
        if message is not None:
            found.append(json.loads(message.value())["watts"])
    reader.close()
    return sorted(found)
