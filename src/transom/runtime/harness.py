"""A query on given inputs: as a stream that is cut into micro-batches, and as a replay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, get_args
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from transom.catalog.extents import Extent
from transom.model.answer import Answer, AnswerKind
from transom.physical.plan import Kernel
from transom.reference.sources import Inputs
from transom.runtime.answers import answer, plain
from transom.runtime.dataframe import dataframe
from transom.runtime.job import Job, Plannable
from transom.runtime.micro_batches import Split, read_streams, table_frames, write_streams
from transom.runtime.options import RunOptions


def stream_answer(
    query: Plannable[Extent],
    spark: SparkSession,
    inputs: Inputs,
    split: Split,
    *,
    index: bool = False,
    kernel: Kernel = "auto",
) -> Answer:
    """The answer of a query to some inputs, as a stream that is cut into micro-batches."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        paths = write_streams(folder / "in", query.reads, inputs, split)
        job, frame = frame_of(query, spark, inputs, paths, inputs.until, index=index, live=True, kernel=kernel)
        return gathered(
            job, collected(plain(frame, job.plan.schema, job.catalog.calendar), spark, folder / "checkpoint")
        )
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def replay_answer(
    query: Plannable[Extent], spark: SparkSession, inputs: Inputs, *, index: bool = False, kernel: Kernel = "auto"
) -> Answer:
    """The answer of a query to some inputs, as a batch."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        paths = write_streams(folder / "in", query.reads, inputs, Split())
        job, frame = frame_of(query, spark, inputs, paths, inputs.until, index=index, live=False, kernel=kernel)
        return gathered(job, plain(frame, job.plan.schema, job.catalog.calendar).collect())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def gathered(job: Job, rows: Sequence[Any]) -> Answer:
    """Rows of Spark as an answer."""
    if job.result_kind not in get_args(AnswerKind):
        raise ValueError(f"{job.result_kind} are no rows")
    return answer(rows, job.plan.schema, job.columns, job.result_kind)  # type: ignore[arg-type]


def stream_of(
    query: Plannable[Extent],
    spark: SparkSession,
    inputs: Inputs,
    split: Split,
    folder: Path,
    *,
    index: bool = False,
    kernel: Kernel = "auto",
) -> DataFrame:
    """The streaming DataFrame of a query over inputs that are written into a folder."""
    paths = write_streams(folder / "in", query.reads, inputs, split)
    return frame_of(query, spark, inputs, paths, inputs.until, index=index, live=True, kernel=kernel)[1]


def frame_of(
    query: Plannable[Extent],
    spark: SparkSession,
    inputs: Inputs,
    paths: Mapping[str, Path],
    until: int,
    *,
    index: bool,
    live: bool,
    kernel: Kernel,
) -> tuple[Job, DataFrame]:
    """The job and the DataFrame of a query over streams in folders, and over the tables of the inputs."""
    frames = read_streams(spark, query.reads, paths, live=live) | table_frames(spark, query.reads, inputs)
    options = RunOptions(start=inputs.start, until=until, index=index, kernel=kernel)
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
