"""A running query: started on a sink and a checkpoint, watched, stopped."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.catalog.servers import Kafka
from transom.errors import UsageError
from transom.physical.node import Clock, Physical
from transom.physical.plan import Kernel
from transom.physical.show import total
from transom.physical.walk import walk
from transom.runtime.checkpoint import SPARK, Checkpoint
from transom.runtime.copies import check_copies
from transom.runtime.dataframe import Options, dataframe
from transom.runtime.deliver import check_ledger, delivery
from transom.runtime.fingerprint import SOURCE_OF, check, fingerprint
from transom.runtime.folder import Folder, is_sparks
from transom.runtime.kernel import planned
from transom.runtime.lock import Lock
from transom.runtime.running import Gate, Order, Running
from transom.runtime.sink_dead_letters import SinkDeadLetters
from transom.runtime.sinks import Sink
from transom.runtime.topics import check_topics, topics_of
from transom.spark.clock import completed
from transom.spark.file_order import warn_of_file_order
from transom.spark.printable import printable
from transom.spark.rejected import Rejected

if TYPE_CHECKING:
    from transom.query import Query
    from transom.rdf_query import RdfQuery

__all__ = ["ANSWER", "Order", "Running", "begin", "launch", "replay", "spark_plan"]

ANSWER = "transom_answer"
MOST_WINDOWS = 1_000_000
"""Windows that a live run may have to make up for before it has caught up with the clock."""


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
        may_lose=order.on_data_loss == "continue",
    )
    frame = dataframe(plan, query.catalog, query.reads, spark, sources, options)
    print_now = fingerprint(
        query, plan, order.start, order.until, index=index, approximate=order.approximate_sums, given=given
    )
    return launch(frame, query, spark, sources or {}, sink, order, print_now, fast)


def launch(
    frame: DataFrame,
    query: Query | RdfQuery,
    spark: SparkSession,
    given: Mapping[str, DataFrame],
    sink: Sink,
    order: Order,
    print_now: dict[str, Any],
    fast: bool,
) -> Running:
    """Start a DataFrame on a sink and a checkpoint that nobody else uses, that is whole, and that fits both."""
    own = sink.folder is not None and is_sparks(spark, sink, order.checkpoint)
    lock = Lock(order.checkpoint).take()
    try:
        checkpoint = Checkpoint.open(spark, order.checkpoint)
        resumed = check(order.checkpoint, print_now, query.text, begun=checkpoint.begun)
        checkpoint.check()
        warn_of_file_order(given)
        check_topics(checkpoint, topics_of(query.reads, given), may_lose=order.on_data_loss == "continue")
        gate = Gate(checkpoint)
        writer = (
            (printable(frame) if sink.kind == "console" else frame)
            .observe(ANSWER, F.count(F.lit(1)).alias("rows"))
            .writeStream.outputMode("append")
            .option("checkpointLocation", str(order.checkpoint / SPARK))
            .queryName(f"transom_{uuid4().hex}")
        )
        if order.once:
            writer = writer.trigger(availableNow=True)
        letters = SinkDeadLetters(order.checkpoint, sink.kind)
        writer = _attached(writer, sink, spark, checkpoint, gate, own, letters)
        checkpoint.note()
        stream = writer.start()
    except BaseException:
        lock.free()
        raise
    places = {n.removeprefix(SOURCE_OF): place for n, place in print_now.items() if n.startswith(SOURCE_OF)}
    return Running(stream, query, order, resumed, "on" if fast else "off", checkpoint, gate, lock, places, letters)


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
