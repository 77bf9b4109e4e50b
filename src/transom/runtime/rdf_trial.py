"""A query over RDF tried on given statements: as a stream cut in some way, and as a replay."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
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
_MESSAGES = (
    "tick bigint, lane int, place int, file string, row bigint, "
    "statements array<struct<s: string, p: string, o: string, row: bigint>>"
)
_TERMS = {"s": "subject", "p": "predicate", "o": "object"}
Row = tuple[int, int, int, list[tuple[int, Triple]] | None]
"""A tick, a lane, a number, and statements with theirs; None moves the watermark."""


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

    With `until` the last file of a stream holds a statement of a tick after it, which moves the watermark past it.
    """
    streamed = [extent for extent in query.reads if extent.is_stream]
    rows = [
        (tick, lane, place, position, held)
        for lane, inputs in lanes.items()
        for place, extent in enumerate(streamed)
        for tick, position, held in _messages(inputs.streams.get(extent.name, ()), extent.local)
    ]
    rows.sort(key=lambda row: row[:4])
    at = 0
    pieces = split.cut(len(rows))
    for number, size in enumerate([*pieces, *([] if until is None else [0])]):
        for place, extent in enumerate(streamed):
            chunk: list[Row] = [
                (tick, lane, position, held)
                for tick, lane, source, position, held in rows[at : at + size]
                if source == place
            ]
            if number == len(pieces) and until is not None:
                chunk = [(until + 1 + extent.lateness, 0, 0, None)]
            file = folder / extent.name / f"{number:06}.parquet"
            file.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(_whole(chunk) if extent.local else _table(chunk), file)
            os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))
        at += size


def _messages(given: Sequence[tuple[int, Triple]], local: bool) -> list[tuple[int, int, list[tuple[int, Triple]]]]:
    """Statements with their numbers by tick and first number: one by one, or all of a subject at a tick."""
    found: dict[object, tuple[int, int, list[tuple[int, Triple]]]] = {}
    for number, (tick, triple) in enumerate(given):
        key: object = (tick, triple.subject) if local else number
        found.setdefault(key, (tick, number, []))[2].append((number, triple))
    return list(found.values())


def _table(rows: list[Row]) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "tick": pa.array([row[0] for row in rows], pa.int64()),
        "lane": pa.array([row[1] for row in rows], pa.int32()),
        "position": pa.array([row[2] for row in rows], pa.int64()),
    }
    texts = [[None] * 3 if row[3] is None else _spelled(row[3][0][1]) for row in rows]
    for place, name in enumerate(_TERMS):
        columns[name] = pa.array([cells[place] for cells in texts], pa.string())
    return pa.table(columns)


def _whole(rows: list[Row]) -> pa.Table:
    """Messages, as they come from files."""
    kind = pa.list_(pa.struct([*((name, pa.string()) for name in _TERMS), ("row", pa.int64())]))
    held = [None if row[3] is None else [(*_spelled(triple), number) for number, triple in row[3]] for row in rows]
    names = (*_TERMS, "row")
    lists = [None if some is None else [dict(zip(names, one, strict=True)) for one in some] for some in held]
    return pa.table(
        {
            "tick": pa.array([row[0] for row in rows], pa.int64()),
            "lane": pa.array([row[1] for row in rows], pa.int32()),
            "place": pa.array([0 for _ in rows], pa.int32()),
            "file": pa.array(["" for _ in rows], pa.string()),
            "row": pa.array([row[2] for row in rows], pa.int64()),
            "statements": pa.array(lists, kind),
        }
    )


def _spelled(triple: Triple) -> list[str]:
    return [str(getattr(triple, field)) for field in _TERMS.values()]


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
            schema = _MESSAGES if extent.local else _SCHEMA
            if live:
                reader: Any = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
            else:
                reader = spark.read.schema(schema)
            frame = reader.parquet(str(folder / extent.name))
        else:
            stored: list[Row] = [
                (0, lane, 0, [(0, triple)])
                for lane, inputs in lanes.items()
                for triple in inputs.graphs.get(extent.name, ())
            ]
            frame = spark.createDataFrame(_table(stored), _SCHEMA)
        frames[extent.name] = frame if several else frame.drop("lane")
    fast = use_kernel(spark, kernel)
    plan = query.physical(kernel=fast)
    options = Options(until=until, lanes=tuple(lanes) if several else (), live=live, kernel=fast)
    return plan, dataframe(plan, query.catalog, query.reads, spark, frames, options)
