"""Five plans that between them use every stateful operator: their catalog, text, and rows made from a seed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import transom
from transom import Catalog, Query

BANDS = [(0, "none"), (3, "light"), (7, "middle"), (11, "heavy"), (15, "heavier")]


@dataclass(frozen=True)
class Shape:
    """A query and what it reads; `stored` says whether it reads the table."""

    name: str
    text: str
    streams: tuple[str, ...] = ("traffic",)
    stored: bool = False

    def catalog(self, rate: int = 50) -> Catalog:
        """The catalog, with what is known about it: so many rows of a stream per tick, five rows in the table."""
        pushed = {"kind": "pushed", "rate": f"{rate} per s"}
        return Catalog.from_dict(
            {
                "tick": "1 s",
                "epoch": "2026-01-01T00:00:00Z",
                "extents": {
                    "traffic": {**pushed, "attributes": ["id:integer", "site:integer", "weight:integer"]},
                    "air": {**pushed, "attributes": ["id:integer", "temp:integer"]},
                    "band": {"kind": "stored", "rows": len(BANDS), "attributes": ["weight:integer", "name:string"]},
                },
            }
        )

    def query(self, rate: int = 50) -> Query:
        return transom.compile(self.text, self.catalog(rate))

    @property
    def as_stream(self) -> Shape:
        """The same rows as a stream, so that nothing is collected for the answer."""
        if self.text.startswith(("ISTREAM", "RSTREAM")):
            return self
        return Shape(self.name, f"RSTREAM({self.text})", self.streams, self.stored)

    def inputs(self, seed: int, ticks: int = 40) -> dict[str, Any]:
        """A few rows for every stream, as `simulate` takes them, and several versions of the table."""
        rng = Random(seed)
        given: dict[str, Any] = {}
        for name in self.streams:
            rows: list[tuple[int, ...]] = []
            for tick in range(ticks):
                for _ in range(rng.choice((0, 1, 2, 3, 4))):
                    last = (rng.randrange(3), rng.randrange(16)) if name == "traffic" else (rng.randrange(-5, 30),)
                    rows.append((tick, rng.randrange(4), *last))
            given[name] = rows
        if self.stored:
            versions = sorted(rng.sample(range(1, ticks), 4))
            given["band"] = {0: BANDS, **{tick: rng.sample(BANDS, rng.randrange(1, 5)) for tick in versions}}
        return given


SHAPES: Mapping[str, Shape] = {
    shape.name: shape
    for shape in (
        Shape(
            "slide",
            "SELECT site, COUNT(weight), SUM(weight), MAX(weight) FROM traffic [FROM NOW-9 TO NOW SLIDE 2 SEC] "
            "GROUP BY site",
        ),
        Shape(
            "join",
            "RSTREAM(SELECT traffic.id, traffic.weight, air.temp FROM traffic [FROM NOW-4 TO NOW SLIDE 2 SEC], "
            "air [FROM NOW-3 TO NOW SLIDE 3 SEC] WHERE traffic.id = air.id)",
            ("traffic", "air"),
        ),
        Shape("rows", "SELECT COUNT(weight), SUM(weight), MIN(id) FROM traffic [FROM NOW-14 TO NOW SLIDE 10 ROWS]"),
        Shape(
            "scan",
            "ISTREAM(SELECT traffic.site, band.name FROM traffic [FROM NOW-4 TO NOW SLIDE 2 SEC], band [SCAN 5 SEC] "
            "WHERE traffic.weight = band.weight)",
            stored=True,
        ),
        Shape(
            "nested",
            "SELECT COUNT(top), SUM(top) FROM (RSTREAM(SELECT site, MAX(weight) AS top "
            "FROM traffic [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY site)) [FROM NOW-11 TO NOW SLIDE 2 ROWS]",
        ),
    )
}

KILLED: Mapping[str, Shape] = SHAPES | {
    shape.name: shape
    for shape in (
        Shape("changes", "ISTREAM(SELECT traffic.index, weight FROM traffic [FROM NOW-3 TO NOW SLIDE 2 ROWS])"),
        Shape(
            "product",
            "RSTREAM(SELECT traffic.index, traffic.weight, air.temp FROM traffic [FROM NOW-3 TO NOW SLIDE 2 ROWS], "
            "air [FROM NOW-3 TO NOW SLIDE 3 SEC] WHERE traffic.id = air.id)",
            ("traffic", "air"),
        ),
        Shape("numbered", "ISTREAM(SELECT traffic.index, id FROM traffic [FROM NOW-3 TO NOW SLIDE 2 SEC])"),
    )
}
"""With more, so that every machine is among them."""

BATCH_TICKS = 30
"""A multiple of every slide and span above: each micro-batch meets its windows in the same places."""


@dataclass(frozen=True)
class Load:
    """Many rows: so many per tick of every stream, in so many micro-batches of `BATCH_TICKS` ticks.

    All micro-batches hold the same rows under other ticks and other identities, so that what is remembered for them
    must be the same again and again, and anything that is left behind is seen.
    """

    per_tick: int
    batches: int
    seed: int = 1

    def write(self, shape: Shape, folder: Path) -> dict[str, Path]:
        """Files in the form of `micro_batches.write_streams`, with its last row that ends the run."""
        rng = np.random.default_rng(self.seed)
        count = self.per_tick * BATCH_TICKS
        ticks = np.repeat(np.arange(BATCH_TICKS, dtype=np.int64), self.per_tick)
        position = np.arange(1, count + 1, dtype=np.int64)
        near = ticks * self.per_tick * 4
        paths: dict[str, Path] = {}
        for name in shape.streams:
            identity = near + rng.integers(0, self.per_tick * 40, count)
            if name == "traffic":
                cells = [rng.integers(0, 50, count), rng.integers(0, 400, count)]
            else:
                cells = [rng.integers(-20, 40, count)]
            paths[name] = folder / name
            paths[name].mkdir(parents=True)
            for batch in range(self.batches):
                moved = [identity + batch * BATCH_TICKS * self.per_tick * 4, *cells]
                columns = [ticks + batch * BATCH_TICKS, position + batch * count, *moved]
                self._file(paths[name], batch, columns)
            end = self.batches * BATCH_TICKS
            self._file(paths[name], self.batches, [np.array([value]) for value in (end, 0, *(0 for _ in moved))])
        return paths

    @property
    def until(self) -> int:
        """The last tick."""
        return self.batches * BATCH_TICKS - 1

    @staticmethod
    def _file(folder: Path, number: int, columns: list[Any]) -> None:
        names = ["tick", "position", *(f"c{place}" for place in range(len(columns) - 2))]
        file = folder / f"{number:06}.parquet"
        pq.write_table(pa.table([pa.array(c, pa.int64()) for c in columns], names=names), file)
        os.utime(file, (1_000_000_000 + number, 1_000_000_000 + number))

    def tables(self, shape: Shape) -> dict[str, Any]:
        """The versions of the table: two per micro-batch, of all rows and of two."""
        if not shape.stored:
            return {}
        half = BATCH_TICKS // 2
        return {"band": {tick: BANDS[: 5 if tick % BATCH_TICKS else 2] for tick in range(0, self.until, half)}}
