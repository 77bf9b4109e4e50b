"""The figures of a running project in the format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from transom.serving.member import Member, Status
from transom.serving.supervisor import Supervisor
from transom.serving.views import batch_seconds, source_views


class ProjectCollector(Collector):
    """Reads the metrics of a project at the time of a scrape. Counts are those since the first start of a query."""

    def __init__(self, supervisor: Supervisor) -> None:
        """Collect the metrics of the queries that a supervisor runs."""
        self._supervisor = supervisor

    def describe(self) -> list[Metric]:
        """Return no description, so that registering collects nothing."""
        return []

    def collect(self) -> Iterator[Metric]:
        """Yield the metrics of the project, its queries and their sources."""
        valid = GaugeMetricFamily("transom_project_valid", "1 if the project file is valid now, else 0")
        valid.add_metric([], float(self._supervisor.error is None))
        yield valid
        members = list(self._supervisor.members.values())
        yield from _query_metrics(members)
        yield from _source_metrics(members)


def _query_metrics(members: list[Member]) -> Iterator[Metric]:
    """Yield the metrics of queries."""
    status = GaugeMetricFamily("transom_query_status", "1 for the present status", labels=["query", "status"])
    restarts = CounterMetricFamily("transom_query_restarts", "Starts after a failure", labels=["query"])
    batch = GaugeMetricFamily("transom_query_batch_seconds", "Duration of the last micro-batch", labels=["query"])
    rows_out = CounterMetricFamily("transom_query_rows_out", "Rows of the answer", labels=["query"])
    lag = GaugeMetricFamily("transom_query_watermark_lag_seconds", "From the watermark to now", labels=["query"])
    state = GaugeMetricFamily("transom_query_state_rows", "Rows in state", labels=["query"])
    bound = GaugeMetricFamily("transom_query_state_bound_rows", "Bound on the rows in state", labels=["query"])
    refused = CounterMetricFamily("transom_query_refused_rows", "Rows that the sink refused", labels=["query"])
    retries = GaugeMetricFamily(
        "transom_query_sink_retries", "Repeated deliveries of the run to its sink", labels=["query"]
    )
    change = GaugeMetricFamily(
        "transom_query_change_refused", "1 if the old query runs because changed files are refused", labels=["query"]
    )
    for member in members:
        name = [member.name]
        change.add_metric(name, float(member.change is not None and member.change.is_refused))
        for value in Status:
            status.add_metric([member.name, value.value], float(member.status is value))
        restarts.add_metric(name, member.restarts)
        if member.last is None:
            continue
        progress, job = member.last.run.last_progress, member.last.run.job
        if (seconds := batch_seconds(member)) is not None:
            batch.add_metric(name, seconds)
        rows_out.add_metric(name, progress.earlier.rows_out + progress.rows_out)
        if (behind := progress.lag()) is not None:
            lag.add_metric(name, behind)
        state.add_metric(name, progress.state_rows)
        if job.bound.rows is not None:
            bound.add_metric(name, job.bound.rows)
        refused.add_metric(name, sum(progress.refused.values()))
        retries.add_metric(name, member.last.run.sink_retries)
    yield from (status, change, restarts, batch, rows_out, lag, state, bound, refused, retries)


def _source_metrics(members: list[Member]) -> Iterator[Metric]:
    """Yield the metrics of sources: the balance of their rows, their delay, and where known how far they are behind."""
    rows = CounterMetricFamily(
        "transom_source_rows", "Rows by what became of them", labels=["query", "source", "outcome"]
    )
    delay = GaugeMetricFamily(
        "transom_source_watermark_delay_seconds", "The declared lateness", labels=["query", "source"]
    )
    behind = GaugeMetricFamily(
        "transom_source_offsets_behind",
        "Messages that the query still has to read",
        labels=["query", "source"],
    )
    for member in members:
        for source in [] if member.last is None else source_views(member, member.last):
            labels = [member.name, source["name"]]
            for outcome in ("used", "late", "outside"):
                rows.add_metric([*labels, outcome], source[outcome])
            rows.add_metric([*labels, "rejected"], sum(source["rejected"].values()))
            delay.add_metric(labels, source["watermark_delay_seconds"])
            if source["offsets_behind"] is not None:
                behind.add_metric(labels, source["offsets_behind"])
    yield from (rows, delay, behind)
