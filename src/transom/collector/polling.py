"""Poll sensors at every acquisition tick: one reading per site, a deadline, and backoff after failures."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from transom.catalog.extent import Extent
from transom.catalog.reading.ticks import read_value
from transom.catalog.servers import Device
from transom.catalog.tls import error_text, refused_certificate
from transom.collector.clock import ClockWatch, now
from transom.collector.health import RETRY, Health, wait_for_stop
from transom.collector.status import DeviceStatus
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.totals import count_entries
from transom.connectors.log.writer import LogWriter
from transom.connectors.payloads import MAX_MESSAGE_BYTES, RejectError, storable_value
from transom.errors import DataError
from transom.model.bag import Row
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

FAILURES_BEFORE_BACKOFF = 3
MAX_BACKOFF = 30
"""Maximum backoff; after FAILURES_BEFORE_BACKOFF failures, a connection skips 1, 2, 4, ... acquisitions."""
_REFUSAL_CODES = (
    "BadIdentityTokenInvalid",
    "BadIdentityTokenRejected",
    "BadSecurityChecksFailed",
    "BadUserAccessDenied",
)
"""The errors with which an OPC UA server rejects a client that it does not trust."""


class DeviceConnection(Protocol):
    """One connection, shared by the devices that are reached through it."""

    @property
    def devices(self) -> Sequence[Device]:
        """The devices that are polled over this connection, in order."""

    async def read(self, results: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Poll all devices; put each device's values by attribute, or its error, into `results`.

        The dictionary is filled device by device, so that a timeout keeps the results until then.
        """

    def reset(self) -> None:
        """Discard the network connection without waiting for it to close; the next read connects again."""

    async def close(self) -> None:
        """Close the network connection at the end of the collector's run."""


