"""Values of messages other than JSON, and what comes beside them: live, as a replay and in plain Python the same."""

from __future__ import annotations

import io
import json
from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from random import Random

import fastavro
import pytest
from confluent_kafka import Producer

import transom
from tests.servers.counted import rejected
from tests.servers.start import make_topic

pytestmark = pytest.mark.spark

LINES = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (machine:integer, trace:string, seen:timestamp, line:string, watts:float, cost:decimal, on:boolean)
    lateness: 1 min
    source:
      kafka:
        servers: 127.0.0.1:{port}
        topic: lines
        payload: csv
        columns: [at, line, watts, price, on, more]
        fields: {{cost: price}}
        envelope: {{machine: key, trace: header.trace, seen: timestamp}}
        time: at
        dead: dead/power
"""
SUMS = (
    "RSTREAM(SELECT line, SUM(watts) AS w, SUM(cost) AS c, SUM(machine) AS m, COUNT(trace) AS n, MIN(seen) AS s "
    "FROM power [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY line)"
)
ROWS = "RSTREAM(SELECT line, watts, machine, trace, seen FROM power [FROM NOW-1 TO NOW SLIDE 1 ROWS] WHERE on)"
BROKEN = {
    (b"1", b"\xff\xfe"): "not UTF-8",
    (b"\xff", b"3,a,1,1,true,"): "not UTF-8",
    (b"1", b""): "not CSV",
    (b"1", b'3,"a,1,1,true,'): "not CSV",
    (b"1", b'3,a"b",1,1,true,'): "not CSV",
    (b"1", b"3,a,1,1,true,\n3,b,1,1,true,"): "not CSV",
    (b"1", b"3,a,1,1,true"): "wrong number of cells",
    (b"1", b'{"at": 3, "line": 5}'): "not CSV",
    (b"1", b"3,a,1,1,true,,"): "wrong number of cells",
    (b"1", b"3,a,x,1,true,"): "wrong type",
    (b"1", b"3,a,1,1,1,"): "wrong type",
    (b"m1", b"3,a,1,1,true,"): "wrong type",
    (b"1", b",a,1,1,true,"): "no time",
    (b"1", b"noon,a,1,1,true,"): "no time",
    (b"1", b"2001-01-01T00:00:00Z,a,1,1,true,"): "before tick 0",
}


def publish_lines(place: str) -> None:
    rng = Random(3)
    sender = Producer({"bootstrap.servers": place, "enable.idempotence": True})
    for number in range(300):
        tick = number // 5 + rng.randrange(4)
        at = f" {tick}" if number % 2 else f"2024-06-01T00:{tick // 60:02}:{tick % 60:02}.25Z"
        watts, cost = rng.choice(["1", " 2.5", ""]), rng.choice(["0.10", "3", '"1.25"'])
        on = rng.choice(["true", "False", ""])
        line = rng.choice(['"a, ""b"""', "b", "c ", ""])
        headers = rng.choice([None, [("trace", b"t1")], [("trace", b"t1"), ("trace", b"t2"), ("x", b"\xff")]])
        row = f"{at},{line},{watts},{cost},{on},{rng.choice(['', 'x'])}{rng.choice(['', chr(10)])}"
        key = rng.choice([b"1", b"22", None])
        stamp = 1717200000000 + rng.randrange(60000)
        sender.produce("lines", row.encode(), key, partition=number % 2, headers=headers, timestamp=stamp)
    for number, (key, value) in enumerate(BROKEN):
        sender.produce("lines", value, key, partition=number % 2)
    sender.flush(20)


def plain(row) -> str:
    """A row as text; an instant is the same in any zone."""
    shown = (value.timestamp() if isinstance(value, datetime) else value for value in row)
    return str([value if value is None or isinstance(value, str) else float(value) for value in shown])


def answers(frame) -> list[str]:
    kept = [name for name in frame.columns if name not in ("tick", "index", "start", "end")]
    rows = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1717200001 as t", *kept).collect()
    return sorted(map(plain, rows))


def agree(catalog: transom.Catalog, words: str, spark, folder: Path, until: int) -> dict[str, int]:
    """A question has one answer, whoever gives it; what was counted as dead on the way."""
    query = transom.compile(words, catalog)
    expected = sorted(plain((e.tick, *e.row)) for e in query.simulate(until=until).elements)
    assert len(expected) > 20
    assert answers(query.to_df(spark, until=until)) == expected, "replay"
    running = query.start(spark, f"parquet:{folder / 'out'}", folder / "state", until=until, once=True)
    running.wait()
    assert answers(spark.read.parquet(str(folder / "out"))) == expected, "live"
    return rejected(running)


@pytest.fixture(scope="module")
def lines(kafka: int) -> int:
    make_topic(f"127.0.0.1:{kafka}", "lines")
    publish_lines(f"127.0.0.1:{kafka}")
    return kafka


