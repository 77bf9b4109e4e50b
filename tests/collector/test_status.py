"""What the collector tells of its extents and devices while it runs."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import httpx

from tests.collector.test_extents_alone import PUSHED, free_ports
from tests.serving.http.collected import BEGIN, Collected, collected
from transom.catalog import Catalog
from transom.collector import run
from transom.collector.status import CollectorStatus
from transom.connectors.log.segments import SegmentLog
from transom.errors import DataError
from transom.model.reject_reason import RejectReason


def test_devices(tmp_path: Path) -> None:
    first, second = collected(tmp_path).poller.devices.values()
    assert (first.is_up, first.readings, first.missed) == (True, 2, {RejectReason.REFUSED: 1})
    assert (second.is_up, second.readings, second.missed) == (True, 2, {RejectReason.TYPE: 1})
    assert first.last_reading == BEGIN + timedelta(seconds=4)


def test_a_device_that_does_not_answer_is_down_until_it_does(tmp_path: Path) -> None:
    made = Collected(tmp_path)
    states = []
    for tick, answer in enumerate([20.0, TimeoutError(), "warm", OSError(), 20.0]):
        made.acquire(tick, answer, 20.0)
        states.append([device.is_up for device in made.poller.devices.values()])
    assert states == [[True, True], [False, True], [True, True], [False, True], [True, True]]


def test_an_extent_is_up_while_log_and_source_are(tmp_path: Path) -> None:
    made = Collected(tmp_path)
    oven, away = made.status.extents["oven"], made.status.extents["away"]
    assert (oven.is_up, away.is_up) == (True, False)
    made.health["oven"].report("the device refuses")
    assert not oven.is_up
    made.health["oven"].report(None)
    assert oven.is_up
    made.health["oven"].fail(DataError("disk full"))
    assert not oven.is_up


def test_the_newest_row_is_that_of_the_log(tmp_path: Path) -> None:
    made = Collected(tmp_path)
    cars = made.status.extents["cars"]
    assert cars.last_row == BEGIN
    made.at(7)
    made.send((6, "a"))
    made.at(9)
    made.send(b"no JSON")
    assert cars.last_row == BEGIN + timedelta(seconds=7)
    assert isinstance(made.feed.log, SegmentLog)


def test_a_loop_that_does_not_run_is_not_healthy() -> None:
    now = [0.0]
    status = CollectorStatus(lambda: now[0])
    assert status.is_healthy
    now[0] = 31.0
    assert not status.is_healthy
    status.note_running()
    assert status.is_healthy


def test_a_collector_that_runs(tmp_path: Path) -> None:
    first, second = free_ports(2)
    catalog = Catalog.read(PUSHED.format(first=first, second=second), folder=tmp_path)
    status = CollectorStatus()

    async def scenario() -> None:
        extents = run.select_extents(catalog, [])
        collecting = asyncio.create_task(run._collect(catalog, extents, 0.1, 60.0, lambda line: None, status))
        while not status.is_ready:
            await asyncio.sleep(0.02)
        assert set(status.extents) == {"full", "fine"}
        async with httpx.AsyncClient(timeout=10, trust_env=False) as client:
            sent = await client.post(f"http://127.0.0.1:{second}/", json={"plate": "a"})
        fine = status.extents["fine"]
        assert sent.is_success
        assert fine.log is not None
        assert (fine.log.totals.read, fine.counts["rows"], fine.is_up) == (1, 1, True)
        assert fine.last_row > fine.since
        collecting.cancel()
        await asyncio.gather(collecting, return_exceptions=True)

    asyncio.run(scenario())


def test_a_collector_that_stops_is_not_ready(tmp_path: Path) -> None:
    first, second = free_ports(2)
    catalog = Catalog.read(PUSHED.format(first=first, second=second), folder=tmp_path)
    status = CollectorStatus()
    asyncio.run(run._collect(catalog, run.select_extents(catalog, []), 0.1, 0.3, lambda line: None, status))
    assert (status.is_ready, status.is_healthy) == (False, True)
    assert all(extent.log is not None for extent in status.extents.values())
