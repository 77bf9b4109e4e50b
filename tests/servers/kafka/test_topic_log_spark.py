"""A log in Kafka on Spark: a live run, a replay and the reference give the same rows."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from random import Random

import pytest

import transom
from tests.servers.counted import rejected
from tests.servers.devices import test_scan
from tests.servers.devices.test_scan import table  # noqa: F401 - a fixture
from tests.servers.kafka.topics import kinds
from transom.catalog.servers import KafkaTopic
from transom.collector.sources.scan import Scanner
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.topic_writer import TopicLog
from transom.model.reject_reason import RejectReason

pytestmark = pytest.mark.spark

START = datetime(2024, 6, 1, tzinfo=UTC)
CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (line:string, watts:float, cost:decimal, on:boolean, number:integer, since:timestamp)
    lateness: 3 s
    source: {{mqtt: {{broker: 'mqtt://nowhere', topic: power, time: at, log: '{log}'}}}}
"""
QUERIES = {
    "sums": "RSTREAM(SELECT line, SUM(watts) AS w, SUM(cost) AS c, COUNT(*) AS n "
    "FROM power [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY line)",
    "rows": "RSTREAM(SELECT line, watts, cost, number, since FROM power [FROM NOW-1 TO NOW SLIDE 1 ROWS] WHERE on)",
}
DEAD = Counter({"not JSON": 20, "late": 11})


def entries(rng, count):
    """Rows out of order within the lateness, with beats, dead ones and missing values between them."""
    latest, kinds = 0, [*DEAD.elements()]
    for number in range(count):
        at = START + timedelta(milliseconds=number)
        latest = max(latest, number // 10)
        tick = max(0, latest - rng.randrange(4))
        since = rng.choice([None, START + timedelta(microseconds=rng.randrange(10**15)), START.replace(year=1)])
        cost = rng.choice([None, Decimal("0.10"), Decimal(3), Decimal("1234567890.123456789012345678")])
        row = (rng.choice('ab"ü'), rng.choice([1.0, 2.5, 1e20, None]), cost, rng.choice([True, False, None]))
        yield LogRecord(LogRecordKind.ROW, tick, at, (*row, number * 10**12, since), "power", f"{number}:x")
        if number % 10 == 9:
            yield LogRecord(LogRecordKind.HEARTBEAT, latest, at)
        if number % 10 == 5 and kinds:
            reason = RejectReason(kinds.pop())
            yield LogRecord(LogRecordKind.DEAD, None, at, None, "power", None, b"{", reason, "no")


def plain(row):
    return str([float(v) if isinstance(v, int | float | Decimal) and not isinstance(v, bool) else str(v) for v in row])


def answers(frame):
    kept = [name for name in frame.columns if name != "tick"]
    rows = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1717200001 as t", *kept).collect()
    since = kept.index("since") + 1 if "since" in kept else None
    return sorted(
        plain([v.astimezone(UTC) if place == since and v is not None else v for place, v in enumerate(row)])
        for row in rows
    )


@pytest.mark.covers("log:kafka")
def test_live_replay_and_reference(kafka, spark, tmp_path):
    place = KafkaTopic(f"127.0.0.1:{kafka}", "spark-log")
    catalog = transom.Catalog.read(CATALOG.format(log=place), folder=tmp_path)
    power = catalog.extents["power"]
    some = list(entries(Random(3), 600))
    with TopicLog(place, power) as log:
        while some:
            cut = Random(len(some)).randrange(1, 60)
            log.append(some[:cut])
            some = some[cut:]
        for name, words in QUERIES.items():
            query = transom.compile(words, catalog)
            expected = sorted(plain((e.tick, *e.row)) for e in query.simulate(until=50).elements)
            assert len(expected) > 20
            assert answers(query.to_df(spark, until=50)) == expected, "replay"
            running = query.start(spark, f"parquet:{tmp_path / name}", tmp_path / f"state-{name}", until=50, once=True)
            running.wait()
            assert answers(spark.read.parquet(str(tmp_path / name))) == expected, "live"
            assert rejected(running) == {f"power: {reason}": count for reason, count in DEAD.items()}


def test_what_is_not_committed_is_not_there(kafka, spark, tmp_path):
    """A live run goes on as the log does, and an append that was broken off never happened."""
    place = KafkaTopic(f"127.0.0.1:{kafka}", "spark-half")
    catalog = transom.Catalog.read(CATALOG.format(log=place), folder=tmp_path)
    power = catalog.extents["power"]
    query = transom.compile("SELECT number FROM power", catalog)
    sink = f"parquet:{tmp_path / 'sink'}"

    def row(number):
        return LogRecord(LogRecordKind.ROW, number, START, ("a", None, None, True, number, None))

    def run():
        query.start(spark, sink, tmp_path / "state", once=True).wait()
        found = [one["number"] for one in spark.read.parquet(str(tmp_path / "sink")).collect()]
        assert sorted(found) == sorted(e.row[0] for e in query.simulate().elements)
        return sorted(found)

    with TopicLog(place, power) as log:
        log.append([row(1), row(2), LogRecord(LogRecordKind.HEARTBEAT, 9, START)])
        assert run() == [1, 2]
        log._producer.begin_transaction()
        for number in range(10, 20):
            log._send(row(number), log._encoded(log.next, row(number)), None, 0)
        log._producer.flush(10)
        assert run() == [1, 2]
    with TopicLog(place, power) as log:
        assert log.next == 3
        assert run() == [1, 2]
        log.append([row(10), LogRecord(LogRecordKind.HEARTBEAT, 20, START)])
        assert run() == [1, 2, 10]


def test_a_scanned_table(table, database, kafka, spark, tmp_path, monkeypatch):  # noqa: F811
    """Scans with their log in Kafka: the same versions as the table had, in plain Python and on Spark."""
    log = f"kafka://127.0.0.1:{kafka}/scan-log"
    text = test_scan.CATALOG.replace("every: 10 s", f"every: 10 s\n        log: {log}")
    assert log in text

    def scanner(catalog, _):
        tariff = catalog.extents["tariff"]
        return Scanner(tariff, tariff.source, TopicLog(tariff.source.log, tariff), catalog.calendar)

    monkeypatch.setattr(test_scan, "CATALOG", text)
    monkeypatch.setattr(test_scan, "scanner", scanner)
    catalog, truth = test_scan.scanned(table, database, tmp_path)
    query = transom.compile(test_scan.QUERY, catalog)
    said = test_scan.said
    expected = [(e.tick, said(e.row)) for e in query.simulate(until=69).elements]
    assert sorted(expected) == sorted((tick, said(row)) for tick, rows in truth.items() for row in rows)
    frame = query.to_df(spark, until=69)
    found = frame.selectExpr("unix_seconds(cast(tick as timestamp)) - 1 as t", "zone", "price", "valid").collect()
    assert sorted((row[0], said(row[1:])) for row in found) == sorted(expected)
    entered = kinds(f"127.0.0.1:{kafka}", "scan-log")
    assert entered["row"] + entered["left"] == 500 + 6 + 3 + 1 + 499 + 3
    assert entered["beat"] >= len(truth)
