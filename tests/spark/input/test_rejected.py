"""Late rows and messages that are no rows, put aside by the tasks that read them: the same ones for any micro-batches.

The messages stand in Parquet files, of which a micro-batch reads one, as if they came from a topic of one partition.
"""

from __future__ import annotations

import json
import os
import stat
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark")

from pyspark.sql import DataFrame, SparkSession

import transom
from tests.spark.running.test_running import BY_ROW, COUNTS, GROUPS, expected, finished, read, until_true
from transom.connectors.kafka import spark as topics
from transom.model.balance import Balance
from transom.runtime import start

LATENESS = 3
UNTIL = 60
CATALOG = """
tick: 1 s
epoch: 2026-01-01T00:00:00Z
extents:
  traffic:
    declare: pushed (site:integer, weight:integer)
    rate: 9 per s
    lateness: 3 s
    source: {kafka: {servers: "nowhere:9092", topic: traffic, time: tick, dead: dead}}
"""
SCHEMA = (
    "topic string, partition int, offset long, timestamp timestamp, key binary, value binary, "
    "headers array<struct<key: string, value: binary>>"
)
Row = tuple[int, int, int] | None


def drawn(count: int, end: bool = True) -> list[Row]:
    """Rows of which some are late and some messages are no rows; at last one that closes all ticks before it."""
    rng = Random(7)
    rows: list[Row] = []
    for number in range(count):
        behind = rng.choice((1, 3, 4, 6, 9, 15)) if rng.random() < 0.5 else 0
        tick = max(0, number * UNTIL // count - behind)
        rows.append((tick, rng.randrange(3), number) if rng.random() < 0.95 else None)
    return [*rows, (UNTIL + 20, 0, 0)] if end else rows


def message(row: Row) -> bytes:
    return b"{" if row is None else json.dumps(dict(zip(("tick", "site", "weight"), row))).encode()


def sent(folder: Path, rows: Sequence[Row], size: int, first: int = 0) -> None:
    """One file for every micro-batch, from an offset on."""
    folder.mkdir(parents=True, exist_ok=True)
    for at in range(0, len(rows), size):
        piece = rows[at : at + size]
        table = pa.table(
            {
                "topic": ["traffic"] * len(piece),
                "partition": pa.array([0] * len(piece), pa.int32()),
                "offset": range(first + at, first + at + len(piece)),
                "timestamp": [datetime(2026, 1, 1, tzinfo=UTC)] * len(piece),
                "key": [b"k%d" % (first + at + place) for place in range(len(piece))],
                "value": [message(row) for row in piece],
            }
        )
        half, name = folder / ".half", f"{first + at:06}.parquet"
        pq.write_table(table, half)
        os.utime(half, (1_000_000_000 + first + at, 1_000_000_000 + first + at))
        half.rename(folder / name)


def is_late(rows: Sequence[Row]) -> list[bool]:
    """The definition: more than the lateness behind a row before it."""
    latest, found = -1, []
    for row in rows:
        latest = latest if row is None else max(latest, row[0])
        found.append(row is not None and row[0] < latest - LATENESS)
    return found


@pytest.fixture
def on_files(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "topic"

    def messages(session: SparkSession, source: Any, *, live: bool, allow_data_loss: bool = False) -> DataFrame:
        assert live
        assert not allow_data_loss
        return session.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(folder))

    monkeypatch.setattr(topics, "_messages", messages)
    monkeypatch.setattr(start, "check_topics", lambda *_, **__: None)  # there is no broker to ask
    return folder


def letters(folder: Path) -> list[tuple[Any, ...]]:
    """What was put aside: offset, bytes, key and reason, with nothing half beside it."""
    if not folder.exists():
        return []
    table = pq.read_table(folder, columns=["offset", "value", "key", "reason", "source", "topic", "partition"])
    assert not [name for name in os.listdir(folder) if not name.endswith(".parquet")]
    return sorted(tuple(row.values()) for row in table.to_pylist())


def right(rows: Sequence[Row], *, waits: bool = True) -> list[tuple[Any, ...]]:
    return [
        (offset, message(row), b"k%d" % offset, "not JSON" if row is None else "late", "traffic", "traffic", 0)
        for offset, (row, late) in enumerate(zip(rows, is_late(rows)))
        if row is None or (late and waits)
    ]


@pytest.mark.nightly
@pytest.mark.parametrize("kernel", ["on", "off"])
@pytest.mark.parametrize("text", [COUNTS, GROUPS, BY_ROW], ids=["windows", "groups", "rows"])
def test_the_same_for_any_micro_batches(
    spark: SparkSession, tmp_path: Path, on_files: Path, text: str, kernel: Any
) -> None:
    rows = drawn(90)
    query = transom.compile(text, transom.Catalog.read(CATALOG, folder=tmp_path))
    used = [row for row, late in zip(rows, is_late(rows)) if row is not None and not late]
    answer = expected(query, sorted(used, key=lambda row: row[0]), UNTIL)
    assert sum(is_late(rows)) > 5
    assert sum(answer.values()) > 20
    for size in (7, 1000):
        sent(on_files, rows, size)
        checkpoint, out = tmp_path / f"checkpoint-{size}", tmp_path / f"out-{size}"
        running = finished(query.start(spark, f"parquet:{out}", checkpoint, until=UNTIL, kernel=kernel))
        assert letters(tmp_path / "dead") == right(rows), size
        assert read(spark, query, out) == answer, size
        counts = Counter(reason for *_, reason, _, _, _ in right(rows))
        found = running.progress().sources["traffic"]
        assert {**found.rejected, "late": found.late} == dict(counts)
        assert (found.read, found.missing) == (len(rows), 0)
        for folder in (on_files, tmp_path / "dead"):
            for file in folder.iterdir():
                file.unlink()


@pytest.mark.nightly
def test_one_row_at_a_time_with_stops(spark: SparkSession, tmp_path: Path, on_files: Path) -> None:
    rows = drawn(40)
    query = transom.compile(GROUPS, transom.Catalog.read(CATALOG, folder=tmp_path))
    for first, last in ((0, 15), (15, 16), (16, 41)):
        sent(on_files, rows[first:last], 1, first)
        finished(query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", until=UNTIL))
        assert letters(tmp_path / "dead") == right(rows[:last])
    used = [row for row, late in zip(rows, is_late(rows)) if row is not None and not late]
    assert read(spark, query, tmp_path / "out") == expected(query, sorted(used, key=lambda row: row[0]), UNTIL)


def test_a_micro_batch_that_comes_again_puts_the_same_aside(
    spark: SparkSession, tmp_path: Path, on_files: Path
) -> None:
    """All that a killed run may have done of its last micro-batch is done, and it is not noted as done."""
    rows = drawn(60)
    query = transom.compile(GROUPS, transom.Catalog.read(CATALOG, folder=tmp_path))
    sent(on_files, rows, 20)
    for _ in range(3):
        finished(query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", until=UNTIL))
        commits = tmp_path / "checkpoint/spark/commits"
        last = max(int(name) for name in os.listdir(commits) if name.isdigit())
        for file in commits.glob(f"*{last}*"):
            file.unlink()
        assert letters(tmp_path / "dead") == right(rows)


def test_row_from_the_future_is_put_aside_and_makes_no_other_late(
    spark: SparkSession, tmp_path: Path, on_files: Path
) -> None:
    rows = drawn(30)
    future: Row = (2_300_000_000, 0, 5)
    query = transom.compile(GROUPS, transom.Catalog.read(CATALOG, folder=tmp_path))
    sent(on_files, [*rows[:10], future, *rows[10:]], 7)
    running = finished(query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", until=UNTIL))
    found = [(value, reason) for _, value, _, reason, *_ in letters(tmp_path / "dead")]
    others = [(value, reason) for _, value, _, reason, *_ in right(rows)]
    assert sorted(found) == sorted([*others, (message(future), "ahead")])
    assert running.progress().sources["traffic"].rejected["ahead"] == 1
    used = [row for row, late in zip(rows, is_late(rows)) if row is not None and not late]
    assert read(spark, query, tmp_path / "out") == expected(query, sorted(used, key=lambda row: row[0]), UNTIL)
    assert stat.S_IMODE((tmp_path / "dead").stat().st_mode) == 0o700
    assert {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "dead").iterdir()} == {0o600}


def test_where_nothing_waits_nothing_is_late(spark: SparkSession, tmp_path: Path, on_files: Path) -> None:
    rows = drawn(60)
    query = transom.compile("SELECT weight FROM traffic", transom.Catalog.read(CATALOG, folder=tmp_path))
    sent(on_files, rows, 20)
    finished(query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint"))
    assert letters(tmp_path / "dead") == right(rows, waits=False)
    answer = expected(query, sorted((row for row in rows if row is not None), key=lambda row: row[0]), 1000)
    assert read(spark, query, tmp_path / "out") == answer


def test_a_folder_of_another_version_is_refused(spark: SparkSession, tmp_path: Path, on_files: Path) -> None:
    query = transom.compile(GROUPS, transom.Catalog.read(CATALOG, folder=tmp_path))
    sent(on_files, drawn(9), 20)
    (tmp_path / "dead/_spark_metadata").mkdir(parents=True)
    with pytest.raises(transom.errors.UsageError, match="another version"):
        query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint")


def test_parts_of_a_topic_do_not_go_with_an_end(spark: SparkSession, tmp_path: Path, on_files: Path) -> None:
    text = CATALOG.replace("dead: dead", "dead: dead, options: {maxOffsetsPerTrigger: '5'}")
    query = transom.compile(GROUPS, transom.Catalog.read(text, folder=tmp_path))
    with pytest.raises(transom.errors.UsageError, match="in several"):
        query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", until=UNTIL, once=True)


def test_what_the_clock_has_closed_is_put_aside(spark: SparkSession, tmp_path: Path, on_files: Path) -> None:
    """The wall clock is far ahead of all rows, and so is the watermark of a source that may be silent."""
    rows = drawn(60)
    text = CATALOG.replace("lateness: 3 s", "lateness: 3 s\n    idle_after: 1 s")
    words = "RSTREAM(SELECT weight FROM traffic [FROM NOW TO NOW SLIDE 1 ROWS])"
    query = transom.compile(words, transom.Catalog.read(text, folder=tmp_path))
    sent(on_files, rows, 20)
    running = query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint")

    def all_there() -> bool:
        done = running.progress()
        balance = done.sources.get("traffic", Balance())
        return done.rows_out + balance.late + sum(balance.rejected.values()) >= len(rows)

    try:
        assert until_true(all_there, 60)
    finally:
        running.stop()
    used = Counter(weight for _, weight in read(spark, query, tmp_path / "out").elements())
    found = [offset for offset, *_ in letters(tmp_path / "dead")]
    assert len(set(found)) == len(found) > len(right(rows))
    assert used == Counter(row[2] for offset, row in enumerate(rows) if row is not None and offset not in found)
    assert sum(used.values()) > 10
    assert running.progress().sources["traffic"].missing == 0
