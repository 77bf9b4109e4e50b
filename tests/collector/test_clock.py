"""Clocks that are wrong: a log that is ahead of the collector's clock, and rows that are ahead of it."""

from __future__ import annotations

import asyncio
import re
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest

from transom.catalog import Catalog
from transom.catalog.servers import Payload
from transom.collector.feed import Feed
from transom.collector.run import _collect, select_extents
from transom.connectors import open_stream
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.read import rejected_counts
from transom.connectors.log.segments import SegmentLog, segments
from transom.connectors.payloads import MessageReader
from transom.errors import DataError

POLLED = """
extents:
  oven:
    declare: sensed (site:integer, temp:float) RATE 1 S SITES (1)
    source: {http: {server: 'http://127.0.0.1:9/{site}', deadline: 50 ms}}
  lamp:
    declare: sensed (site:integer, temp:float) RATE 1 S SITES (1)
    source: {http: {server: 'http://127.0.0.1:9/{site}', deadline: 50 ms}}
"""
PUSHED = """
epoch: 2024-06-01T00:00:00Z
extents:
  car: {declare: 'pushed (plate:string)', %s source: {mqtt: {broker: 'mqtt://a', topic: b}}}
"""
NOW = datetime(2024, 6, 1, tzinfo=UTC) + timedelta(seconds=1000)


def entries(folder, *columns):
    return [tuple(e.values()) for p in segments(folder) for e in pq.read_table(p, columns=list(columns)).to_pylist()]


def ahead(catalog, tmp_path, seconds):
    """The log that a collector leaves whose clock was ahead."""
    oven = catalog.extents["oven"]
    moment = datetime.now(UTC)
    with SegmentLog(tmp_path / "log/oven", oven, segment_interval_seconds=0) as log:
        tick = catalog.calendar.tick_of(moment) + seconds
        log.append(
            [LogRecord(LogRecordKind.ROW, tick, moment, (1, 20.0)), LogRecord(LogRecordKind.HEARTBEAT, tick, moment)]
        )


@pytest.mark.parametrize(("seconds", "hint"), [(3600, True), (60, False)])
def test_log_ahead_of_the_clock_is_reported(tmp_path, seconds, hint):
    """Not silence until the clock has caught up: a line, a gap in the log and a failure; other extents go on."""
    catalog = Catalog.read(POLLED, folder=tmp_path)
    ahead(catalog, tmp_path, seconds)
    told = []
    found = asyncio.run(_collect(catalog, select_extents(catalog, []), 0.1, 2.5, told.append))
    [words] = [line for line in told if line.startswith("oven: ")]
    how_far = re.search(r"log/oven is (\d+) s ahead of the clock: no rows before 20", words)
    assert how_far is not None
    assert seconds - 30 < int(how_far[1]) <= seconds
    assert ("give the extent a new log" in words) is hint
    assert entries(tmp_path / "log/oven", "_kind", "_reason")[2:] == [("gap", "the clock was behind the log")]
    assert found.failed == ["oven"]
    assert found.counts["oven"] == {"the clock was behind the log": 1}
    assert found.counts["lamp"]["no connection"] >= 1


def fed(tmp_path, words="", clock=lambda: NOW, time="at"):
    catalog = Catalog.read(PUSHED % words, folder=tmp_path)
    car = catalog.extents["car"]
    log = SegmentLog(tmp_path / "log/car", car, segment_interval_seconds=0)
    reader = MessageReader(car, catalog.calendar, (("plate", "plate"),), time, Payload.JSON)
    return Feed(car, log, catalog.calendar, reader, clock), catalog


def test_row_from_the_future_is_dead_and_the_others_are_taken(tmp_path):
    feed, catalog = fed(tmp_path)
    given = [990, "2099-01-01T00:00:00Z", 1300, 1301, 1000]
    answers = [feed.enqueue(b'{"at": %s, "plate": "a"}' % _json(at), {}, "b", None) for at in given]
    feed.flush()
    assert [None if dead is None else dead.reason.value for dead in answers] == [None, "ahead", None, "ahead", "late"]
    assert answers[3].detail == "tick 1301, 301 ahead of the clock; 300 are allowed"
    assert [e.tick for e in open_stream(feed.extent, catalog.calendar, tmp_path)] == [990, 1300]
    assert rejected_counts(feed.extent, "log/car", tmp_path) == {"ahead": 2, "late": 1}


def _json(at):
    return b"%d" % at if isinstance(at, int) else f'"{at}"'.encode()


def test_catalog_says_how_far_ahead_a_row_may_be(tmp_path):
    feed, _ = fed(tmp_path, "max_ahead: 10 s,")
    answers = [feed.enqueue(b'{"at": %d, "plate": "a"}' % at, {}, "b", None) for at in (1010, 1011)]
    assert [dead and dead.reason.value for dead in answers] == [None, "ahead"]


def test_log_with_a_row_from_the_future_is_refused(tmp_path):
    """A log that an earlier version wrote: every row of now would be late."""
    first, catalog = fed(tmp_path)
    far = catalog.calendar.tick_of(datetime(2099, 1, 1, tzinfo=UTC))
    first.log.append([LogRecord(LogRecordKind.ROW, far, NOW, ("a",))])
    first.log.close()
    feed, _ = fed(tmp_path)
    assert not feed.writable
    with pytest.raises(DataError, match=r"ahead of the clock: no rows before 2099-01-01T00:00:00\+00:00"):
        feed.flush()


def test_clock_that_is_set_back_while_messages_come(tmp_path):
    moment = [NOW]
    feed, _ = fed(tmp_path, clock=lambda: moment[0], time=None)
    feed.enqueue(b'{"plate": "a"}', {}, "b", None)
    feed.flush()
    moment[0] -= timedelta(hours=1)
    with pytest.raises(DataError, match="3600 s ahead of the clock"):
        feed.flush()
    moment[0] += timedelta(hours=1)
    feed.flush()
    assert feed.writable
