"""Extents read with and without Spark, to compare."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from transom import connectors
from transom.catalog import Catalog
from transom.catalog.extent import Extent, ExtentKind
from transom.connectors import spark as on_spark


class Folder:
    """A folder of files, read with and without Spark."""

    def __init__(self, spark, path: Path) -> None:
        self.spark = spark
        self.path = path
        self.runs = 0

    def write(self, **contents: str) -> None:
        for number, (name, content) in enumerate(contents.items()):
            place = self.path / name.replace("__", ".")
            place.write_bytes(content.encode())
            os.utime(place, (1_700_000_000 + number * 30 * 86400,) * 2)

    def catalog(self, declaration: str, files: object, **more: object) -> Catalog:
        entry = {"declare": declaration, "source": {"files": files}, **more}
        return Catalog.from_dict({"epoch": "2009-01-01", "extents": {"it": entry}}, folder=self.path)

    def frame(self, catalog: Catalog, *, live: bool = False, position: bool = True, per_batch: int | None = None):
        extent = catalog.extent("it")
        if extent.kind is ExtentKind.STORED:
            return on_spark.open_table(self.spark, extent, catalog.calendar, catalog.folder, with_order=position)
        return on_spark.open_stream(
            self.spark,
            extent,
            catalog.calendar,
            catalog.folder,
            live=live,
            with_order=position,
            files_per_batch=per_batch,
        )

    def drained(self, frame) -> list:
        """All rows of a streaming frame, and how many batches they took."""
        self.runs += 1
        name = f"rows_{id(self)}_{self.runs}"
        writer = frame.writeStream.format("memory").queryName(name).trigger(availableNow=True)
        query = writer.option("checkpointLocation", str(self.path / f"_check{self.runs}")).start()
        query.awaitTermination()
        self.batches = len([p for p in query.recentProgress if p["numInputRows"]])
        return self.spark.table(name).collect()


def plain(catalog: Catalog) -> list[tuple]:
    found = connectors.open_stream(catalog.extent("it"), catalog.calendar, catalog.folder)
    return [(e.tick, *row_of(e.row)) for e in found]


def plain_table(catalog: Catalog) -> list[tuple]:
    found = connectors.open_table(catalog.extent("it"), catalog.calendar, catalog.folder)
    return [(version.tick, *row_of(row)) for version in found for row in version.rows]


def row_of(values) -> tuple:
    """Values in one form: 2.50 is 2.5 and -0.0 is 0.0."""
    return tuple(v.normalize() if isinstance(v, Decimal) else v + 0.0 if isinstance(v, float) else v for v in values)


def ordered(rows: list, extent: Extent, tick: str = "tick_number") -> list[tuple]:
    """Rows as tuples in the order of (tick_number, row_order); instants are compared as instants."""
    rows = sorted(rows, key=lambda row: (row[tick], _key(row["row_order"])))
    return [cells_of(row, extent, tick) for row in rows]


def _key(value: object) -> tuple:
    if isinstance(value, tuple):
        return tuple(_key(one) for one in value)
    return (value is not None, value) if not isinstance(value, bool) else (True, int(value))


def cells_of(row, extent: Extent, tick: str) -> tuple:
    values = [row[f"c{i}"] for i in range(len(extent.schema))]
    return (row[tick], *row_of(v.astimezone(UTC) if isinstance(v, datetime) else v for v in values))


def same(folder: Folder, catalog: Catalog, per_batch: int | None = None) -> list[tuple]:
    """Batch and stream, with and without positions, give what the plain reader gives."""
    expected = plain(catalog)
    extent = catalog.extent("it")
    assert ordered(folder.frame(catalog).collect(), extent) == expected
    loose = [cells_of(row, extent, "tick_number") for row in folder.frame(catalog, position=False).collect()]
    assert sorted(map(repr, loose)) == sorted(map(repr, expected))
    live = folder.frame(catalog, live=True, per_batch=per_batch)
    assert live.isStreaming
    assert ordered(folder.drained(live), extent) == expected
    return expected


def fails(folder: Folder, declaration: str, files: object, *words: str, **more: object) -> None:
    """The query fails, with and without positions, and says these words."""
    for position in (True, False):
        with pytest.raises(Exception) as caught:  # noqa: PT011 - classic and Connect raise different ones
            folder.frame(folder.catalog(declaration, files, **more), position=position).collect()
        for word in words:
            assert word in str(caught.value)
