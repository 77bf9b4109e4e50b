"""A query over RDF on given statements: as a stream that is cut into micro-batches, and as a replay."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from transom.catalog.rdf import RdfExtent
from transom.connectors.rdf_spark_files import WHERE
from transom.model.rdf.answer import RdfAnswer
from transom.model.rdf.terms import Triple
from transom.physical.plan import Kernel
from transom.reference.rdf.statements import Inputs
from transom.runtime.dataframe import dataframe
from transom.runtime.harness import collected
from transom.runtime.job import Job, Plannable
from transom.runtime.micro_batches import Arrival, Split, pieces, write_file
from transom.runtime.options import RunOptions
from transom.runtime.rdf_answers import answer, plain
from transom.spark.columns import quoted

_SCHEMA = "tick bigint, position bigint, s string, p string, o string"
_MESSAGES = (
    f"tick bigint, {quoted(WHERE[0])} int, {quoted(WHERE[1])} string, {quoted(WHERE[2])} bigint, "
    "statements array<struct<s: string, p: string, o: string, row: bigint>>"
)
_TERMS = {"s": "subject", "p": "predicate", "o": "object"}


def stream_answer(
    query: Plannable[RdfExtent], spark: SparkSession, inputs: Inputs, split: Split, until: int, kernel: Kernel = "auto"
) -> RdfAnswer:
    """The answer to some statements, as a stream that is cut into micro-batches; `until` is the last tick."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        write_streams(folder / "in", query, inputs, split, until)
        job, frame = frame_of(query, spark, folder / "in", inputs, until, live=True, kernel=kernel)
        return gathered(job, collected(plain(job.plan, frame, job.catalog.calendar), spark, folder / "checkpoint"))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def replay_answer(
    query: Plannable[RdfExtent], spark: SparkSession, inputs: Inputs, kernel: Kernel = "auto"
) -> RdfAnswer:
    """The answer to some statements, as a batch."""
    folder = Path(tempfile.mkdtemp(prefix="transom-"))
    try:
        write_streams(folder / "in", query, inputs, Split(), None)
        job, frame = frame_of(query, spark, folder / "in", inputs, None, live=False, kernel=kernel)
        return gathered(job, plain(job.plan, frame, job.catalog.calendar).collect())
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def gathered(job: Job, rows: Sequence[Any]) -> RdfAnswer:
    """Rows of Spark as an answer."""
    return answer(rows, job.plan, job.result_kind, job.columns)  # type: ignore[arg-type]


class Reading(Protocol):
    """What reads streams and graphs."""

    @property
    def reads(self) -> tuple[RdfExtent, ...]:
        """The streams and graphs, each once."""
        ...


def streamed(query: Reading) -> list[RdfExtent]:
    """The streams of a query; `Arrival.source` counts them."""
    return [extent for extent in query.reads if extent.is_stream]


def arrivals(query: Reading, inputs: Inputs) -> list[Arrival]:
    """The statements of all streams in the order of their ticks; `row` holds them with their numbers.

    A stream with local subjects has one arrival per subject and tick, with all its statements.
    """
    rows = [
        Arrival(tick, source, number, tuple(statements))
        for source, extent in enumerate(streamed(query))
        for tick, number, statements in _messages(inputs.streams.get(extent.name, ()), extent.local)
    ]
    return sorted(rows, key=lambda row: row[:3])


def write_streams(folder: Path, query: Reading, inputs: Inputs, split: Split, until: int | None) -> None:
    """The streams of some inputs as files."""
    write_batches(folder, query, pieces(arrivals(query, inputs), split), until)


def write_batches(folder: Path, query: Reading, batches: Sequence[Sequence[Arrival]], until: int | None) -> None:
    """One file per stream and micro-batch; with `until` one more per stream, whose tick moves the watermark past it."""
    for source, extent in enumerate(streamed(query)):
        path = folder / extent.name
        path.mkdir(parents=True)
        end = [] if until is None else [[Arrival(until + 1 + extent.lateness, source, 0, ())]]
        for number, batch in enumerate([*batches, *end]):
            own = [row for row in batch if row.source == source]
            write_file(path, number, _message_table(own) if extent.local else _table(own))


def _messages(given: Sequence[tuple[int, Triple]], local: bool) -> list[tuple[int, int, list[tuple[int, Triple]]]]:
    """Statements with their numbers by tick and first number: one by one, or all of a subject at a tick."""
    found: dict[object, tuple[int, int, list[tuple[int, Triple]]]] = {}
    for number, (tick, triple) in enumerate(given):
        key: object = (tick, triple.subject) if local else number
        found.setdefault(key, (tick, number, []))[2].append((number, triple))
    return list(found.values())


def _table(rows: Sequence[Arrival]) -> pa.Table:
    columns: dict[str, pa.Array] = {
        "tick": pa.array([row.tick for row in rows], pa.int64()),
        "position": pa.array([row.position for row in rows], pa.int64()),
    }
    texts = [_spelled(row.row[0][1]) if row.row else [None] * 3 for row in rows]
    for place, name in enumerate(_TERMS):
        columns[name] = pa.array([cells[place] for cells in texts], pa.string())
    return pa.table(columns)


def _message_table(rows: Sequence[Arrival]) -> pa.Table:
    """Messages with all their statements, as they come from files."""
    kind = pa.list_(pa.struct([*((name, pa.string()) for name in _TERMS), ("row", pa.int64())]))
    names = (*_TERMS, "row")
    lists = [
        [dict(zip(names, (*_spelled(triple), number), strict=True)) for number, triple in row.row] or None
        for row in rows
    ]
    return pa.table(
        {
            "tick": pa.array([row.tick for row in rows], pa.int64()),
            WHERE[0]: pa.array([0 for _ in rows], pa.int32()),
            WHERE[1]: pa.array(["" for _ in rows], pa.string()),
            WHERE[2]: pa.array([row.position for row in rows], pa.int64()),
            "statements": pa.array(lists, kind),
        }
    )


def _spelled(triple: Triple) -> list[str]:
    return [str(getattr(triple, field)) for field in _TERMS.values()]


def frame_of(
    query: Plannable[RdfExtent],
    spark: SparkSession,
    folder: Path,
    inputs: Inputs,
    until: int | None,
    *,
    live: bool,
    kernel: Kernel,
) -> tuple[Job, DataFrame]:
    """The job and the DataFrame of a query over streams in a folder, and over the graphs of the inputs."""
    frames = frames_of(query, spark, folder, inputs, live=live)
    job = query.job(spark, RunOptions(until=until, kernel=kernel), tuple(frames), live=live)
    return job, dataframe(job, spark, frames, live=live)


def frames_of(query: Reading, spark: SparkSession, folder: Path, inputs: Inputs, *, live: bool) -> dict[str, DataFrame]:
    """The streams of a folder, and the graphs of the inputs."""
    frames: dict[str, Any] = {}
    for extent in query.reads:
        if extent.is_stream:
            schema = _MESSAGES if extent.local else _SCHEMA
            if live:
                reader: Any = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
            else:
                reader = spark.read.schema(schema)
            frames[extent.name] = reader.parquet(str(folder / extent.name))
        else:
            stored = [Arrival(0, 0, 0, ((0, triple),)) for triple in inputs.graphs.get(extent.name, ())]
            frames[extent.name] = spark.createDataFrame(_table(stored), _SCHEMA)
    return frames
