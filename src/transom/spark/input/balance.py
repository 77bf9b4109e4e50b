"""Count the rows of a source on their way into a plan: read, rejected, late, outside the run, used.

Each count is a Spark metric (`DataFrame.observe`) at its own point in the plan. `read` is directly above the scan;
`used` is directly below the first operator of the plan. Any loss of a row between the two breaks the balance of the
micro-batch. A source that several operators read has one `read` count and a balance for each reader.
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
from transom.model.reject_reason import RejectReason

RowCounter: TypeAlias = Callable[[DataFrame, Column], DataFrame]
"""Adds the `read` count to a scan: takes the frame and the number of source rows in each of its rows."""

_NUMBERS = count()
"""Suffixes that make metric names unique: Spark rejects a query with a repeated name, e.g. a union of two results."""


def uncounted(frame: DataFrame, rows: Column) -> DataFrame:
    """Return the frame unchanged; this is the row counter of batch runs, which count nothing."""
    return frame


class CountingPoint(Enum):
    """A point in a plan at which rows are counted."""

    SCAN = "scan"
    """Rows read."""
    DECODED = "decoded"
    """Rejected rows, by reason."""
    WATERMARK = "watermark"
    """Late rows, and rows before the first tick or after the last."""
    ENTRY = "entry"
    """Rows that enter the first operator."""
    SPEED_LIMIT = "speed_limit"
    """Rows that a speed limit rejects after they entered, counted when their ticks are closed."""


@dataclass(frozen=True)
class Metric:
    """What a Spark metric counts; `reader` distinguishes the operators that read one source."""

    source: str
    point: CountingPoint
    reader: int = 0


@dataclass
class RowCounts:
    """The metrics of one run, by name."""

    metrics: dict[str, Metric] = field(default_factory=dict)

    def reader(self) -> int:
        """Return a unique number that tells apart, in metrics, the operators that read the same source."""
        return next(_NUMBERS)

    def observe(self, frame: DataFrame, metric: Metric, *counts: Column) -> DataFrame:
        """Return the frame with a new Spark metric that computes `counts`; record its meaning `metric` by its name."""
        name = f"transom_{metric.source}_{metric.point.value}_{next(_NUMBERS)}"
        self.metrics[name] = metric
        return frame.observe(name, *counts)

    def scan(self, source: str) -> RowCounter:
        """Return a function (frame, rows) that lets a frame report the sum of column `rows` as read from `source`.

        It takes a frame, and a column with the number of source rows in each of its rows.
        """
        return lambda frame, rows: self.observe(frame, Metric(source, CountingPoint.SCAN), F.sum(rows).alias("read"))

    def balances(self, observed: Mapping[str, Any]) -> dict[str, list[Balance]]:
        """Return row counts (read, used, late, rejected, outside) by source, one per reader, from a batch's metrics.

        Sources that the micro-batch does not read have no metrics, and are left out.
        """
        read: dict[str, int] = {}
        readers: dict[str, dict[int, Balance]] = {}
        for name, metric in self.metrics.items():
            if name not in observed:
                continue
            counts = _counts(observed[name])
            if metric.point is CountingPoint.SPEED_LIMIT:
                continue
            if metric.point is CountingPoint.SCAN:
                read[metric.source] = read.get(metric.source, 0) + counts["read"]
            else:
                by_reader = readers.setdefault(metric.source, {})
                by_reader[metric.reader] = by_reader.get(metric.reader, Balance()) + _balance(counts)
        return {
            source: [balance + Balance(read=read.get(source, 0)) for balance in readers[source].values()]
            if source in readers
            else [Balance(read=read[source])]
            for source in {**read, **readers}
        }

    def speed_limit_counts(self, observed: Mapping[str, Any]) -> dict[str, int]:
        """Count by source, from a micro-batch's metrics, the rows rejected because an object moved too fast."""
        counts: dict[str, int] = {}
        for name, metric in self.metrics.items():
            if metric.point is CountingPoint.SPEED_LIMIT and name in observed:
                counts[metric.source] = max(counts.get(metric.source, 0), _counts(observed[name])["rows"])
        return {source: rows for source, rows in counts.items() if rows}


def _counts(row: Any) -> dict[str, int]:
    """Read the integer counts of a metric from a mapping or a Row; NULL, the sum of no rows, becomes 0."""
    values = row if isinstance(row, Mapping) else row.asDict()
    return {name: value or 0 for name, value in values.items() if isinstance(value, int) or value is None}


def _balance(counts: Mapping[str, int]) -> Balance:
    """Build a row balance (read, used, late, rejected by reason, outside the run) from the counts of one metric."""
    rejected = {reason.value: counts[reason.name] for reason in RejectReason if counts.get(reason.name)}
    late = rejected.pop(RejectReason.LATE.value, 0) + counts.get("late", 0)
    return Balance(counts.get("read", 0), counts.get("used", 0), late, rejected, counts.get("outside", 0))
