"""A query that runs: how it was ordered, what it did so far, and its end between two micro-batches."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pyspark.sql import DataFrame

from transom.physical.plan import Kernel
from transom.runtime.checkpoint import Checkpoint
from transom.runtime.failures import in_words
from transom.runtime.files_read import changed_files
from transom.runtime.lock import Lock
from transom.runtime.progress import Progress
from transom.runtime.sink_dead_letters import SinkDeadLetters
from transom.spark.marks import EPOCH, TickTime

if TYPE_CHECKING:
    from transom.query import Query
    from transom.rdf_query import RdfQuery

BETWEEN_REPORTS = 2.0
"""Seconds between two looks at what a query did."""
PATIENCE = 20.0
"""Seconds that a micro-batch has to end before it is interrupted; it is then repeated at the next start."""
REPORTS = 1000
"""The most reports that wait for whoever logs them."""

OnDataLoss = Literal["refuse", "continue"]


@dataclass(frozen=True)
class Order:
    """How a query is to be run."""

    sink: str
    checkpoint: Path
    start: int = 0
    until: int | None = None
    index: bool = False
    approximate_sums: bool = False
    once: bool = False
    allow_unbounded: bool = False
    kernel: Kernel = "auto"
    on_data_loss: OnDataLoss = "refuse"


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
        query: Query | RdfQuery,
        order: Order,
        resumed: bool,
        kernel: Kernel,
        checkpoint: Checkpoint,
        gate: Gate,
        lock: Lock,
        places: Mapping[str, Sequence[str]],
        letters: SinkDeadLetters | None = None,
    ) -> None:
        self.stream = stream
        self.query = query
        self.order = order
        self.resumed = resumed
        self.kernel: Kernel = kernel
        self.reports: deque[Mapping[str, Any]] = deque(maxlen=REPORTS)
        """Spark's reports of micro-batches that nobody has taken yet."""
        self.seen = Progress()
        """What `progress` gave last."""
        self.places = places
        """By extent the paths and topics that it is read from."""
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
        """What it did so far: rows in and out, watermark, state, late rows."""
        with self._one_at_a_time:
            for report in self.stream.recentProgress:
                entries = _entries(report)
                before, self.seen = self.seen, self.seen.after(entries)
                if self.seen is not before:
                    self.reports.append(entries)
            refused = self._letters.counts() if self._letters else {}
            return replace(self.seen, dead={**self.seen.dead, **refused}) if refused else self.seen

    def changed_files(self) -> list[Path]:
        """The files of its sources that were changed after they were read; what was added to them is not read."""
        return changed_files(self.order.checkpoint)

    def closed_tick(self) -> int | None:
        """The last closed tick: the sink has the answers of this tick and all before it.

        None while the watermark has not moved, as in a query that keeps no state and answers every row at once.
        """
        watermark = self.progress().watermark
        if watermark is None:
            return None
        closed = TickTime(self.query.catalog.calendar).closed((watermark - EPOCH) // timedelta(milliseconds=1))
        return closed if self.order.until is None else min(closed, self.order.until)

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
            self._ended()
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
