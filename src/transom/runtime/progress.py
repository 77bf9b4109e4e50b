"""Progress of a running query: totals and row balances from Spark's progress reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from transom.connectors.kafka.offset_counts import OffsetCounts
from transom.errors import LostRows
from transom.model.balance import Balance
from transom.model.reject_reason import RejectReason
from transom.runtime.checkpoint.balances import LOST_ROWS_HINT, RowTotals
from transom.spark.input.balance import RowCounts


@dataclass(frozen=True)
class Progress:
    """RowTotals of a run so far; the rates and the rows in state are those of the last micro-batch.

    `refused` counts the rows that the sink refused and that are in its dead letters.
    """

    batch: int = -1
    sources: Mapping[str, Balance] = field(default_factory=dict)
    rows_out: int = 0
    in_per_second: float = 0.0
    out_per_second: float = 0.0
    watermark: datetime | None = None
    state_rows: int = 0
    refused: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    """By topic, the offsets without a message: deleted by the broker, or transaction markers."""
    earlier: RowTotals = field(default_factory=RowTotals)
    """The counts of the same checkpoint before this start."""
    counted_from: int = 0
    """The first micro-batch of the checkpoint that was counted; later than 0 if an earlier version began it."""
    uncounted: int = 0
    """The number of micro-batches that were committed and, after a kill, not counted."""
    offsets: Mapping[str, OffsetCounts] = field(default_factory=dict)
    """At the end of a run, what the offsets are that it has passed, for topics with offsets without a row."""
    newest: datetime | None = None
    """The latest event time that Spark has reported since this start: the end of the tick of the newest row."""

    @property
    def rows_in(self) -> int:
        """The number of rows read from all sources since this start of the run."""
        return sum(balance.read for balance in self.sources.values())

    @property
    def late_rows(self) -> int:
        """The number of late rows of all sources since this start of the run."""
        return sum(balance.late for balance in self.sources.values())

    @property
    def totals(self) -> Mapping[str, Balance]:
        """The balance of each source since the first start of the checkpoint."""
        return (self.earlier + RowTotals(sources=self.sources)).sources

    def with_report(self, report: Mapping[str, Any], metrics: RowCounts) -> Progress:
        """Add a Spark progress report to the totals, unless idle or repeated; `metrics` tells what its metrics count.

        `metrics` knows the names of its metrics. While a query is idle, Spark reports under the number of the next
        micro-batch.
        """
        if report["batchId"] <= self.batch or "addBatch" not in report["durationMs"]:
            return self
        seconds = max(report.get("batchDuration", 0), 1) / 1000
        new = batch_balances(report, metrics)
        new_rows_out = rows_out(report.get("observedMetrics") or {})
        event_time = report.get("eventTime", {})
        newest = [moment for moment in (self.newest, _parse_instant(event_time.get("max"))) if moment is not None]
        return Progress(
            report["batchId"],
            {name: self.sources.get(name, Balance()) + new.get(name, Balance()) for name in {**self.sources, **new}},
            self.rows_out + new_rows_out,
            sum(balance.read for balance in new.values()) / seconds,
            new_rows_out / seconds,
            _parse_instant(event_time.get("watermark")) or self.watermark,
            sum(operator["numRowsTotal"] for operator in report["stateOperators"]),
            self.refused,
            _add_counts(self.unread, _unread_offsets(report)),
            self.earlier,
            self.counted_from,
            self.uncounted,
            newest=max(newest, default=None),
        )

    def lag(self, now: datetime | None = None) -> float | None:
        """The seconds from the watermark to `now` (None: the present time); None before the first watermark."""
        if self.watermark is None:
            return None
        return ((now or datetime.now(UTC)) - self.watermark).total_seconds()


def batch_balances(report: Mapping[str, Any], metrics: RowCounts) -> dict[str, Balance]:
    """Return a micro-batch's rows read, used, late, rejected, by source; `metrics` tells what its metrics count.

    `metrics` knows the names of its metrics. A source with several readers counts once: the reader with the most
    missing rows represents it.
    """
    return source_balances(report.get("observedMetrics") or {}, metrics)


def source_balances(observed: Mapping[str, Any], metrics: RowCounts) -> dict[str, Balance]:
    """Return rows read, used, late, rejected, by source, from `observed` values; `metrics` tells what these count."""
    balances = {
        name: max(readers, key=lambda balance: abs(balance.missing))
        for name, readers in metrics.balances(observed).items()
    }
    for name, rows in metrics.speed_limit_counts(observed).items():
        balances[name] = balances.get(name, Balance()) + Balance(used=-rows, rejected={RejectReason.SPEED.value: rows})
    return balances


def find_lost_rows(report: Mapping[str, Any], metrics: RowCounts) -> LostRows | None:
    """Return LostRows if a report shows uncounted or dropped rows, else None; `metrics` tells what its metrics count.

    `metrics` knows the names of its metrics.
    """
    for name, readers in metrics.balances(report.get("observedMetrics") or {}).items():
        for balance in readers:
            if balance.missing:
                return LostRows(
                    f"the rows of {name} in micro-batch {report['batchId']} do not add up: {balance}",
                    detail=f"rows missing: {balance.missing:,}",
                    hint=LOST_ROWS_HINT,
                )
    dropped = sum(operator["numRowsDroppedByWatermark"] for operator in report["stateOperators"])
    if dropped:
        return LostRows(
            f"Spark dropped {dropped:,} rows in micro-batch {report['batchId']} that were not late when they were read",
            hint=LOST_ROWS_HINT,
        )
    return None


def batch_record(report: Mapping[str, Any], metrics: RowCounts) -> dict[str, Any]:
    """Convert the progress report of a micro-batch to an entry of the run's log, with row counts by `metrics`.

    `metrics` knows the names of its metrics.
    """
    totals = Progress(report["batchId"] - 1).with_report(report, metrics)
    return {
        "batch": totals.batch,
        "began": report["timestamp"],
        "seconds": report.get("batchDuration", 0) / 1000,
        "watermark": None if totals.watermark is None else totals.watermark.isoformat(),
        "sources": {name: asdict(balance) for name, balance in totals.sources.items()},
        "rows_out": totals.rows_out,
        "late_rows": totals.late_rows,
        "state_rows": totals.state_rows,
        "unread": dict(totals.unread),
    }


def rows_out(observed: Mapping[str, Any]) -> int:
    """Return the number of answer rows among Spark's metrics by name; 0 if this metric is missing."""
    answer = observed.get("transom_answer")
    if answer is None:
        return 0
    rows = answer["rows"] if isinstance(answer, Mapping) or hasattr(answer, "asDict") else answer[0]
    return int(rows or 0)


