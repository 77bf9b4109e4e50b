"""A running query: its progress, and how it stops between two micro-batches."""

from __future__ import annotations

import contextlib
import json
import tempfile
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from transom.errors import Fenced, LostRows, RunWarning, TransomError
from transom.physical.nodes.node import ReadClock
from transom.physical.nodes.walk import walk
from transom.runtime.accounts import RowAccounts
from transom.runtime.checkpoint.checkpoint import Checkpoint
from transom.runtime.checkpoint.handover import mark_withheld
from transom.runtime.checkpoint.lock import CheckpointLock
from transom.runtime.checkpoint.logs.source_files import changed_files
from transom.runtime.code_generation import CodeGeneration
from transom.runtime.failures import translate_error
from transom.runtime.job import Job
from transom.runtime.progress import Progress, find_lost_rows
from transom.runtime.sinks.dead_letters import SinkDeadLetters
from transom.runtime.sinks.retries import retries_counted
from transom.runtime.sinks.sink import Sink
from transom.spark.event_time import EPOCH, TickTime
from transom.spark.input.balance import RowCounts
from transom.spark.input.clock import last_completed_tick

REPORT_INTERVAL = 2.0
"""Seconds between two reads of Spark's progress reports."""
STOP_TIMEOUT = 20.0
"""Seconds that a micro-batch has to end before it is interrupted; it is then repeated at the next start."""
MAX_PENDING_REPORTS = 1000
"""The most progress reports that wait to be logged; older ones are dropped."""


