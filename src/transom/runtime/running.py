"""A running query: what it did so far, and its end between two micro-batches."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame

from transom.errors import LostRows
from transom.runtime.checkpoint import Checkpoint
from transom.runtime.failures import in_words
from transom.runtime.files_read import changed_files
from transom.runtime.job import Job
from transom.runtime.lock import Lock
from transom.runtime.progress import Progress, lost_rows
from transom.runtime.sink_dead_letters import SinkDeadLetters
from transom.spark.balance import RowCounts
from transom.spark.marks import EPOCH, TickTime

BETWEEN_REPORTS = 2.0
"""Seconds between two looks at what a query did."""
PATIENCE = 20.0
"""Seconds that a micro-batch has to end before it is interrupted; it is then repeated at the next start."""
REPORTS = 1000
"""The most reports that wait for whoever logs them."""


class Gate:
    """What a micro-batch passes before it is delivered, until somebody closes it."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint
        self._closed = threading.Event()
        self.reached = threading.Event()
        """Set when a micro-batch waits at the closed gate: the one before it is committed."""

    def guarded(self, deliver: Callable[[DataFrame, int], None]) -> Callable[[DataFrame, int], None]:
        """A delivery behind the gate; it also notes what Spark has written so far."""

        def pass_through(frame: DataFrame, batch: int) -> None:
            if self._closed.is_set():
                self.reached.set()
                _wait_for_interrupt(frame)
            self._checkpoint.note()
            deliver(frame, batch)

        return pass_through

    def close(self) -> None:
        """Let no further micro-batch through."""
        self._closed.set()


def _wait_for_interrupt(frame: DataFrame) -> None:
    """Wait in the thread of the query until Spark interrupts it, which ends the query without an error."""
    jvm: Any = frame.sparkSession._jvm
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        jvm.java.lang.Thread.sleep(100)
    raise InterruptedError("the query is stopped, and Spark did not interrupt it")


class Running:
    """A query that runs. `stop` ends it between two micro-batches; started again on its checkpoint, it goes on."""

    def __init__(
        self,
        stream: Any,
        job: Job,
        resumed: bool,
        checkpoint: Checkpoint,
        gate: Gate,
        lock: Lock,
        counts: RowCounts,
        letters: SinkDeadLetters | None = None,
    ) -> None:
        self.stream = stream
        self.job = job
        self.resumed = resumed
        self.reports: deque[Mapping[str, Any]] = deque(maxlen=REPORTS)
        """Spark's reports of micro-batches that nobody has taken yet."""
        self.seen = Progress()
        """What `progress` gave last."""
        self.counts = counts
        """Which metrics of the reports count the rows of which source."""
        self._lost: LostRows | None = None
        self._letters = letters
        self._checkpoint = checkpoint
        self._gate = gate
        self._lock = lock
        self._one_at_a_time = threading.Lock()
        lock.in_use = self._in_use
        threading.Thread(target=self._follow, name="transom progress", daemon=True).start()

    def _follow(self) -> None:
        """Take note of reports before Spark forgets them; it keeps the last hundred."""
        while True:
            try:
                if not self.is_active:
                    break
                self.progress()
            except Exception:  # the session is gone; whoever waits for the query is told why
                break
            with contextlib.suppress(OSError):  # a full disk stops the query itself
                self._lock.while_held(self._checkpoint.note)
            time.sleep(BETWEEN_REPORTS)
        self._ended()

    def _in_use(self) -> bool:
        try:
            return self.is_active
        except Exception:  # the session is gone
            return False

    def _ended(self) -> None:
        """Note what was written last, and let others have the checkpoint."""
        with contextlib.suppress(Exception):
            self._lock.while_held(self._checkpoint.note)
        self._lock.free()

    @property
    def is_active(self) -> bool:
        """Whether it still runs."""
        return bool(self.stream.isActive)

    def progress(self) -> Progress:
        """What it did so far: the balance of each source, rows out, watermark, state.

        A run whose balance does not close is stopped; `wait` raises LostRows.
        """
        with self._one_at_a_time:
            for report in self.stream.recentProgress:
                entries = _entries(report)
                before, self.seen = self.seen, self.seen.after(entries, self.counts)
                if self.seen is not before:
                    self.reports.append(entries)
                    self._check(entries)
            refused = self._letters.counts() if self._letters else {}
            return replace(self.seen, refused=refused) if refused else self.seen

    def _check(self, report: Mapping[str, Any]) -> None:
        """Stop if rows are missing in a micro-batch, and let nobody continue the checkpoint."""
        lost = lost_rows(report, self.counts)
        if lost is not None and self._lost is None:
            self._lost = lost
            self._checkpoint.spoil(str(lost))
            self.stream.stop()

    def changed_files(self) -> list[Path]:
        """The files of its sources that were changed after they were read; what was added to them is not read."""
        return changed_files(self.job.options.folder)

    def closed_tick(self) -> int | None:
        """The last closed tick: the sink has the answers of this tick and all before it.

        None while the watermark has not moved, as in a query that keeps no state and answers every row at once.
        """
        watermark = self.progress().watermark
        if watermark is None:
            return None
        closed = TickTime(self.job.catalog.calendar).closed((watermark - EPOCH) // timedelta(milliseconds=1))
        return closed if self.job.options.until is None else min(closed, self.job.options.until)

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it ends, or so long; whether it ended. An error of the run is raised here, in words if known."""
        try:
            if seconds is None:
                self.stream.awaitTermination()
                ended = True
            else:
                ended = bool(self.stream.awaitTermination(seconds))
        except Exception as error:
            self._ended()
            known = in_words(error)
            if known is None:
                raise
            raise known from error
        if ended:
            self.progress()
            self._ended()
        if self._lost is not None:
            raise self._lost
        return ended

    def stop(self, patience: float = PATIENCE) -> None:
        """Stop between two micro-batches, keeping all that is needed to go on.

        A micro-batch that takes longer than `patience` seconds is interrupted, and repeated at the next start.
        """
        self.progress()
        self._gate.close()
        batch, end = self._batch(), time.monotonic() + patience
        while self._busy(batch) and time.monotonic() < end:
            if self._gate.reached.wait(0.1):
                break
        self.stream.stop()
        self._ended()

    def _busy(self, batch: int | None) -> bool:
        return self.is_active and bool(self.stream.status["isTriggerActive"]) and self._batch() == batch

    def _batch(self) -> int | None:
        last = self.stream.lastProgress
        return None if last is None else int(_entries(last)["batchId"])


def _entries(report: Any) -> Mapping[str, Any]:
    """A report of progress as a dictionary, whatever Spark hands out."""
    if isinstance(report, dict):
        return report
    entries: Mapping[str, Any] = json.loads(report.json)
    return entries