def _unread_offsets(report: Mapping[str, Any]) -> Counter[str]:
    """Count, by topic, the offsets without a message that a micro-batch passed, for instance of deleted messages."""
    unread: Counter[str] = Counter()
    for source in report["sources"]:
        begin, end = _topic_offsets(source.get("startOffset")), _topic_offsets(source.get("endOffset"))
        for topic, end_offsets in end.items():
            count = sum(
                end_offset - begin.get(topic, {}).get(partition, end_offset)
                for partition, end_offset in end_offsets.items()
            )
            if len(end) == 1 and count > source["numInputRows"]:
                unread[topic] = max(unread[topic], count - source["numInputRows"])
    return unread


def _topic_offsets(value: Any) -> dict[str, dict[str, int]]:
    """Return the offsets of a Kafka source in a progress report, by topic and partition; empty for other sources."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    if not isinstance(value, dict) or not all(isinstance(offsets, dict) for offsets in value.values()):
        return {}
    return {topic: offsets for topic, offsets in value.items() if all(isinstance(o, int) for o in offsets.values())}


def _add_counts(counts: Mapping[str, int], more: Counter[str]) -> Mapping[str, int]:
    """Add to `counts`, by topic, the Kafka offsets without a message (`more`) of one more micro-batch."""
    return dict(Counter(counts) + more) if more else counts


def _parse_instant(text: str | None) -> datetime | None:
    """Parse the watermark of a progress report; None if there is none, which Spark may write as the Unix epoch."""
    if not text:
        return None
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return None if moment.timestamp() <= 0 else moment
