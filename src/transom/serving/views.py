"""What a running project tells about its queries, as plain data."""

from __future__ import annotations

from typing import Any

from transom.catalog.servers import Kafka
from transom.errors import TransomError
from transom.runtime.heartbeats import watermark_delay_ms
from transom.runtime.sinks.sink import Sink
from transom.serving.change import Change
from transom.serving.member import Member
from transom.serving.starting import StartedQuery
from transom.serving.supervisor import Supervisor


def project_view(supervisor: Supervisor) -> dict[str, Any]:
    """Return the queries of a project with their status, and the error of the project file if it has one."""
    error = None if supervisor.error is None else supervisor.error.render()
    return {"error": error, "queries": [summary(member) for member in list(supervisor.members.values())]}


def summary(member: Member) -> dict[str, Any]:
    """Return the name, the status and the newest figures of a query."""
    last, error = member.last, member.error
    progress = None if last is None else last.run.last_progress
    return {
        "name": member.name,
        "status": member.status.value,
        "since": member.since.isoformat(timespec="seconds"),
        "restarts": member.restarts,
        "language": None if last is None else last.query.language,
        "batch": None if progress is None or progress.batch < 0 else progress.batch,
        "lag_seconds": None if progress is None else progress.lag(),
        **_figures(member),
        "error": None if error is None else error.render(),
        "change": None if member.change is None else change_view(member.change),
    }


def change_view(change: Change) -> dict[str, Any]:
    """Return what becomes of changed files while the run goes on: whether they are refused, since when, and why."""
    return {
        "status": "refused" if change.is_refused else "checking",
        "since": change.since.isoformat(timespec="seconds"),
        "error": None if change.error is None else change.error.render(),
    }


def _figures(member: Member) -> dict[str, Any]:
    """Return the rows in state and their bound, and of all sources the rows by outcome and the longest delay."""
    last = member.last
    if last is None:
        return {"rows": None, "watermark_delay_seconds": None, "state": None}
    sources, bound = source_views(member, last), last.run.job.bound
    rows = {name: sum(source[name] for source in sources) for name in ("read", "used", "late", "outside")}
    return {
        "rows": {**rows, "rejected": sum(sum(source["rejected"].values()) for source in sources)},
        "watermark_delay_seconds": max((source["watermark_delay_seconds"] for source in sources), default=None),
        "state": {"rows": last.run.last_progress.state_rows, "bound": str(bound), "bound_rows": bound.rows},
    }


def details(member: Member) -> dict[str, Any]:
    """Return all that is known of a query: its text and plan, and how its run gets on."""
    last = member.last
    view = {**summary(member), "output": output_text(member.declared.settings.sink)}
    if last is None:
        return {**view, "text": _text(member), "columns": None, "plan": None, "sources": {}}
    progress = last.run.last_progress
    watermark = progress.watermark
    return {
        **view,
        "text": last.query.text,
        "columns": list(last.query.columns),
        "kind": last.query.result_kind,
        "plan": last.plan,
        "watermark": None if watermark is None else watermark.isoformat(),
        "rows_out": progress.earlier.rows_out + progress.rows_out,
        "batch_seconds": batch_seconds(member),
        "sources": {source["name"]: source for source in source_views(member, last)},
        "refused": dict(progress.refused),
        "sink_retries": last.run.sink_retries,
    }


def source_views(member: Member, started: StartedQuery) -> list[dict[str, Any]]:
    """Return the balance of each source since the first start, its watermark delay and its lag where it is known."""
    job, totals = started.run.job, started.run.last_progress.totals
    behind = _offsets_behind(member.last_report)
    views = []
    for extent in job.sources:
        if not extent.is_stream:
            continue
        balance = totals.get(extent.name)
        topic = extent.source.topic if isinstance(extent.source, Kafka) else None
        views.append(
            {
                "name": extent.name,
                "watermark_delay_seconds": watermark_delay_ms(extent, job.catalog.calendar) / 1000,
                "read": balance.read if balance else 0,
                "used": balance.used if balance else 0,
                "late": balance.late if balance else 0,
                "rejected": dict(balance.rejected) if balance else {},
                "outside": balance.outside if balance else 0,
                "offsets_behind": None if topic is None else behind.get(topic),
            }
        )
    return views


def _offsets_behind(report: dict[str, Any]) -> dict[str, int]:
    """Return, by topic, how many offsets the last micro-batch was behind the newest message."""
    behind: dict[str, int] = {}
    for source in report.get("sources", ()):
        latest, end = source.get("latestOffset"), source.get("endOffset")
        if not isinstance(latest, dict) or not isinstance(end, dict):
            continue
        for topic, partitions in latest.items():
            if isinstance(partitions, dict) and isinstance(end.get(topic), dict):
                lag = sum(offset - end[topic].get(partition, 0) for partition, offset in partitions.items())
                behind[topic] = max(behind.get(topic, 0), lag)
    return behind


def batch_seconds(member: Member) -> float | None:
    """Return how long the last micro-batch took; None before the first one."""
    milliseconds = member.last_report.get("batchDuration")
    return None if milliseconds is None else milliseconds / 1000


def output_text(sink: str) -> str:
    """Return a sink for readers: a folder as it is, and of a server only its kind, as addresses may hold secrets."""
    try:
        parsed = Sink.read(sink)
    except TransomError:
        return "invalid"
    return str(parsed) if parsed.address is None else parsed.kind


def _text(member: Member) -> str | None:
    """Return the text of a query that was never started; None if its file cannot be read."""
    try:
        return member.declared.read()
    except TransomError:
        return None
