"""The loop that asks sensors: deadlines, rest after failures, ticks that were missed."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta

import pyarrow.parquet as pq
import pytest

from transom.catalog import Catalog
from transom.catalog.servers import Device, Register, RegisterType
from transom.collector.polling import Poller
from transom.collector.run import select_extents
from transom.collector.sources.modbus import decode_registers
from transom.connectors import open_stream
from transom.connectors.log.segments import SegmentLog, segments
from transom.errors import UsageError

TEXT = """
epoch: 2024-06-01T00:00:00Z
extents:
  oven:
    declare: sensed (site:integer, temp:float) RATE 2 S SITES (1, 2, 3)
    source: {http: {server: 'http://nowhere/{site}'}}
  room: stored (a:integer)
"""


class Clock:
    def __init__(self):
        self.now = datetime(2024, 6, 1, tzinfo=UTC)

    def __call__(self):
        return self.now


class Station:
    """A device that answers as it is told: a value, an error, or never."""

    def __init__(self, device, answers):
        self.devices = (device,)
        self.answers = answers
        self.asked = 0
        self.resets = 0

    async def read(self, found):
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if answer is None:
            await asyncio.sleep(10)
        if isinstance(answer, Exception):
            raise answer
        found[self.devices[0]] = {"temp": answer}

    def reset(self):
        self.resets += 1

    async def close(self):
        pass


@pytest.fixture
def catalog(tmp_path):
    return Catalog.read(TEXT, folder=tmp_path)


def poller(catalog, tmp_path, answers):
    oven = catalog.extents["oven"]
    stations = [Station(Device(site, f"dev{site}"), list(given)) for site, given in enumerate(answers, 1)]
    return Poller(
        oven,
        SegmentLog(tmp_path / "log/oven", oven, segment_interval_seconds=0),
        catalog.calendar,
        stations,
        0.05,
        Clock(),
    )


def entries(tmp_path):
    columns = ["_kind", "_tick", "_reason", "site", "temp"]
    return [
        tuple(e.values())
        for p in segments(tmp_path / "log/oven")
        for e in pq.read_table(p, columns=columns).to_pylist()
    ]


def test_one_reading_per_site_and_what_is_missing(catalog, tmp_path):
    one = poller(catalog, tmp_path, [[20.5], [None], [ConnectionRefusedError("no"), "hot"]])
    asyncio.run(one.acquire(2, None))
    asyncio.run(one.acquire(4, 2))
    assert entries(tmp_path) == [
        ("row", 2, None, 1, 20.5),
        ("gap", 2, "no answer in time", None, None),
        ("gap", 2, "no connection", None, None),
        ("beat", 2, None, None, None),
        ("row", 4, None, 1, 20.5),
        ("gap", 4, "no answer in time", None, None),
        ("dead", 4, "wrong type", None, None),
        ("beat", 4, None, None, None),
    ]
    assert one.counts == {"rows": 2, "no answer in time": 2, "no connection": 1, "wrong type": 1}
    found = open_stream(catalog.extents["oven"], catalog.calendar, tmp_path)
    assert [(e.tick, e.row) for e in found] == [(2, (1, 20.5)), (4, (1, 20.5))]


def test_warm_up_asks_a_silent_device_a_second_time(catalog, tmp_path):
    one = poller(catalog, tmp_path, [[20.5], [None, 21.5], [ConnectionRefusedError("no")]])
    asyncio.run(one.warm_up())
    assert [station.asked for station in one.connections] == [1, 2, 2]
    assert entries(tmp_path) == []
    asyncio.run(one.acquire(2, None))
    assert [station.asked for station in one.connections] == [2, 3, 3]  # failures of the warm-up make no device rest
    assert one.counts == {"rows": 2, "no connection": 1}


def test_who_fails_again_and_again_is_asked_less(catalog, tmp_path):
    one = poller(catalog, tmp_path, [[1.0], [ValueError("broken")], [2.0]])
    for tick in range(0, 40, 2):
        asyncio.run(one.acquire(tick, None))
    assert [station.asked for station in one.connections] == [20, 6, 20]  # after 1, 2, 3, then rests of 1, 2, 4, 8
    assert one.counts["rows"] == 40
    assert one.counts["error of the device"] + one.counts["not asked after failures"] == 20


def test_ticks_that_were_missed_are_written_down(catalog, tmp_path):
    one = poller(catalog, tmp_path, [[1.0], [1.0], [1.0]])
    asyncio.run(one.acquire(10, 2))
    assert entries(tmp_path)[0] == ("gap", None, "the collector was down", None, None)
    assert one.counts["the collector was down"] == 3


def test_the_next_tick_is_after_the_clock_and_the_log(catalog, tmp_path):
    one = poller(catalog, tmp_path, [[1.0], [1.0], [1.0]])
    assert one.next_tick() == 2
    one.clock.now += timedelta(seconds=7)
    assert one.next_tick() == 8
    asyncio.run(one.acquire(12, None))
    assert one.next_tick() == 14


@pytest.mark.parametrize(
    ("register", "words", "value"),
    [
        (Register("a", 0), [0xFFFF], -1),
        (Register("a", 0, RegisterType.UINT16), [0xFFFF], 65535),
        (Register("a", 0, RegisterType.INT32), [0xFFFF, 0xFFFE], -2),
        (Register("a", 0, RegisterType.FLOAT32), [0x41A4, 0x0000], 20.5),
        (Register("a", 0, RegisterType.FLOAT64), [0x4034, 0x8000, 0, 0], 20.5),
        (Register("a", 0, RegisterType.INT16, scale=0.5, offset=-40.0), [100], 10.0),
        (Register("a", 0, RegisterType.BIT), [1], True),
    ],
)
def test_registers(register, words, value):
    assert decode_registers(register, words) == value


def test_what_can_be_collected(catalog):
    assert [extent.name for extent in select_extents(catalog, [])] == ["oven"]
    with pytest.raises(UsageError, match="room is not collected"):
        select_extents(catalog, ["room"])
    with pytest.raises(UsageError, match="nothing to collect"):
        select_extents(Catalog.read("room: stored (a:integer)"), [])
