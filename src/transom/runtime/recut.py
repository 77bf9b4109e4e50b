"""The rows of a query's inputs as streams of files, cut into micro-batches in any way one likes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

from transom.catalog.extents import Extent, Kind
from transom.errors import UsageError
from transom.model.types import Type
from transom.reference.sources import Inputs
from transom.spark.types import spark_type

_ARROW = {
    Type.INTEGER: pa.int64(),
    Type.TIME: pa.int64(),
    Type.FLOAT: pa.float64(),
    Type.DECIMAL: pa.decimal128(38, 18),
    Type.STRING: pa.string(),
    Type.BOOLEAN: pa.bool_(),
    Type.TIMESTAMP: pa.timestamp("us", tz="UTC"),
}


@dataclass(frozen=True)
class Split:
    """How a stream is cut into micro-batches: so many rows each, all at once, or uneven pieces drawn from a seed.

    `times` makes uneven pieces so many times as large, for streams that travel together.
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


def write_streams(
    folder: Path, extents: Sequence[Extent], lanes: Mapping[int, Inputs], split: Split, several: bool
) -> dict[str, Path]:
    """The rows of all lanes in the order of their ticks, one file per source and micro-batch, and some that end it.

    The last file of a source holds one row of the tick after the last, which is not part of the run: it moves the
    watermark past the end.
    """
    streamed = [extent for extent in extents if extent.kind is not Kind.STORED]
    rows = [
        (element.tick, lane, place, element.index, element.row)
        for lane, inputs in lanes.items()
        for place, extent in enumerate(streamed)
        for element in inputs.streams.get(extent.name, ())
        if element.tick <= inputs.until
    ]
    rows.sort(key=lambda row: row[:4])
    end = max(inputs.until for inputs in lanes.values()) + 1
    paths = {extent.name: folder / extent.name for extent in streamed}
    for path in paths.values():
        path.mkdir(parents=True)
    at = 0
    pieces = split.cut(len(rows))
    for number, size in enumerate([*pieces, 0]):
        last = number == len(pieces)
        for place, extent in enumerate(streamed):
            chunk = [(t, lane, index, row) for t, lane, source, index, row in rows[at : at + size] if source == place]
            if last:
                chunk = [(end, 0, 0, (None,) * len(extent.schema))]
            file = paths[extent.name] / f"{number:06}.parquet"
            pq.write_table(_table(extent, chunk, several), file)
            os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))
        at += size
    return paths


def _table(extent: Extent, rows: Sequence[tuple[int, int, int, Any]], several: bool) -> pa.Table:
    columns: dict[str, pa.Array] = {"tick": pa.array([r[0] for r in rows], pa.int64())}
    if several:
        columns["lane"] = pa.array([r[1] for r in rows], pa.int32())
    columns["position"] = pa.array([r[2] for r in rows], pa.int64())
    for place, attribute in enumerate(extent.schema):
        columns[f"c{place}"] = pa.array([r[3][place] for r in rows], _ARROW[attribute.type])
    return pa.table(columns)


def source_schema(extent: Extent, several: bool) -> StructType:
    """The schema of those files."""
    fields = [StructField("tick", LongType())]
    if several:
        fields.append(StructField("lane", IntegerType()))
    fields.append(StructField("position", LongType()))
    fields += [StructField(f"c{place}", spark_type(a.type)) for place, a in enumerate(extent.schema)]
    return StructType(fields)


def read_streams(
    spark: SparkSession, extents: Sequence[Extent], paths: Mapping[str, Path], several: bool, *, live: bool
) -> dict[str, DataFrame]:
    """Those files as streams, a file per micro-batch, or as they are."""
    frames: dict[str, DataFrame] = {}
    for extent in extents:
        if extent.kind is Kind.STORED:
            continue
        schema = source_schema(extent, several)
        if live:
            reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        else:
            reader = spark.read.schema(schema)
        raw = reader.parquet(str(paths[extent.name]))
        own = [raw[f"c{place}"].alias(name) for place, name in enumerate(extent.names) if name != "tick"]
        if "tick" in extent.names:
            raise UsageError(f"{extent.name} has an attribute called tick", hint="rename it to verify the query")
        frames[extent.name] = raw.select("tick", *(["lane"] if several else []), "position", *own)
    return frames


def table_frames(
    spark: SparkSession, extents: Sequence[Extent], lanes: Mapping[int, Inputs], several: bool
) -> dict[str, DataFrame]:
    """The versions of all tables as batch DataFrames."""
    frames: dict[str, DataFrame] = {}
    for extent in extents:
        if extent.kind is not Kind.STORED:
            continue
        nothing = (None,) * len(extent.schema)
        rows = [
            (version.tick, lane, place, row)
            for lane, inputs in lanes.items()
            for version in inputs.tables.get(extent.name, ())
            for place, row in [*enumerate(version.rows), (-1, nothing)]
        ]
        schema = source_schema(extent, several)
        frame = spark.createDataFrame(_table(extent, rows, several), schema)  # of a size that Spark knows: broadcast
        own = [frame[f"c{place}"].alias(name) for place, name in enumerate(extent.names)]
        empty = (frame["position"] < 0).alias("empty")
        frames[extent.name] = frame.select("tick", *(["lane"] if several else []), "position", empty, *own)
    return frames
