"""Account for the rows of every micro-batch: count them before the sink takes the answer, and keep the counts."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from transom.catalog.extent import Extent
from transom.catalog.servers import Kafka
from transom.connectors.kafka.offset_counts import MAX_OFFSETS, OffsetCounts, count_offsets
from transom.errors import LostRows
from transom.model.balance import Balance
from transom.runtime.checkpoint.balances import LOST_ROWS_HINT, BalanceRecord, RowTotals
from transom.runtime.checkpoint.checkpoint import Checkpoint
from transom.runtime.checkpoint.logs.spark_logs import last_committed, topic_positions
from transom.runtime.progress import Progress, rows_out, source_balances
from transom.spark.input.balance import RowCounts

START_TIMEOUT = 60.0
"""Seconds that the first micro-batch waits until Spark has returned the query that runs it."""


class RowAccounts:
    """The row counts of a run's micro-batches, and those of the same checkpoint before this start.

    A micro-batch whose rows do not add up stops the run, and marks the checkpoint.
    """

    def __init__(self, checkpoint: Checkpoint, metrics: RowCounts, sources: Sequence[Extent]) -> None:
        """Load a checkpoint's row counts; `metrics` says what Spark's metrics of this run count, by source."""
        self._checkpoint = checkpoint
        self._counts = metrics
        self._topics = {
            extent.name: extent.source
            for extent in sources
            if isinstance(extent.source, Kafka) and not extent.holds_statements
        }
        self._record = BalanceRecord(checkpoint.folder, checkpoint.write, checkpoint.logs.committed)
        committed = checkpoint.logs.committed
        self._begins = self._positions(committed) if self._topics and committed >= 0 else {}
        """Where this run begins in its topics; Spark deletes this log later."""
        self._stream: Any = None
        self._attached = threading.Event()
        self._writing = threading.Lock()
        self._last = -1
        """The last micro-batch that this run has counted."""
        self._newest, self._before = RowTotals(), RowTotals()
        """The counts of this run's last micro-batch, which may not be committed, and of those before it."""

    def progress(self) -> Progress:
        """Return the row counts at this start of a run, before it reads a row: those of its earlier starts."""
        record = self._record
        return Progress(earlier=record.earlier, counted_from=record.first, uncounted=record.uncounted)

    def attach(self, stream: Any) -> None:
        """Set Spark's running query (`stream`), whose metrics give the row counts of each micro-batch."""
        self._stream = stream
        self._attached.set()

    def count_computed(self, batch: int) -> None:
        """Count the rows of a computed, not yet committed micro-batch; raise LostRows if they do not add up.

        A sink with transactions calls it before it commits the rows; for others it is called after the delivery.
        """
        if batch == self._last:
            return
        if not self._attached.wait(START_TIMEOUT):
            raise TimeoutError("Spark has not returned the query that runs")
        observed = dict(_observed_metrics(self._stream))
        self._add(batch, observed)

    def count_reported(self, report: Mapping[str, Any]) -> None:
        """Count the rows of a committed micro-batch from its progress report, unless they are counted already."""
        if report["batchId"] > self._last:
            self._add(report["batchId"], report.get("observedMetrics") or {})

    def _add(self, batch: int, observed: Mapping[str, Any]) -> None:
        """Check a micro-batch's row counts from Spark's metrics, then record them; LostRows if they do not add up."""
        counts = RowTotals(1, source_balances(observed, self._counts), rows_out(observed), self._offsets(batch))
        lost = counts.lost_rows(f"in micro-batch {batch}")
        if lost is not None:
            self._checkpoint.mark_lost_rows(str(lost))
            raise lost
        with self._writing:
            self._record.record(batch, counts)
            self._last, self._newest, self._before = batch, counts, self._before + self._newest

    def with_unreported(self, progress: Progress) -> Progress:
        """Return an ended run's `progress`, plus committed micro-batches that Spark has not reported."""
        with self._writing:
            if self._last <= progress.batch:
                return progress
            try:
                committed = last_committed(self._checkpoint.files)
            except Exception:  # a file system that is read through the session, which is gone
                return progress
            batch = min(self._last, committed)
            if batch <= progress.batch:
                return progress
            counted = self._before + self._newest if batch == self._last else self._before
        return replace(progress, batch=batch, sources=counted.sources, rows_out=counted.rows_out)

    def _offsets(self, batch: int) -> dict[str, int]:
        """Count the offsets of each extent's topic that a micro-batch passes, from Spark's logs."""
        if not self._topics:
            return {}
        ends, begins = self._positions(batch), self._positions(batch - 1)
        return {
            name: _span(begins[source.topic], ends[source.topic])
            for name, source in self._topics.items()
            if source.topic in ends and source.topic in begins
        }

    def explain_offsets(self, progress: Progress) -> dict[str, OffsetCounts]:
        """For each Kafka extent, count by cause the offsets that gave no row; raise LostRows if one held a row.

        Topics without such offsets are left out, and long spans, which would take long to read again.
        """
        if not self._topics or progress.batch < 0 or importlib.util.find_spec("confluent_kafka") is None:
            return {}
        begins, ends = self._begins or self._positions(-1), self._positions(progress.batch)
        explained = {}
        for name, source in self._topics.items():
            if source.topic not in begins or source.topic not in ends:
                continue
            rows = progress.sources.get(name, Balance()).read
            begin, end = begins[source.topic], ends[source.topic]
            if rows < _span(begin, end) <= MAX_OFFSETS:
                explained[name] = count_offsets(source, begin, end)
                self._check_messages(name, rows, explained[name].messages)
        return explained

    def _check_messages(self, name: str, rows: int, messages: int) -> None:
        """Raise LostRows, and mark the checkpoint, if source `name` read fewer `rows` than its topic has `messages`."""
        if messages > rows:
            lost = LostRows(
                f"the rows of {name} do not add up: {rows:,} read of {messages:,} messages",
                detail=f"messages that were passed over: {messages - rows:,}",
                hint=LOST_ROWS_HINT,
            )
            self._checkpoint.mark_lost_rows(str(lost))
            raise lost

    def _positions(self, batch: int) -> dict[str, dict[str, int]]:
        """Return the offsets at which a micro-batch ends, by topic and partition, from Spark's logs."""
        return topic_positions(self._checkpoint.files, batch)


def _span(begins: Mapping[str, int], ends: Mapping[str, int]) -> int:
    """Return the number of Kafka offsets from `begins` to `ends`, each by partition; a new partition begins at 0."""
    return sum(end - begins.get(partition, 0) for partition, end in ends.items())


def _observed_metrics(stream: Any) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield (name, values by column) of each metric of the micro-batch that query `stream` has just computed."""
    metrics = stream._jsq.streamingQuery().lastExecution().observedMetrics().iterator()
    while metrics.hasNext():
        entry = metrics.next()
        row = entry._2()
        yield entry._1(), {name: row.get(index) for index, name in enumerate(row.schema().fieldNames())}
