"""The log on disk: whole segments, numbers without a gap, one writer, and nothing lost when it is killed."""

from __future__ import annotations

import errno
import fcntl
import os
import signal
import stat
import subprocess
import sys
import time
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest
from pyarrow.dataset import dataset

from transom.catalog import Catalog
from transom.connectors import open_stream
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.read import read_changes, rejected_counts
from transom.connectors.log.segments import SegmentLog, check_segments, segments
from transom.errors import DataError, UsageError
from transom.model.bag import Element
from transom.model.reject_reason import RejectReason

CATALOG = """
extents:
  car:
    declare: pushed (plate:string, speed:integer)
    source: {mqtt: {broker: 'mqtt://nowhere', topic: cars}}
"""
NOW = datetime(2024, 6, 1, tzinfo=UTC)


@pytest.fixture
def catalog(tmp_path):
    return Catalog.read(CATALOG, folder=tmp_path)


def row(tick, plate="a", speed=1, mark=None):
    return LogRecord(LogRecordKind.ROW, tick, NOW, (plate, speed), "cars", mark)


def test_what_is_written_is_read_in_the_order_of_its_numbers(catalog, tmp_path):
    car = catalog.extents["car"]
    with SegmentLog(tmp_path / "log/car", car, segment_interval_seconds=0) as log:
        log.append([row(5, "b"), row(5, "a"), LogRecord(LogRecordKind.HEARTBEAT, 6, NOW)])
        dead = LogRecord(LogRecordKind.DEAD, None, NOW, None, "cars", None, b"\xff", RejectReason.BYTES, "no text")
        log.append([dead, row(7, None, None)])
        log.append([])
        assert (log.next, log.latest) == (5, 7)
    assert [path.name for path in segments(tmp_path / "log/car")] == [f"{0:016}.parquet", f"{3:016}.parquet"]
    found = open_stream(car, catalog.calendar, tmp_path)
    assert found == [Element(5, 1, ("b", 1)), Element(5, 2, ("a", 1)), Element(7, 3, (None, None))]
    assert open_stream(car, catalog.calendar, tmp_path, until=5) == found[:2]
    assert rejected_counts(car, "log/car", tmp_path) == {"not UTF-8": 1}


def test_a_new_writer_goes_on(catalog, tmp_path):
    car = catalog.extents["car"]
    with SegmentLog(tmp_path, car, segment_interval_seconds=0) as log:
        log.append([row(5, mark="1:x"), row(9, mark="2:y")])
        log.append([row(8, mark="1:z")])
    (tmp_path / "0000000000000003.tmp").write_bytes(b"half")
    with SegmentLog(tmp_path, car, segment_interval_seconds=0) as log:
        assert (log.next, log.latest) == (3, 9)
        assert [one.token for one in log.recent_outcomes(10)] == ["1:x", "2:y", "1:z"]
        assert [one.token for one in log.recent_outcomes(1)] == ["1:z"]
    assert not list(tmp_path.glob("*.tmp"))


def test_one_writer(catalog, tmp_path):
    car = catalog.extents["car"]
    with SegmentLog(tmp_path, car), pytest.raises(UsageError, match="is locked by another writer"):
        SegmentLog(tmp_path, car)
    SegmentLog(tmp_path, car).close()


def test_other_attributes_are_refused(catalog, tmp_path):
    with SegmentLog(tmp_path, catalog.extents["car"]) as log:
        log.append([row(1)])
    other = Catalog.read("car: pushed (plate:string, speed:float)").extents["car"]
    with pytest.raises(UsageError, match="other attributes"):
        SegmentLog(tmp_path, other)


