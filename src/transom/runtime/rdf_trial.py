"""A query over RDF tried on given statements: as a stream cut in some way, and as a replay."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.terms import Triple
from transom.physical.plan import Kernel, Physical
from transom.reference.rdf.statements import Inputs
from transom.runtime.dataframe import Options
from transom.runtime.kernel import use_kernel
from transom.runtime.rdf_answers import answers, plain
from transom.runtime.rdf_dataframe import dataframe
from transom.runtime.recut import Split

if TYPE_CHECKING:
    from transom.rdf_query import RdfQuery

_SCHEMA = "tick bigint, lane int, position bigint, s string, p string, o string"


def try_stream(
    query: RdfQuery, spark: SparkSession, lanes: Mapping[int, Inputs], split: Split, until: int, kernel: Kernel = "auto"
) -> dict[int, RdfAnswer]:
    """The answers to some statements, each in a lane of its own, as a stream cut into micro-batches.

    `until` is the last tick whose changes are told.
    """
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        write_streams(folder / "in", query, lanes, split, until)
        plan, frame = _frame(query, spark, folder / "in", lanes, until, live=True, kernel=kernel)
        name = f"transom_{uuid4().hex}"
        writer = plain(plan, frame, query.catalog.calendar).writeStream.format("memory").queryName(name)
        running = writer.outputMode("append").option("checkpointLocation", str(folder / "checkpoint")).start()
        try:
            running.processAllAvailable()
        finally:
            running.stop()
        rows = spark.table(name).collect()
        spark.catalog.dropTempView(name)
        return answers(rows, plan, query.gives, query.columns, lanes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def try_replay(
    query: RdfQuery, spark: SparkSession, lanes: Mapping[int, Inputs], kernel: Kernel = "auto"
) -> dict[int, RdfAnswer]:
    """The answers to some statements as a batch."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        write_streams(folder / "in", query, lanes, Split(), None)
        plan, frame = _frame(query, spark, folder / "in", lanes, None, live=False, kernel=kernel)
        rows = plain(plan, frame, query.catalog.calendar).collect()
        return answers(rows, plan, query.gives, query.columns, lanes)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_streams(folder: Path, query: RdfQuery, lanes: Mapping[int, Inputs], split: Split, until: int | None) -> None:
    """The statements of all lanes in the order of their ticks, one file per stream and micro-batch.

    With `until` the last file of a stream holds a statement of the tick after it, which moves the watermark past it.
    """
    streamed = [extent.name for extent in query.reads if extent.is_stream]
    rows = [
        (tick, lane, place, position, triple)
        for lane, inputs in lanes.items()
        for place, name in enumerate(streamed)
        for position, (tick, triple) in enumerate(inputs.streams.get(name, ()))
    ]
    rows.sort(key=lambda row: row[:4])
    at = 0
    pieces = split.cut(len(rows))
    for number, size in enumerate([*pieces, *([] if until is None else [0])]):
        for place, name in enumerate(streamed):
            chunk: list[tuple[int, int, int, Triple | None]] = [
                (tick, lane, position, triple)
                for tick, lane, source, position, triple in rows[at : at + size]
                if source == place
            ]
            if number == len(pieces) and until is not None:
                chunk = [(until + 1, 0, 0, None)]
            file = folder / name / f"{number:06}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(_table(chunk), file)
            os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))
        at += size


def _table(rows: list[tuple[int, int, int, Triple | None]]) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "tick": pa.array([row[0] for row in rows], pa.int64()),
        "lane": pa.array([row[1] for row in rows], pa.int32()),
        "position": pa.array([row[2] for row in rows], pa.int64()),
    }
    for name, field in (("s", "subject"), ("p", "predicate"), ("o", "object")):
        texts = [None if row[3] is None else str(getattr(row[3], field)) for row in rows]
        columns[name] = pa.array(texts, pa.string())
    return pa.table(columns)


def _frame(
    query: RdfQuery,
    spark: SparkSession,
    folder: Path,
    lanes: Mapping[int, Inputs],
    until: int | None,
    *,
    live: bool,
    kernel: Kernel,
) -> tuple[Physical, DataFrame]:
    several = len(lanes) > 1
    frames: dict[str, Any] = {}
    for extent in query.reads:
        if extent.is_stream:
            if live:
                reader: Any = spark.readStream.schema(_SCHEMA).option("maxFilesPerTrigger", 1)
            else:
                reader = spark.read.schema(_SCHEMA)
            frame = reader.parquet(str(folder / extent.name))
        else:
            stored = [
                (0, lane, 0, triple) for lane, inputs in lanes.items() for triple in inputs.graphs.get(extent.name, ())
            ]
            frame = spark.createDataFrame(_table(list(stored)), _SCHEMA)
        frames[extent.name] = frame if several else frame.drop("lane")
    fast = use_kernel(spark, kernel)
    plan = query.physical(kernel=fast)
    options = Options(until=until, lanes=tuple(lanes) if several else (), live=live, kernel=fast)
    return plan, dataframe(plan, query.catalog, query.reads, spark, frames, options)
