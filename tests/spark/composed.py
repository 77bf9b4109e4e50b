"""Queries over answers of other queries on Spark: streams of rows and of statements cut into micro-batches."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from tests.compose.cases import INPUTS, UNTIL, Composition
from transom.model.rdf.answer import RdfAnswer
from transom.physical.plan import Kernel
from transom.query import Query
from transom.rdf_query import RdfQuery
from transom.runtime.composed_harness import (
    Sources,
    gathered,
    plain,
    read_sources,
    sources_of,
    stream_rows,
    write_sources,
)
from transom.runtime.dataframe import dataframe
from transom.runtime.job import Job
from transom.runtime.micro_batches import Split
from transom.runtime.options import RunOptions
from transom.runtime.rdf_verify import up_to

AnyQuery = Query | RdfQuery


def sources(query: AnyQuery, inputs: Mapping[str, Any] = INPUTS, until: int = UNTIL) -> Sources:
    """What the inputs of a test say for the sources at the bottom of a query."""
    both = (*query.reads, *query.statements) if isinstance(query, Query) else (*query.rows, *query.reads)
    return sources_of(both, query.catalog, inputs, until)


def comparable(answer: Any, until: int = UNTIL) -> Any:
    """An answer up to the last tick, without the order of rows of one tick."""
    return up_to(answer, until) if isinstance(answer, RdfAnswer) else Counter((e.tick, e.row) for e in answer.elements)


def run(case: Composition, spark: SparkSession, split: Split | None, kernel: Kernel = "auto") -> tuple[Any, Any]:
    """What the reference engine answers, and what Spark does: as a stream, or as a batch without a split."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        query = case.query(folder)
        job = query.job(spark, RunOptions(until=UNTIL, kernel=kernel), live=False)
        given = sources(query)
        if split is None:
            rows = plain(job, replayed(job, spark, given, folder / "in")).collect()
        else:
            job, rows = stream_rows(query, spark, given, split, kernel=kernel)  # type: ignore[arg-type]
        return comparable(query.simulate(INPUTS, until=UNTIL)), comparable(gathered(job, rows))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def replayed(job: Job, spark: SparkSession, given: Sources, folder: Path) -> DataFrame:
    """The answer over batches."""
    write_sources(folder, given, Split())
    return dataframe(job, spark, read_sources(spark, folder, given, live=False), live=False)
