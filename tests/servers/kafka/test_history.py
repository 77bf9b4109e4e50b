"""`since` and `after` over a topic and over logs of the collector: history, then live, with neither gap nor double."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import transom
from tests.servers.start import make_topic
from transom import Query
from transom.catalog.servers import KafkaTopic
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog
from transom.connectors.log.topic_writer import TopicLog
from transom.runtime.running import Running

pytestmark = pytest.mark.spark

OLD = "RSTREAM(SELECT site, MAX(temp) AS top FROM road [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY site)"
NEW = "RSTREAM(SELECT site, MIN(temp) AS top FROM road [FROM NOW-14 TO NOW SLIDE 4 SEC] WHERE temp > 3 GROUP BY site)"
DECLARED = "pushed (site:integer, temp:integer)"
NOW = datetime(2026, 1, 1, tzinfo=UTC)
Row = tuple[int, int, int]
Send = Callable[[Sequence[Row], bool], None]


def recorded(port: int, folder: Path, kind: str) -> tuple[Send, dict[str, Any]]:
    """A source of a kind: what adds rows to it, and its entry in the catalog."""
    place, name = f"127.0.0.1:{port}", f"history-{uuid4().hex[:8]}"
    if kind == "kafka":
        make_topic(place, name)

        def publish(rows: Sequence[Row], live: bool) -> None:
            """Send messages to both partitions, or to one if a query reads them meanwhile.

            A micro-batch may begin when one of two partitions is ahead, and the rows of the other one are late then.
            """
            sender = Producer({"bootstrap.servers": place, "enable.idempotence": True})
            for number, (tick, site, temp) in enumerate(rows):
                message = json.dumps({"at": tick, "site": site, "temp": temp})
                sender.produce(name, message.encode(), partition=0 if live else number % 2)
            sender.flush(20)

        return publish, {"kafka": {"servers": place, "topic": name, "time": "at"}}
    log = str(KafkaTopic(place, name)) if kind == "log in kafka" else str(folder / "log")
    entry = {"mqtt": {"broker": "mqtt://nowhere", "topic": "road", "time": "at", "log": log}}
    extent = transom.Catalog.from_dict(catalog(entry), folder=folder).extents["road"]

    def append(rows: Sequence[Row], live: bool) -> None:
        """Append entries as a collector does, a few at a time, and a heartbeat."""
        opened = TopicLog(KafkaTopic(place, name), extent) if kind == "log in kafka" else SegmentLog(Path(log), extent)
        with opened as writer:
            for first in range(0, len(rows), 7):
                part = rows[first : first + 7]
                writer.append([LogRecord(LogRecordKind.ROW, tick, NOW, tuple(row), "road") for tick, *row in part])
            writer.append([LogRecord(LogRecordKind.HEARTBEAT, rows[-1][0], NOW)])

    return append, entry


def catalog(source: dict[str, Any]) -> dict[str, Any]:
    return {"tick": "1 s", "epoch": NOW.isoformat(), "extents": {"road": {"declare": DECLARED, "source": source}}}


def rows_of(seed: int) -> list[Row]:
    """Up to three rows for each of 120 ticks."""
    rng = Random(seed)
    return [(tick, rng.randrange(3), rng.randrange(20)) for tick in range(120) for _ in range(rng.randrange(1, 4))]


def written(spark: SparkSession, folder: Path) -> Counter[tuple[int, ...]]:
    frame = spark.read.parquet(str(folder))
    return Counter(map(tuple, frame.selectExpr("unix_seconds(tick) - 1 - 1767225600", "site", "top").collect()))


def expected(text: str, rows: Sequence[Row], first: int, last: int) -> Counter[tuple[int, ...]]:
    """One uninterrupted run of a query over all rows, cut to some ticks."""
    query = transom.compile(text, {"extents": {"road": DECLARED}})
    answer = query.simulate({"road": rows}, until=119).elements
    return Counter((e.tick, *e.row) for e in answer if first <= e.tick <= last)


def drained(running: Running) -> None:
    running.stream.processAllAvailable()
    running.stop()


KINDS = [
    "kafka",
    pytest.param("log", marks=pytest.mark.nightly),
    pytest.param("log in kafka", marks=pytest.mark.nightly),
]


@pytest.mark.parametrize("kind", KINDS)
def test_history_then_live_then_another_query(kafka: int, spark: SparkSession, tmp_path: Path, kind: str) -> None:
    """A query begins at tick 31 of history, goes on live and after a stop; a changed query goes on after tick 98."""
    send, source = recorded(kafka, tmp_path, kind)
    rows = rows_of(7)
    old, new = (
        transom.compile(text, transom.Catalog.from_dict(catalog(source), folder=tmp_path)) for text in (OLD, NEW)
    )

    def sent(first: int, last: int, *, live: bool = False) -> None:
        send([row for row in rows if first <= row[0] < last], live)

    def begin(query: Query[Any], checkpoint: str, **more: Any) -> Running:
        return query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / checkpoint, **more)

    sent(0, 60)
    running = begin(old, "old", since=31)
    assert (running.job.options.start, running.job.options.since) == (22, 31)
    running.stream.processAllAvailable()
    sent(60, 80, live=True)
    drained(running)
    assert written(spark, tmp_path / "out") == expected(OLD, rows, 31, 78)
    sent(80, 100)
    drained(begin(old, "old", since=31))
    assert written(spark, tmp_path / "out") == expected(OLD, rows, 31, 98)
    running = begin(new, "new", after=tmp_path / "old")
    assert (running.job.options.start, running.job.options.since) == (85, 99)
    running.stream.processAllAvailable()
    sent(100, 120, live=True)
    drained(running)
    assert written(spark, tmp_path / "out") == expected(OLD, rows, 31, 98) + expected(NEW, rows, 99, 118)
