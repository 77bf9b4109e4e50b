"""A topic of Kafka: Spark, live and as a replay, and the plain reader give the same rows; the broken ones are aside."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from random import Random

import pytest
from confluent_kafka import Producer

import transom
from tests.servers.counted import rejected
from tests.servers.start import make_topic
from transom.errors import DataError, RejectedWarning
from transom.model.reject_reason import rejected_line
from transom.spark.input.rejected import RejectedRows

pytestmark = pytest.mark.spark

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (line:string, watts:float, cost:decimal, on:boolean)
    lateness: 1 min
    source:
      kafka:
        servers: 127.0.0.1:{port}
        topic: {topic}
        time: at
        fields: {{watts: body.watts, cost: body.costs.1}}
{more}
  stamped:
    declare: pushed (line:string)
    source: {{kafka: {{servers: '127.0.0.1:{port}', topic: {topic}, dead: elsewhere}}}}
"""
QUERIES = {
    "sums": "RSTREAM(SELECT line, SUM(watts) AS w, SUM(cost) AS c, COUNT(*) AS n "
    "FROM power [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY line)",
    "rows": "RSTREAM(SELECT line, watts FROM power [FROM NOW-1 TO NOW SLIDE 1 ROWS] WHERE on)",
}
POISON = {
    b"\xff\xfe": "not UTF-8",
    b"{": "not JSON",
    b"": "not JSON",
    b"[1]": "no object",
    b'"text"': "no object",
    b'{"at": 3, "line": "a", "on": true}': "missing field",
    b'{"at": 3, "line": 5, "body": {"watts": 1, "costs": [0, 1]}, "on": true}': "wrong type",
    b'{"at": 3, "line": "a", "body": {"watts": "x", "costs": [0, 1]}, "on": true}': "wrong type",
    b'{"at": 3, "line": "a", "body": {"watts": 1, "costs": [0, 1]}, "on": 1}': "wrong type",
    b'{"line": "a", "body": {"watts": 1, "costs": [0, 1]}, "on": true}': "no time",
    b'{"at": "noon", "line": "a", "body": {"watts": 1, "costs": [0, 1]}, "on": true}': "no time",
    b'{"at": "2001-01-01T00:00:00Z", "line": "a", "body": {"watts": 1, "costs": [0, 1]}, "on": true}': "before tick 0",
}


def publish(place, topic, poison):
    rng = Random(3)
    sender = Producer({"bootstrap.servers": place, "enable.idempotence": True})
    for number in range(300):
        tick = number // 5 + rng.randrange(4)
        at = tick if number % 2 else f"2024-06-01T00:{tick // 60:02}:{tick % 60:02}.25Z"
        body = {"watts": rng.choice([1, 2.5, None]), "costs": [0, rng.choice(["0.10", 3, 1.25])]}
        row = {"at": at, "line": rng.choice("abc"), "body": body, "on": rng.choice([True, False, None])}
        sender.produce(topic, json.dumps(row).encode(), partition=number % 2)
    for place_of, raw in enumerate(poison):
        sender.produce(topic, raw, partition=place_of % 2)
    sender.flush(20)


def answers(frame, query):
    kept = [name for name in frame.columns if name in ("line", "w", "c", "n", "watts")]
    rows = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1717200001 as t", *kept).collect()
    return sorted(map(plain, rows))


def plain(row):
    return str([value if value is None or isinstance(value, str) else float(value) for value in row])


@pytest.mark.covers("source:kafka")
def test_live_replay_and_reference(kafka, spark, tmp_path):
    place = f"127.0.0.1:{kafka}"
    make_topic(place, "power")
    publish(place, "power", POISON)
    text = CATALOG.format(port=kafka, topic="power", more="        dead: dead/power")
    catalog = transom.Catalog.read(text, folder=tmp_path)
    for name, words in QUERIES.items():
        query = transom.compile(words, catalog)
        expected = sorted(plain((e.tick, *e.row)) for e in query.simulate(until=65).elements)
        assert len(expected) > 20
        left_out = RejectedRows()
        assert answers(query.to_df(spark, until=65, rejected=left_out), query) == expected, "replay"
        with pytest.warns(RejectedWarning) as caught:
            query.simulate(until=65)
        messages = left_out.messages()["power"]
        left_out.release()
        assert messages.counts == Counter(POISON.values())
        assert [str(w.message) for w in caught] == [rejected_line("power", messages.counts, messages.first)]
        running = query.start(spark, f"parquet:{tmp_path / name}", tmp_path / f"state-{name}", until=65, once=True)
        running.wait()
        assert answers(spark.read.parquet(str(tmp_path / name)), query) == expected, "live"
        assert rejected(running) == {f"power: {k}": v for k, v in Counter(POISON.values()).items()}
        again = query.start(spark, f"parquet:{tmp_path / name}", tmp_path / f"state-{name}", until=65, once=True)
        again.wait()
        aside = spark.read.parquet(str(tmp_path / "dead/power")).collect()
        assert Counter(row["reason"] for row in aside) == Counter(POISON.values())
        assert {bytes(row["value"]): row["reason"] for row in aside} == POISON
        assert {(row["source"], row["topic"]) for row in aside} == {("power", "power")}
        shutil.rmtree(tmp_path / "dead")
    stamped = transom.compile("SELECT line FROM stamped", catalog)
    expected = sorted((e.tick, *e.row) for e in stamped.simulate().elements)
    found = stamped.to_df(spark).selectExpr("unix_seconds(cast(tick as timestamp)) - 1717200001 as t", "line").collect()
    assert sorted(map(tuple, found)) == expected
    assert len(expected) == 300 + 6


def test_without_a_folder_a_broken_message_stops_everybody(kafka, spark, tmp_path):
    place = f"127.0.0.1:{kafka}"
    make_topic(place, "broken")
    publish(place, "broken", [b"{"])
    catalog = transom.Catalog.read(CATALOG.format(port=kafka, topic="broken", more=""), folder=tmp_path)
    query = transom.compile(QUERIES["sums"], catalog)
    with pytest.raises(DataError, match="not JSON"):
        query.simulate(until=65)
    with pytest.raises(Exception, match="offset 150 of partition 0: not JSON"):
        query.to_df(spark, until=65).collect()
    missing = transom.Catalog.read(CATALOG.format(port=kafka, topic="nothing", more=""), folder=tmp_path)
    with pytest.raises(DataError, match="no topic nothing"):
        transom.compile(QUERIES["sums"], missing).simulate(until=65)
