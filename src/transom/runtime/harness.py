"""A query on given inputs: as a stream that is cut into micro-batches, and as a replay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from transom.physical.plan import Kernel
from transom.runtime.dataframe import dataframe
from transom.runtime.job import Job, Plannable
from transom.runtime.micro_batches import Split, read_streams, table_frames, write_streams
from transom.runtime.options import RunOptions


def stream_answer(
    query: Plannable,
    spark: SparkSession,
    inputs: Any,
    split: Split,
    until: int | None = None,
    kernel: Kernel = "auto",
    *,
    index: bool = False,
) -> Any:
    """The answer of a query to some inputs, as a stream that is cut into micro-batches.

    `until` is the last tick; inputs of rows know it.
    """
    until = inputs.until if until is None else until
    with _folder() as folder:
        paths = write_streams(folder / "in", query.reads, inputs, split, until)
        job, frame = frame_of(query, spark, inputs, paths, until, index=index, live=True, kernel=kernel)
        return job.results.answer(collected(job.results.plain(frame), spark, folder / "checkpoint"))


def replay_answer(
    query: Plannable, spark: SparkSession, inputs: Any, kernel: Kernel = "auto", *, index: bool = False
) -> Any:
    """The answer of a query to some inputs, as a batch."""
    until = inputs.until if inputs.ends else None
    with _folder() as folder:
        paths = write_streams(folder / "in", query.reads, inputs, Split(), until)
        job, frame = frame_of(query, spark, inputs, paths, until, index=index, live=False, kernel=kernel)
        return job.results.answer(job.results.plain(frame).collect())


@contextmanager
def _folder() -> Iterator[Path]:
    """A folder for the files of one answer."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stream_of(
    query: Plannable,
    spark: SparkSession,
    inputs: Any,
    split: Split,
    folder: Path,
    *,
    index: bool = False,
    kernel: Kernel = "auto",
) -> DataFrame:
    """The streaming DataFrame of a query over inputs that are written into a folder."""
    paths = write_streams(folder / "in", query.reads, inputs, split, inputs.until)
    return frame_of(query, spark, inputs, paths, inputs.until, index=index, live=True, kernel=kernel)[1]


def frame_of(
    query: Plannable,
    spark: SparkSession,
    inputs: Any,
    paths: Mapping[str, Path],
    until: int | None,
    *,
    index: bool = False,
    live: bool,
    kernel: Kernel,
) -> tuple[Job, DataFrame]:
    """The job and the DataFrame of a query over streams in folders, and over the tables of the inputs."""
    frames = read_streams(spark, query.reads, paths, live=live) | table_frames(spark, query.reads, inputs)
    options = RunOptions(start=getattr(inputs, "start", 0), until=until, index=index, kernel=kernel)
    job = query.job(spark, options, tuple(frames), live=live)
    return job, dataframe(job, spark, frames, live=live)


def collected(frame: DataFrame, spark: SparkSession, checkpoint: Path) -> list[Any]:
    """All rows of a streaming DataFrame, once its sources have no more files."""
    name = f"transom_{uuid4().hex}"
    running = (
        frame.writeStream.format("memory")
        .queryName(name)
        .outputMode("append")
        .option("checkpointLocation", str(checkpoint))
        .start()
    )
    try:
        running.processAllAvailable()
    finally:
        running.stop()
    rows = spark.table(name).collect()
    spark.catalog.dropTempView(name)
    return rows
