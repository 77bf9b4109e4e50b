"""One message in a hundred is broken, in one of thirteen ways: these are put aside, each once and with its reason, and
the answers are those of a topic without them.
"""

from __future__ import annotations

import json
from collections import Counter
from random import Random

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

import transom
from tests.servers.counted import rejected

pytestmark = pytest.mark.spark

MESSAGES = 100_000
EVERY = 100
TICKS = 600
LARGE = 1 << 20
CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (line:string, watts:float, parts:integer, on:boolean)
    lateness: 10 s
    source:
      kafka: {{servers: '127.0.0.1:{port}', topic: {topic}, time: at, fields: {{watts: body.watts}}, dead: dead}}
"""
QUERY = (
    "RSTREAM(SELECT line, SUM(watts) AS w, SUM(parts) AS p, COUNT(*) AS n "
    "FROM power [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY line)"
)


def written(row: dict[str, object]) -> bytes:
    return json.dumps(row).encode()


def without(row: dict[str, object], name: str) -> bytes:
    return written({key: value for key, value in row.items() if key != name})


KINDS = {
    "bytes": (lambda row: written(row).replace(b'"line": "', b'"line": "\xc3'), "not UTF-8"),
    "cut off": (lambda row: written(row)[:-3], "not JSON"),
    "two in one": (lambda row: written(row) + b"\n" + written(row), "not JSON"),
    "none": (lambda row: None, "not JSON"),
    "a list": (lambda row: b"[" + written(row) + b"]", "no object"),
    "a number": (lambda row: b"21.5", "no object"),
    "no line": (lambda row: without(row, "line"), "missing field"),
    "text for a number": (lambda row: written({**row, "body": {"watts": "12"}}), "wrong type"),
    "a number for text": (lambda row: written({**row, "line": 7}), "wrong type"),
    "a fraction for a whole number": (lambda row: written({**row, "parts": 1.5}), "wrong type"),
    "no time": (lambda row: written({**row, "at": "noon"}), "no time"),
    "too early": (lambda row: written({**row, "at": "2024-05-31T23:59:59.999Z"}), "before tick 0"),
    "too large": (lambda row: written({**row, "more": "x" * LARGE}), "too large"),
}


def good(rng: Random, number: int) -> dict[str, object]:
    tick = number * TICKS // MESSAGES + rng.randrange(4)
    return {
        "at": tick if number % 2 else f"2024-06-01T00:{tick // 60:02}:{tick % 60:02}.25Z",
        "line": rng.choice(["a", "b", "7"]),
        "body": {"watts": rng.choice([1, 2.5, None])},
        "parts": rng.randrange(5),
        "on": rng.choice([True, False, None]),
    }


def publish(place: str) -> dict[tuple[int, int], str]:
    """All messages to one topic, the good ones alone to another; where the broken ones stand, and their reasons."""
    made = [NewTopic(name, 2, 1, config={"max.message.bytes": str(4 * LARGE)}) for name in ("poisoned", "clean")]
    admin = AdminClient({"bootstrap.servers": place})
    for done in admin.create_topics(made).values():
        done.result(20)
    rng = Random(5)
    settings = {"linger.ms": 50, "message.max.bytes": 4 * LARGE, "queue.buffering.max.messages": 3 * MESSAGES}
    sender = Producer({"bootstrap.servers": place, "enable.idempotence": True, **settings})
    offsets = [0, 0]
    broken: dict[tuple[int, int], str] = {}
    kinds = list(KINDS.values())
    for number in range(MESSAGES):
        row, partition = good(rng, number), rng.randrange(2)
        if number % EVERY:
            raw = written(row)
            sender.produce("clean", raw, partition=partition)
        else:
            spoil, reason = kinds[number // EVERY % len(kinds)]
            if reason == "too large" and number > MESSAGES // 10:
                spoil, reason = KINDS["cut off"]
            raw = spoil(row)
            broken[partition, offsets[partition]] = reason
        sender.produce("poisoned", raw, partition=partition)
        offsets[partition] += 1
        sender.poll(0)
    assert sender.flush(60) == 0
    return broken


@pytest.mark.nightly
def test_broken_messages_change_no_answer_and_are_all_put_aside(kafka, spark, tmp_path):
    broken = publish(f"127.0.0.1:{kafka}")
    assert len(broken) == MESSAGES // EVERY
    clean = transom.Catalog.read(CATALOG.format(port=kafka, topic="clean"), folder=tmp_path)
    expected = [(e.tick, *e.row) for e in transom.compile(QUERY, clean).simulate(until=TICKS).elements]
    assert sum(row[-1] for row in expected) > MESSAGES
    catalog = transom.Catalog.read(CATALOG.format(port=kafka, topic="poisoned"), folder=tmp_path)
    query = transom.compile(QUERY, catalog)
    for _ in range(2):  # the second run goes on from the first, and finds nothing new
        running = query.start(spark, f"parquet:{tmp_path / 'rows'}", tmp_path / "state", until=TICKS, once=True)
        running.wait()
        rows = spark.read.parquet(str(tmp_path / "rows")).selectExpr(
            "unix_seconds(tick) - 1717200001 as t", "line", "w", "p", "n"
        )
        assert sorted(map(tuple, rows.collect())) == sorted(expected)
        aside = spark.read.parquet(str(tmp_path / "dead")).select("partition", "offset", "reason").collect()
        assert len(aside) == len(broken)
        assert {(row["partition"], row["offset"]): row["reason"] for row in aside} == broken
        assert spark.read.parquet(str(tmp_path / "dead")).where("value IS NULL").count() > 50
        if not running.resumed:
            assert rejected(running) == {f"power: {k}": v for k, v in Counter(broken.values()).items()}
