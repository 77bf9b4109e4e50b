"""The clock as a source: ranges, an end, restarts and the wall clock."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from transom.errors import UsageError
from transom.model.time import Calendar
from transom.spark.input.clock import ClockReader, _clock_setting, heartbeats, last_completed_tick, ticks, ticks_in_span

CALENDAR = Calendar()


def expected(first: int, periods: tuple[int, ...], until: int) -> list[int]:
    if not periods:
        return [first] if first <= until else []
    return [t for t in range(first, until + 1) if any(t % period == 0 for period in periods)]


CASES = [(0, (1,), 9), (3, (2, 5), 30), (7, (10,), 9), (5, (), 9), (5, (), 4), (4, (4, 8, 6), 40), (12, (3,), 12)]


@pytest.mark.parametrize(("first", "periods", "until"), CASES)
def test_a_batch(spark, first, periods, until):
    frame = ticks(spark, first_tick=first, periods=periods, until=until, live=False, calendar=CALENDAR)
    assert not frame.isStreaming
    assert sorted(row.tick_number for row in frame.collect()) == expected(first, periods, until)


@pytest.mark.parametrize(("first", "periods", "until"), CASES)
def test_spans_put_together_are_the_whole(first, periods, until):
    whole = expected(first, periods, until)
    for step in (1, 3, 100):
        cuts = [first - 1, *range(first - 1 + step, until, step), until]
        parts = [t for a, b in pairwise(cuts) for t in ticks_in_span(periods, first, a, b)]
        assert parts == whole


def run(spark, frame, tmp_path, name: str, *, heartbeats: bool = True) -> list[int]:
    """The ticks that a clock has shown in all runs so far, with the rows that only move the watermark or without."""
    options = {"checkpointLocation": str(tmp_path / "check"), "path": str(tmp_path / "out")}
    writer = frame.writeStream.format("parquet").options(**options).queryName(name)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination(60)
    query.stop()
    rows = spark.read.schema("tick_number long, is_heartbeat boolean").parquet(str(tmp_path / "out")).collect()
    return sorted(row.tick_number for row in rows if heartbeats or not row.is_heartbeat)


@pytest.mark.parametrize(("first", "periods", "until"), [CASES[1], CASES[3]])
def test_a_stream_ends_with_a_mark(spark, tmp_path, first, periods, until):
    frame = ticks(spark, first_tick=first, periods=periods, until=until, live=True, calendar=CALENDAR)
    assert frame.isStreaming
    assert run(spark, frame, tmp_path, "ended") == [*expected(first, periods, until), until + 1]
    again = run(spark, frame, tmp_path, "again")  # the mark alone, so that Spark knows the watermark of the clock again
    assert again == [*expected(first, periods, until), until + 1, until + 1]


def test_going_on_from_a_checkpoint(spark, tmp_path):
    """The wall clock first, then an end that lies ahead: no tick twice, none left out."""
    calendar = Calendar(100_000, datetime.now(UTC) - timedelta(seconds=5))
    wall = ticks(spark, first_tick=2, periods=(3,), until=None, live=True, calendar=calendar)
    seen = run(spark, wall, tmp_path, "first_half", heartbeats=False)
    assert seen == expected(2, (3,), seen[-1])
    assert len(seen) > 10
    ended = ticks(spark, first_tick=2, periods=(3,), until=400, live=True, calendar=calendar)
    assert run(spark, ended, tmp_path, "second_half", heartbeats=False) == expected(2, (3,), 400)


def watched(spark, query, batches: int) -> list[tuple[int, bool]]:
    """What a query on the wall clock has shown after some batches, and after a second at least."""
    began = time.monotonic()
    deadline = began + 60
    while (
        sum(p["numInputRows"] > 0 for p in query.recentProgress) < batches or time.monotonic() < began + 1
    ) and time.monotonic() < deadline:
        time.sleep(0.2)
    query.stop()
    return sorted((row.tick_number, row.is_heartbeat) for row in spark.table(query.name).collect())


def test_the_wall_clock(spark):
    calendar = Calendar(100_000, datetime.now(UTC))
    frame = ticks(spark, first_tick=0, periods=(1,), until=None, live=True, calendar=calendar)
    query = frame.writeStream.format("memory").queryName("wall_clock").start()
    shown = watched(spark, query, 2)
    seen = [tick for tick, beat in shown if not beat]
    assert max(shown) == (seen[-1], True)
    assert seen == list(range(len(seen)))
    assert 5 <= len(seen) <= last_completed_tick(calendar) + 1
    assert len(query.recentProgress) > 1


def test_heartbeats(spark):
    calendar = Calendar(100_000, datetime.now(UTC) - timedelta(seconds=10))
    frame = heartbeats(spark, lag_ticks=20, calendar=calendar, live=True, first_tick=0)
    query = frame.writeStream.format("memory").queryName("beats").start()
    seen = [tick for tick, beat in watched(spark, query, 1) if beat]
    batches = [p for p in query.recentProgress if p["numInputRows"]]
    assert len(seen) == len(set(seen)) >= len(batches) >= 1
    assert all(p["numInputRows"] == 1 for p in batches)
    assert seen[0] >= 75
    assert seen[-1] <= last_completed_tick(calendar) - 20
    assert heartbeats(spark, lag_ticks=20, calendar=calendar, live=False, first_tick=0).collect() == []


def test_a_reader_never_goes_back():
    past = ClockReader(_clock_setting(5, (1,), None, Calendar(epoch=datetime(2200, 1, 1, tzinfo=UTC))))
    assert past.initialOffset() == {"tick": 4}
    start = past.latestOffset()
    assert start["tick"] == 4
    assert [row for span in past.partitions({"tick": 4}, start) for row in past._rows_of_range(span)] == []
    assert past.latestOffset({"tick": 9}, None) == {"tick": 9, "started": start["started"]}
    assert past.partitions({"tick": 9}, {"tick": 9}) == []


@pytest.mark.parametrize("behind", [None, 20], ids=["ticks", "heartbeats"])
def test_available_now_pins_the_wall_clock(behind: int | None) -> None:
    """Otherwise each micro-batch would find new ticks, and the query would not end."""
    calendar = Calendar(1, datetime.now(UTC) - timedelta(seconds=10))  # a tick is a microsecond
    free, pinned = (ClockReader(_clock_setting(0, (1,), None, calendar, behind)) for _ in range(2))
    pinned.prepareForTriggerAvailableNow()
    moving, fixed = free.latestOffset(), pinned.latestOffset()
    time.sleep(0.001)
    assert free.latestOffset()["tick"] > moving["tick"]
    assert pinned.latestOffset() == fixed
    later = {**fixed, "tick": fixed["tick"] + 5}
    assert pinned.latestOffset(later) == later  # of a run whose clock was ahead


@pytest.mark.parametrize(("behind", "until", "last"), [(None, None, 9), (4, None, 5), (None, 6, 7)])
def test_available_now_ends_with_the_last_tick_that_is_over(
    monkeypatch: pytest.MonkeyPatch, behind: int | None, until: int | None, last: int
) -> None:
    """A tick that is not over could still get rows, so the pinned end must not include it."""
    monkeypatch.setattr("transom.spark.input.clock.last_completed_tick", lambda calendar: 9)
    reader = ClockReader(_clock_setting(0, (1,), until, CALENDAR, behind))
    reader.prepareForTriggerAvailableNow()
    assert reader.latestOffset()["tick"] == last


def test_what_lies_between_two_offsets_never_changes():
    first, later = (ClockReader(_clock_setting(5, (2,), 8, CALENDAR)) for _ in range(2))
    later._started = first._started + 1
    begin, one, two = first.initialOffset(), first.latestOffset(), later.latestOffset()
    assert first.latestOffset(one, None) == one != two
    for reader in (first, later):
        shown = [
            [t for part in reader.partitions(*ends) for t in reader._rows_of_range(part)]
            for ends in ((begin, one), (one, two))
        ]
        assert shown == [[(6, False), (8, False), (9, True)], [(9, True)]]
        assert reader.partitions(one, one) == []


def test_each_start_shows_the_last_tick_of_the_wall_clock_again():
    """With long periods there may be no tick for hours, and Spark would not know the watermark of the clock."""
    calendar = Calendar(epoch=datetime.now(UTC) - timedelta(seconds=100))
    first, later = (ClockReader(_clock_setting(0, (60,), None, calendar)) for _ in range(2))
    first._target = later._target = 90
    later._started = first._started + 1
    begin, one, two = first.initialOffset(), first.latestOffset(), later.latestOffset()
    shown = [
        [row for s in later.partitions(*ends) for row in later._rows_of_range(s)] for ends in ((begin, one), (one, two))
    ]
    assert shown == [[(0, False), (60, False), (90, True)], [(90, True)]]


def test_a_tick_is_over_when_its_end_has_passed():
    epoch = datetime(2026, 1, 1, tzinfo=UTC)
    calendar = Calendar(1_000_000, epoch)
    assert last_completed_tick(calendar, epoch) == -1
    assert last_completed_tick(calendar, epoch + timedelta(seconds=1)) == 0
    assert last_completed_tick(calendar, epoch + timedelta(seconds=1.999)) == 0


def commit(folder: Path, batch: int, watermark: int) -> None:
    """A file of Spark's commit log."""
    (folder / str(batch)).write_text(f'v1\n{{"nextBatchWatermarkMs":{watermark}}}')
    (folder / f".{batch}.crc").touch()


