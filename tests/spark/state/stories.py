"""Queries whose runs stop in the middle: one for each kind of stateful operator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

import transom
from tests.spark.history.changes import CHANGES, TICKS, Change, Story, finished
from tests.spark.kills.shapes_rdf import LINKED, Linked
from transom import Catalog, Query
from transom.physical.nodes.windows import KernelMode
from transom.runtime.start import Running

PARTITIONS = "spark.sql.shuffle.partitions"


@dataclass(frozen=True)
class Keyed(Change):
    """A question of CQL about four keys, whose number the catalog declares."""

    def query(self, text: str) -> Query:
        pushed = {"kind": "pushed", "rate": "50 per s", "keys": 4}
        extents = {
            "traffic": {**pushed, "attributes": ["id:integer", "site:integer", "weight:integer"]},
            "air": {**pushed, "attributes": ["id:integer", "temp:integer"]},
        }
        catalog = Catalog.from_dict({"tick": "1 s", "epoch": "2026-01-01T00:00:00Z", "extents": extents})
        return transom.compile(text, catalog, language="cql")


@dataclass(frozen=True)
class Moving(Change):
    """A question about objects that move on a line."""

    def query(self, text: str) -> Query:
        cars = {
            "declare": "pushed (id:integer, x:float)",
            "position": {"x": "x", "unit": "m"},
            "object": "id",
            "rate": "20 per s",
            "keys": 4,
            "max_rows_per_key": 100,
        }
        catalog = Catalog.from_dict({"tick": "1 s", "epoch": "2026-01-01T00:00:00Z", "extents": {"cars": cars}})
        return transom.compile(text, catalog, language="cql")

    def inputs(self, seed: int) -> dict[str, Any]:
        rng = Random(f"moving {seed}")
        places = [0.0] * 4
        rows = []
        for tick in range(TICKS):
            for car in sorted({rng.randrange(4) for _ in range(3)}):
                places[car] += rng.randrange(-3, 9) / 2
                rows.append((tick, car, places[car]))
        return {"cars": rows}


class LinkedStory(Story):
    """A story about statements, over two streams."""

    @property
    def linked(self) -> Linked:
        """The question of the story."""
        return LINKED[self.change.name]

    def write(self) -> None:
        self.linked.write(self.seed, TICKS, 8, self.folder / "in")

    def start(self, spark: SparkSession, text: str, output: str, checkpoint: str, **more: Any) -> Running:
        sources = self.linked.sources(spark, self.folder / "in")
        query, folder = self.linked.query(), self.folder / checkpoint
        return query.start(
            spark, f"parquet:{self.folder / output}", folder, sources=sources, allow_unbounded=True, **more
        )

    def difference(self, spark: SparkSession, text: str, output: str, first: int, last: int) -> str | None:
        return self.linked.wrong(self.seed, TICKS, self.linked.rows(spark.read.parquet(str(self.folder / output))))


def change(name: str, text: str, *streams: str) -> Change:
    return Change(name, text, text, streams or ("traffic",))


QUERIES: Mapping[str, Change] = {
    one.name: one
    for one in (
        change("sliding", CHANGES["predicate"].old),
        change("join", CHANGES["join"].old, "traffic", "air"),
        change("nested", CHANGES["nested"].old),
        change("rows", "RSTREAM(SELECT id, weight FROM traffic [FROM NOW-3 TO NOW SLIDE 3 ROWS])"),
        Keyed("keyed", "SELECT RStream(id, weight) FROM traffic [PARTITION BY id ROWS 3]", ""),
        Keyed(
            "relations",
            "SELECT IStream(a.id, a.weight, b.temp) FROM traffic [PARTITION BY id ROWS 2] AS a, "
            "air [PARTITION BY id ROWS 2] AS b WHERE a.id = b.id",
            "",
            ("traffic", "air"),
        ),
        Moving(
            "distance",
            "SELECT RStream(id, x) FROM cars [PARTITION BY id RANGE BY '6 m' RATTR SPACE, SLIDE BY '3 m' SATTR SPACE]",
            "",
            ("cars",),
        ),
        Change("rdf_optional", "", "", ("s", "u")),
    )
}


@contextmanager
def partitions(spark: SparkSession, number: int) -> Iterator[None]:
    """New checkpoints get this number of partitions."""
    before = spark.conf.get(PARTITIONS)
    spark.conf.set(PARTITIONS, str(number))
    try:
        yield
    finally:
        spark.conf.set(PARTITIONS, str(before))


def half_run(spark: SparkSession, folder: Path, name: str, kernel: KernelMode, seed: int = 1) -> Story:
    """A story whose query has read half of its files, and was stopped."""
    story = half_story(folder, name, seed)
    finished(story.start(spark, story.change.old, "out", "checkpoint", kernel=kernel))
    return story


def half_story(folder: Path, name: str, seed: int = 1, pieces: int = 2, visible: float = 0.5) -> Story:
    """A story whose query sees half of its files, or another part of them."""
    kind = LinkedStory if name in LINKED else Story
    story = kind(QUERIES[name], seed, folder, pieces)
    story.write()
    story.hide(int(story.files * visible))
    return story


def rest(spark: SparkSession, story: Story, kernel: KernelMode) -> str | None:
    """Let the query read the other files; how its answer differs from an uninterrupted run."""
    story.show()
    running = finished(story.start(spark, story.change.old, "out", "checkpoint", kernel=kernel))
    assert running.resumed
    return story.difference(spark, story.change.old, "out", 0, TICKS - 1)
