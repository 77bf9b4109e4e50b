"""Queries that run: sinks, stopping and going on, refusals, progress, lateness, silence, a later start."""

from __future__ import annotations

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import DataFrame, SparkSession

import transom
from transom import Catalog, Query
from transom.errors import CheckpointError, KernelWarning, UsageError
from transom.runtime.checkpoint.fingerprint import check_fingerprint, fingerprint
from transom.runtime.options import RunOptions
from transom.runtime.start import Running

COUNTS = "SELECT COUNT(weight), SUM(weight) FROM traffic [FROM NOW-2 TO NOW SLIDE 2 SEC]"
GROUPS = "RSTREAM(SELECT site, SUM(weight) AS total FROM traffic [FROM NOW-2 TO NOW SLIDE 2 SEC] GROUP BY site)"
BY_ROW = "RSTREAM(SELECT weight FROM traffic [FROM NOW-1 TO NOW SLIDE 2 ROWS])"
Rows = Sequence[tuple[int, int, int]]


def catalog(**entries: Any) -> Catalog:
    extent = {"kind": "pushed", "rate": "9 per s", "attributes": ["site:integer", "weight:integer"]}
    top = {name: entries.pop(name) for name in ("tick", "epoch") if name in entries}
    return Catalog.from_dict(
        {"tick": "1 s", "epoch": "2026-01-01T00:00:00Z", **top, "extents": {"traffic": {**extent, **entries}}}
    )


