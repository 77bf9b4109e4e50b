"""A query over RDF that runs: its changes go to a sink, its state into a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.algebra.rdf.tree import reads_streams
from transom.errors import UsageError
from transom.physical.plan import Physical
from transom.physical.rdf_plan import Stand
from transom.physical.walk import walk
from transom.runtime.dataframe import Options
from transom.runtime.files_read import check_unread_files
from transom.runtime.fingerprint import FORMAT, check, shape
from transom.runtime.folder import is_sparks
from transom.runtime.kernel import planned
from transom.runtime.rdf_dataframe import dataframe
from transom.runtime.sink_dead_letters import SinkDeadLetters
from transom.runtime.sinks import Sink
from transom.runtime.start import ANSWER, Order, Running, attached
from transom.spark.file_order import warn_of_file_order
from transom.spark.printable import printable

if TYPE_CHECKING:
    from transom.rdf_query import RdfQuery


def begin(query: RdfQuery, spark: SparkSession, sources: Mapping[str, DataFrame] | None, order: Order) -> Running:
    """Start a query; a checkpoint of another one, and state without a bound, are refused."""
    place = Sink.read(order.sink)
    if not reads_streams(query.algebra):
        raise UsageError("nothing streams in this query", hint="replay it: its answer holds for ever")
    fast, plan = planned(spark, order.kernel, lambda fast: query.physical(kernel=fast))
    state = query.spark_state("on" if fast else "off")
    if not state.bounded and not order.allow_unbounded:
        raise UsageError(
            f"the query must remember rows without a bound: {state.formula}",
            hint="allow it with --allow-unbounded (allow_unbounded=True)",
        )
    given = sources or {}
    options = Options(until=order.until, live=True, ends=order.once, kernel=fast)
    frame = dataframe(plan, query.catalog, query.reads, spark, given, options)
    own = place.folder is not None and is_sparks(spark, place, order.checkpoint)
    resumed = check(order.checkpoint, _fingerprint(query, plan, given, order.until), query.text)
    check_unread_files(order.checkpoint)
    warn_of_file_order(given)
    writer = (
        (printable(frame) if place.kind == "console" else frame)
        .observe(ANSWER, F.count(F.lit(1)).alias("rows"))
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(order.checkpoint / "spark"))
        .queryName(f"transom_{uuid4().hex}")
    )
    if order.once:
        writer = writer.trigger(availableNow=True)
    letters = SinkDeadLetters(order.checkpoint, place.kind)
    writer = attached(writer, place, spark, order.checkpoint, own, letters)
    return Running(writer.start(), query, order, resumed, "on" if fast else "off", letters)


def _fingerprint(query: RdfQuery, plan: Physical, given: Mapping[str, DataFrame], until: int | None) -> dict[str, Any]:
    """All that the state in a checkpoint depends on."""
    calendar = query.catalog.calendar
    extents = {f"extent {e.name}": [e.iri, e.is_stream] for e in query.reads}
    files = {f"the files of {e.name}": [e.format, e.time] for e in query.reads if e.is_stream and e.name not in given}
    late = {f"the lateness of {e.name}": e.lateness for e in query.reads if e.lateness}
    stored = any(isinstance(node, Stand) for node in walk(plan))
    return {
        "format": FORMAT,
        "the plan": shape(plan),
        "the length of a tick": calendar.length,
        "the epoch": calendar.epoch.isoformat(),
        "until": until,
        **extents,
        **files,
        **late,
        **({"the clock of stored graphs": "one tick"} if stored else {}),
    }
