"""Sensors that are asked at every tick of acquisition: a reading per site, a deadline, rest after failures."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Protocol

from transom.catalog.extents import Extent
from transom.catalog.servers import Device
from transom.catalog.ticks import read_value
from transom.catalog.tls import refused_certificate, told
from transom.collector.clock import ClockWatch, now
from transom.collector.health import RETRY, Health, counted, stopped
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.writing import Writer
from transom.connectors.payloads import LARGEST, Dead, kept
from transom.errors import DataError
from transom.model.bag import Row
from transom.model.reasons import Reason
from transom.model.time import Calendar

PATIENCE = 3
LONGEST_REST = 30
"""Failures in a row after which a station is left alone, for 1, 2, 4, ... acquisitions, and at most so many."""
_STRANGERS = ("BadIdentityTokenInvalid", "BadIdentityTokenRejected", "BadSecurityChecksFailed", "BadUserAccessDenied")
"""What a server of OPC UA says to somebody whom it does not trust."""


class Station(Protocol):
    """One connection, with the devices that are behind it."""

    @property
    def devices(self) -> Sequence[Device]:
        """The devices, in order."""

    async def read(self, found: dict[Device, Mapping[str, object] | Exception]) -> None:
        """Put the values of each device, or what went wrong, where the caller sees them even if time runs out."""

    def reset(self) -> None:
        """Begin anew next time, without waiting for anybody."""

    async def close(self) -> None:
        """Hang up."""


class Poller:
    """The readings of one sensed extent."""

    def __init__(
        self,
        extent: Extent,
        log: Writer,
        calendar: Calendar,
        stations: Sequence[Station],
        deadline: float,
        clock: Callable[[], datetime] = now,
    ) -> None:
        self.extent = extent
        self.log = log
        self.calendar = calendar
        self.stations = stations
        self.deadline = deadline
        self.clock = clock
        self.every = extent.every or 1
        self.counts: Counter[str] = Counter()
        self._watch = ClockWatch(extent, log, calendar, self.counts, usual=self.every)
        self._failures = [0] * len(stations)
        self._resting = [0] * len(stations)
        self._refusals: dict[int, str] = {}

    def next_tick(self) -> int:
        """The next tick of acquisition: after now, and after the latest in the log."""
        tick = self.calendar.tick_of(self.clock())
        soon = (tick // self.every + 1) * self.every
        return max(soon, (self.log.latest // self.every + 1) * self.every, 0)

    async def run(self, stop: asyncio.Event, health: Health) -> None:
        """Acquire at every tick until told to stop; ticks that were missed are written down, never made up.

        A log that cannot be written is tried again until it can.
        """
        try:
            while not stop.is_set():
                try:
                    if self._watch.lead(self.clock()):  # else no thread is needed, and no time lost
                        words = await asyncio.to_thread(self._watch.wait, self.clock())
                        if words is not None:
                            health.fail(DataError(words))
                    tick = self.next_tick()
                    wait = (self.calendar.instant_of(tick) - self.clock()).total_seconds()
                    long = wait > 2 * RETRY  # the clock may be set in the meantime
                    if await stopped(stop, RETRY if long else wait):
                        break
                    if not long:
                        await self.acquire(tick, self.log.latest if self.log.latest >= 0 else None)
                        health.report(next(iter(self._refusals.values()), None))
                except DataError as error:
                    health.fail(error)
                    await stopped(stop, RETRY)
        finally:
            for station in self.stations:
                await station.close()

    async def warm_up(self) -> None:
        """Connect to every device before the first tick, those that do not answer in a second attempt.

        The first attempt of all devices at once runs much code for the first time, and may take longer than a deadline.
        """
        silent = list(range(len(self.stations)))
        for _ in range(2):
            await asyncio.gather(*(self._read(place, {}) for place in silent))
            silent = [place for place in silent if self._failures[place]]
        self._failures = [0] * len(self.stations)

    async def acquire(self, tick: int, last: int | None) -> None:
        """One reading per site, as far as the devices answer in time, and the word that this tick is over."""
        entries: list[Entry] = []
        missed = 0
        if last is not None and tick - last > self.every:
            words = f"ticks {last + self.every} to {tick - self.every}"
            missed = (tick - last) // self.every - 1
            entries.append(Entry(Entered.GAP, None, self.clock(), reason=Reason.DOWN, words=words))
        found: dict[Device, Mapping[str, object] | Exception] = {}
        await asyncio.gather(*(self._read(place, found) for place in range(len(self.stations))))
        order = {device: place for place, station in enumerate(self.stations) for device in station.devices}
        entries += [self._entry(tick, device, found[device]) for device in sorted(order, key=self._rank)]
        entries.append(Entry(Entered.BEAT, tick, self.clock()))
        await asyncio.to_thread(self.log.append, entries)
        self.counts.update(counted(entries))
        if missed:
            self.counts[Reason.DOWN.value] += missed - 1  # one entry stands for all ticks that were missed

    def _rank(self, device: Device) -> int:
        return self.extent.sites.index(device.site) if self.extent.sites else 0

    async def _read(self, place: int, found: dict[Device, Mapping[str, object] | Exception]) -> None:
        station = self.stations[place]
        if self._resting[place] > 0:
            self._resting[place] -= 1
            found.update(dict.fromkeys(station.devices, Dead(Reason.RESTING, f"{self._failures[place]} failures")))
            return
        mine: dict[Device, Mapping[str, object] | Exception] = {}
        try:
            await asyncio.wait_for(station.read(mine), self.deadline)
        except TimeoutError:
            problem: Exception = Dead(Reason.DEADLINE, f"no answer within {self.deadline:g} s")
        except Dead as dead:
            problem = dead
            self._note(place, dead, dead.words)
        except Exception as error:
            problem = Dead(_reason(error), told(error))
            self._note(place, error, told(error))
        else:
            problem = Dead(Reason.FAULT, "no answer for this device")
        found.update({device: mine.get(device, problem) for device in station.devices})
        if any(not isinstance(found[device], Exception) for device in station.devices):
            self._failures[place] = 0
            self._refusals.pop(place, None)
            return
        station.reset()
        self._failures[place] += 1
        over = self._failures[place] - PATIENCE
        if over >= 0:
            self._resting[place] = min(2**over, LONGEST_REST)

    def _note(self, place: int, error: Exception, words: str) -> None:
        """Keep the words of a refusal until the station answers."""
        if _is_refusal(error):
            self._refusals[place] = f"{self.stations[place].devices[0].address}: {words}"

    def _entry(self, tick: int, device: Device, found: Mapping[str, object] | Exception) -> Entry:
        moment = self.clock()
        origin = device.address
        if not isinstance(found, Exception):
            try:
                row = self._row(device, found)
            except ValueError as error:
                raw = repr(dict(found)).encode("utf-8", "replace")[:LARGEST]
                return Entry(Entered.DEAD, tick, moment, None, origin, None, raw, Reason.TYPE, str(error)[:1000])
            return Entry(Entered.ROW, tick, moment, row, origin)
        dead = found if isinstance(found, Dead) else Dead(Reason.FAULT, told(found))
        words = dead.words if device.site is None else f"site {device.site}: {dead.words}"
        return Entry(Entered.GAP, tick, moment, None, origin, reason=dead.reason, words=words[:1000])

    def _row(self, device: Device, values: Mapping[str, object]) -> Row:
        cells = []
        for attribute in self.extent.schema:
            value = device.site if attribute.name == self.extent.site else values[attribute.name]
            try:
                cells.append(kept(read_value(value, attribute.type), attribute))
            except ValueError as error:
                raise ValueError(f"{attribute.name}: {error}") from None
        return tuple(cells)


def _reason(error: Exception) -> Reason:
    """What an error of a library means; their names say it best."""
    name = type(error).__name__
    if "Timeout" in name:
        return Reason.DEADLINE
    refused = isinstance(error, OSError | EOFError) or "Connect" in name
    return Reason.REFUSED if refused else Reason.FAULT


def _is_refusal(error: Exception) -> bool:
    """Whether one side does not trust the other; to ask again does not help until somebody has changed something."""
    if isinstance(error, Dead):
        return error.words in ("status 401", "status 403")
    return refused_certificate(error) is not None or type(error).__name__ in _STRANGERS
