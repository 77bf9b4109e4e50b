"""A query on given inputs: as a stream that is cut into micro-batches, and as a replay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

from transom.model.answer import Answer
from transom.physical.plan import Kernel
from transom.reference.sources import Inputs
from transom.runtime.answers import answer, plain
from transom.runtime.dataframe import Options, dataframe
from transom.runtime.kernel import use_kernel
from transom.runtime.micro_batches import Split, read_streams, table_frames, write_streams

if TYPE_CHECKING:
    from transom.query import Query


def stream_answer(
    query: Query,
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
        frame = stream_of(query, spark, inputs, split, folder, index=index, kernel=kernel)
        rows = collected(plain(frame, query.plan.schema, query.catalog.calendar), spark, folder / "checkpoint")
        return answer(rows, query.plan.schema, query.columns, query.gives)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def replay_answer(
    query: Query, spark: SparkSession, inputs: Inputs, *, index: bool = False, kernel: Kernel = "auto"
) -> Answer:
    """The answer of a query to some inputs, as a batch."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        paths = write_streams(folder / "in", query.reads, inputs, Split())
        frame = frame_of(query, spark, inputs, paths, inputs.until, index=index, live=False, kernel=kernel)
        rows = plain(frame, query.plan.schema, query.catalog.calendar).collect()
        return answer(rows, query.plan.schema, query.columns, query.gives)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stream_of(
    query: Query,
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
    return frame_of(query, spark, inputs, paths, inputs.until, index=index, live=True, kernel=kernel)


def frame_of(
    query: Query,
    spark: SparkSession,
    inputs: Inputs,
    paths: Mapping[str, Path],
    until: int,
    *,
    index: bool,
    live: bool,
    kernel: Kernel,
) -> DataFrame:
    """The DataFrame of a query over streams that were written into folders, and over the tables of the inputs."""
    frames = read_streams(spark, query.reads, paths, live=live) | table_frames(spark, query.reads, inputs)
    fast = use_kernel(spark, kernel)
    plan = query.physical(start=inputs.start, index=index, kernel=fast, given=frames)
    options = Options(start=inputs.start, until=until, live=live, kernel=fast)
    return dataframe(plan, query.catalog, query.reads, spark, frames, options)


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