class BatchGate:
    """Gate before the delivery of each micro-batch; once closed, it blocks the next one."""

    def __init__(self, checkpoint: Checkpoint, accounts: RowAccounts) -> None:
        """Create an open gate, which lets micro-batches pass and records digests of Spark's logs in `checkpoint`.

        `accounts` counts the rows of each micro-batch.
        """
        self._checkpoint = checkpoint
        self.accounts = accounts
        self.retries = 0
        """How often the sink has repeated a delivery, because its server did not take it."""
        self._closed = threading.Event()
        self.batch_waiting = threading.Event()
        """Set when a micro-batch waits at the closed gate: the one before it is committed."""

    def wrap(self, deliver: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
        """Wrap a `foreachBatch` callback: wait at a closed gate, record digests of Spark's logs, deliver, count rows.

        It waits while the gate is closed.
        """

        def pass_through(frame: DataFrame, batch: int) -> None:
            """Deliver micro-batch number `batch`; if the gate is closed, wait until Spark interrupts the query."""
            if self._closed.is_set():
                mark_withheld(self._checkpoint.folder, batch)
                self.batch_waiting.set()
                _wait_for_interrupt(frame)
            self._checkpoint.verify_epoch()
            self._checkpoint.record_digests()
            with retries_counted(self._count_retry):
                deliver(frame, batch)
            self.accounts.count_computed(batch)

        return pass_through

    def _count_retry(self) -> None:
        """Count a repetition of a delivery."""
        self.retries += 1

    def close(self) -> None:
        """Close the gate, which stops the delivery of further micro-batches, so that the query can stop between two."""
        self._closed.set()


def _wait_for_interrupt(frame: DataFrame) -> None:
    """Wait in the query's thread until Spark interrupts it, which ends the query without an error."""
    jvm: Any = frame.sparkSession._jvm
    end = time.monotonic() + STOP_TIMEOUT
    while time.monotonic() < end:
        jvm.java.lang.Thread.sleep(100)
    raise InterruptedError("the query is stopped, and Spark did not interrupt it")


class Running:
    """A running query. `stop` ends it between two micro-batches; a restart on its checkpoint resumes it."""

    def __init__(
        self,
        stream: Any,
        job: Job,
        resumed: bool,
        checkpoint: Checkpoint,
        gate: BatchGate,
        lock: CheckpointLock,
        accounts: RowAccounts,
        metrics: RowCounts,
        code_generation: CodeGeneration,
        dead_letters: SinkDeadLetters | None = None,
    ) -> None:
        """Create the run of `job` as Spark's query `stream` (`resumed` from a checkpoint); a thread polls its progress.

        `resumed` says whether it continues from a checkpoint.
        """
        self.stream = stream
        self.job = job
        self.resumed = resumed
        self.reports: deque[Mapping[str, Any]] = deque(maxlen=MAX_PENDING_REPORTS)
        """Spark's reports of micro-batches that have not been logged yet."""
        self.last_progress = accounts.progress()
        """The last result of `progress`, without the refused rows."""
        self.counts = metrics
        """Which metrics of the reports count the rows of which source."""
        self.accounts = accounts
        self._lost: LostRows | None = None
        self._fenced: Fenced | None = None
        self._code_generation = code_generation
        self._dead_letters = dead_letters
        self._checkpoint = checkpoint
        self._gate = gate
        self._lock = lock
        self._progress_lock = threading.Lock()
        lock.in_use = self._is_running
        threading.Thread(target=self._poll_progress, name="transom progress", daemon=True).start()

    def _poll_progress(self) -> None:
        """Poll progress reports until the query ends, because Spark keeps only the last hundred."""
        while True:
            try:
                if not self.is_active:
                    break
                self.progress()
            except Exception:  # the session is gone; `wait` raises the reason
                break
            if self._is_fenced():
                break
            with contextlib.suppress(OSError, Fenced):  # a full disk stops the query itself
                self._lock.while_held(self._checkpoint.record_digests)
            time.sleep(REPORT_INTERVAL)
        if self._is_fenced():
            with contextlib.suppress(Exception):  # the session may be gone
                self.stream.stop()
        self._release_lock()

    def _is_fenced(self) -> bool:
        """Whether a newer run has taken a higher epoch of the checkpoint; the error is kept, and `wait` raises it."""
        try:
            self._lock.while_held(self._checkpoint.verify_epoch)
        except Fenced as error:
            self._fenced = error
        return self._fenced is not None

    def _is_running(self) -> bool:
        """Whether the query is still running; False if its Spark session is gone."""
        try:
            return self.is_active
        except Exception:  # the session is gone
            return False

    def _release_lock(self) -> None:
        """Record the digests of the last log files, then release the checkpoint's lock."""
        self._is_fenced()
        with contextlib.suppress(Exception):
            self._lock.while_held(self._checkpoint.record_digests)
        self._lock.release()

    @property
    def is_active(self) -> bool:
        """Whether the query is still running."""
        return bool(self.stream.isActive)

    @property
    def sink_retries(self) -> int:
        """How often the sink has repeated a delivery, because its server did not take it."""
        return self._gate.retries

    def progress(self) -> Progress:
        """The totals so far: row counts of each source, rows out, watermark, rows in state.

        Stops a run whose balance does not add up; `wait` then raises LostRows.
        """
        with self._progress_lock:
            for report in self.stream.recentProgress:
                entries = _report_fields(report)
                before, self.last_progress = self.last_progress, self.last_progress.with_report(entries, self.counts)
                if self.last_progress is not before:
                    self.reports.append(entries)
                    self._stop_on_lost_rows(entries)
                    self._code_generation.adapt(self.stream, entries)
            return self._with_refused(self.last_progress)

    def final_progress(self) -> Progress:
        """The totals of a run that has ended, with committed micro-batches that Spark has not reported.

        Spark reports a micro-batch after its commit, and not at all if the query or the whole session is stopped
        between the two.
        """
        with contextlib.suppress(Exception):  # the session may be gone
            self.progress()
        with self._progress_lock:
            self.last_progress = self.accounts.with_unreported(self.last_progress)
            return self._with_refused(self.last_progress)

    def _with_refused(self, progress: Progress) -> Progress:
        """Return the progress with the counts of rows that the sink refused; the same progress if it refused none."""
        refused = self._dead_letters.counts() if self._dead_letters else {}
        return replace(progress, refused=refused) if refused else progress

    def _stop_on_lost_rows(self, report: Mapping[str, Any]) -> None:
        """Stop the query if a micro-batch lost rows, and mark the checkpoint so that no run continues it."""
        lost = find_lost_rows(report, self.counts)
        if lost is None:
            lost = self._count(report)
        if lost is not None and self._lost is None:
            self._lost = lost
            self._checkpoint.mark_lost_rows(str(lost))
            self.stream.stop()

    def _count(self, report: Mapping[str, Any]) -> LostRows | None:
        """Keep a micro-batch's row counts in the checkpoint; return LostRows if they do not add up, else None."""
        try:
            self._lock.while_held(lambda: self.accounts.count_reported(report))
        except LostRows as lost:
            return lost
        return None

    def changed_files(self) -> list[Path]:
        """The source files that were modified after they were read, which the run does not read again."""
        return changed_files(self.job.options.folder)

    def closed_tick(self) -> int | None:
        """The last tick whose answers the sink has completely; None without a watermark.

        None without a watermark, as in a query that keeps no state and answers every row at once.
        """
        with contextlib.suppress(Exception):  # if the session is gone, the last report counts
            self.progress()
        watermark = self.last_progress.watermark
        if watermark is None:
            return None
        closed = TickTime(self.job.catalog.calendar).last_closed_tick((watermark - EPOCH) // timedelta(milliseconds=1))
        return closed if self.job.options.until is None else min(closed, self.job.options.until)

    def newest_tick_ahead(self, now: datetime | None = None) -> int | None:
        """The tick of the newest row if the clock ends windows and has not passed this tick yet; else None.

        The clock ends windows that may be empty, unless the run has a last tick. `now` is by default the current time.
        """
        newest, calendar = self.last_progress.newest, self.job.catalog.calendar
        follows_clock = any(isinstance(node, ReadClock) and not node.schedule.is_single for node in walk(self.job.plan))
        if newest is None or self.job.options.until is not None or not follows_clock:
            return None
        # the event time of a row is the end of its tick; Spark reports it in whole milliseconds, rounded down
        tick = calendar.tick_of(newest + timedelta(microseconds=999)) - 1
        return tick if tick > last_completed_tick(calendar, now) else None

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the query ends or `seconds` have passed (None: no limit); return True if the query has ended.

        Raises the error of the run, translated to a TransomError if its cause is known.
        """
        try:
            if seconds is None:
                self.stream.awaitTermination()
                ended = True
            else:
                ended = bool(self.stream.awaitTermination(seconds))
        except Exception as error:
            self._release_lock()
            translated = self._fenced or translate_error(error, self._folders())
            if translated is None:
                raise
            raise translated from error
        if ended:
            self._explain_offsets()
            self._release_lock()
        if self._fenced is not None:
            raise self._fenced
        if self._lost is not None:
            raise self._lost
        return ended

    def _folders(self) -> list[Path]:
        """List the local folders that the run writes: its checkpoint, its sink, and Spark's local folder."""
        folders = [self.job.options.folder]
        sink = Sink.read(self.job.options.sink)
        if sink.folder is not None and "://" not in str(sink.folder):
            folders.append(Path(str(sink.folder).removeprefix("file:")))
        with contextlib.suppress(Exception):  # over Spark Connect, the folder is on the server
            local = self.stream._jsq.sparkSession().conf().get("spark.local.dir", tempfile.gettempdir())
            folders += [Path(name) for name in str(local).split(",")]
        return folders

    def stop(self, patience: float = STOP_TIMEOUT) -> None:
        """Stop the query between two micro-batches, or interrupt one that takes more than `patience` seconds.

        A micro-batch that takes longer than `patience` seconds is interrupted and repeated at the next start.
        """
        self.progress()
        self._gate.close()
        batch, end = self._last_batch(), time.monotonic() + patience
        while self._is_processing(batch) and time.monotonic() < end:
            if self._gate.batch_waiting.wait(0.1):
                break
        self.stream.stop()
        self._explain_offsets()
        self._release_lock()

    def _explain_offsets(self) -> None:
        """Add to an ended run's progress the counts, by cause, of Kafka offsets that gave no row, if known."""
        progress = self.final_progress()
        if self._lost is None and self._fenced is None and not progress.offsets:
            try:
                offsets = self.accounts.explain_offsets(progress)
            except LostRows as lost:
                self._lost = lost
            except TransomError as error:
                warnings.warn(f"the offsets without a row are not explained: {error.message}", RunWarning, stacklevel=2)
            else:
                self.last_progress = replace(self.last_progress, offsets=offsets)

    def _is_processing(self, batch: int | None) -> bool:
        """Whether the micro-batch with the number `batch` is still being processed."""
        return self.is_active and bool(self.stream.status["isTriggerActive"]) and self._last_batch() == batch

    def _last_batch(self) -> int | None:
        """Return the number of the last reported micro-batch; None before the first report."""
        last = self.stream.lastProgress
        return None if last is None else int(_report_fields(last)["batchId"])


def _report_fields(report: Any) -> Mapping[str, Any]:
    """Convert a progress report to a dictionary; Spark returns either a dictionary or an object with JSON."""
    if isinstance(report, dict):
        return report
    entries: Mapping[str, Any] = json.loads(report.json)
    return entries
