"""Run the collector: one task per extent, until it is stopped."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias, assert_never

from transom.catalog.catalog import Catalog
from transom.catalog.extent import Extent
from transom.catalog.servers import CollectedSource, HttpPoll, HttpPush, Modbus, Mqtt, OpcUa, Payload, Postgres
from transom.collector.feed import Feed
from transom.collector.health import RETRY, Health, Notify, wait_for_stop
from transom.collector.polling import DeviceConnection, Poller
from transom.collector.sources import http_poll, modbus, opcua
from transom.collector.sources.http_push import HttpReceiver
from transom.collector.sources.mqtt import MqttSubscriber
from transom.collector.sources.scan import Scanner
from transom.collector.status import CollectorStatus
from transom.connectors.log.totals import LogTotals
from transom.connectors.log.writer import LogWriter, open_log
from transom.connectors.payloads import MessageReader
from transom.errors import DataError, Fenced, UsageError
from transom.model.time import Calendar

SOURCES = (Mqtt, Modbus, OpcUa, HttpPoll, HttpPush, Postgres)
ExtentService: TypeAlias = Poller | Scanner | MqttSubscriber | HttpReceiver


def select_extents(catalog: Catalog, names: Sequence[str]) -> list[Extent]:
    """Return the extents (sources, tables) to collect: those in `names`, or all collectable ones if empty.

    UsageError if a named extent has no source for the collector, or if there is nothing to collect.
    """
    for name in names:
        if not isinstance(catalog.extent(name).source, SOURCES):
            raise UsageError(
                f"{name} is not collected", hint="its source is none of mqtt, modbus, opcua, http and postgresql"
            )
    extents = [e for e in catalog.extents.values() if isinstance(e.source, SOURCES) and (not names or e.name in names)]
    if not extents:
        raise UsageError(
            "the catalog has nothing to collect", hint="give an extent a source: mqtt, modbus, opcua, http"
        )
    return extents


def collect(
    catalog: Catalog,
    names: Sequence[str],
    *,
    flush_seconds: float,
    seconds: float | None = None,
    notify: Notify = print,
    status: CollectorStatus | None = None,
) -> CollectionResult:
    """Collect rows into logs, written every `flush_seconds`, for `seconds` (None: no end) or until a signal.

    All extents are collected if `names` is empty. `flush_seconds` is the seconds between two writes to a log. Other
    threads can read from `status` how the collector gets on.
    """
    return asyncio.run(_collect(catalog, select_extents(catalog, names), flush_seconds, seconds, notify, status))


class CollectionResult(NamedTuple):
    """The counts per extent, the extents whose log accepted no entries at the end, and the counts of continued logs."""

    counts: dict[str, Counter[str]]
    failed: list[str]
    totals: dict[str, LogTotals]


async def _collect(
    catalog: Catalog,
    extents: Sequence[Extent],
    flush_seconds: float,
    seconds: float | None,
    notify: Notify,
    status: CollectorStatus | None = None,
) -> CollectionResult:
    """Collect rows of extents until `seconds` have passed or a signal arrives; return counts and failures.

    Pushed rows are written to the log every `flush_seconds` seconds. `status` is kept up to date.
    """
    status = status or CollectorStatus()
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError, ValueError):  # outside the main thread, the caller stops it
            loop.add_signal_handler(name, stop.set)
    if seconds is not None:
        loop.call_later(seconds, stop.set)
    health_of = {extent.name: Health(extent.name, notify) for extent in extents}
    status.begin(health_of)
    notes = asyncio.create_task(_note_running(status, stop))
    receivers = sum(isinstance(extent.source, HttpPush) for extent in extents)
    continued: list[str] = []
    with contextlib.ExitStack() as open_logs:

        def open_service(extent: Extent) -> ExtentService:
            """Open the log of an extent, and create the service (such as a poller) that writes it."""
            source = extent.source
            assert isinstance(source, SOURCES)  # noqa: S101 - select_extents checks it
            log = open_log(source.log, catalog.folder, extent, segment_interval_seconds=min(flush_seconds, 0.1))
            try:
                service = _create_service(extent, source, log, catalog.calendar, receivers)
            except BaseException:
                log.close()
                raise
            open_logs.callback(log.close)
            extent_status = status.extents[extent.name]
            extent_status.counts = _counts(service)
            extent_status.devices = service.devices if isinstance(service, Poller) else {}
            extent_status.log = log
            if log.totals.read:
                continued.append(extent.name)
            return service

        async def serve_when_openable(extent: Extent) -> None:
            """Try repeatedly to open a log that could not be opened at the start; then serve its extent."""
            while not await wait_for_stop(stop, RETRY):
                try:
                    service = services[extent.name] = await asyncio.to_thread(open_service, extent)
                    await _start_services([service], notify)
                except DataError as error:
                    health_of[extent.name].fail(error)
                except UsageError as error:
                    health_of[extent.name].fail(error)
                    return
                else:
                    await _serve(service, flush_seconds, stop, health_of[extent.name])
                    return

        services: dict[str, ExtentService] = {}
        unopened: list[Extent] = []
        for extent in extents:
            try:
                services[extent.name] = open_service(extent)
            except DataError as error:
                unopened.append(extent)
                if len(unopened) == len(extents):
                    raise  # no extent is left to serve
                health_of[extent.name].fail(error)
        await _start_services(list(services.values()), notify)
        status.is_ready = True
        tasks = [
            asyncio.create_task(_serve(service, flush_seconds, stop, health_of[name]))
            for name, service in services.items()
        ]
        tasks += [asyncio.create_task(serve_when_openable(extent)) for extent in unopened]
        _, running = await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
        stop.set()
        if running:
            await asyncio.wait(running)
        await notes
        for task in tasks:
            task.result()
        for health in health_of.values():
            if health.fenced is not None:
                raise health.fenced
    counts = {extent.name: _counts(services.get(extent.name)) for extent in extents}
    totals = {name: _log(services[name]).totals for name in continued if name in services}
    return CollectionResult(counts, [name for name, health in health_of.items() if health.failed], totals)


def _create_service(
    extent: Extent, source: CollectedSource, log: LogWriter, calendar: Calendar, http_server_count: int
) -> ExtentService:
    """Create the service that reads a source into a log, such as a poller or one of `http_server_count` servers.

    The HTTP servers, `http_server_count` in number, share the limit of open files.
    """
    connections: Sequence[DeviceConnection]
    match source:
        case Modbus():
            connections = modbus.modbus_connections(source)
        case OpcUa():
            connections = opcua.opcua_connections(source)
        case HttpPoll():
            connections = http_poll.http_connections(source)
        case Postgres():
            return Scanner(extent, source, log, calendar)
        case Mqtt(fields=fields, time=time, payload=payload):
            return MqttSubscriber(
                source, Feed(extent, log, calendar, MessageReader(extent, calendar, fields, time, payload))
            )
        case HttpPush(fields=fields, time=time):
            reader = MessageReader(extent, calendar, fields, time, Payload.JSON)
            return HttpReceiver(source, Feed(extent, log, calendar, reader), http_server_count)
        case _:
            assert_never(source)
    return Poller(extent, log, calendar, connections, source.deadline / 1e6)


async def _note_running(status: CollectorStatus, stop: asyncio.Event) -> None:
    """Note in `status` once a second that the event loop runs, until `stop` is set; then the collector is not ready."""
    status.note_running()
    while not await wait_for_stop(stop, 1):
        status.note_running()
    status.is_ready = False


async def _start_services(services: Sequence[ExtentService], notify: Notify) -> None:
    """Connect pollers to their devices, and start HTTP receivers and MQTT subscribers, before serving."""
    await asyncio.gather(*(service.warm_up() for service in services if isinstance(service, Poller)))
    for service in services:
        if isinstance(service, HttpReceiver):
            await service.start()
            notify(f"{service.feed.extent.name}: listening on {service.address}")
    for service in services:
        if isinstance(service, MqttSubscriber):
            service.start()


async def _serve(service: ExtentService, flush_seconds: float, stop: asyncio.Event, health: Health) -> None:
    """Run an extent's service until `stop` is set; pushed rows are written every `flush_seconds`.

    Pushed rows are written every `flush_seconds` seconds.
    """
    try:
        match service:
            case Poller() | Scanner():
                await service.run(stop, health)
            case MqttSubscriber():
                try:
                    await _flush_periodically(service.feed, service, flush_seconds, stop, health)
                finally:
                    service.stop()
            case HttpReceiver():
                try:
                    await _flush_periodically(service.feed, service, flush_seconds, stop, health)
                finally:
                    await service.stop()
            case _:
                assert_never(service)
    except UsageError as error:  # retrying is pointless: another collector writes the log
        health.fail(error)
    except Fenced as error:  # other extents go on, and the end of the collector raises it
        health.fence(error)


def _log(service: ExtentService) -> LogWriter:
    """Return the log that a service writes."""
    return service.log if isinstance(service, Poller | Scanner) else service.feed.log


def _counts(service: ExtentService | None) -> Counter[str]:
    """Return how many log entries a service has written, by kind or reject reason; empty if there is no service."""
    if service is None:
        return Counter()
    return service.counts if isinstance(service, Poller | Scanner) else service.feed.counts


async def _flush_periodically(
    feed: Feed, source: MqttSubscriber | HttpReceiver, flush_seconds: float, stop: asyncio.Event, health: Health
) -> None:
    """Write queued messages to the log every `flush_seconds` seconds until `stop` is set, then once more.

    A broken connection or log is reported to `health`.
    """
    while True:
        stopping = await wait_for_stop(stop, RETRY if health.failed else flush_seconds)
        resolved = "goes on" if health.failed else "connected"
        try:
            await asyncio.to_thread(feed.flush)
            health.report(source.problem, resolved)
        except DataError as error:
            health.fail(error)
        if stopping:
            return
