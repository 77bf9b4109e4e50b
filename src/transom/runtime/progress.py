"""What a running query did, from Spark's reports."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from transom.model.reasons import DEAD, READ, REJECTED, Reason
from transom.physical.rdf_plan import messages

CLOCKS = ("PythonMicroBatch", "transom_clock")
"""What Spark calls the clock in Python and the clock in Java: their ticks are no rows of the user's."""


@dataclass(frozen=True)
class Progress:
    """So far: micro-batches, rows in and out, how fast, how far event time got, rows in state; late, dead, rejected."""

    batch: int = -1
    rows_in: int = 0
    rows_out: int = 0
    in_per_second: float = 0.0
    out_per_second: float = 0.0
    watermark: datetime | None = None
    state_rows: int = 0
    late_rows: int = 0
    dead: Mapping[str, int] = field(default_factory=dict)
    rejected: Mapping[str, int] = field(default_factory=dict)
    unread: Mapping[str, int] = field(default_factory=dict)
    """Offsets of topics that held no message: the broker had deleted it, or it was a marker of a transaction."""

    def after(self, report: Mapping[str, Any]) -> Progress:
        """What was done after one more report; one that is known already changes nothing, nor one of an idle moment.

        While nothing is to be done, Spark reports under the number of the micro-batch that comes next.
        """
        if report["batchId"] <= self.batch or "addBatch" not in report["durationMs"]:
            return self
        seconds = max(report.get("batchDuration", 0), 1) / 1000
        sources = [s for s in report["sources"] if not any(clock in s["description"] for clock in CLOCKS)]
        counted = _read(report)
        rows_in = sum(s["numInputRows"] for s in sources) if counted is None else counted
        rows_out = _observed(report)
        operators = report["stateOperators"]
        return Progress(
            report["batchId"],
            self.rows_in + rows_in,
            self.rows_out + rows_out,
            rows_in / seconds,
            rows_out / seconds,
            _moment(report.get("eventTime", {}).get("watermark")) or self.watermark,
            sum(o["numRowsTotal"] for o in operators),
            self.late_rows + sum(o["numRowsDroppedByWatermark"] for o in operators),
            _summed(self.dead, _dead(report)),
            _summed(self.rejected, _rejected(report)),
            _summed(self.unread, _unread(report)),
        )

    def lag(self, now: datetime | None = None) -> float | None:
        """How many seconds the watermark is behind the wall clock."""
        if self.watermark is None:
            return None
        return ((now or datetime.now(UTC)) - self.watermark).total_seconds()


def described(report: Mapping[str, Any], places: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    """One micro-batch for a log: its number, when it began, its watermark, and rows in per source, out and late."""
    one = Progress(report["batchId"] - 1).after(report)
    return {
        "batch": one.batch,
        "began": report["timestamp"],
        "seconds": report.get("batchDuration", 0) / 1000,
        "watermark": None if one.watermark is None else one.watermark.isoformat(),
        "rows_in": rows_by_source(report, places),
        "rows_out": one.rows_out,
        "late_rows": one.late_rows,
        "state_rows": one.state_rows,
        "dead": dict(one.dead),
        "rejected": dict(one.rejected),
        "unread": dict(one.unread),
    }


def rows_by_source(report: Mapping[str, Any], places: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Rows by extent, of which `places` has the paths and topics; a source of no extent goes by Spark's name for it."""
    found: dict[str, int] = {}
    for source in report["sources"]:
        said = source["description"].replace("\\", "")
        if not any(clock in said for clock in CLOCKS):
            name = next((n for n, parts in places.items() if any(part in said for part in parts)), said)
            found[name] = max(found.get(name, 0), source["numInputRows"])
    return {**found, **_counted(report)}


def _observed(report: Mapping[str, Any]) -> int:
    answer = (report.get("observedMetrics") or {}).get("transom_answer")
    if answer is None:
        return 0
    rows = answer["rows"] if isinstance(answer, Mapping) or hasattr(answer, "asDict") else answer[0]
    return int(rows or 0)


def _read(report: Mapping[str, Any]) -> int | None:
    """How many statements came out of files, of which Spark counts the files."""
    found = _counted(report)
    return sum(found.values()) if found else None


def _counted(report: Mapping[str, Any]) -> dict[str, int]:
    """The rows of extents that count their own, once for all readers of a stream."""
    found: dict[str, int] = {}
    for name, metrics in (report.get("observedMetrics") or {}).items():
        if name.startswith(READ):
            extent = name.removeprefix(f"{READ}transom_").rpartition("_")[0].removesuffix(messages(""))
            counts = metrics if isinstance(metrics, Mapping) else metrics.asDict()
            found[extent] = max(found.get(extent, 0), counts["rows"] or 0)
    return found


def _dead(report: Mapping[str, Any]) -> Counter[str]:
    """What was no row, by extent and reason; an extent that several readers read is counted once."""
    found: dict[tuple[str, str], int] = {}
    ending = "" if _read(report) is None else messages("")
    for name, metrics in (report.get("observedMetrics") or {}).items():
        if name.startswith(DEAD):
            extent = name.removeprefix(f"{DEAD}transom_").rpartition("_")[0].removesuffix(ending)
            counts = metrics if isinstance(metrics, Mapping) else metrics.asDict()
            for reason in Reason:
                found[extent, reason.value] = max(found.get((extent, reason.value), 0), counts[reason.name.lower()])
    return Counter({f"{extent}: {reason}": count for (extent, reason), count in found.items() if count})


def _rejected(report: Mapping[str, Any]) -> Counter[str]:
    """Rows beyond a speed limit, by extent; an extent that is read twice is counted once."""
    found: Counter[str] = Counter()
    for name, metrics in (report.get("observedMetrics") or {}).items():
        if name.startswith(REJECTED):
            extent = name.removeprefix(REJECTED).rpartition("_")[0]
            counts = metrics if isinstance(metrics, Mapping) else metrics.asDict()
            found[extent] = max(found[extent], counts["rows"] or 0)
    return +found


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
