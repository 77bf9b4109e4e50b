"""A query over RDF that runs: its changes go to a sink, its state into a checkpoint."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.errors import UsageError
from transom.physical.plan import Kernel, Physical
from transom.runtime.dataframe import Options
from transom.runtime.deliver import delivery, identity
from transom.runtime.fingerprint import FORMAT, check, shape
from transom.runtime.kernel import use_kernel
from transom.runtime.rdf_dataframe import dataframe
from transom.runtime.sinks import Sink
from transom.runtime.start import ANSWER, Order, Running

if TYPE_CHECKING:
    from transom.rdf_query import RdfQuery


def begin(
    query: RdfQuery,
    spark: SparkSession,
    sources: Mapping[str, DataFrame],
    sink: str,
    checkpoint: Path,
    *,
    once: bool = False,
    kernel: Kernel = "auto",
) -> Running:
    """Start a query; a checkpoint of another one is refused."""
    place = Sink.read(sink)
    fast = use_kernel(spark, kernel)
    plan = query.physical(kernel=fast)
    frame = dataframe(plan, query.catalog, query.reads, spark, sources, Options(kernel=fast))
    if not frame.isStreaming:
        raise UsageError("nothing streams in this query", hint="give its streams as streaming DataFrames, or replay it")
    resumed = check(checkpoint, _fingerprint(query, plan), query.text)
    writer = (
        frame.observe(ANSWER, F.count(F.lit(1)).alias("rows"))
        .writeStream.outputMode("append")
        .option("checkpointLocation", str(checkpoint / "spark"))
        .queryName(f"transom_{int(time.time() * 1000)}")
    )
    if once:
        writer = writer.trigger(availableNow=True)
    if place.address is None:
        writer = place.attach(writer)
    else:
        writer = writer.foreachBatch(delivery(place, identity(checkpoint)))
    order = Order(sink, checkpoint, once=once, kernel=kernel)
    return Running(writer.start(), query, order, resumed, "on" if fast else "off")


def _fingerprint(query: RdfQuery, plan: Physical) -> dict[str, Any]:
    """All that the state in a checkpoint depends on."""
    calendar = query.catalog.calendar
    extents = {f"extent {e.name}": [e.iri, e.is_stream] for e in query.reads}
    return {
        "format": FORMAT,
        "the plan": shape(plan),
        "the length of a tick": calendar.length,
        "the epoch": calendar.epoch.isoformat(),
        **extents,
    }
