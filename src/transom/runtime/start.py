"""A running query: started on a sink and a checkpoint, watched, stopped."""

from __future__ import annotations

import contextlib
import io
import json
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.catalog.servers import Kafka
from transom.errors import UsageError
from transom.physical.plan import Clock, Kernel, Physical
from transom.physical.show import total
from transom.physical.walk import walk
from transom.runtime.copies import check_copies
from transom.runtime.dataframe import Options, dataframe
from transom.runtime.deliver import delivery, identity
from transom.runtime.files_read import changed_files, check_unread_files
from transom.runtime.fingerprint import check, fingerprint
from transom.runtime.folder import Folder, exists, is_sparks
from transom.runtime.kernel import planned
from transom.runtime.progress import Progress
from transom.runtime.sink_dead_letters import SinkDeadLetters
from transom.runtime.sinks import Sink
from transom.spark.clock import completed
from transom.spark.file_order import warn_of_file_order
from transom.spark.marks import EPOCH, TickTime
from transom.spark.printable import printable
from transom.spark.rejected import Rejected

if TYPE_CHECKING:
    from transom.query import Query
    from transom.rdf_query import RdfQuery

ANSWER = "transom_answer"
MOST_WINDOWS = 1_000_000
"""Windows that a live run may have to make up for before it has caught up with the clock."""
BETWEEN_REPORTS = 2.0
"""Seconds between two looks at what a query did."""


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


class Running:
    """A query that runs. `stop` ends it between two micro-batches; started again on its checkpoint, it goes on."""

    def __init__(
        self,
        stream: Any,
        query: Query | RdfQuery,
        order: Order,
        resumed: bool,
        kernel: Kernel,
        letters: SinkDeadLetters | None = None,
    ) -> None:
        self.stream = stream
        self.query = query
        self.order = order
        self.resumed = resumed
        self.kernel: Kernel = kernel
        self._letters = letters
        self._seen = Progress()
        self._one_at_a_time = threading.Lock()
        threading.Thread(target=self._follow, name="transom progress", daemon=True).start()

    def _follow(self) -> None:
        """Take note of reports before Spark forgets them; it keeps the last hundred."""
        while True:
            try:
                if not self.is_active:
                    return
                self.progress()
            except Exception:  # the session is gone; whoever waits for the query is told why
                return
            time.sleep(BETWEEN_REPORTS)

    @property
    def is_active(self) -> bool:
        """Whether it still runs."""
        return bool(self.stream.isActive)

    def progress(self) -> Progress:
        """What it did so far: rows in and out, watermark, state, late rows."""
        with self._one_at_a_time:
            for report in self.stream.recentProgress:
                self._seen = self._seen.after(_entries(report))
            refused = self._letters.counts() if self._letters else {}
            return replace(self._seen, dead={**self._seen.dead, **refused}) if refused else self._seen

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
        """Wait until it ends, or so long; whether it ended. An error of the run is raised here."""
        if seconds is None:
            self.stream.awaitTermination()
            return True
        return bool(self.stream.awaitTermination(seconds))

    def stop(self) -> None:
        """Stop, keeping all that is needed to go on."""
        self.progress()
        self.stream.stop()


