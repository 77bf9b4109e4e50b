"""The rows of a source are counted on their way into a plan: read, rejected, late, outside of the run, used.

Each count is a metric of Spark's (`DataFrame.observe`) at its own place. `read` stands directly above the scan; `used`
is the last thing before the first operator of the plan. Whatever loses a row between the two breaks the balance of the
micro-batch. A source that several operators read has one `read` and a balance for each reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from itertools import count
from typing import Any, TypeAlias

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.model.balance import Balance
from transom.model.reasons import Reason

CountRead: TypeAlias = Callable[[DataFrame, Column], DataFrame]
"""Counts what a scan gives: the frame, and how many rows each of its rows stands for."""

_NUMBERS = count()
"""Numbers for the names of metrics: Spark refuses a query that has a name twice, for example a union of two answers."""


def uncounted(frame: DataFrame, rows: Column) -> DataFrame:
    """The frame itself: a batch is not counted."""
    return frame


class Place(Enum):
    """Where rows are counted."""

    SCAN = "scan"
    """What was read."""
    DECODED = "decoded"
    """What is no row of the stream, by reason."""
    WATERMARK = "watermark"
    """What is late, and what is before the first tick or after the last."""
    ENTRY = "entry"
    """What enters the first operator."""
    SPEED_LIMIT = "speed_limit"
    """What a speed limit rejects among the rows that entered, when their ticks are closed."""


@dataclass(frozen=True)
class Metric:
    """What one of Spark's metrics counts; `reader` tells those apart who read one source."""

    source: str
    place: Place
    reader: int = 0


@dataclass
class RowCounts:
    """The metrics of one run, by name."""

    metrics: dict[str, Metric] = field(default_factory=dict)

    def reader(self) -> int:
        """A number for one more reader of a source."""
        return next(_NUMBERS)

    def observe(self, frame: DataFrame, metric: Metric, *counts: Column) -> DataFrame:
        """The same frame, counted."""
        name = f"transom_{metric.source}_{metric.place.value}_{next(_NUMBERS)}"
        self.metrics[name] = metric
        return frame.observe(name, *counts)

    def scan(self, source: str) -> CountRead:
        """What counts the rows that the scans of a source give."""
        return lambda frame, rows: self.observe(frame, Metric(source, Place.SCAN), F.sum(rows).alias("read"))

    def balances(self, observed: Mapping[str, Any]) -> dict[str, list[Balance]]:
        """The balances of one micro-batch, by source: one for each of its readers.

        A micro-batch that does not read a source has no metrics of it.
        """
        read: dict[str, int] = {}
        readers: dict[str, dict[int, Balance]] = {}
        for name, metric in self.metrics.items():
            if name not in observed:
                continue
            counts = _counts(observed[name])
            if metric.place is Place.SPEED_LIMIT:
                continue
            if metric.place is Place.SCAN:
                read[metric.source] = read.get(metric.source, 0) + counts["read"]
            else:
                one = readers.setdefault(metric.source, {})
                one[metric.reader] = one.get(metric.reader, Balance()) + _balance(counts)
        return {
            source: [balance + Balance(read=read.get(source, 0)) for balance in readers[source].values()]
            if source in readers
            else [Balance(read=read[source])]
            for source in {**read, **readers}
        }

    def too_fast(self, observed: Mapping[str, Any]) -> dict[str, int]:
        """The rows that speed limits rejected in one micro-batch, by source; one that is read twice counts once."""
        found: dict[str, int] = {}
        for name, metric in self.metrics.items():
            if metric.place is Place.SPEED_LIMIT and name in observed:
                found[metric.source] = max(found.get(metric.source, 0), _counts(observed[name])["rows"])
        return {source: rows for source, rows in found.items() if rows}


def _counts(row: Any) -> dict[str, int]:
    """The counts of a metric, whatever Spark hands out; a sum over nothing is NULL."""
    found = row if isinstance(row, Mapping) else row.asDict()
    return {name: value or 0 for name, value in found.items() if isinstance(value, int) or value is None}


def _balance(counts: Mapping[str, int]) -> Balance:
    """What the metrics after the scan say."""
    rejected = {reason.value: counts[reason.name] for reason in Reason if counts.get(reason.name)}
    late = rejected.pop(Reason.LATE.value, 0) + counts.get("late", 0)
    return Balance(counts.get("read", 0), counts.get("used", 0), late, rejected, counts.get("outside", 0))