class Poller:
    """Polls the readings of one sensed extent into its log."""

    def __init__(
        self,
        extent: Extent,
        log: LogWriter,
        calendar: Calendar,
        connections: Sequence[DeviceConnection],
        deadline_seconds: float,
        clock: Callable[[], datetime] = now,
    ) -> None:
        """Create the poller that reads devices over `connections`, each in `deadline_seconds`, into rows in `log`.

        A connection has `deadline_seconds` seconds to read its devices.
        """
        self.extent = extent
        self.log = log
        self.calendar = calendar
        self.connections = connections
        self.deadline = deadline_seconds
        self.clock = clock
        self.every = extent.every or 1
        self.counts: Counter[str] = Counter()
        self._watch = ClockWatch(extent, log, calendar, self.counts, allowed_lead_ticks=self.every)
        self._failures = [0] * len(connections)
        self._skips_left = [0] * len(connections)
        self._refusals: dict[int, str] = {}
        devices = (device for connection in connections for device in connection.devices)
        self.devices = {device: DeviceStatus() for device in devices}
        """What the acquisitions of each device have given."""

    def next_tick(self) -> int:
        """Return the next tick at which devices are polled: the first one after now and after the log's latest tick."""
        tick = self.calendar.tick_of(self.clock())
        soon = (tick // self.every + 1) * self.every
        return max(soon, (self.log.latest // self.every + 1) * self.every, 0)

    async def run(self, stop: asyncio.Event, health: Health) -> None:
        """Poll the devices at every acquisition tick until `stop` is set; missed ticks are logged as gaps.

        If the log cannot be written, it retries until it can.
        """
        try:
            while not stop.is_set():
                try:
                    if self._watch.lead(self.clock()):  # skips the thread switch in the normal case
                        problem = await asyncio.to_thread(self._watch.wait_reason, self.clock())
                        if problem is not None:
                            health.fail(DataError(problem))
                    tick = self.next_tick()
                    wait = (self.calendar.instant_of(tick) - self.clock()).total_seconds()
                    is_long = wait > 2 * RETRY  # check again soon, as the clock may be adjusted
                    if await wait_for_stop(stop, RETRY if is_long else wait):
                        break
                    if not is_long:
                        await self.acquire(tick, self.log.latest if self.log.latest >= 0 else None)
                        health.report(next(iter(self._refusals.values()), None))
                except DataError as error:
                    health.fail(error)
                    await wait_for_stop(stop, RETRY)
        finally:
            for connection in self.connections:
                await connection.close()

    async def warm_up(self) -> None:
        """Connect to every device before the first tick; try once more for devices that do not answer.

        The first attempt of all devices at once runs much code for the first time, and may exceed a deadline.
        """
        silent_indexes = list(range(len(self.connections)))
        for _ in range(2):
            await asyncio.gather(*(self._read(index, {}) for index in silent_indexes))
            silent_indexes = [index for index in silent_indexes if self._failures[index]]
        self._failures = [0] * len(self.connections)

    async def acquire(self, tick: int, last_tick: int | None) -> None:
        """Poll all devices for `tick` and log the results; ticks missed since `last_tick` (None: empty log) are a gap.

        `last_tick` is the latest tick in the log, None if it is empty; ticks missed since then are logged as a gap.
        """
        entries: list[LogRecord] = []
        missed = 0
        if last_tick is not None and tick - last_tick > self.every:
            missed_ticks = f"ticks {last_tick + self.every} to {tick - self.every}"
            missed = (tick - last_tick) // self.every - 1
            entries.append(
                LogRecord(
                    LogRecordKind.GAP,
                    None,
                    self.clock(),
                    reason=RejectReason.DOWN,
                    detail=missed_ticks,
                    readings=missed,
                )
            )
        results: dict[Device, Mapping[str, object] | Exception] = {}
        await asyncio.gather(*(self._read(index, results) for index in range(len(self.connections))))
        records = {
            device: self._log_record(tick, device, results[device])
            for device in sorted(self.devices, key=self._site_rank)
        }
        for device, record in records.items():
            self.devices[device].take(record.reason, record.at)
        entries += [*records.values(), LogRecord(LogRecordKind.HEARTBEAT, tick, self.clock())]
        await asyncio.to_thread(self.log.append, entries, len(self.devices) + missed)
        self.counts.update(count_entries(entries))

    def _site_rank(self, device: Device) -> int:
        """Return the index of a device's site in the source's list of sites; 0 if the source has no sites."""
        return self.extent.sites.index(device.site) if self.extent.sites else 0

    async def _read(self, index: int, results: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Poll the devices of connection number `index`; put each one's values or its error into `results`.

        `index` is the number of the connection, from 0. After repeated failures the connection is not polled for some
        ticks (backoff), which is an error too.
        """
        connection = self.connections[index]
        if self._skips_left[index] > 0:
            self._skips_left[index] -= 1
            results.update(
                dict.fromkeys(
                    connection.devices, RejectError(RejectReason.RESTING, f"{self._failures[index]} failures")
                )
            )
            return
        readings: dict[Device, Mapping[str, object] | Exception] = {}
        try:
            await asyncio.wait_for(connection.read(readings), self.deadline)
        except TimeoutError:
            problem: Exception = RejectError(RejectReason.DEADLINE, f"no answer within {self.deadline:g} s")
        except RejectError as rejection:
            problem = rejection
            self._note_refusal(index, rejection, rejection.detail)
        except Exception as error:
            problem = RejectError(_reject_reason(error), error_text(error))
            self._note_refusal(index, error, error_text(error))
        else:
            problem = RejectError(RejectReason.FAULT, "no answer for this device")
        results.update({device: readings.get(device, problem) for device in connection.devices})
        if any(not isinstance(results[device], Exception) for device in connection.devices):
            self._failures[index] = 0
            self._refusals.pop(index, None)
            return
        connection.reset()
        self._failures[index] += 1
        excess_failures = self._failures[index] - FAILURES_BEFORE_BACKOFF
        if excess_failures >= 0:
            self._skips_left[index] = min(2**excess_failures, MAX_BACKOFF)

    def _note_refusal(self, index: int, error: Exception, detail: str) -> None:
        """Note `detail` for connection `index` if `error` is a refused login or certificate; success removes it."""
        if _is_refusal(error):
            self._refusals[index] = f"{self.connections[index].devices[0].address}: {detail}"

    def _log_record(self, tick: int, device: Device, result: Mapping[str, object] | Exception) -> LogRecord:
        """Build the log entry for a polled device: a row, a rejection for wrong types, or a gap after an error."""
        moment = self.clock()
        origin = device.address
        if not isinstance(result, Exception):
            try:
                row = self._row(device, result)
            except ValueError as error:
                raw = repr(dict(result)).encode("utf-8", "replace")[:MAX_MESSAGE_BYTES]
                return LogRecord(
                    LogRecordKind.DEAD, tick, moment, None, origin, None, raw, RejectReason.TYPE, str(error)[:1000]
                )
            return LogRecord(LogRecordKind.ROW, tick, moment, row, origin)
        rejection = result if isinstance(result, RejectError) else RejectError(RejectReason.FAULT, error_text(result))
        detail = rejection.detail if device.site is None else f"site {device.site}: {rejection.detail}"
        return LogRecord(LogRecordKind.GAP, tick, moment, None, origin, reason=rejection.reason, detail=detail[:1000])

    def _row(self, device: Device, values: Mapping[str, object]) -> Row:
        """Convert a device's values by attribute to a row of the source; raise ValueError if one does not fit."""
        cells = []
        for attribute in self.extent.schema:
            value = device.site if attribute.name == self.extent.site else values[attribute.name]
            try:
                cells.append(storable_value(read_value(value, attribute.type), attribute))
            except ValueError as error:
                raise ValueError(f"{attribute.name}: {error}") from None
        return tuple(cells)


def _reject_reason(error: Exception) -> RejectReason:
    """Return the reject reason for the error of a device library: missed deadline, no connection or other fault.

    The name of the error's class tells which.
    """
    name = type(error).__name__
    if "Timeout" in name:
        return RejectReason.DEADLINE
    refused = isinstance(error, OSError | EOFError) or "Connect" in name
    return RejectReason.REFUSED if refused else RejectReason.FAULT


def _is_refusal(error: Exception) -> bool:
    """Whether an error says that device and client do not trust each other, so that retrying cannot help."""
    if isinstance(error, RejectError):
        return error.detail in ("status 401", "status 403")
    return refused_certificate(error) is not None or type(error).__name__ in _REFUSAL_CODES
