"""Start a job as a Spark streaming query with a sink and a checkpoint; Spark's plan for `explain`."""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extent import Extent
from transom.catalog.servers import Kafka
from transom.errors import UsageError
from transom.model.time import Calendar
from transom.physical.nodes.node import PhysicalNode, ReadClock
from transom.physical.nodes.walk import walk
from transom.runtime.accounts import RowAccounts
from transom.runtime.checkpoint.checkpoint import SPARK_FOLDER, Checkpoint
from transom.runtime.checkpoint.fingerprint import check_fingerprint, fingerprint
from transom.runtime.checkpoint.handover import clear_withheld, refuse_handed_over
from transom.runtime.checkpoint.local_files import local_file_manager
from transom.runtime.checkpoint.lock import CheckpointLock
from transom.runtime.checkpoint.notes import notes
from transom.runtime.checkpoint.settings import applied, settings_for
from transom.runtime.code_generation import CodeGeneration
from transom.runtime.dataframe import dataframe
from transom.runtime.job import Job
from transom.runtime.running import BatchGate, Running
from transom.runtime.sinks.dead_letters import SinkDeadLetters
from transom.runtime.sinks.delivery import batch_delivery, check_columns, check_ledger, claim_sink
from transom.runtime.sinks.folder import FolderWriter, uses_spark_sink
from transom.runtime.sinks.sink import Sink
from transom.runtime.state.operators import record_operators
from transom.runtime.topics import check_topics, source_topics
from transom.runtime.upgrade.takeover import table_takeover
from transom.spark.columns import TICK
from transom.spark.event_time import TickTime
from transom.spark.input.balance import RowCounts
from transom.spark.input.clock import last_completed_tick
from transom.spark.input.file_order import warn_of_file_order
from transom.spark.printable import printable

ANSWER_METRIC = "transom_answer"
MAX_BACKLOG_WINDOWS = 1_000_000
"""The most windows between the first tick of a live run and the present that it may have to catch up on."""


def start_query(job: Job, spark: SparkSession, user_frames: Mapping[str, DataFrame] | None = None) -> Running:
    """Start a live run of a planned query; `user_frames` are DataFrames that replace the catalog's sources, by name.

    `user_frames` are the caller's DataFrames by source.
    """
    sink, options, user_frames = Sink.read(job.options.sink), job.options, user_frames or {}
    _check_settings(job, user_frames)
    counts = RowCounts()
    nodes: list[PhysicalNode] = []
    frame = dataframe(job, spark, user_frames, live=True, metrics=counts, lowered_nodes=nodes)
    check_columns(sink, frame.columns)
    current = fingerprint(job, user_frames)
    spark_sink = sink.folder is not None and uses_spark_sink(spark, sink, options.folder)
    lock = CheckpointLock(options.folder).acquire()
    try:
        checkpoint = Checkpoint.open(spark, options.folder)
        refuse_handed_over(options.folder)
        settings = settings_for(spark, options.folder)
        resumed = check_fingerprint(
            options.folder,
            current,
            job.text,
            spark_has_written=checkpoint.started,
            uncompared_notes=notes(job, settings),
        )
        checkpoint.check()
        checkpoint.take_over()
        record_operators(checkpoint, job, nodes, frame)
        warn_of_file_order(user_frames)
        check_topics(checkpoint, source_topics(job.sources, user_frames), allow_data_loss=options.allow_data_loss)
        accounts = RowAccounts(checkpoint, counts, [s for s in job.sources if s.name not in user_frames])
        gate = BatchGate(checkpoint, accounts)
        writer = (
            (printable(shown_times(frame, job.catalog.calendar)) if sink.kind == "console" else frame)
            .observe(ANSWER_METRIC, F.count(F.lit(1)).alias("rows"))
            .writeStream.outputMode("append")
            .option("checkpointLocation", str(options.folder / SPARK_FOLDER))
            .queryName(f"transom_{uuid4().hex}")
        )
        if options.once:
            writer = writer.trigger(availableNow=True)
        dead_letters = SinkDeadLetters(options.folder, sink.kind)
        writer = _attach_sink(writer, sink, spark, checkpoint, gate, spark_sink, dead_letters, job)
        checkpoint.record_digests()
        clear_withheld(options.folder)
        code_generation = CodeGeneration(spark, frame)
        with local_file_manager(spark), applied(spark, {**settings, **code_generation.settings}):
            stream = writer.start()
        accounts.attach(stream)
    except BaseException:
        lock.release()
        raise
    return Running(stream, job, resumed, checkpoint, gate, lock, accounts, counts, code_generation, dead_letters)


def check_job(job: Job, spark: SparkSession) -> None:
    """Raise the error with which `start_query` would refuse a planned query before it takes the checkpoint's lock.

    Nothing is changed, so another run may use the checkpoint and the sink meanwhile.
    """
    _check_settings(job, {})
    check_columns(Sink.read(job.options.sink), dataframe(job, spark, live=True).columns)


