"""The collector as a whole: one task per extent, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Callable, Sequence
from typing import assert_never

from transom.catalog.extents import Catalog, Extent
from transom.catalog.servers import Collected, HttpPoll, HttpPush, Modbus, Mqtt, OpcUa, Payload, Postgres
from transom.collector import http_poll, modbus, opcua
from transom.collector.feed import Feed
from transom.collector.http_push import Door
from transom.collector.mqtt import Listener
from transom.collector.polling import Poller, Station
from transom.collector.scan import Scanner
from transom.connectors.log.writing import Writer, open_log
from transom.connectors.payloads import Reader
from transom.errors import UsageError
from transom.model.time import Calendar

SOURCES = (Mqtt, Modbus, OpcUa, HttpPoll, HttpPush, Postgres)
Tell = Callable[[str], None]


def chosen(catalog: Catalog, names: Sequence[str]) -> list[Extent]:
    """The extents that are collected: those of some names, or all that have a source for it."""
    for name in names:
        if not isinstance(catalog.extent(name).source, SOURCES):
            raise UsageError(
                f"{name} is not collected", hint="its source is none of mqtt, modbus, opcua, http and postgresql"
            )
    found = [e for e in catalog.extents.values() if isinstance(e.source, SOURCES) and (not names or e.name in names)]
    if not found:
        raise UsageError(
            "the catalog has nothing to collect", hint="give an extent a source: mqtt, modbus, opcua, http"
        )
    return found


def collect(
    catalog: Catalog, names: Sequence[str], *, apart: float, seconds: float | None = None, tell: Tell = print
) -> dict[str, Counter[str]]:
    """Collect until a signal comes, or for so long; what was done for each extent."""
    return asyncio.run(_collect(catalog, chosen(catalog, names), apart, seconds, tell))


async def _collect(
    catalog: Catalog, extents: Sequence[Extent], apart: float, seconds: float | None, tell: Tell
) -> dict[str, Counter[str]]:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError):  # not the main thread: whoever started it stops it
            loop.add_signal_handler(name, stop.set)
    if seconds is not None:
        loop.call_later(seconds, stop.set)
    with contextlib.ExitStack() as open_logs:
        served = []
        for extent in extents:
            source = extent.source
            assert isinstance(source, SOURCES)  # noqa: S101 - chosen looked
            log = open_log(source.log, catalog.folder, extent, apart=min(apart, 0.1))
            open_logs.callback(log.close)
            served.append(_prepared(extent, source, log, catalog.calendar))
        await asyncio.gather(*(one.warm_up() for one in served if isinstance(one, Poller)))
        tasks = [asyncio.create_task(_serve(one, apart, stop, tell)) for one in served]
        _, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        stop.set()
        if waiting:
            await asyncio.wait(waiting)
        for task in tasks:
            task.result()
    return {extent.name: _counts(one) for extent, one in zip(extents, served)}


def _prepared(extent: Extent, source: Collected, log: Writer, calendar: Calendar) -> Poller | Scanner | Listener | Door:
    """All that is needed to serve an extent, libraries loaded, nothing begun."""
    stations: Sequence[Station]
    match source:
        case Modbus():
            stations = modbus.stations(source)
        case OpcUa():
            stations = opcua.stations(source)
        case HttpPoll():
            stations = http_poll.stations(source)
        case Postgres():
            return Scanner(extent, source, log, calendar)
        case Mqtt(fields=fields, time=time, payload=payload):
            return Listener(source, Feed(extent, log, calendar, Reader(extent, calendar, fields, time, payload)))
        case HttpPush(fields=fields, time=time):
            return Door(source, Feed(extent, log, calendar, Reader(extent, calendar, fields, time, Payload.JSON)))
        case _:
            assert_never(source)
    return Poller(extent, log, calendar, stations, source.deadline / 1e6)


async def _serve(one: Poller | Scanner | Listener | Door, apart: float, stop: asyncio.Event, tell: Tell) -> None:
    match one:
        case Poller() | Scanner():
            await one.run(stop)
        case Listener():
            one.start()
            await _flushing(one.feed, one, apart, stop, tell)
            one.stop()
        case Door():
            await one.start()
            tell(f"{one.feed.extent.name}: listening on {one.source.host}:{one.source.port}{one.source.path}")
            await _flushing(one.feed, one, apart, stop, tell)
            await one.stop()
        case _:
            assert_never(one)


def _counts(one: Poller | Scanner | Listener | Door) -> Counter[str]:
    return one.counts if isinstance(one, Poller | Scanner) else one.feed.counts


async def _flushing(feed: Feed, source: Listener | Door, apart: float, stop: asyncio.Event, tell: Tell) -> None:
    """Write what came, again and again, and once more at the end; tell of a connection that is not there."""
    told: str | None = None
    while True:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), apart)
        await asyncio.to_thread(feed.flush)
        if source.problem != told:
            told = source.problem
            tell(f"{feed.extent.name}: {told or 'connected'}")
        if stop.is_set():
            return
