"""The DataFrame of a query: sources opened or taken as given, the plan lowered onto them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Kind
from transom.errors import UsageError
from transom.runtime.job import Job, lateness_of
from transom.runtime.rdf_dataframe import beats_of, messages_of, open_statements, rdf_dataframe, shared_in
from transom.runtime.row_sources import Opened, last_tick, open_rows
from transom.spark.balance import RowCounts
from transom.spark.frames import LoweringContext
from transom.spark.lower import lower
from transom.spark.rejected import Rejected
from transom.spark.result import result
from transom.spark.session import allow_depth, check_session


def dataframe(
    job: Job,
    spark: SparkSession,
    given: Mapping[str, Any] | None = None,
    *,
    live: bool,
    rejected: Rejected | None = None,
    counts: RowCounts | None = None,
) -> DataFrame:
    """One DataFrame with the answer: streaming if `live`, else batch.

    `given` are the sources that the caller has opened; the others are opened as the catalog says. `rejected` counts the
    rows of a batch beyond a speed limit, `counts` those of all live sources.
    """
    counts = counts or RowCounts()
    if job.over_rdf:
        return rdf_dataframe(job, spark, given, live=live, counts=counts)
    plan, catalog, options = job.plan, job.catalog, job.options
    frames = dict(given or {})
    for name in frames:
        if name not in catalog.extents and name not in catalog.rdf.extents:
            raise UsageError(f"a source for {name}, which is no extent", hint=f"there is {', '.join(catalog.extents)}")
    rows = open_rows(job, spark, frames, live=live, counts=counts)
    facts = open_statements(job, spark, frames, live=live, counts=counts)
    until = options.until
    if until is None and not live:
        until = max(last_tick(options.start, rows), last_tick(options.start, Opened(facts.streams)))
    run = LoweringContext(
        spark,
        catalog.calendar,
        {**rows.streams, **facts.streams},
        {**rows.tables, **facts.tables},
        live,
        options.start,
        until,
        {**rows.delays, **facts.delays},
        beats_of(job, spark, rows, facts, frames) if live else {},
        options.approximate_sums,
        job.kernel.used,
        rejected or Rejected(),
        shared=shared_in(job, live=live),
        counts=counts,
        lateness=lateness_of(job, live=live),
        settled=rows.settled,
        source_of=messages_of(job),
    )
    check_session(spark, plan, catalog.calendar, live)
    if job.rdf_extents:
        allow_depth(spark)
    return result(plan, lower(plan, run))


def is_live(frames: Mapping[str, Any], catalog: Catalog) -> bool:
    """Whether an answer over given sources is a stream: where one of them is."""
    known = [*catalog.extents.values(), *catalog.rdf.extents.values()]
    own = [frames[e.name] for e in known if e.kind is not Kind.STORED and e.name in frames]
    return any(frame.isStreaming for frame in own)
