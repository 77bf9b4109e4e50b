"""Run a query on Spark over given inputs: as a stream split into micro-batches, or as a batch."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from transom.physical.nodes.windows import KernelMode
from transom.runtime.checkpoint.local_files import local_file_manager
from transom.runtime.dataframe import dataframe
from transom.runtime.job import Job, Plannable
from transom.runtime.options import RunOptions
from transom.runtime.verify.micro_batches import Split, read_streams, table_frames, write_streams


def stream_answer(
    query: Plannable,
    spark: SparkSession,
    inputs: Any,
    split: Split,
    until: int | None = None,
    kernel: KernelMode = "auto",
    *,
    index: bool = False,
) -> Any:
    """Run a query as a stream over inputs in micro-batches of `split`; return its answer, numbered if `index`.

    With `index`, its tuples are numbered. `until` is the last tick; the default is that of the inputs.
    """
    until = inputs.until if until is None else until
    with _temporary_folder() as folder:
        paths = write_streams(folder / "in", query.sources, inputs, split, until)
        job, frame = job_and_frame(query, spark, inputs, paths, until, index=index, live=True, kernel=kernel)
        return job.results.answer(collect_stream(job.results.plain(frame), spark, folder / "checkpoint"))


def replay_answer(
    query: Plannable, spark: SparkSession, inputs: Any, kernel: KernelMode = "auto", *, index: bool = False
) -> Any:
    """Run a query as a batch over inputs and return its answer; `index` adds the tuples' running numbers."""
    until = inputs.until if inputs.ends else None
    with _temporary_folder() as folder:
        paths = write_streams(folder / "in", query.sources, inputs, Split(), until)
        job, frame = job_and_frame(query, spark, inputs, paths, until, index=index, live=False, kernel=kernel)
        return job.results.answer(job.results.plain(frame).collect())


@contextmanager
def _temporary_folder() -> Iterator[Path]:
    """Open a context with a temporary folder, which is deleted at the end."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def streaming_frame(
    query: Plannable,
    spark: SparkSession,
    inputs: Any,
    split: Split,
    folder: Path,
    *,
    index: bool = False,
    kernel: KernelMode = "auto",
) -> DataFrame:
    """Build a query's streaming DataFrame over `inputs` in `folder`, split by `split`; `index` numbers tuples.

    With `index`, the tuples of the answer are numbered.
    """
    paths = write_streams(folder / "in", query.sources, inputs, split, inputs.until)
    return job_and_frame(query, spark, inputs, paths, inputs.until, index=index, live=True, kernel=kernel)[1]


def job_and_frame(
    query: Plannable,
    spark: SparkSession,
    inputs: Any,
    paths: Mapping[str, Path],
    until: int | None,
    *,
    index: bool = False,
    live: bool,
    kernel: KernelMode,
) -> tuple[Job, DataFrame]:
    """Plan a query and build its DataFrame, streaming if `live`, over `paths` by source; `index` numbers tuples.

    With `index`, the tuples of the answer are numbered.
    """
    frames = read_streams(spark, query.sources, paths, live=live) | table_frames(spark, query.sources, inputs)
    options = RunOptions(start=getattr(inputs, "start", 0), until=until, index=index, kernel=kernel)
    job = query.job(spark, options, tuple(frames), live=live)
    return job, dataframe(job, spark, frames, live=live)


def collect_stream(frame: DataFrame, spark: SparkSession, checkpoint: Path) -> list[Any]:
    """Run a streaming DataFrame until its sources have no more files, and return all its rows."""
    name = f"transom_{uuid4().hex}"
    writer = frame.writeStream.format("memory").queryName(name).outputMode("append")
    with local_file_manager(spark):
        running = writer.option("checkpointLocation", str(checkpoint)).start()
    try:
        running.processAllAvailable()
    finally:
        running.stop()
    rows = spark.table(name).collect()
    spark.catalog.dropTempView(name)
    return rows
