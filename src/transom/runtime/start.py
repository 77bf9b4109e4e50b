"""A running query: started on a sink and a checkpoint, watched, stopped."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.catalog.servers import Kafka
from transom.errors import UsageError
from transom.physical.node import Clock
from transom.physical.walk import walk
from transom.runtime.checkpoint import SPARK, Checkpoint
from transom.runtime.dataframe import dataframe
from transom.runtime.deliver import check_ledger, delivery
from transom.runtime.fingerprint import check, fingerprint
from transom.runtime.folder import Folder, is_sparks
from transom.runtime.job import Job
from transom.runtime.lock import Lock
from transom.runtime.running import Gate, Running
from transom.runtime.sink_dead_letters import SinkDeadLetters
from transom.runtime.sinks import Sink
from transom.runtime.topics import check_topics, topics_of
from transom.spark.balance import RowCounts
from transom.spark.clock import completed
from transom.spark.file_order import warn_of_file_order
from transom.spark.printable import printable

ANSWER = "transom_answer"
MOST_WINDOWS = 1_000_000
"""Windows that a live run may have to make up for before it has caught up with the clock."""


def start_query(job: Job, spark: SparkSession, given: Mapping[str, DataFrame] | None = None) -> Running:
    """Start a job; a checkpoint of another one, and state without a bound, are refused."""
    sink, options, given = Sink.read(job.options.sink), job.options, given or {}
    if not any(source.runs_live for source in job.sources):
        raise UsageError("nothing streams in this query", hint="replay it: its answer holds for ever")
    if not job.bound.bounded and not options.allow_unbounded:
        raise UsageError(
            f"the query must remember rows without a bound: {job.bound.formula}",
            hint="; ".join((*job.bound.hints, "or allow it with --allow-unbounded (allow_unbounded=True)")),
        )
    if options.until is None:
        _check_span(job)
    elif options.once:
        _check_whole([e for e in job.sources if e.name not in given])
    counts = RowCounts()
    frame = dataframe(job, spark, given, live=True, counts=counts)
    print_now = fingerprint(job, given)
    own = sink.folder is not None and is_sparks(spark, sink, options.folder)
    lock = Lock(options.folder).take()
    try:
        checkpoint = Checkpoint.open(spark, options.folder)
        resumed = check(options.folder, print_now, job.text, begun=checkpoint.begun)
        checkpoint.check()
        warn_of_file_order(given)
        check_topics(checkpoint, topics_of(job.sources, given), may_lose=options.may_lose)
        gate = Gate(checkpoint)
        writer = (
            (printable(frame) if sink.kind == "console" else frame)
            .observe(ANSWER, F.count(F.lit(1)).alias("rows"))
            .writeStream.outputMode("append")
            .option("checkpointLocation", str(options.folder / SPARK))
            .queryName(f"transom_{uuid4().hex}")
        )
        if options.once:
            writer = writer.trigger(availableNow=True)
        letters = SinkDeadLetters(options.folder, sink.kind)
        writer = _attached(writer, sink, spark, checkpoint, gate, own, letters)
        checkpoint.note()
        stream = writer.start()
    except BaseException:
        lock.free()
        raise
    return Running(stream, job, resumed, checkpoint, gate, lock, counts, letters)


def _attached(
    writer: Any,
    sink: Sink,
    spark: SparkSession,
    checkpoint: Checkpoint,
    gate: Gate,
    own: bool,
    letters: SinkDeadLetters,
) -> Any:
    """A writer of a stream that writes to a sink; into a folder of files by Spark's own sink only if told so."""
    if sink.address is None and (sink.folder is None or own):
        return sink.attach(writer)
    run = checkpoint.run_id()
    if sink.folder is not None:
        folder = Folder(spark, sink, run)
        folder.check_not_ahead(checkpoint.logs.planned)
        folder.shown = checkpoint.count_files(str(sink.folder), len(folder.batches()))
        return writer.foreachBatch(gate.guarded(folder))
    if checkpoint.begun:
        check_ledger(sink, run, checkpoint.logs.planned)
    deliver = delivery(sink, run, letters)
    return writer.foreachBatch(deliver if getattr(spark, "_jvm", None) is None else gate.guarded(deliver))


def _check_span(job: Job) -> None:
    """Refuse a run whose clock would first have to go through more windows than anybody meant."""
    now = completed(job.catalog.calendar)
    for node in walk(job.plan):
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


def spark_plan(job: Job, spark: SparkSession) -> str:
    """Spark's own plan for a live run over the catalog's sources, and how many of its operators cost most."""
    frame = dataframe(job, spark, live=True)
    words = io.StringIO()
    with contextlib.redirect_stdout(words):
        frame.explain("formatted")
    return f"{plan_costs(words.getvalue())}\n{words.getvalue()}"


def plan_costs(plan: str) -> str:
    """The stateful operators and the shuffles of a plan in Spark's format "formatted", counted.

    >>> plan_costs("* Project (3)\\n+- StateStoreSave (2)\\n   +- Exchange (1)")
    'stateful operators: 1, shuffles: 1'
    """
    operators = re.findall(r"^[ :*+|-]*([A-Za-z]+) \(\d+\)$", plan, re.MULTILINE)
    stateful = sum(name.startswith(_STATEFUL) for name in operators)
    return f"stateful operators: {stateful}, shuffles: {operators.count('Exchange')}"


_STATEFUL = (
    "StateStoreSave",
    "SessionWindowStateStoreSave",
    "StreamingSymmetricHashJoin",
    "StreamingDeduplicate",
    "TransformWithState",
)
"""How the names of Spark's operators with state begin."""
