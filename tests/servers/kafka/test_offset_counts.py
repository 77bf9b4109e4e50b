"""Every offset of a topic is accounted for: rows, messages of aborted transactions, markers and deleted messages."""

from __future__ import annotations

import json
import uuid
from pathlib import Path

import pytest
from confluent_kafka import Producer
from pyspark.sql import SparkSession

import transom
from tests.servers.start import make_topic
from transom.catalog.servers import Kafka
from transom.connectors.kafka.offset_counts import OffsetCounts, count_offsets
from transom.errors import CheckpointError, LostRows
from transom.runtime import accounts

CATALOG = """
epoch: 2024-06-01T00:00:00Z
extents:
  power:
    declare: pushed (n:integer)
    source: {{kafka: {{servers: '{place}', topic: {topic}, options: {{{options}}}}}}}
"""


@pytest.fixture
def topic(kafka: int) -> tuple[str, str]:
    """Two transactions of three messages that are committed, and one of two messages that is aborted: 11 offsets."""
    place, name = f"127.0.0.1:{kafka}", f"counted-{uuid.uuid4().hex[:8]}"
    make_topic(place, name)
    sender = Producer({"bootstrap.servers": place, "transactional.id": name})
    sender.init_transactions(20)
    for numbers, committed in ((range(3), True), (range(10, 12), False), (range(3, 6), True)):
        sender.begin_transaction()
        for number in numbers:
            sender.produce(name, json.dumps({"n": number}).encode(), partition=0)
        sender.flush(20)
        if committed:
            sender.commit_transaction(20)
        else:
            sender.abort_transaction(20)
    return place, name


def source(place: str, topic: str, isolation: str) -> Kafka:
    options = f"isolation.level: {isolation}"
    catalog = transom.Catalog.read(CATALOG.format(place=place, topic=topic, options=options))
    found = catalog.extents["power"].source
    assert isinstance(found, Kafka)
    return found


def test_offsets_are_counted(topic: tuple[str, str]) -> None:
    place, name = topic
    committed, uncommitted = (source(place, name, isolation) for isolation in ("read_committed", "read_uncommitted"))
    counts = count_offsets(committed, {}, {"0": 11})
    assert counts == OffsetCounts(11, 6, 2)
    assert counts.sentence(6) == (
        "11 offsets = 6 rows + 2 of aborted transactions + 3 markers of transactions or deleted messages"
    )
    assert count_offsets(committed, {"0": 1}, {"0": 6}) == OffsetCounts(5, 2, 2)
    assert count_offsets(committed, {"0": 3}, {"0": 4}) == OffsetCounts(1, 0, 0)
    assert count_offsets(uncommitted, {}, {"0": 11}) == OffsetCounts(11, 8, 0)


@pytest.mark.spark
@pytest.mark.parametrize(("options", "rows", "aborted"), [("", 6, 2), ("isolation.level: read_uncommitted", 8, 0)])
def test_run_accounts_for_offsets(
    spark: SparkSession, topic: tuple[str, str], tmp_path: Path, options: str, rows: int, aborted: int
) -> None:
    """Without the option, messages of aborted transactions are not read."""
    place, name = topic
    catalog = transom.Catalog.read(CATALOG.format(place=place, topic=name, options=options))
    query = transom.compile("SELECT n FROM power", catalog)
    running = query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "k", once=True)
    assert running.wait()
    progress = running.progress()
    assert progress.offsets == {"power": OffsetCounts(11, rows, aborted)}
    assert progress.sources["power"].read == rows
    again = query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "k", once=True)
    assert again.wait()
    earlier = again.progress().earlier
    assert (earlier.offsets, earlier.unread("power")) == ({"power": 11}, 11 - rows)


@pytest.mark.spark
def test_message_that_is_passed_over_stops_the_run(
    spark: SparkSession, topic: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More messages are there than Spark has returned: its reader is at fault, before the first count."""
    place, name = topic
    catalog = transom.Catalog.read(CATALOG.format(place=place, topic=name, options=""))
    query = transom.compile("SELECT n FROM power", catalog)
    monkeypatch.setattr(accounts, "count_offsets", lambda *given: OffsetCounts(11, 7, 2))
    running = query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "k", once=True)
    with pytest.raises(LostRows, match="the rows of power do not add up: 6 read of 7 messages"):
        running.wait()
    with pytest.raises(CheckpointError, match="lost rows"):
        query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "k", once=True)