@pytest.mark.parametrize(
    "words", [pytest.param(SUMS, id="sums"), pytest.param(ROWS, id="rows", marks=pytest.mark.nightly)]
)
def test_lines_of_csv(lines, spark, tmp_path, words):
    catalog = transom.Catalog.read(LINES.format(port=lines), folder=tmp_path)
    dead = agree(catalog, words, spark, tmp_path, 65)
    assert dead == {f"power: {k}": v for k, v in Counter(BROKEN.values()).items()}
    aside = spark.read.parquet(str(tmp_path / "dead/power")).collect()
    assert {(bytes(row["key"]), bytes(row["value"])): row["reason"] for row in aside} == BROKEN
    assert len(aside) == len(BROKEN)


RECORDS = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (machine:integer, line:string, watts:float, cost:decimal, on:boolean, trace:string, seen:timestamp)
    lateness: 1 min
    source:
      kafka:
        servers: 127.0.0.1:{port}
        topic: records
        payload: avro
        schema: power.avsc
        fields: {{watts: body.watts, cost: body.costs.1, seen: made}}
        envelope: {{machine: key, trace: header.trace}}
        time: at
        dead: dead/power
"""
COSTS = {"type": "array", "items": {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}}
BODY = {
    "type": "record",
    "name": "Body",
    "fields": [{"name": "watts", "type": "float"}, {"name": "costs", "type": COSTS}],
}
FIELDS = {
    "at": ["null", {"type": "long", "logicalType": "timestamp-millis"}],
    "line": ["null", "string"],
    "body": ["null", BODY],
    "on": ["null", "boolean"],
    "made": {"type": "long", "logicalType": "timestamp-micros"},
    "count": "int",
    "mark": {"type": "enum", "name": "Mark", "symbols": ["A", "B"]},
}
SCHEMA = {"type": "record", "name": "Power", "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()]}
PLAIN = fastavro.parse_schema(SCHEMA)
NOON = datetime(2024, 6, 1, 0, 0, 3, tzinfo=UTC)
ONE = {
    "at": NOON,
    "line": "a",
    "body": {"watts": 1.5, "costs": [Decimal(0), Decimal("0.10")]},
    "on": True,
    "made": NOON,
    "count": 1,
    "mark": "B",
}


def encoded(**changes: object) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, PLAIN, ONE | changes)
    return out.getvalue()


NO_RECORDS = {
    (b"1", None): "not Avro",
    (b"1", b""): "not Avro",
    (b"1", b'{"at": 3, "line": 5}'): "not Avro",
    (b"1", encoded()[:-1]): "not Avro",
    (b"1", encoded(line="xyz").replace(b"xyz", b"x\xffz")): "not UTF-8",
    (b"\xff", encoded()): "not UTF-8",
    (b"m", encoded()): "wrong type",
    (b"1", encoded(body={"watts": float("inf"), "costs": []})): "wrong type",
    (b"1", encoded(made=1 << 62)): "wrong type",
    (b"1", encoded(at=None)): "no time",
    (b"1", encoded(at=1 << 62)): "no time",
    (b"1", encoded(at=datetime(2001, 1, 1, tzinfo=UTC))): "before tick 0",
    (b"1", b"x" * 1000): "not Avro",
}


def publish_records(place: str) -> None:
    rng = Random(3)
    sender = Producer({"bootstrap.servers": place, "enable.idempotence": True})
    for number in range(300):
        tick = number // 5 + rng.randrange(4)
        costs = rng.choice([[], [Decimal(1)], [Decimal(1), Decimal("0.10")], [Decimal(1), Decimal("-3.25")]])
        row = encoded(
            at=datetime(2024, 6, 1, 0, tick // 60, tick % 60, 250_000, tzinfo=UTC),
            line=rng.choice(["a", "ä", None]),
            body=rng.choice([None, {"watts": rng.choice([1.1, float("nan"), -0.0]), "costs": costs}]),
            on=rng.choice([True, False, None]),
            made=datetime(2024, 6, 1, 0, 0, rng.randrange(60), 1, tzinfo=UTC),
        )
        headers = rng.choice([None, [("trace", b"t1")]])
        key = rng.choice([b"1", b"22", None])
        sender.produce("records", row, key, partition=number % 2, headers=headers)
    for number, (key, value) in enumerate(NO_RECORDS):
        sender.produce("records", value, key, partition=number % 2)
    sender.flush(20)


@pytest.fixture(scope="module")
def records(kafka: int) -> int:
    make_topic(f"127.0.0.1:{kafka}", "records")
    publish_records(f"127.0.0.1:{kafka}")
    return kafka


@pytest.mark.parametrize(
    "words", [pytest.param(SUMS, id="sums"), pytest.param(ROWS, id="rows", marks=pytest.mark.nightly)]
)
def test_records_of_avro(records, spark, tmp_path, words):
    (tmp_path / "power.avsc").write_text(json.dumps(SCHEMA))
    catalog = transom.Catalog.read(RECORDS.format(port=records), folder=tmp_path)
    dead = agree(catalog, words, spark, tmp_path, 65)
    assert dead == {f"power: {k}": v for k, v in Counter(NO_RECORDS.values()).items()}
    aside = spark.read.parquet(str(tmp_path / "dead/power")).collect()
    values = [None if row["value"] is None else bytes(row["value"]) for row in aside]
    found = {(bytes(row["key"]), value): row["reason"] for row, value in zip(aside, values, strict=True)}
    assert found == NO_RECORDS
    assert len(aside) == len(NO_RECORDS)