def begin(query: Query, spark: SparkSession, sources: Mapping[str, DataFrame] | None, order: Order) -> Running:
    """Start a query; a checkpoint of another one, and state without a bound, are refused."""
    sink = Sink.read(order.sink)
    index = order.index and query.gives == "tagged-tuples"
    given = tuple(sources or ())
    fast, plan = planned(
        spark, order.kernel, lambda fast: query.physical(start=order.start, index=index, kernel=fast, given=given)
    )
    state = query.state_of(total(plan))
    if not state.bounded and not order.allow_unbounded:
        raise UsageError(
            f"the query must remember rows without a bound: {state.formula}",
            hint="; ".join((*state.hints, "or allow it with --allow-unbounded (allow_unbounded=True)")),
        )
    check_copies(query, plan, live=True, until=order.until)
    if order.until is None:
        _check_span(plan, query)
    elif order.once:
        _check_whole([e for e in query.reads if e.name not in (sources or {})])
    options = Options(
        start=order.start,
        until=order.until,
        approximate_sums=order.approximate_sums,
        live=True,
        ends=order.once,
        kernel=fast,
        checkpoint=order.checkpoint,
    )
    frame = dataframe(plan, query.catalog, query.reads, spark, sources, options)
    own = sink.folder is not None and is_sparks(spark, sink, order.checkpoint)
    print_now = fingerprint(query, plan, order.start, order.until, index=index, approximate=order.approximate_sums)
    resumed = check(order.checkpoint, print_now, query.text)
    check_unread_files(order.checkpoint)
    warn_of_file_order(sources or {})
    writer = (
        (printable(frame) if sink.kind == "console" else frame)
        .observe(ANSWER, F.count(F.lit(1)).alias("rows"))
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(order.checkpoint / "spark"))
        .queryName(f"transom_{uuid4().hex}")
    )
    if order.once:
        writer = writer.trigger(availableNow=True)
    letters = SinkDeadLetters(order.checkpoint, sink.kind)
    writer = attached(writer, sink, spark, order.checkpoint, own, letters)
    return Running(writer.start(), query, order, resumed, "on" if fast else "off", letters)


def attached(
    writer: Any, sink: Sink, spark: SparkSession, checkpoint: Path, own: bool, letters: SinkDeadLetters
) -> Any:
    """A writer of a stream that writes to a sink; into a folder of files by Spark's own sink only if told so."""
    if sink.address is None and (sink.folder is None or own):
        return sink.attach(writer)
    run = identity(checkpoint, exists(spark, checkpoint / "spark"))
    return writer.foreachBatch(delivery(sink, run, letters) if sink.folder is None else Folder(spark, sink, run))


def _check_span(plan: Physical, query: Query) -> None:
    """Refuse a run whose clock would first have to go through more windows than anybody meant."""
    now = completed(query.catalog.calendar)
    for node in walk(plan):
        if isinstance(node, Clock) and node.schedule.periods:
            windows = (now - node.schedule.first) // min(node.schedule.periods)
            if windows > MOST_WINDOWS:
                raise UsageError(
                    f"a live run from tick {node.schedule.first} has {windows:,} windows behind it already",
                    hint="start later, for example --start now, or set a later `epoch` in the catalog",
                )


def _check_whole(reads: Sequence[Extent]) -> None:
    """Refuse to read a topic in parts where the end of the run closes all ticks with the first part."""
    for extent in reads:
        if isinstance(extent.source, Kafka) and "maxOffsetsPerTrigger" in dict(extent.source.options):
            raise UsageError(
                f"a run once and until a tick reads {extent.name} in one micro-batch, maxOffsetsPerTrigger in several",
                hint="leave one of the three out",
            )


def _entries(report: Any) -> Mapping[str, Any]:
    """A report of progress as a dictionary, whatever Spark hands out."""
    if isinstance(report, dict):
        return report
    entries: Mapping[str, Any] = json.loads(report.json)
    return entries


def replay(
    query: Query,
    spark: SparkSession,
    *,
    start: int = 0,
    until: int | None = None,
    index: bool = False,
    kernel: Kernel = "auto",
    rejected: Rejected | None = None,
) -> DataFrame:
    """The answer over the catalog's sources as a batch, in the order of its ticks."""
    frame = query.to_df(spark, start=start, until=until, index=index, kernel=kernel, rejected=rejected)
    order = [name for name in ("tick", "seq", "index") if name in frame.columns]
    return frame.orderBy(*order)


def spark_plan(query: Query, spark: SparkSession, kernel: Kernel = "auto") -> str:
    """The plan of Spark's own for a live run over the catalog's sources."""
    fast, plan = planned(spark, kernel, lambda fast: query.physical(kernel=fast))
    options = Options(live=True, kernel=fast)
    frame = dataframe(plan, query.catalog, query.reads, spark, None, options)
    words = io.StringIO()
    with contextlib.redirect_stdout(words):
        frame.explain("formatted")
    return words.getvalue()
