"""Split the inputs of a query into micro-batches: one Parquet file per source and micro-batch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql.types import LongType, StructField, StructType

from transom.catalog.extent import Extent, ExtentKind
from transom.catalog.rdf import TERM_COLUMNS
from transom.connectors.log.columns import ARROW
from transom.errors import UsageError
from transom.model.bag import Element
from transom.reference.sources import Inputs
from transom.spark.expressions.types import spark_type
from transom.spark.input.statements import statement_table
from transom.spark.input.user_frames import OWN_EMPTY, OWN_POSITION, OWN_TICK

_MESSAGE_SCHEMA = "tick bigint, statements array<struct<s: string, p: string, o: string, row: bigint>>"
"""The schema of files whose rows are messages of statements."""


class BatchRow(NamedTuple):
    """An input row: its tick, the number of its stream (from 0), its number in that stream, its values."""

    tick: int
    source: int
    position: int
    row: tuple[Any, ...]


@dataclass(frozen=True)
class Split:
    """How to split a stream into micro-batches: `rows` each, all at once, or uneven pieces drawn from `seed`.

    `times` multiplies the size of uneven pieces, for long streams.
    """

    rows: int | None = None
    seed: int | None = None
    times: int = 1

    @staticmethod
    def read(text: str) -> Split:
        """Parse how rows are split into micro-batches: `all`, a number of rows, or `uneven:SEED`; else UsageError."""
        if text == "all":
            return Split()
        if text.isdigit() and int(text) > 0:
            return Split(int(text))
        if text.startswith("uneven:") and text[7:].isdigit():
            return Split(seed=int(text[7:]))
        raise UsageError(f"no split is called {text}", hint="write a number of rows, all, or uneven:7")

    def cut(self, count: int) -> list[int]:
        """Return the sizes of the micro-batches into which `count` rows are divided."""
        if self.rows is None and self.seed is None:
            return [count]
        pieces: list[int] = []
        rng = Random(self.seed)  # noqa: S311 - not a secret
        while sum(pieces) < count:
            size = self.rows or rng.choice((1, 1, 2, 3, 5, 9)) * self.times
            pieces.append(min(size, count - sum(pieces)))
        return pieces

    def __str__(self) -> str:
        """The split in words, such as `7 rows per micro-batch`."""
        if self.rows is not None:
            return f"{self.rows} row{'s' if self.rows > 1 else ''} per micro-batch"
        return "all rows at once" if self.seed is None else f"uneven pieces ({self.seed})"


def stream_extents(extents: Sequence[Extent]) -> list[Extent]:
    """List the sources that are streams; batch rows refer to a source by its number in this list, from 0."""
    return [extent for extent in extents if extent.kind is not ExtentKind.STORED]


def batch_rows(extents: Sequence[Extent], inputs: Inputs, until: int | None = None) -> list[BatchRow]:
    """Return the rows of all streams sorted by tick, source and number; `until` is the last tick (None: no limit).

    None means the end of finite inputs, or no limit.
    """
    last = _last_tick(inputs, until)
    rows = [
        BatchRow(tick, source, position, row)
        for source, extent in enumerate(stream_extents(extents))
        for tick, position, row in _stream_rows(extent, inputs.streams.get(extent.name, ()))
        if last is None or tick <= last
    ]
    return sorted(rows, key=lambda row: row[:3])


def _last_tick(inputs: Inputs, until: int | None) -> int | None:
    """Return the last tick that is written to files: `until`, or the end of finite inputs; None for no limit."""
    return inputs.until if until is None and inputs.ends else until


def _stream_rows(extent: Extent, elements: Sequence[Element]) -> Iterable[tuple[int, int, tuple[Any, ...]]]:
    """Yield a stream's rows as (tick, row number, values); RDF messages give one row per tick and subject."""
    if not extent.local:
        return [(element.tick, element.index, element.row) for element in elements]
    messages: dict[tuple[int, Any], tuple[int, int, tuple[list[Any]]]] = {}
    for element in elements:
        _, _, (statements,) = messages.setdefault((element.tick, element.row[0]), (element.tick, element.index, ([],)))
        statements.append(dict(zip((*TERM_COLUMNS, "row"), (*element.row, element.index), strict=True)))
    return messages.values()


def split_batches(rows: Sequence[BatchRow], split: Split) -> list[Sequence[BatchRow]]:
    """Divide rows, in their order, into the micro-batches that a split describes."""
    batches, start = [], 0
    for size in split.cut(len(rows)):
        batches.append(rows[start : start + size])
        start += size
    return batches


def write_streams(
    folder: Path, extents: Sequence[Extent], inputs: Inputs, split: Split, until: int | None = None
) -> dict[str, Path]:
    """Write streams as Parquet files, one per micro-batch, up to tick `until`; return folders by source name."""
    last = _last_tick(inputs, until)
    return write_batches(folder, extents, split_batches(batch_rows(extents, inputs, last), split), last)


