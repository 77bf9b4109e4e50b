"""The rows of a query's inputs as streams of Parquet files: one file per source and micro-batch."""

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

from transom.catalog.extents import Extent, Kind
from transom.catalog.rdf import TERMS
from transom.connectors.log.columns import ARROW
from transom.errors import UsageError
from transom.model.bag import Element
from transom.reference.sources import Inputs
from transom.spark.given import OWN_EMPTY, OWN_POSITION, OWN_TICK
from transom.spark.statements import statement_table
from transom.spark.types import spark_type

_MESSAGES = "tick bigint, statements array<struct<s: string, p: string, o: string, row: bigint>>"
"""The schema of files whose rows are messages of statements."""


class Arrival(NamedTuple):
    """A row on its way into a query: its tick, the number of its source, its position in the source, its values."""

    tick: int
    source: int
    position: int
    row: tuple[Any, ...]


@dataclass(frozen=True)
class Split:
    """How a stream is cut into micro-batches: a number of rows each, all at once, or uneven pieces drawn from a seed.

    `times` multiplies the size of uneven pieces, for long streams.
    """

    rows: int | None = None
    seed: int | None = None
    times: int = 1

    @staticmethod
    def read(text: str) -> Split:
        """A split as one writes it: a number of rows, `all`, or `uneven:SEED`."""
        if text == "all":
            return Split()
        if text.isdigit() and int(text) > 0:
            return Split(int(text))
        if text.startswith("uneven:") and text[7:].isdigit():
            return Split(seed=int(text[7:]))
        raise UsageError(f"no split is called {text}", hint="write a number of rows, all, or uneven:7")

    def cut(self, count: int) -> list[int]:
        """The sizes of the pieces of so many rows."""
        if self.rows is None and self.seed is None:
            return [count]
        pieces: list[int] = []
        rng = Random(self.seed)  # noqa: S311 - not a secret
        while sum(pieces) < count:
            size = self.rows or rng.choice((1, 1, 2, 3, 5, 9)) * self.times
            pieces.append(min(size, count - sum(pieces)))
        return pieces

    def __str__(self) -> str:
        if self.rows is not None:
            return f"{self.rows} row{'s' if self.rows > 1 else ''} per micro-batch"
        return "all rows at once" if self.seed is None else f"uneven pieces ({self.seed})"


def streamed(extents: Sequence[Extent]) -> list[Extent]:
    """The extents that are streams; `Arrival.source` counts them."""
    return [extent for extent in extents if extent.kind is not Kind.STORED]


def arrivals(extents: Sequence[Extent], inputs: Inputs, until: int | None = None) -> list[Arrival]:
    """The rows of all streams up to a tick, in the order of their ticks; default: the last one of the inputs."""
    last = _last(inputs, until)
    rows = [
        Arrival(tick, source, position, row)
        for source, extent in enumerate(streamed(extents))
        for tick, position, row in _delivered(extent, inputs.streams.get(extent.name, ()))
        if last is None or tick <= last
    ]
    return sorted(rows, key=lambda row: row[:3])


def _last(inputs: Inputs, until: int | None) -> int | None:
    return inputs.until if until is None and inputs.ends else until


def _delivered(extent: Extent, given: Sequence[Element]) -> Iterable[tuple[int, int, tuple[Any, ...]]]:
    """The tick, position and values of each row; a stream of messages has one row for all about a subject at a tick."""
    if not extent.local:
        return [(element.tick, element.index, element.row) for element in given]
    found: dict[tuple[int, Any], tuple[int, int, tuple[list[Any]]]] = {}
    for one in given:
        _, _, (held,) = found.setdefault((one.tick, one.row[0]), (one.tick, one.index, ([],)))
        held.append(dict(zip((*TERMS, "row"), (*one.row, one.index), strict=True)))
    return found.values()


def pieces(rows: Sequence[Arrival], split: Split) -> list[Sequence[Arrival]]:
    """The rows of each micro-batch."""
    found, at = [], 0
    for size in split.cut(len(rows)):
        found.append(rows[at : at + size])
        at += size
    return found


def write_streams(
    folder: Path, extents: Sequence[Extent], inputs: Inputs, split: Split, until: int | None = None
) -> dict[str, Path]:
    """The streams of some inputs as files; the folder of each source."""
    last = _last(inputs, until)
    return write_batches(folder, extents, pieces(arrivals(extents, inputs, last), split), last)


