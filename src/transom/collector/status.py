"""What a running collector tells about itself: its extents, their logs, and the devices that it polls.

The collector writes it in its event loop, and other threads may read it at any time.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from transom.collector.health import Health
from transom.model.reject_reason import RejectReason

if TYPE_CHECKING:
    from transom.catalog.servers import Device
    from transom.connectors.log.writer import LogWriter

HEALTHY_SECONDS = 30.0
"""A collector whose event loop has not run for so long is not healthy."""


@dataclass
class DeviceStatus:
    """One device that is polled: what its acquisitions have given since the start of the collector."""

    is_up: bool = False
    """Whether it has answered the last acquisition."""
    readings: int = 0
    missed: Counter[RejectReason] = field(default_factory=Counter)
    """The acquisitions without a row, by reason."""
    last_reading: datetime | None = None

    def take(self, reason: RejectReason | None, moment: datetime) -> None:
        """Count an acquisition at `moment`; `reason` says why it gave no row, None if it did."""
        self.is_up = reason is None or reason is RejectReason.TYPE  # a value of the wrong type is an answer
        if reason is None:
            self.readings += 1
            self.last_reading = moment
        else:
            self.missed[reason] += 1


@dataclass
class ExtentStatus:
    """One extent: its health, and once its log is open, the log, the counts of this run and the polled devices."""

    health: Health
    since: datetime = field(default_factory=lambda: datetime.now(UTC))
    log: LogWriter | None = None
    counts: Mapping[str, int] = field(default_factory=dict)
    devices: Mapping[Device, DeviceStatus] = field(default_factory=dict)

    @property
    def is_up(self) -> bool:
        """Whether the log accepts entries, and the source has no problem that concerns all of it."""
        return self.log is not None and not self.health.failed and self.health.problem is None

    @property
    def last_row(self) -> datetime:
        """When the newest row of this run arrived; before the first one, when the collector started."""
        newest = None if self.log is None else self.log.last_row
        return self.since if newest is None else newest


class CollectorStatus:
    """The status of a collector."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Create the status of a collector that has not begun."""
        self.extents: dict[str, ExtentStatus] = {}
        self.is_ready = False
        """Whether the start of each extent was tried, and the collector is not stopping."""
        self._clock = clock
        self._last_noted = clock()

    def begin(self, health_of: Mapping[str, Health]) -> None:
        """Take the extents that the collector begins to serve."""
        self.extents = {name: ExtentStatus(health) for name, health in health_of.items()}

    def note_running(self) -> None:
        """Note that the event loop of the collector runs."""
        self._last_noted = self._clock()

    @property
    def is_healthy(self) -> bool:
        """Whether the event loop of the collector has run lately."""
        return self._clock() - self._last_noted < HEALTHY_SECONDS
