"""The counts of a log since its first entry: what arrived is in the log as a row, or with a reason."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from transom.catalog.catalog import Catalog
from transom.catalog.servers import Payload
from transom.collector.feed import Feed
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog, segments
from transom.connectors.log.totals import LogTotals
from transom.connectors.payloads import MessageReader
from transom.errors import DataError, LostRows
from transom.model.reject_reason import RejectReason

CATALOG = Catalog.read(
    """
epoch: '2026-01-01T00:00:00Z'
extents: {car: {declare: 'pushed (plate:string)'}}
"""
)
CAR = CATALOG.extents["car"]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def feed(log: SegmentLog) -> Feed:
    reader = MessageReader(CAR, CATALOG.calendar, (("plate", "plate"),), None, Payload.JSON)
    return Feed(CAR, log, CATALOG.calendar, reader, lambda: NOW)


def test_counts_go_on_after_a_restart(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        with SegmentLog(tmp_path, CAR, segment_interval_seconds=0) as log:
            one = feed(log)
            for plate in (b"a", b"b"):
                one.enqueue(b'{"plate": "%s"}' % plate, {}, "here", None)
            one.enqueue(b"\xff", {}, "here", None)
            one.flush()
            one.flush()
            assert str(log.totals) == (
                f"{3 * number} read = {2 * number} rows + 0 late + {number} rejected + 0 missed ({number} not UTF-8)"
            )
            assert log.totals.first == 0


def test_failed_write_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SegmentLog(tmp_path, CAR, segment_interval_seconds=0) as log:
        one = feed(log)
        one.enqueue(b'{"plate": "a"}', {}, "here", None)
        with monkeypatch.context() as patched:
            patched.setattr(pq, "write_table", lambda *given, **more: (_ for _ in ()).throw(OSError("disk full")))
            with pytest.raises(DataError):
                one.flush()
        one.enqueue(b'{"plate": "b"}', {}, "here", None)
        one.flush()
        assert (log.totals.read, dict(log.totals.outcomes)) == (2, {"rows": 2})


Step = Callable[[list[Any]], list[Any]]
FAULTS: dict[str, tuple[Step, int]] = {
    "dropped": (lambda rows: rows[1:], 1),
    "doubled": (lambda rows: [*rows, rows[0]], 3),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_row_that_is_lost_stops_the_collector(tmp_path: Path, fault: str) -> None:
    """A row disappears, or appears twice, between its arrival and the log: nothing of the write is in the log."""
    step, rows = FAULTS[fault]
    with SegmentLog(tmp_path, CAR, segment_interval_seconds=0) as log:
        one = feed(log)
        for plate in (b"a", b"b"):
            one.enqueue(b'{"plate": "%s"}' % plate, {}, "here", None)
        one._entries = step(one._entries)
        with pytest.raises(LostRows, match=rf"rows of the log .* do not add up: 2 read = {rows} rows") as lost:
            one.flush()
        assert lost.value.detail == f"rows missing: {2 - rows}"
    assert not segments(tmp_path)


def test_log_of_an_earlier_version(tmp_path: Path) -> None:
    """Its entries are not counted, and those after them are."""
    entry = LogRecord(LogRecordKind.ROW, 1, NOW, ("a",))
    with SegmentLog(tmp_path, CAR, segment_interval_seconds=0) as log:
        log.append([entry, entry])
    [path] = segments(tmp_path)
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({b"transom.latest": b"1"}), path)
    with SegmentLog(tmp_path, CAR, segment_interval_seconds=0) as log:
        log.append([entry])
        assert (log.totals.first, log.totals.read) == (2, 1)


def test_a_gap_stands_for_its_ticks() -> None:
    gap = LogRecord(LogRecordKind.GAP, None, NOW, reason=RejectReason.DOWN, readings=7)
    beat = LogRecord(LogRecordKind.HEARTBEAT, 9, NOW)
    late = LogRecord(LogRecordKind.DEAD, 1, NOW, reason=RejectReason.LATE)
    totals = LogTotals().after([gap, beat, late], None)
    assert str(totals) == "8 read = 0 rows + 1 late + 0 rejected + 7 missed (7 the collector was down)"
    totals.check("x")


def test_collector_says_what_its_log_has(tmp_path: Path) -> None:
    """Every tick from the first start on is accounted for, also those at which no collector ran."""
    text = """
epoch: '2026-01-01T00:00:00Z'
extents:
  power:
    declare: sensed (temp:float) RATE 1 S
    source: {http: {server: 'http://127.0.0.1:1/', deadline: 300 ms}}
"""
    (tmp_path / "catalog.yaml").write_text(text)
    command = [sys.executable, "-m", "transom", "collect", "--catalog", str(tmp_path / "catalog.yaml"), "--for", "2 s"]
    first = subprocess.run(command, capture_output=True, text=True, check=True).stderr
    assert "since the first start" not in first
    time.sleep(1.5)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as second:
        _, said = second.communicate(timeout=60)
    assert second.returncode in (0, -signal.SIGTERM)
    found = re.search(
        r"power, since the first start: (\d+) read = 0 rows \+ 0 late \+ 0 rejected \+ (\d+) missed", said
    )
    assert found, said
    ticks = [
        tick
        for path in segments(tmp_path / "log" / "power")
        for kind, tick in zip(*pq.read_table(path, columns=["_kind", "_tick"]).to_pydict().values())
        if kind == "beat"
    ]
    assert int(found[1]) == int(found[2]) == ticks[-1] - ticks[0] + 1 > len(ticks)