def write(folder: Path, batches: Sequence[Rows], first: int = 0) -> Path:
    """One file per micro-batch, taken in this order."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, rows in enumerate(batches, start=first):
        names = ("tick", "position", "site", "weight")
        placed = [(tick, 1000 * number + place, site, weight) for place, (tick, site, weight) in enumerate(rows)]
        table = pa.table({n: pa.array([row[p] for row in placed], pa.int64()) for p, n in enumerate(names)})
        half = folder / f".{number:04}"
        pq.write_table(table, half)
        os.utime(half, (1_000_000_000 + number, 1_000_000_000 + number))
        half.rename(folder / f"{number:04}.parquet")
    return folder


def source(spark: SparkSession, folder: Path) -> DataFrame:
    schema = "tick long, position long, site long, weight long"
    return spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).parquet(str(folder))


def cut(rows: Rows, size: int, end: int | None = None) -> list[Rows]:
    pieces = [rows[at : at + size] for at in range(0, len(rows), size)]
    return pieces if end is None else [*pieces, [(end, 0, 0)]]


ROWS: Rows = [(tick, tick % 3, 10 * tick + n) for tick in range(20) for n in range(tick % 4)]


def finished(running: Running) -> Running:
    running.stream.processAllAvailable()
    running.stop()
    return running


def read(spark: SparkSession, query: Query, folder: Path, kind: str = "parquet") -> Counter[tuple[Any, ...]]:
    """What a sink holds: seconds since the epoch at which a tick begins, and all other columns."""
    frame = spark.read.parquet(str(folder)) if kind == "parquet" else spark.read.json(str(folder))
    zero = int(query.catalog.calendar.epoch.timestamp())
    columns = [f"CAST(unix_seconds(CAST(tick AS TIMESTAMP)) - {zero} - 1 AS INT) AS t"]
    columns += [f"`{name}`" for name in frame.columns if name != "tick"]
    order = {name: place for place, name in enumerate(("t", "seq", "empty", *query.columns))}
    made = frame.selectExpr(*columns)
    kept = sorted(made.columns, key=lambda name: order.get(name, 99))
    return Counter(tuple(row) for row in made.select(*(f"`{name}`" for name in kept)).collect())


def expected(query: Query, rows: Rows, until: int, **more: Any) -> Counter[tuple[Any, ...]]:
    answer = query.simulate({"traffic": rows}, until=until, **more)
    if answer.kind == "windows":
        return Counter((w.tick, 1, False, *row) for w in answer.windows for row in w.rows)
    return Counter((e.tick, *e.row) for e in answer.elements)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        pytest.param(COUNTS, "parquet", id="windows", marks=pytest.mark.nightly),
        pytest.param(GROUPS, "jsonl", id="groups"),
        pytest.param(BY_ROW, "jsonl", id="machine"),
    ],
)
def test_stop_and_go_on(spark: SparkSession, tmp_path: Path, text: str, kind: str) -> None:
    query = transom.compile(text, catalog())
    batches = cut(ROWS, 7, end=20)
    sink, checkpoint = f"{kind}:{tmp_path / 'out'}", tmp_path / "checkpoint"
    for part, resumed in ((slice(0, 2), False), (slice(2, None), True)):
        folder = write(tmp_path / "in", batches[part], first=part.start or 0)
        running = query.start(spark, sink, checkpoint, sources={"traffic": source(spark, folder)}, until=19)
        assert running.is_active
        assert running.resumed is resumed
        finished(running)
        assert not running.is_active
        done = read(spark, query, tmp_path / "out", kind)
        assert done < expected(query, ROWS, 19) if not resumed else done == expected(query, ROWS, 19)
    assert sum(done.values()) > 9


def started(query: Query, spark: SparkSession, folder: Path, **more: Any) -> Running:
    """The query on one set of files."""
    traffic = write(folder / "in", cut(ROWS, 9, end=20))
    more = {"until": 19, **more}
    return query.start(
        spark, f"parquet:{folder / 'out'}", folder / "checkpoint", sources={"traffic": source(spark, traffic)}, **more
    )


CHANGES: dict[str, tuple[str, Mapping[str, Any], Mapping[str, Any]]] = {
    "the plan": (GROUPS.replace("SLIDE 2", "SLIDE 1"), {}, {}),
    "the length of a tick": (GROUPS, {"tick": "500 ms"}, {}),
    "the epoch": (GROUPS, {"epoch": "2026-01-02T00:00:00Z"}, {}),
    "extent traffic": (GROUPS, {"lateness": "2 s"}, {}),
    "start": (GROUPS, {}, {"start": 2}),
    "until": (GROUPS, {}, {"until": 18}),
}
"""What a checkpoint depends on: a text, catalog entries, and options that change it."""


def test_queries_of_one_instant_have_different_names(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = transom.compile(COUNTS, catalog())
    monkeypatch.setattr(time, "time", lambda: 1_800_000_000.0)
    first = started(query, spark, tmp_path / "first")
    try:
        second = started(query, spark, tmp_path / "second")
        second.stop()
    finally:
        first.stop()
    assert first.stream.name != second.stream.name


def test_a_checkpoint_of_something_else_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    query = transom.compile(GROUPS, catalog())
    finished(started(query, spark, tmp_path))
    before = read(spark, query, tmp_path / "out")
    for named, (text, entries, more) in CHANGES.items():
        with pytest.raises(CheckpointError, match=f"belongs to another query.*changed .*{named}") as caught:
            started(transom.compile(text, catalog(**entries)), spark, tmp_path, **more)
        assert "new folder" in (caught.value.hint or "")
        assert "RSTREAM" in (caught.value.detail or "")
    assert read(spark, query, tmp_path / "out") == before
    assert before == expected(query, ROWS, 19)


@pytest.mark.parametrize(
    ("text", "same"),
    [
        (BY_ROW.replace(" ", "\n  "), True),
        (BY_ROW.replace("SLIDE 2", "SLIDE 3"), False),
        (BY_ROW.replace("TO NOW ", "TO NOW-1 "), False),
        (BY_ROW.replace("SELECT weight", "SELECT site"), False),
        (BY_ROW.replace("traffic [", "(SELECT * FROM traffic WHERE weight > 3) ["), False),
    ],
    ids=["spaces", "slide", "range", "columns", "filter"],
)
def test_a_fingerprint_tells_queries_apart(text: str, same: bool) -> None:
    def of(words: str, **entries: Any) -> Any:
        query = transom.compile(words, catalog(**entries))
        return fingerprint(query.job(MagicMock(), RunOptions(kernel="off")))

    assert (of(text) == of(BY_ROW)) is same
    assert of(text, rate="7 per s")["the plan"] == of(text)["the plan"]


def test_half_a_fingerprint_is_never_left_behind(tmp_path: Path) -> None:
    query = transom.compile(GROUPS, catalog())
    now = fingerprint(query.job(MagicMock(), RunOptions(kernel="off")))
    assert not check_fingerprint(tmp_path / "k", now, query.text)
    assert [p.name for p in (tmp_path / "k").iterdir()] == ["plan.json"]
    assert check_fingerprint(tmp_path / "k", now, query.text)
    (tmp_path / "k" / "plan.json").write_text("{")
    with pytest.raises(CheckpointError, match="is not what Transom wrote"):
        check_fingerprint(tmp_path / "k", now, query.text)


def test_a_session_without_rocksdb_is_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    name = "spark.sql.streaming.stateStore.providerClass"
    kept = spark.conf.get(name)
    spark.conf.set(name, "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider")
    try:
        with pytest.raises(UsageError, match="lacks settings") as caught, pytest.warns(KernelWarning, match="RocksDB"):
            started(query := transom.compile(BY_ROW, catalog()), spark, tmp_path)
        assert f"{name}=" in (caught.value.detail or "")
        assert "RocksDB" in (caught.value.detail or "")
        assert not (tmp_path / "checkpoint").exists()
        with pytest.warns(KernelWarning, match="stateful operators run as Spark's own operators"):
            finished(started(transom.compile(GROUPS, catalog()), spark, tmp_path / "native"))
        with pytest.raises(UsageError) as refused:
            query.to_df(spark, kernel="on")
        assert "does not keep its state in RocksDB" in (refused.value.detail or "")
    finally:
        spark.conf.set(name, kept)


def test_an_epoch_before_1970_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    query = transom.compile(GROUPS, catalog(epoch="1969-12-31T00:00:00Z"))
    with pytest.raises(UsageError, match="before 1970"):
        started(query, spark, tmp_path)


@pytest.mark.parametrize("sink", ["parquet", "parquet:", "kafka:topic", "jsonl", ""])
def test_a_wrong_sink_is_refused(spark: SparkSession, tmp_path: Path, sink: str) -> None:
    query = transom.compile(GROUPS, catalog())
    with pytest.raises(UsageError, match="no sink is called") as caught:
        query.start(spark, sink, tmp_path / "checkpoint")
    assert "parquet:DIR" in (caught.value.hint or "")
    assert not (tmp_path / "checkpoint").exists()


def run_late(spark: SparkSession, folder: Path, batches: Sequence[Rows], text: str = COUNTS, **entries: Any) -> Running:
    query = transom.compile(text, catalog(**entries))
    traffic = write(folder / "in", batches)
    return finished(
        query.start(
            spark,
            f"parquet:{folder / 'out'}",
            folder / "checkpoint",
            sources={"traffic": source(spark, traffic)},
            until=30,
        )
    )


IN_TIME: list[Rows] = [[(0, 0, 1), (8, 0, 2)], [(16, 0, 4)], [(17, 0, 8)], [(17, 0, 16)]]
LATE: Rows = [(14, 0, 100), (2, 0, 1000)]
"""The last micro-batch: late by 3 and by 15 ticks. (The watermark of the micro-batch before tells what is late.)"""


@pytest.mark.parametrize(
    ("lateness", "dropped"),
    [
        (None, 2),
        pytest.param("2 s", 2, marks=pytest.mark.nightly),
        ("3 s", 1),
        pytest.param("20 s", 0, marks=pytest.mark.nightly),
    ],
)
def test_rows_late_by_no_more_than_the_lateness_count(
    spark: SparkSession, tmp_path: Path, lateness: str | None, dropped: int
) -> None:
    end = [[(60, 0, 0)]]
    entries = {"lateness": lateness} if lateness else {}
    running = run_late(spark, tmp_path, [*IN_TIME, LATE, *end], GROUPS, **entries)
    query = transom.compile(GROUPS, catalog(**entries))
    counted = [row for batch in IN_TIME for row in batch] + list(LATE[: 2 - dropped])
    assert read(spark, query, tmp_path / "out") == expected(query, sorted(counted), 30)
    assert running.progress().late_rows == dropped


def test_progress_counts_what_really_happened(spark: SparkSession, tmp_path: Path) -> None:
    rows = [row for batch in IN_TIME for row in batch]
    running = run_late(spark, tmp_path, [*IN_TIME, [LATE[1]], [(25, 0, 16)]], GROUPS)
    done = running.progress()
    query = transom.compile(GROUPS, catalog())
    assert done.rows_in == len(rows) + 2
    assert done.rows_out == sum(read(spark, query, tmp_path / "out").values())
    assert done.rows_out > 3
    assert done.late_rows == 1
    epoch = running.job.catalog.calendar.epoch
    assert done.watermark == epoch + timedelta(seconds=26, milliseconds=-1)
    assert done.lag(epoch + timedelta(seconds=30)) == pytest.approx(4.001)
    assert done.state_rows == 1  # tick 25 is not closed: its pane waits, and nothing else
    assert done.batch >= 4
    assert running.progress() == done


def test_a_later_start(spark: SparkSession, tmp_path: Path) -> None:
    for name, text in (("windows", COUNTS), ("machine", BY_ROW)):
        query = transom.compile(text, catalog())
        finished(started(query, spark, tmp_path / name, start=7))
        found = read(spark, query, tmp_path / name / "out")
        assert found == expected(query, ROWS, 19, start=7)
        assert found != expected(query, ROWS, 19)
        assert min(row[0] for row in found) >= 7


PAIRS = "SELECT COUNT(a.x) FROM a [FROM NOW-2 TO NOW SLIDE 2 SEC], b [FROM NOW-2 TO NOW SLIDE 2 SEC]"


def two_streams(epoch: datetime, **entries: Any) -> Catalog:
    extent = {"kind": "pushed", "rate": "9 per s", "attributes": ["x:integer"]}
    return Catalog.from_dict(
        {"tick": "1 s", "epoch": epoch.isoformat(), "extents": {"a": extent, "b": {**extent, **entries}}}
    )


def until_true(condition: Callable[[], bool], seconds: float) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.5)
    return False


@pytest.mark.parametrize("idle", [True, False])
def test_a_silent_source_holds_nobody_up(spark: SparkSession, tmp_path: Path, idle: bool) -> None:
    """`b` says nothing after tick 4, long ago; only where it may be silent do answers for tick 20 come."""
    epoch = datetime.now(UTC).replace(microsecond=0) - timedelta(seconds=60)
    query = transom.compile(PAIRS, two_streams(epoch, **({"idle_after": "10 s"} if idle else {})))
    frames = {}
    for name, last in (("a", 22), ("b", 4)):
        folder = tmp_path / name
        folder.mkdir()
        table = pa.table({"tick": pa.array(range(last + 1), pa.int64()), "x": pa.array(range(last + 1), pa.int64())})
        pq.write_table(table, folder / "0.parquet")
        frames[name] = spark.readStream.schema("tick long, x long").parquet(str(folder))
    running = query.start(spark, f"jsonl:{tmp_path / 'out'}", tmp_path / "checkpoint", sources=frames)
    zero = epoch.timestamp()

    def found() -> dict[int, int]:
        lines = [line for file in (tmp_path / "out").glob("*.json") for line in file.read_text().splitlines()]
        rows = [json.loads(line) for line in lines]
        count = next((n for row in rows for n in row if n not in ("tick", "seq", "empty")), "")
        return {round(datetime.fromisoformat(r["tick"]).timestamp() - zero) - 1: r[count] for r in rows}

    try:
        came = until_true(lambda: max(found(), default=-1) >= 20, 60 if idle else 12)
        held = found()
    finally:
        running.stop()
    answer = query.simulate({n: [(t, t) for t in range(last + 1)] for n, last in (("a", 22), ("b", 4))}, until=20)
    right = {w.tick: w.rows[0][0] for w in answer.windows}
    assert came is idle
    assert held == (right if idle else {tick: n for tick, n in right.items() if tick <= max(held, default=-1)})
    assert max(held, default=-1) in ((20, 21) if idle else (-1, 2, 4))


def test_rows_after_an_idle_while_are_counted_too(spark: SparkSession, tmp_path: Path) -> None:
    """While nothing comes, Spark reports under the number of the next micro-batch; that one must still be counted."""
    query = transom.compile(GROUPS, catalog())
    folder = write(tmp_path / "in", [[(0, 0, 1)], [(5, 0, 2)]])
    running = query.start(
        spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", sources={"traffic": source(spark, folder)}
    )
    try:
        running.stream.processAllAvailable()
        reports = len(running.stream.recentProgress)
        assert until_true(lambda: len(running.stream.recentProgress) > reports, 30), "no idle report came"
        assert running.progress().rows_in == 2
        write(folder, [[(9, 0, 4)]], first=2)
        assert until_true(lambda: running.progress().rows_in == 3, 60)
    finally:
        running.stop()
