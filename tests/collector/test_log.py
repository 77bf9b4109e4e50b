"""The log on disk: whole segments, numbers without a gap, one writer, and nothing lost when it is killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime

import pyarrow.parquet as pq
import pytest

from transom.catalog import Catalog
from transom.connectors import open_stream
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.read import dead_counts
from transom.connectors.log.segments import Log, segments
from transom.errors import DataError, UsageError
from transom.model.bag import Element
from transom.model.reasons import Reason

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
    return Entry(Entered.ROW, tick, NOW, (plate, speed), "cars", mark)


def test_what_is_written_is_read_in_the_order_of_its_numbers(catalog, tmp_path):
    car = catalog.extents["car"]
    with Log(tmp_path / "log/car", car, apart=0) as log:
        log.append([row(5, "b"), row(5, "a"), Entry(Entered.BEAT, 6, NOW)])
        dead = Entry(Entered.DEAD, None, NOW, None, "cars", None, b"\xff", Reason.BYTES, "no text")
        log.append([dead, row(7, None, None)])
        log.append([])
        assert (log.next, log.latest) == (5, 7)
    assert [path.name for path in segments(tmp_path / "log/car")] == [f"{0:016}.parquet", f"{3:016}.parquet"]
    found = open_stream(car, catalog.calendar, tmp_path)
    assert found == [Element(5, 1, ("b", 1)), Element(5, 2, ("a", 1)), Element(7, 3, (None, None))]
    assert open_stream(car, catalog.calendar, tmp_path, until=5) == found[:2]
    assert dead_counts(car, "log/car", tmp_path) == {"not UTF-8": 1}


def test_a_new_writer_goes_on(catalog, tmp_path):
    car = catalog.extents["car"]
    with Log(tmp_path, car, apart=0) as log:
        log.append([row(5, mark="1:x"), row(9, mark="2:y")])
        log.append([row(8, mark="1:z")])
    (tmp_path / "0000000000000003.tmp").write_bytes(b"half")
    with Log(tmp_path, car, apart=0) as log:
        assert (log.next, log.latest) == (3, 9)
        assert list(log.tokens(10)) == ["1:x", "2:y", "1:z"]
        assert list(log.tokens(1)) == ["1:z"]
    assert not list(tmp_path.glob("*.tmp"))


def test_one_writer(catalog, tmp_path):
    car = catalog.extents["car"]
    with Log(tmp_path, car), pytest.raises(UsageError, match="somebody writes the log"):
        Log(tmp_path, car)
    Log(tmp_path, car).close()


def test_other_attributes_are_refused(catalog, tmp_path):
    with Log(tmp_path, catalog.extents["car"]) as log:
        log.append([row(1)])
    other = Catalog.read("car: pushed (plate:string, speed:float)").extents["car"]
    with pytest.raises(UsageError, match="other attributes"):
        Log(tmp_path, other)


def test_a_segment_that_somebody_changed(catalog, tmp_path):
    car = catalog.extents["car"]
    place = tmp_path / "log/car"
    with pytest.raises(DataError, match="no log of car"):
        open_stream(car, catalog.calendar, tmp_path)
    place.mkdir(parents=True)
    (place / f"{0:016}.parquet").write_bytes(b"PAR1")
    with pytest.raises(DataError, match="cannot be read"):
        Log(place, car)
    with pytest.raises(DataError, match="cannot be read"):
        open_stream(car, catalog.calendar, tmp_path)


def test_segments_are_apart(catalog, tmp_path):
    with Log(tmp_path, catalog.extents["car"], apart=0.05) as log:
        begun = time.monotonic()
        for tick in range(3):
            log.append([row(tick)])
    assert time.monotonic() - begun >= 0.1


WRITER = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from transom.catalog import Catalog
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.segments import Log
car = Catalog.read("car: pushed (plate:string, speed:integer)").extents["car"]
log = Log(Path(sys.argv[1]), car, apart=0)
print("ready", flush=True)
while True:
    log.append([Entry(Entered.ROW, n, datetime.now(UTC), ("x" * 5000, n)) for n in range(log.next, log.next + 50)])
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
        with Log(tmp_path, car) as log:
            assert log.next >= max(told, default=0)
    numbers = [n for path in segments(tmp_path) for n in pq.read_table(path, columns=["_seq"]).column(0).to_pylist()]
    assert numbers == list(range(len(numbers)))
    assert len(numbers) >= 2 * 3 * 50