def write_batches(
    folder: Path, extents: Sequence[Extent], batches: Sequence[Sequence[Arrival]], until: int | None
) -> dict[str, Path]:
    """One file per source and micro-batch, and if there is an `until` one more per source that ends the run.

    The last file holds one row of a tick after `until`. The query ignores the row, but it moves the watermark past
    `until`, also where the source may be late.
    """
    paths: dict[str, Path] = {}
    for source, extent in enumerate(streamed(extents)):
        paths[extent.name] = path = folder / extent.name
        path.mkdir(parents=True)
        nothing = (None,) * len(extent.schema)
        end = [] if until is None else [[Arrival(until + 1 + extent.lateness, source, 0, nothing)]]
        for number, batch in enumerate([*batches, *end]):
            own = [(row.tick, row.position, row.row) for row in batch if row.source == source]
            write_file(path, number, _table(extent, own))
    return paths


def write_file(folder: Path, number: int, table: pa.Table) -> None:
    """A file of a stream; Spark reads files in the order of their times."""
    file = folder / f"{number:06}.parquet"
    pq.write_table(table, file)
    os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))


def _table(extent: Extent, rows: Sequence[tuple[int, int, Any]]) -> pa.Table:
    columns: dict[str, pa.Array] = {"tick": pa.array([r[0] for r in rows], pa.int64())}
    if extent.local:
        kind = pa.list_(pa.struct([*((name, pa.string()) for name in TERMS), ("row", pa.int64())]))
        return pa.table({**columns, "statements": pa.array([r[2][0] for r in rows], kind)})
    columns["position"] = pa.array([r[1] for r in rows], pa.int64())
    for place, attribute in enumerate(extent.schema):
        columns[_columns(extent)[place]] = pa.array([r[2][place] for r in rows], ARROW[attribute.type])
    return pa.table(columns)


def _columns(extent: Extent) -> tuple[str, ...]:
    """The columns of values in a file."""
    return extent.names if extent.holds_statements else tuple(f"c{place}" for place in range(len(extent.schema)))


def source_schema(extent: Extent) -> StructType:
    """The schema of those files."""
    fields = [StructField("tick", LongType()), StructField("position", LongType())]
    fields += [StructField(name, spark_type(a.type)) for name, a in zip(_columns(extent), extent.schema, strict=True)]
    return StructType(fields)


def read_streams(
    spark: SparkSession, extents: Sequence[Extent], paths: Mapping[str, Path], *, live: bool
) -> dict[str, DataFrame]:
    """Those files as streams, a file per micro-batch, or as batch DataFrames."""
    frames: dict[str, DataFrame] = {}
    for extent in streamed(extents):
        schema = _MESSAGES if extent.local else source_schema(extent)
        if live:
            reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        else:
            reader = spark.read.schema(schema)
        raw = reader.parquet(str(paths[extent.name]))
        frames[extent.name] = raw if extent.holds_statements else raw.select(*_tags(raw), *_attributes(raw, extent))
    return frames


def table_frames(spark: SparkSession, extents: Sequence[Extent], inputs: Inputs) -> dict[str, DataFrame]:
    """The versions of all tables as batch DataFrames, and the statements of graphs."""
    frames: dict[str, DataFrame] = {}
    for extent in extents:
        if extent.kind is not Kind.STORED:
            continue
        if extent.holds_statements:
            held = [row for version in inputs.tables.get(extent.name, ()) for row in version.rows]
            frames[extent.name] = statement_table(spark, held, TERMS)
            continue
        nothing = (None,) * len(extent.schema)
        rows = [
            (version.tick, place, row)
            for version in inputs.tables.get(extent.name, ())
            for place, row in [*enumerate(version.rows), (-1, nothing)]
        ]
        # a local table: Spark knows its size, and broadcasts it
        frame = spark.createDataFrame(_table(extent, rows), source_schema(extent))
        empty = (frame["position"] < 0).alias(OWN_EMPTY)
        frames[extent.name] = frame.select(*_tags(frame), empty, *_attributes(frame, extent))
    return frames


def _tags(frame: DataFrame) -> list[Column]:
    """The tick and the position of a row, under names that no attribute has."""
    return [frame["tick"].alias(OWN_TICK), frame["position"].alias(OWN_POSITION)]


def _attributes(frame: DataFrame, extent: Extent) -> list[Column]:
    return [frame[f"c{place}"].alias(name) for place, name in enumerate(extent.names)]