def write_batches(
    folder: Path, extents: Sequence[Extent], batches: Sequence[Sequence[BatchRow]], until: int | None
) -> dict[str, Path]:
    """Write one file per source and micro-batch; with `until`, also a final file per source that ends the run.

    The final file holds one row of a tick after `until`. The query ignores the row, but it moves the watermark past
    `until`, even for a source with lateness.
    """
    paths: dict[str, Path] = {}
    for source, extent in enumerate(stream_extents(extents)):
        paths[extent.name] = path = folder / extent.name
        path.mkdir(parents=True)
        null_row = (None,) * len(extent.schema)
        end = [] if until is None else [[BatchRow(until + 1 + extent.lateness, source, 0, null_row)]]
        for number, batch in enumerate([*batches, *end]):
            source_rows = [(row.tick, row.position, row.row) for row in batch if row.source == source]
            write_file(path, number, _arrow_table(extent, source_rows))
    return paths


def write_file(folder: Path, number: int, table: pa.Table) -> None:
    """Write a numbered file of a stream; its modification time makes Spark read the files in order."""
    file = folder / f"{number:06}.parquet"
    pq.write_table(table, file)
    os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))


def _arrow_table(extent: Extent, rows: Sequence[tuple[int, int, Any]]) -> pa.Table:
    """Convert the rows (tick, number in the stream, values) of a source to an Arrow table."""
    columns: dict[str, pa.Array] = {"tick": pa.array([row[0] for row in rows], pa.int64())}
    if extent.local:
        kind = pa.list_(pa.struct([*((name, pa.string()) for name in TERM_COLUMNS), ("row", pa.int64())]))
        return pa.table({**columns, "statements": pa.array([row[2][0] for row in rows], kind)})
    columns["position"] = pa.array([row[1] for row in rows], pa.int64())
    for number, attribute in enumerate(extent.schema):
        columns[_value_columns(extent)[number]] = pa.array([row[2][number] for row in rows], ARROW[attribute.type])
    return pa.table(columns)


def _value_columns(extent: Extent) -> tuple[str, ...]:
    """Return the names of the columns in a micro-batch file that hold a source's attributes."""
    return extent.names if extent.holds_statements else tuple(f"c{number}" for number in range(len(extent.schema)))


def source_schema(extent: Extent) -> StructType:
    """Return the Spark schema of files of a stream's rows: tick, number in the stream (`position`), attributes."""
    fields = [StructField("tick", LongType()), StructField("position", LongType())]
    fields += [
        StructField(name, spark_type(attribute.type))
        for name, attribute in zip(_value_columns(extent), extent.schema, strict=True)
    ]
    return StructType(fields)


def read_streams(
    spark: SparkSession, extents: Sequence[Extent], paths: Mapping[str, Path], *, live: bool
) -> dict[str, DataFrame]:
    """Read the Parquet files of streams as DataFrames; if `live`, they stream one file per micro-batch."""
    frames: dict[str, DataFrame] = {}
    for extent in stream_extents(extents):
        schema = _MESSAGE_SCHEMA if extent.local else source_schema(extent)
        if live:
            reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        else:
            reader = spark.read.schema(schema)
        raw = reader.parquet(str(paths[extent.name]))
        frames[extent.name] = (
            raw if extent.holds_statements else raw.select(*_tag_columns(raw), *_attribute_columns(raw, extent))
        )
    return frames


def table_frames(spark: SparkSession, extents: Sequence[Extent], inputs: Inputs) -> dict[str, DataFrame]:
    """Build batch DataFrames, by name, of all versions of tables and the statements of stored graphs."""
    frames: dict[str, DataFrame] = {}
    for extent in extents:
        if extent.kind is not ExtentKind.STORED:
            continue
        if extent.holds_statements:
            statements = [row for version in inputs.tables.get(extent.name, ()) for row in version.rows]
            frames[extent.name] = statement_table(spark, statements, TERM_COLUMNS)
            continue
        null_row = (None,) * len(extent.schema)
        rows = [
            (version.tick, position, row)
            for version in inputs.tables.get(extent.name, ())
            for position, row in [*enumerate(version.rows), (-1, null_row)]
        ]
        # a local table: Spark knows its size and broadcasts it
        frame = spark.createDataFrame(_arrow_table(extent, rows), source_schema(extent))
        empty = (frame["position"] < 0).alias(OWN_EMPTY)
        frames[extent.name] = frame.select(*_tag_columns(frame), empty, *_attribute_columns(frame, extent))
    return frames


def _tag_columns(frame: DataFrame) -> list[Column]:
    """Return the columns `tick` and `position` (row number in its stream), renamed to reserved names."""
    return [frame["tick"].alias(OWN_TICK), frame["position"].alias(OWN_POSITION)]


def _attribute_columns(frame: DataFrame, extent: Extent) -> list[Column]:
    """Return the attribute columns of a file, renamed from c0, c1, ... to the names of the attributes."""
    return [frame[f"c{number}"].alias(name) for number, name in enumerate(extent.names)]