def rows_between(reader: ClockReader, start: dict[str, int], end: dict[str, int]) -> list[tuple[int, bool]]:
    return [row for part in reader.partitions(start, end) for row in reader._rows_of_range(part)]


def test_ticks_wait_for_the_watermark(tmp_path: Path) -> None:
    """Ticks wait in the source until the watermark of the next micro-batch closes them; the heartbeat does not."""
    log = tmp_path / "commits"
    reader = ClockReader(_clock_setting(0, (2,), 99, CALENDAR, commit_log=str(log)))
    begin = reader.initialOffset()
    started = reader.latestOffset(begin)
    assert started == {"tick": 100, "closed": -1, "started": reader._started}
    assert rows_between(reader, begin, started) == [(100, True)]
    with pytest.raises(RuntimeError, match="commits cannot be read"):
        reader.latestOffset(started)
    log.mkdir()
    commit(log, 3, 4_999)
    later = reader.latestOffset(started)
    assert later == {**started, "closed": 3}
    assert rows_between(reader, started, later) == [(0, False), (2, False), (100, True)]
    assert reader.latestOffset(later) == later
    assert reader.partitions(later, later) == []
    commit(log, 4, 5_000)
    assert rows_between(reader, later, reader.latestOffset(later)) == [(4, False), (100, True)]


def test_a_clock_that_waits_goes_on_from_one_that_does_not(tmp_path: Path) -> None:
    """And the other way round: offsets of both kinds mean the ticks up to which the clock has emitted."""
    commit(tmp_path, 0, 4_000)
    waits = ClockReader(_clock_setting(0, (2,), 99, CALENDAR, commit_log=str(tmp_path)))
    assert waits.latestOffset({"tick": 50, "started": 1}) == {"tick": 100, "closed": 50, "started": waits._started}
    free = ClockReader(_clock_setting(0, (2,), 99, CALENDAR))
    start = waits.latestOffset(waits.initialOffset())
    assert rows_between(free, start, free.latestOffset(start))[0] == (4, False)


def test_a_batch_needs_an_end(spark):
    with pytest.raises(UsageError, match="no end"):
        ticks(spark, first_tick=0, periods=(1,), until=None, live=False, calendar=CALENDAR)
