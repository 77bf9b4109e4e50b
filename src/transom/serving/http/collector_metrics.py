"""The figures of a running collector in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from transom.collector.feed import LOST_DETAIL
from transom.collector.status import CollectorStatus, DeviceStatus, ExtentStatus
from transom.connectors.log.totals import MISSED_REASONS
from transom.model.reject_reason import RejectReason

_MISSED = {reason.value for reason in MISSED_REASONS}
_DEVICE = ("extent", "site", "device")


class CollectorMetrics(Collector):
    """Reads the metrics of a collector at the time of a scrape.

    The rows of an extent are counted since the first entry of its log, and the readings of a device since the start of
    the collector.
    """

    def __init__(self, status: CollectorStatus, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        """Collect the metrics of a collector with this status; `now` returns the present time."""
        self._status = status
        self._now = now

    def describe(self) -> list[Metric]:
        """Return no description, so that registering collects nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the extents, of their logs and of the devices."""
        extents = dict(self._status.extents)
        now = self._now()
        yield from _extent_metrics(extents, now)
        yield from _log_metrics(extents)
        yield from _device_metrics(extents, now)


def outcome_of(reason: str) -> str:
    """Return the outcome of a count of a log: `rows`, `late`, `missed`, or `rejected` for all other reasons."""
    if reason in ("rows", RejectReason.LATE.value):
        return reason
    return "missed" if reason in _MISSED else "rejected"


def _extent_metrics(extents: dict[str, ExtentStatus], now: datetime) -> Iterator[Metric]:
    """Yield whether extents are up, the seconds since their last rows, and what their logs do not count."""
    up = GaugeMetricFamily("transom_extent_up", "1 if log and source have no problem", labels=["extent"])
    age = GaugeMetricFamily(
        "transom_extent_seconds_since_row", "Since the newest row arrived, or else since the start", labels=["extent"]
    )
    lost = CounterMetricFamily(
        "transom_extent_lost_messages", "Messages lost while the log could not be written", labels=["extent"]
    )
    duplicates = CounterMetricFamily(
        "transom_extent_duplicate_messages", "Messages that came again and count once", labels=["extent"]
    )
    for name, extent in extents.items():
        up.add_metric([name], float(extent.is_up))
        age.add_metric([name], _seconds(extent.last_row, now))
        lost.add_metric([name], extent.counts.get(LOST_DETAIL, 0))
        duplicates.add_metric([name], extent.counts.get("came again", 0))
    yield from (up, age, lost, duplicates)


def _log_metrics(extents: dict[str, ExtentStatus]) -> Iterator[Metric]:
    """Yield the balance of each log: what arrived, and what became of it."""
    read = CounterMetricFamily("transom_extent_read", "Readings and messages that arrived", labels=["extent"])
    rows = CounterMetricFamily(
        "transom_extent_rows", "Readings and messages by what became of them", labels=["extent", "outcome", "reason"]
    )
    dead = CounterMetricFamily("transom_extent_dead_letters", "Late and rejected rows", labels=["extent"])
    for name, extent in extents.items():
        if extent.log is None:
            continue
        totals = extent.log.totals
        counts = {"rows": 0, RejectReason.LATE.value: 0, **totals.outcomes}
        read.add_metric([name], totals.read)
        for reason, count in counts.items():
            outcome = outcome_of(reason)
            rows.add_metric([name, outcome, "" if reason == outcome else reason], count)
        dead.add_metric([name], sum(n for reason, n in counts.items() if outcome_of(reason) in ("late", "rejected")))
    yield from (read, rows, dead)


def _device_metrics(extents: dict[str, ExtentStatus], now: datetime) -> Iterator[Metric]:
    """Yield whether each polled device is up, its readings, and its acquisitions without a reading."""
    up = GaugeMetricFamily("transom_device_up", "1 if the device has answered the last acquisition", labels=_DEVICE)
    readings = CounterMetricFamily("transom_device_readings", "Acquisitions that gave a row", labels=_DEVICE)
    missed = CounterMetricFamily("transom_device_missed", "Acquisitions that gave no row", labels=[*_DEVICE, "reason"])
    age = GaugeMetricFamily(
        "transom_device_seconds_since_reading", "Since the newest reading, or else since the start", labels=_DEVICE
    )
    for name, extent in extents.items():
        for device, status in extent.devices.items():
            labels = [name, "" if device.site is None else str(device.site), device.address.partition("?")[0]]
            up.add_metric(labels, float(status.is_up))
            readings.add_metric(labels, status.readings)
            for reason, count in _missed(status).items():
                missed.add_metric([*labels, reason.value], count)
            age.add_metric(labels, _seconds(status.last_reading or extent.since, now))
    yield from (up, readings, missed, age)


def _missed(status: DeviceStatus) -> dict[RejectReason, int]:
    """Return the acquisitions without a row by reason, also those that have not occurred if they are usual."""
    return {RejectReason.DEADLINE: 0, RejectReason.REFUSED: 0, **status.missed}


def _seconds(since: datetime, now: datetime) -> float:
    """Return the seconds from an instant to now; 0 if the clock was set back."""
    return max((now - since).total_seconds(), 0.0)
