"""A collector without servers: one polled extent, whose devices answer as a test says, and one of pushed messages."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from transom.catalog import Catalog
from transom.catalog.servers import Device, HttpPush, Payload
from transom.collector.feed import Feed
from transom.collector.health import Health
from transom.collector.polling import Poller
from transom.collector.status import CollectorStatus
from transom.connectors.log.segments import SegmentLog
from transom.connectors.payloads import MessageReader

CATALOG = """\
epoch: 2026-01-01T00:00:00Z
extents:
  oven:
    declare: sensed (site:integer, temp:float) RATE 1 S SITES (1, 2)
    source: {http: {server: 'http://nowhere/{site}?key=${KEY}'}}
  cars:
    declare: "pushed (plate:string)"
    lateness: 1 s
    source: {http: {listen: '127.0.0.1:9', path: /, time: at}}
  away:
    declare: "pushed (x:integer)"
    source: {http: {listen: '127.0.0.1:9', path: /}}
"""
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


class Station:
    """A device: it answers with what `answer` is at the time, a value or an error."""

    def __init__(self, device: Device) -> None:
        self.devices = (device,)
        self.answer: object = 20.0

    async def read(self, results: dict[Device, Mapping[str, object] | Exception]) -> None:
        if isinstance(self.answer, Exception):
            raise self.answer
        results[self.devices[0]] = {"temp": self.answer}

    def reset(self) -> None: ...

    async def close(self) -> None: ...


class Collected:
    """The status of such a collector; the extent `away` has no log yet."""

    def __init__(self, folder: Path) -> None:
        self.now = BEGIN
        catalog = Catalog.read(CATALOG, folder=folder)
        oven, cars = catalog.extents["oven"], catalog.extents["cars"]
        self.stations = [Station(Device(site, f"http://dev{site}/read?key=${{KEY}}")) for site in (1, 2)]
        log = SegmentLog(folder / "log/oven", oven, segment_interval_seconds=0)
        self.poller = Poller(oven, log, catalog.calendar, self.stations, 1.0, lambda: self.now)
        source = cars.source
        assert isinstance(source, HttpPush)
        reader = MessageReader(cars, catalog.calendar, source.fields, source.time, Payload.JSON)
        log = SegmentLog(folder / "log/cars", cars, segment_interval_seconds=0)
        self.feed = Feed(cars, log, catalog.calendar, reader, lambda: self.now)
        self.status = CollectorStatus()
        self.health = {name: Health(name) for name in ("oven", "cars", "away")}
        self.status.begin(self.health)
        for extent in self.status.extents.values():
            extent.since = BEGIN
        opened = self.status.extents["oven"]
        opened.log, opened.counts, opened.devices = self.poller.log, self.poller.counts, self.poller.devices
        opened = self.status.extents["cars"]
        opened.log, opened.counts = self.feed.log, self.feed.counts

    def at(self, seconds: float) -> None:
        self.now = BEGIN + timedelta(seconds=seconds)

    def acquire(self, tick: int, *answers: object) -> None:
        """Poll both devices at a tick; missed ticks are a gap."""
        self.at(tick)
        for station, answer in zip(self.stations, answers, strict=True):
            station.answer = answer
        asyncio.run(self.poller.acquire(tick, self.poller.log.latest if self.poller.log.latest >= 0 else None))

    def send(self, *messages: tuple[int, str] | bytes) -> None:
        """Send messages with the number of a tick, or bytes that are none, and write the log."""
        for message in messages:
            raw = message
            if isinstance(message, tuple):
                at = BEGIN + timedelta(seconds=message[0])
                raw = json.dumps({"at": at.isoformat(), "plate": message[1]}).encode()
            assert isinstance(raw, bytes)
            self.feed.enqueue(raw, {}, "sender", None)
        self.feed.flush()


def collected(folder: Path) -> Collected:
    """A collector in whose logs everything has occurred once."""
    made = Collected(folder)
    made.acquire(0, 20.0, 21.0)
    made.acquire(3, ConnectionRefusedError("no"), "warm")
    made.acquire(4, 22.0, 21.0)
    made.at(10)
    made.send((9, "a"), (9, "b"), b"no JSON")
    made.send((5, "late"))
    made.feed.acknowledge_duplicate(lambda: None)
    made.at(14)
    return made
