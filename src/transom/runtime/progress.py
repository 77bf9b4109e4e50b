"""What a running query did, from Spark's reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from transom.errors import LostRows
from transom.model.balance import Balance
from transom.model.reasons import Reason
from transom.spark.balance import RowCounts

_NEW = "this is a fault of Transom: report it, and start with a new checkpoint"


@dataclass(frozen=True)
class Progress:
    """So far: micro-batches, the balance of each source, rows out, how fast, how far event time got, rows in state.

    `refused` are rows that the sink refused, which are in its dead letters.
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
    """Offsets of topics that held no message: the broker had deleted it, or it was a marker of a transaction."""

    @property
    def rows_in(self) -> int:
        """Rows that were read, of all sources."""
        return sum(balance.read for balance in self.sources.values())

    @property
    def late_rows(self) -> int:
        """Rows that were late, of all sources."""
        return sum(balance.late for balance in self.sources.values())

    def after(self, report: Mapping[str, Any], counts: RowCounts) -> Progress:
        """Totals after one more progress report; duplicate and idle reports are ignored.

        While nothing is to be done, Spark reports under the number of the micro-batch that comes next.
        """
        if report["batchId"] <= self.batch or "addBatch" not in report["durationMs"]:
            return self
        seconds = max(report.get("batchDuration", 0), 1) / 1000
        new = batch_balances(report, counts)
        rows_out = _rows_out(report)
        return Progress(
            report["batchId"],
            {name: self.sources.get(name, Balance()) + new.get(name, Balance()) for name in {**self.sources, **new}},
            self.rows_out + rows_out,
            sum(balance.read for balance in new.values()) / seconds,
            rows_out / seconds,
            _moment(report.get("eventTime", {}).get("watermark")) or self.watermark,
            sum(operator["numRowsTotal"] for operator in report["stateOperators"]),
            self.refused,
            _summed(self.unread, _unread(report)),
        )

    def lag(self, now: datetime | None = None) -> float | None:
        """How many seconds the watermark is behind the wall clock."""
        if self.watermark is None:
            return None
        return ((now or datetime.now(UTC)) - self.watermark).total_seconds()


def batch_balances(report: Mapping[str, Any], counts: RowCounts) -> dict[str, Balance]:
    """The balance of each source in one micro-batch; a row beyond a speed limit is rejected instead of used.

    A source that several operators read is counted once, by the reader whose balance does not close if there is one.
    """
    observed = report.get("observedMetrics") or {}
    found = {
        name: max(readers, key=lambda one: abs(one.missing)) for name, readers in counts.balances(observed).items()
    }
    for name, rows in counts.too_fast(observed).items():
        found[name] = found.get(name, Balance()) + Balance(used=-rows, rejected={Reason.SPEED.value: rows})
    return found


def lost_rows(report: Mapping[str, Any], counts: RowCounts) -> LostRows | None:
    """The error of a micro-batch in which rows of a source are accounted for nowhere, or dropped inside the plan."""
    for name, readers in counts.balances(report.get("observedMetrics") or {}).items():
        for balance in readers:
            if balance.missing:
                return LostRows(
                    f"the rows of {name} in micro-batch {report['batchId']} do not add up: {balance}",
                    detail=f"rows missing: {balance.missing:,}",
                    hint=_NEW,
                )
    dropped = sum(operator["numRowsDroppedByWatermark"] for operator in report["stateOperators"])
    if dropped:
        return LostRows(
            f"Spark dropped {dropped:,} rows in micro-batch {report['batchId']} that were not late when they were read",
            hint=_NEW,
        )
    return None


def described(report: Mapping[str, Any], counts: RowCounts) -> dict[str, Any]:
    """One micro-batch for a log: its number, when it began, its watermark, the balance of each source, and rows out."""
    one = Progress(report["batchId"] - 1).after(report, counts)
    return {
        "batch": one.batch,
        "began": report["timestamp"],
        "seconds": report.get("batchDuration", 0) / 1000,
        "watermark": None if one.watermark is None else one.watermark.isoformat(),
        "sources": {name: asdict(balance) for name, balance in one.sources.items()},
        "rows_out": one.rows_out,
        "late_rows": one.late_rows,
        "state_rows": one.state_rows,
        "unread": dict(one.unread),
    }


def _rows_out(report: Mapping[str, Any]) -> int:
    answer = (report.get("observedMetrics") or {}).get("transom_answer")
    if answer is None:
        return 0
    rows = answer["rows"] if isinstance(answer, Mapping) or hasattr(answer, "asDict") else answer[0]
    return int(rows or 0)


def _unread(report: Mapping[str, Any]) -> Counter[str]:
    """By topic the offsets of a micro-batch that gave no message."""
    found: Counter[str] = Counter()
    for source in report["sources"]:
        begin, end = _offsets(source.get("startOffset")), _offsets(source.get("endOffset"))
        for topic, ends in end.items():
            count = sum(to - begin.get(topic, {}).get(partition, to) for partition, to in ends.items())
            if len(end) == 1 and count > source["numInputRows"]:
                found[topic] = max(found[topic], count - source["numInputRows"])
    return found


def _offsets(value: Any) -> dict[str, dict[str, int]]:
    """The offsets of a source that reads topics, by topic and partition; nothing for other sources."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    whole = isinstance(value, dict) and all(isinstance(parts, dict) for parts in value.values())
    return {t: p for t, p in value.items() if all(isinstance(n, int) for n in p.values())} if whole else {}


def _summed(one: Mapping[str, int], more: Counter[str]) -> Mapping[str, int]:
    return dict(Counter(one) + more) if more else one


def _moment(text: str | None) -> datetime | None:
    if not text:
        return None
    moment = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return None if moment.timestamp() <= 0 else moment
