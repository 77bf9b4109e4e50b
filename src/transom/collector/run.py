"""The collector as a whole: one task per extent, until it is told to stop."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, assert_never

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.servers import Collected, HttpPoll, HttpPush, Modbus, Mqtt, OpcUa, Payload, Postgres
from transom.collector import http_poll, modbus, opcua
from transom.collector.feed import Feed
from transom.collector.health import RETRY, Health, Tell, stopped
from transom.collector.http_push import HttpReceiver
from transom.collector.mqtt import Listener
from transom.collector.polling import Poller, Station
from transom.collector.scan import Scanner
from transom.connectors.log.writing import Writer, open_log
from transom.connectors.payloads import Reader
from transom.errors import DataError, UsageError
from transom.model.time import Calendar

SOURCES = (Mqtt, Modbus, OpcUa, HttpPoll, HttpPush, Postgres)
Served: TypeAlias = Poller | Scanner | Listener | HttpReceiver


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
) -> Collection:
    """Collect until a signal comes, or for so long; what was done for each extent."""
    return asyncio.run(_collect(catalog, chosen(catalog, names), apart, seconds, tell))


class Collection(NamedTuple):
    """What was collected: the counts of each extent, and the extents whose log took nothing at the end."""

    counts: dict[str, Counter[str]]
    failed: list[str]


async def _collect(
    catalog: Catalog, extents: Sequence[Extent], apart: float, seconds: float | None, tell: Tell
) -> Collection:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError):  # not the main thread: whoever started it stops it
            loop.add_signal_handler(name, stop.set)
    if seconds is not None:
        loop.call_later(seconds, stop.set)
    healths = {extent.name: Health(extent.name, tell) for extent in extents}
    receivers = sum(isinstance(extent.source, HttpPush) for extent in extents)
    with contextlib.ExitStack() as open_logs:

        def opened(extent: Extent) -> Served:
            source = extent.source
            assert isinstance(source, SOURCES)  # noqa: S101 - chosen looked
            log = open_log(source.log, catalog.folder, extent, apart=min(apart, 0.1))
            try:
                one = _prepared(extent, source, log, catalog.calendar, receivers)
            except BaseException:
                log.close()
                raise
            open_logs.callback(log.close)
            return one

        async def serve_later(extent: Extent) -> None:
            """Serve an extent whose log could not be opened at the start, as soon as it can."""
            while not await stopped(stop, RETRY):
                try:
                    one = served[extent.name] = await asyncio.to_thread(opened, extent)
                    await _begin([one], tell)
                except DataError as error:
                    healths[extent.name].fail(error)
                except UsageError as error:
                    healths[extent.name].fail(error)
                    return
                else:
                    await _serve(one, apart, stop, healths[extent.name])
                    return

        served: dict[str, Served] = {}
        later: list[Extent] = []
        for extent in extents:
            try:
                served[extent.name] = opened(extent)
            except DataError as error:
                later.append(extent)
                if len(later) == len(extents):
                    raise  # there is nothing to go on with
                healths[extent.name].fail(error)
        await _begin(list(served.values()), tell)
        tasks = [asyncio.create_task(_serve(one, apart, stop, healths[name])) for name, one in served.items()]
        tasks += [asyncio.create_task(serve_later(extent)) for extent in later]
        _, waiting = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        stop.set()
        if waiting:
            await asyncio.wait(waiting)
        for task in tasks:
            task.result()
    counts = {extent.name: _counts(served.get(extent.name)) for extent in extents}
    return Collection(counts, [name for name, health in healths.items() if health.failed])


def _prepared(extent: Extent, source: Collected, log: Writer, calendar: Calendar, receivers: int) -> Served:
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
            reader = Reader(extent, calendar, fields, time, Payload.JSON)
            return HttpReceiver(source, Feed(extent, log, calendar, reader), receivers)
        case _:
            assert_never(source)
    return Poller(extent, log, calendar, stations, source.deadline / 1e6)


async def _begin(served: Sequence[Served], tell: Tell) -> None:
    """Connect to sensors and listen for messages, for all extents, before any of them is served."""
    await asyncio.gather(*(one.warm_up() for one in served if isinstance(one, Poller)))
    for one in served:
        if isinstance(one, HttpReceiver):
            await one.start()
            tell(f"{one.feed.extent.name}: listening on {one.place}")
    for one in served:
        if isinstance(one, Listener):
            one.start()


async def _serve(one: Served, apart: float, stop: asyncio.Event, health: Health) -> None:
    """Serve one extent until the collector stops; what the log of one refuses does not concern the others."""
    try:
        match one:
            case Poller() | Scanner():
                await one.run(stop, health)
            case Listener():
                try:
                    await _flushing(one.feed, one, apart, stop, health)
                finally:
                    one.stop()
            case HttpReceiver():
                try:
                    await _flushing(one.feed, one, apart, stop, health)
                finally:
                    await one.stop()
            case _:
                assert_never(one)
    except UsageError as error:  # trying again does not help: another collector writes the log now
        health.fail(error)


def _counts(one: Served | None) -> Counter[str]:
    if one is None:
        return Counter()
    return one.counts if isinstance(one, Poller | Scanner) else one.feed.counts


async def _flushing(
    feed: Feed, source: Listener | HttpReceiver, apart: float, stop: asyncio.Event, health: Health
) -> None:
    """Write what came, again and again, and once more at the end; report a connection or a log that does not work."""
    while True:
        stopping = await stopped(stop, RETRY if health.failed else apart)
        over = "goes on" if health.failed else "connected"
        try:
            await asyncio.to_thread(feed.flush)
            health.report(source.problem, over)
        except DataError as error:
            health.fail(error)
        if stopping:
            return
