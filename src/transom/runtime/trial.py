"""A query tried on given inputs: as a stream cut in some way, and as a replay."""

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
from transom.runtime.answers import answers, plain
from transom.runtime.dataframe import Options, dataframe
from transom.runtime.kernel import use_kernel
from transom.runtime.recut import Split, read_streams, table_frames, write_streams

if TYPE_CHECKING:
    from transom.query import Query


def try_stream(
    query: Query,
    spark: SparkSession,
    lanes: Mapping[int, Inputs],
    split: Split,
    *,
    index: bool = False,
    kernel: Kernel = "auto",
) -> dict[int, Answer]:
    """The answers of a query to some inputs, each in a lane of its own, as a stream cut into micro-batches."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        frame = stream_of(query, spark, lanes, split, folder, index=index, kernel=kernel)
        name = f"transom_{uuid4().hex}"
        running = (
            plain(frame, query.plan.schema, query.catalog.calendar)
            .writeStream.format("memory")
            .queryName(name)
            .outputMode("append")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .start()
        )
        try:
            running.processAllAvailable()
        finally:
            running.stop()
        rows = spark.table(name).collect()
        spark.catalog.dropTempView(name)
        return _answers(query, rows, lanes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def stream_of(
    query: Query,
    spark: SparkSession,
    lanes: Mapping[int, Inputs],
    split: Split,
    folder: Path,
    *,
    index: bool = False,
    kernel: Kernel = "auto",
) -> DataFrame:
    """The streaming DataFrame of a query over inputs that are written into a folder."""
    several = len(lanes) > 1
    paths = write_streams(folder / "in", query.reads, lanes, split, several)
    frames = read_streams(spark, query.reads, paths, several, live=True)
    return _frame(query, spark, frames, lanes, several, index=index, live=True, kernel=kernel)


def try_replay(
    query: Query, spark: SparkSession, lanes: Mapping[int, Inputs], *, index: bool = False, kernel: Kernel = "auto"
) -> dict[int, Answer]:
    """The answers of a query to some inputs as a batch."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    several = len(lanes) > 1
    try:
        paths = write_streams(folder / "in", query.reads, lanes, Split(), several)
        frames = read_streams(spark, query.reads, paths, several, live=False)
        frame = _frame(query, spark, frames, lanes, several, index=index, live=False, kernel=kernel)
        rows = plain(frame, query.plan.schema, query.catalog.calendar).collect()
        return _answers(query, rows, lanes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _frame(
    query: Query,
    spark: SparkSession,
    frames: dict[str, DataFrame],
    lanes: Mapping[int, Inputs],
    several: bool,
    *,
    index: bool,
    live: bool,
    kernel: Kernel,
) -> DataFrame:
    first = next(iter(lanes.values()))
    frames |= table_frames(spark, query.reads, lanes, several)
    fast = use_kernel(spark, kernel)
    plan = query.physical(start=first.start, index=index, kernel=fast, given=frames)
    options = Options(
        start=first.start,
        until=max(inputs.until for inputs in lanes.values()),
        lanes=tuple(lanes) if several else (),
        live=live,
        kernel=fast,
    )
    return dataframe(plan, query.catalog, query.reads, spark, frames, options)


def _answers(query: Query, rows: list[Any], lanes: Mapping[int, Inputs]) -> dict[int, Answer]:
    return answers(rows, query.plan.schema, query.columns, query.gives, lanes)