def _check_settings(job: Job, user_frames: Mapping[str, DataFrame]) -> None:
    """Raise UsageError for a query that does not stream, or whose state, backlog or single micro-batch is refused."""
    options = job.options
    if not any(source.runs_live for source in job.sources):
        raise UsageError("nothing streams in this query", hint="replay it: its answer never changes")
    if not job.bound.bounded and not options.allow_unbounded:
        raise UsageError(
            f"the query must remember rows without a bound: {job.bound.formula}",
            hint="; ".join((*job.bound.hints, "or allow it with --allow-unbounded (allow_unbounded=True)")),
        )
    if options.until is None:
        _check_backlog(job)
    elif options.once:
        _check_single_batch([source for source in job.sources if source.name not in user_frames])


def shown_times(frame: DataFrame, calendar: Calendar) -> DataFrame:
    """Replace the column `tick` by the instant at which the tick begins, or without an epoch by the tick's number.

    Files and servers keep the event time, which is the end of the tick.
    """
    if TICK not in frame.columns:
        return frame
    time = TickTime(calendar)
    return frame.withColumn(TICK, time.begin_of_tick() if calendar.has_epoch else time.tick_number())


def _attach_sink(
    writer: Any,
    sink: Sink,
    spark: SparkSession,
    checkpoint: Checkpoint,
    gate: BatchGate,
    spark_sink: bool,
    dead_letters: SinkDeadLetters,
    job: Job,
) -> Any:
    """Return the Spark stream `writer` with a sink attached; `spark_sink` means Spark's own sink for a folder.

    For a folder, `spark_sink` means Spark's file sink instead of FolderWriter.
    """
    takeover = table_takeover(spark, job, checkpoint)
    if sink.address is None and (sink.folder is None or spark_sink):
        return sink.attach(writer)
    run = checkpoint.run_id()
    if sink.folder is not None:
        folder = FolderWriter(spark, sink, run)
        folder.take_over()
        folder.check_not_ahead(checkpoint.logs.planned)
        folder.on_computed = gate.accounts.count_computed
        folder.on_files_added = checkpoint.file_counter(str(sink.folder), len(folder.batches()))
        return writer.foreachBatch(gate.wrap(folder))
    epoch = claim_sink(sink, run)
    if checkpoint.started:
        check_ledger(sink, run, checkpoint.logs.planned)
    if getattr(spark, "_jvm", None) is None:  # the callback runs in the server, which gets a copy of it
        return writer.foreachBatch(batch_delivery(sink, run, dead_letters, run_epoch=epoch))
    deliver = batch_delivery(sink, run, dead_letters, gate.accounts.count_computed, epoch, takeover)
    return writer.foreachBatch(gate.wrap(deliver))


def _check_backlog(job: Job) -> None:
    """Raise UsageError for a run that would first have to catch up on more than MAX_BACKLOG_WINDOWS windows."""
    now = last_completed_tick(job.catalog.calendar)
    for node in walk(job.plan):
        if isinstance(node, ReadClock) and not node.schedule.is_single:
            windows = (now - node.schedule.first) // node.schedule.shortest
            if windows > MAX_BACKLOG_WINDOWS:
                raise UsageError(
                    f"a live run from tick {node.schedule.first} has {windows:,} windows behind it already",
                    hint="start later, for example --start now, or set a later `epoch` in the catalog",
                )


def _check_single_batch(sources: Sequence[Extent]) -> None:
    """Raise UsageError if `maxOffsetsPerTrigger` limits micro-batches in a run that must read everything in one.

    That is a run with `once` and `until`: its first micro-batch closes all ticks.
    """
    for extent in sources:
        if isinstance(extent.source, Kafka) and "maxOffsetsPerTrigger" in dict(extent.source.options):
            raise UsageError(
                f"a run once and until a tick reads {extent.name} in one micro-batch, maxOffsetsPerTrigger in several",
                hint="leave one of the three out",
            )


def spark_plan(job: Job, spark: SparkSession) -> str:
    """Return Spark's plan for a live run as text, after a count of its stateful operators and shuffles."""
    frame = dataframe(job, spark, live=True)
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        frame.explain("formatted")
    return f"{plan_costs(output.getvalue())}\n{output.getvalue()}"


def plan_costs(plan: str) -> str:
    """Count the stateful operators and the shuffles in Spark's text of a plan (format "formatted").

    >>> plan_costs("* Project (3)\\n+- StateStoreSave (2)\\n   +- Exchange (1)")
    'stateful operators: 1, shuffles: 1'
    """
    operators = re.findall(r"^[ :*+|-]*([A-Za-z]+) \(\d+\)$", plan, re.MULTILINE)
    stateful = sum(name.startswith(_STATEFUL_OPERATORS) for name in operators)
    return f"stateful operators: {stateful}, shuffles: {operators.count('Exchange')}"


_STATEFUL_OPERATORS = (
    "StateStoreSave",
    "SessionWindowStateStoreSave",
    "StreamingSymmetricHashJoin",
    "StreamingDeduplicate",
    "TransformWithState",
)
"""Prefixes of the names of Spark's stateful operators."""
