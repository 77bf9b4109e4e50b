"""A query over RDF that runs: its changes go to a sink, its state into a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession

from transom.algebra.rdf.tree import reads_streams
from transom.errors import UsageError
from transom.physical.node import Physical
from transom.physical.rdf_plan import Stand
from transom.physical.walk import walk
from transom.runtime.dataframe import Options
from transom.runtime.fingerprint import FORMAT, SOURCE_OF, located, on_topic, shape
from transom.runtime.kernel import planned
from transom.runtime.rdf_dataframe import dataframe
from transom.runtime.sinks import Sink
from transom.runtime.start import Order, Running, launch

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
    options = Options(
        until=order.until, live=True, ends=order.once, kernel=fast, may_lose=order.on_data_loss == "continue"
    )
    frame = dataframe(plan, query.catalog, query.reads, spark, given, options)
    return launch(frame, query, spark, given, place, order, _fingerprint(query, plan, given, order.until), fast)


def _fingerprint(query: RdfQuery, plan: Physical, given: Mapping[str, DataFrame], until: int | None) -> dict[str, Any]:
    """All that the state in a checkpoint depends on."""
    calendar = query.catalog.calendar
    extents = {f"extent {e.name}": [e.iri, e.is_stream] for e in query.reads}
    own = [e for e in query.reads if e.is_stream and e.name not in given]
    files = {f"the files of {e.name}": [e.format, e.time] for e in own}
    folder = query.catalog.folder
    sources = {f"{SOURCE_OF}{e.name}": [on_topic(e.topic.topic)] if e.topic else located(e.files, folder) for e in own}
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
        **sources,
        **({"the clock of stored graphs": "one tick"} if stored else {}),
    }
