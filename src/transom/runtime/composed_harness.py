"""A query over answers of other queries on given rows and statements, as a stream that is cut into micro-batches."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from transom.catalog.catalog import Catalog
from transom.catalog.extents import Extent
from transom.catalog.rdf import RdfExtent
from transom.connectors.composed import read_statements
from transom.connectors.gather import gather
from transom.physical.plan import Kernel
from transom.reference.rdf.statements import Inputs as RdfInputs
from transom.reference.sources import Inputs
from transom.runtime import answers, micro_batches, rdf_answers, rdf_harness
from transom.runtime.dataframe import dataframe
from transom.runtime.harness import collected
from transom.runtime.job import Job, Plannable
from transom.runtime.micro_batches import Split, pieces
from transom.runtime.options import RunOptions


@dataclass(frozen=True)
class Sources:
    """The extents at the bottom of a query, and what each of them delivers."""

    extents: tuple[Extent, ...]
    rdf_extents: tuple[RdfExtent, ...]
    rows: Inputs
    statements: RdfInputs

    @property
    def reads(self) -> tuple[RdfExtent, ...]:
        """The streams and graphs of RDF."""
        return self.rdf_extents

    @property
    def total(self) -> int:
        """How many rows and statements come in all."""
        streams = (*self.rows.streams.values(), *self.statements.streams.values())
        return sum(map(len, streams))


def sources_of(
    reads: Sequence[Extent],
    catalog: Catalog,
    given: Mapping[str, Any] | None = None,
    until: int | None = None,
    *,
    start: int = 0,
) -> Sources:
    """What is given for the sources of a query, or what the catalog's sources hold; both kinds are among `reads`."""
    handed = given or {}
    facts = tuple(extent for extent in reads if isinstance(extent, RdfExtent))
    extents = tuple(extent for extent in reads if not isinstance(extent, RdfExtent))
    rows = gather(extents, catalog, {e.name: handed[e.name] for e in extents if e.name in handed}, until)
    statements = read_statements(facts, catalog, handed)
    last = max(rows.until, statements.last) if until is None else until
    return Sources(extents, facts, replace(rows, until=last, start=start), statements.inputs)


def write_sources(folder: Path, sources: Sources, split: Split) -> None:
    """One file per source and micro-batch; the last one of each moves the watermark past the end."""
    last = sources.rows.until
    micro_batches.write_streams(folder, sources.extents, sources.rows, split)
    told = {n: [one for one in given if one[0] <= last] for n, given in sources.statements.streams.items()}
    cut = pieces(rdf_harness.arrivals(sources, RdfInputs(told)), split)
    rdf_harness.write_batches(folder, sources, cut, last)


def read_sources(spark: SparkSession, folder: Path, sources: Sources, *, live: bool) -> dict[str, DataFrame]:
    """Those files as streams or as batches, and what is stored."""
    paths = {extent.name: folder / extent.name for extent in micro_batches.streamed(sources.extents)}
    return {
        **micro_batches.read_streams(spark, sources.extents, paths, live=live),
        **micro_batches.table_frames(spark, sources.extents, sources.rows),
        **rdf_harness.frames_of(sources, spark, folder, sources.statements, live=live),
    }


def stream_rows(
    query: Plannable[Extent], spark: SparkSession, sources: Sources, split: Split, *, kernel: Kernel = "auto"
) -> tuple[Job, list[Any]]:
    """The job, and the rows of its answer with ticks as numbers, as a stream that is cut into micro-batches."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        write_sources(folder / "in", sources, split)
        frames = read_sources(spark, folder / "in", sources, live=True)
        options = RunOptions(start=sources.rows.start, until=sources.rows.until, kernel=kernel)
        job = query.job(spark, options, tuple(frames), live=True)
        frame = plain(job, dataframe(job, spark, frames, live=True))
        return job, collected(frame, spark, folder / "checkpoint")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def plain(job: Job, frame: DataFrame) -> DataFrame:
    """An answer with ticks as numbers and columns by their places."""
    if job.over_rdf:
        return rdf_answers.plain(job.plan, frame, job.catalog.calendar)
    return answers.plain(frame, job.plan.schema, job.catalog.calendar)


def is_mixed(job: Job) -> bool:
    """Whether a job reads rows and statements, or the sources of the other kind alone."""
    return bool(job.extents) if job.over_rdf else bool(job.rdf_extents)


def gathered(job: Job, rows: Sequence[Any]) -> Any:
    """Rows of Spark as an answer."""
    if job.over_rdf:
        return rdf_harness.gathered(job, rows)
    return answers.answer(rows, job.plan.schema, job.columns, job.result_kind)  # type: ignore[arg-type]