def test_a_segment_that_somebody_changed(catalog, tmp_path):
    car = catalog.extents["car"]
    place = tmp_path / "log/car"
    with pytest.raises(DataError, match="no log of car"):
        open_stream(car, catalog.calendar, tmp_path)
    place.mkdir(parents=True)
    (place / f"{0:016}.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="cannot be read"):
        SegmentLog(place, car)
    with pytest.raises(DataError, match="cannot be read"):
        open_stream(car, catalog.calendar, tmp_path)


def test_segments_are_apart(catalog, tmp_path):
    with SegmentLog(tmp_path, catalog.extents["car"], segment_interval_seconds=0.05) as log:
        begun = time.monotonic()
        for tick in range(3):
            log.append([row(tick)])
    assert time.monotonic() - begun >= 0.1


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from transom.catalog import Catalog
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog
car = Catalog.read("car: pushed (plate:string, speed:integer)").extents["car"]
log = SegmentLog(Path(sys.argv[1]), car, segment_interval_seconds=0)
print("ready", flush=True)
while True:
    now = datetime.now(UTC)
    log.append([LogRecord(LogRecordKind.ROW, n, now, ("x" * 5000, n)) for n in range(log.next, log.next + 50)])
    print(log.next, flush=True)
"""


def test_killed_while_writing(catalog, tmp_path):
    """Whatever was told to be written is there, once, after two kills at any moment."""
    car = catalog.extents["car"]
    for kill in range(0, 6, 3):
        writer = subprocess.Popen([sys.executable, "-c", WRITER, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        for _ in range(3):
            writer.stdout.readline()
        time.sleep(0.003 * kill)
        os.kill(writer.pid, signal.SIGKILL)
        told = [int(line) for line in writer.stdout.read().splitlines()]
        writer.stdout.close()
        writer.wait()
        with SegmentLog(tmp_path, car) as log:
            assert log.next >= max(told, default=0)
    numbers = [n for path in segments(tmp_path) for n in pq.read_table(path, columns=["_seq"]).column(0).to_pylist()]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 2 * 3 * 50


def written(catalog, tmp_path, count=4):
    """A log of `count` segments, with two entries each."""
    car = catalog.extents["car"]
    with SegmentLog(tmp_path / "log/car", car, segment_interval_seconds=0) as log:
        for tick in range(count):
            log.append([row(tick), row(tick)])
    return car, segments(tmp_path / "log/car")


@pytest.mark.parametrize(
    ("removed", "missing", "name"),
    [([1, 2], "2 to 5", 2), ([0], "0 to 1", 0), ([2], "4 to 5", 4), ([0, 1], "0 to 3", 0)],
)
def test_missing_segment_is_named(catalog, tmp_path, removed, missing, name):
    car, found = written(catalog, tmp_path)
    for place in removed:
        found[place].unlink()
    words = f"entries {missing} of the log are missing: there is no segment {name:016}.parquet"
    for read in (
        lambda: open_stream(car, catalog.calendar, tmp_path),
        lambda: rejected_counts(car, "log/car", tmp_path),
        lambda: check_segments(tmp_path / "log/car"),
    ):
        with pytest.raises(DataError, match=words):
            read()


def test_missing_end_of_a_log_is_named(catalog, tmp_path):
    """The writer would give the numbers of the missing entries to others."""
    car, found = written(catalog, tmp_path)
    found[3].unlink()
    words = "entries 6 to 7 of the log are missing: there is no segment 0000000000000006"
    for read in (lambda: open_stream(car, catalog.calendar, tmp_path), lambda: SegmentLog(tmp_path / "log/car", car)):
        with pytest.raises(DataError, match=words):
            read()
    for path in found[:3]:
        path.unlink()
    with pytest.raises(DataError, match="entries 0 to 7 of the log are missing"):
        SegmentLog(tmp_path / "log/car", car)


@pytest.mark.parametrize("index", [None, "", "torn"])
def test_log_without_its_index_is_read(catalog, tmp_path, index):
    car, found = written(catalog, tmp_path)
    place = tmp_path / "log/car/_index"
    text = place.read_text()
    assert text == "".join(f"{number:016} 0000000002\n" for number in (0, 2, 4, 6))
    if index is None:
        place.unlink()
    else:
        place.write_text(index and text[:40] + text[56:])
    assert len(open_stream(car, catalog.calendar, tmp_path)) == 8
    with SegmentLog(tmp_path / "log/car", car, segment_interval_seconds=0) as log:
        log.append([row(9)])
    assert len(open_stream(car, catalog.calendar, tmp_path)) == 9
    found[1].unlink()
    with pytest.raises(DataError, match="entries 2 to 3 of the log are missing"):
        check_segments(tmp_path / "log/car")


def test_missing_segment_of_a_table_is_named(tmp_path):
    text = "{postgresql: {url: 'postgresql://nowhere', table: zone, every: 1 s}}"
    catalog = Catalog.read(f"extents: {{zone: {{declare: 'stored (a:integer)', source: {text}}}}}", folder=tmp_path)
    zone = catalog.extents["zone"]
    with SegmentLog(tmp_path / "log/zone", zone, segment_interval_seconds=0) as log:
        for tick in range(3):
            log.append(
                [LogRecord(LogRecordKind.ROW, tick, NOW, (tick,)), LogRecord(LogRecordKind.HEARTBEAT, tick, NOW)]
            )
    segments(tmp_path / "log/zone")[1].unlink()
    with pytest.raises(DataError, match=r"entries 2 to 3 of the log are missing"):
        read_changes(zone, "log/zone", tmp_path)


@pytest.mark.parametrize("live", [True, False])
def test_missing_segment_is_named_on_spark(catalog, tmp_path, live):
    """Before Spark reads anything: it takes whatever files are there."""
    pytest.importorskip("pyspark")
    from transom.connectors.log.spark import stream

    car, found = written(catalog, tmp_path)
    found[1].unlink()
    with pytest.raises(DataError, match=r"entries 2 to 3 of the log are missing"):
        stream(None, car, "log/car", tmp_path, live=live, with_order=False)


def test_segment_from_another_log_is_refused(catalog, tmp_path):
    car, found = written(catalog, tmp_path)
    found[1].write_bytes(found[0].read_bytes())
    with pytest.raises(DataError, match="entry 0 is where entry 2 was"):
        open_stream(car, catalog.calendar, tmp_path)
    written(catalog, tmp_path / "other")
    (tmp_path / "other/log/car/0000000000000003.parquet").write_bytes(found[2].read_bytes())
    with pytest.raises(DataError, match="repeats entries"):
        check_segments(tmp_path / "other/log/car")


def test_other_readers_of_parquet_can_read_the_folder(catalog, tmp_path):
    car = catalog.extents["car"]
    with SegmentLog(tmp_path, car, segment_interval_seconds=0) as log:
        log.append([row(1), row(2)])
        (tmp_path / "_0000000000000002.tmp").write_bytes(b"half")
        assert dataset(tmp_path).count_rows() == 2


def test_lock_of_an_earlier_version(catalog, tmp_path):
    car = catalog.extents["car"]
    old = tmp_path / "lock"
    with old.open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="is locked by another writer"):
            SegmentLog(tmp_path, car)
    with SegmentLog(tmp_path, car, segment_interval_seconds=0) as log:
        log.append([row(1)])
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{0:016}.parquet", "_epochs", "_index", "_lock"]


def test_only_the_owner_reads_a_log(catalog, tmp_path):
    car = catalog.extents["car"]
    before = os.umask(0o022)
    try:
        with SegmentLog(tmp_path / "a/log", car, segment_interval_seconds=0) as log:
            log.append([row(1)])
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "a/log").stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a/log").rglob("*") if path.is_file()} == {0o600}
    assert {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "a/log").rglob("*") if path.is_dir()} == {0o700}


def test_append_to_a_full_disk_leaves_nothing_and_may_be_repeated(catalog, tmp_path, monkeypatch):
    car = catalog.extents["car"]
    with SegmentLog(tmp_path, car, segment_interval_seconds=0) as log:
        with monkeypatch.context() as patch:
            patch.setattr(os, "fsync", _full)
            with pytest.raises(DataError, match="cannot write the log") as caught:
                log.append([row(1)])
        assert caught.value.detail == "No space left on device"
        assert sorted(path.name for path in tmp_path.iterdir()) == ["_epochs", "_index", "_lock"]
        log.append([row(1), row(2)])
        assert log.next == 2


def test_flush_of_the_folder_is_repeated(catalog, tmp_path, monkeypatch):
    """An append whose entries are visible, but may not outlive a power cut, is not written a second time."""
    car = catalog.extents["car"]
    flush = os.fsync
    calls = []

    def second(handle):
        calls.append(handle)
        if len(calls) == 2:
            _full(handle)
        flush(handle)

    monkeypatch.setattr(os, "fsync", second)
    with SegmentLog(tmp_path, car, segment_interval_seconds=0) as log:
        with pytest.raises(DataError, match="cannot write the log"):
            log.append([row(1)])
        assert log.next == 1
        log.append([])
        assert (len(calls), log.next) == (3, 1)


def _full(handle):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
