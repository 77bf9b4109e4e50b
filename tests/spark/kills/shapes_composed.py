"""Queries over answers of other queries to be killed: rows of solutions, statements of rows, constructed statements."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import transom
from tests.spark.kills.shapes import Shape
from tests.spark.kills.shapes_rdf import ALL, Linked, difference
from tests.spark.operators.composed import comparable
from transom import Catalog
from transom.model.rdf.answer import RdfAnswer
from transom.query import Query
from transom.runtime.options import RunOptions
from transom.runtime.verify.micro_batches import Split, batch_rows, read_streams, write_streams

CATALOG = Path(__file__).parents[2] / "compose" / "killed" / "catalog.yaml"


@dataclass(frozen=True)
class Nested(Linked):
    """A query over the answer of another; `language` is its own."""

    language: str = "sparql"

    def query(self) -> Query[Any]:
        return transom.compile(self.text, Catalog.load(CATALOG), language=self.language)  # type: ignore[call-overload,no-any-return]

    def until(self, ticks: int) -> int:
        """The last tick, when all windows are empty again."""
        return 2 * ticks

    def inputs(self, seed: int, ticks: int = 40) -> dict[str, list[tuple[Any, ...]]]:
        """Rows and statements about four objects, several at a tick."""
        rng = Random(f"nested {seed}")
        found: dict[str, list[tuple[Any, ...]]] = {"s": [], "traffic": []}
        for tick in range(ticks):
            for _ in range(rng.choice((0, 1, 2, 3))):
                found["s"].append((tick, f":o{rng.randrange(4)}", rng.choice((":p", ":q")), rng.randrange(6)))
            for _ in range(rng.choice((0, 0, 1, 2))):
                found["traffic"].append((tick, rng.randrange(4), rng.randrange(9)))
        return found

    def write(self, seed: int, ticks: int, files: int, folder: Path) -> None:
        query, last = self.query(), self.until(ticks)
        inputs = query.inputs(self.inputs(seed, ticks), last)
        split = Split(-(-len(batch_rows(query.sources, inputs, last)) // files))
        write_streams(folder, query.sources, inputs, split, last)

    def sources(self, spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
        reads = self.query().sources
        return read_streams(spark, reads, {extent.name: folder / extent.name for extent in reads}, live=True)

    def rows(self, frame: DataFrame) -> list[Any]:
        return self._results(frame.sparkSession).plain(frame).collect()

    def _results(self, spark: SparkSession) -> Any:
        return self.query().job(spark, RunOptions(), live=False).results

    def wrong(self, seed: int, ticks: int, rows: list[Any]) -> str | None:
        last = self.until(ticks)
        expected = self.query().simulate(self.inputs(seed, ticks), until=last)
        if not len(expected):
            return "nothing was expected, so nothing is shown"
        found = self._results(SparkSession.active()).answer(rows)
        if isinstance(expected, RdfAnswer):
            return difference(expected, found)
        wanted, made = comparable(expected), comparable(found)
        missing, more = list(wanted - made)[:3], list(made - wanted)[:3]
        return None if wanted == made else f"missing {missing}, not expected {more}"


NESTED: Mapping[str, Nested] = {
    shape.name: shape
    for shape in (
        Nested("cql_over_sparql", "SELECT IStream(id, n) FROM begun [RANGE '6 ms']", language="cql"),
        Nested(
            "sparql_over_cql",
            """SELECT ?x ?v ?a FROM STREAM :heavy WINDOW RANGE 8 SLIDE 2 FROM STREAM :s WINDOW RANGE 5 SLIDE
               WHERE { ?x :n ?v . ?x :p ?a }""",
        ),
        Nested(
            "sparql_over_sparql",
            "SELECT ?x (SUM(?v) AS ?n) FROM STREAM :pairs WINDOW RANGE 6 SLIDE 1 WHERE { ?x :r ?v } GROUP BY ?x",
        ),
    )
}

KILLABLE: Mapping[str, Shape | Linked] = {**ALL, **NESTED}
"""Every shape that is killed, also those over answers of others."""
