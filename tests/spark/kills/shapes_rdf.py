"""Questions over RDF to be killed: a join, left joins, windows of elements, and an order of which a part is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import DataFrame, SparkSession

import transom
from tests.rdf.build import rows as told
from tests.spark.kills.shapes import Shape
from tests.spark.kills.shapes_cql import ALL as OTHERS
from transom import Catalog
from transom.model.rdf.answer import RdfAnswer
from transom.query import Query
from transom.runtime.results.rdf import RdfResults, rdf_answer_from_rows
from transom.runtime.results.results import plain_frame
from transom.runtime.verify.micro_batches import Split, write_streams

FILES = "tick bigint, position bigint, s string, p string, o string"
NAMED = """FROM NAMED STREAM :s WINDOW RANGE 9 SLIDE 2
           FROM NAMED STREAM :u WINDOW RANGE 4 SLIDE"""


@dataclass(frozen=True)
class Linked:
    """A question of Streaming SPARQL and the streams that it reads."""

    name: str
    text: str
    streams: tuple[str, ...] = ("s",)

    def query(self) -> Query:
        rdf = {name: {"stream": f"http://ex/{name}"} for name in ("s", "u")}
        catalog = Catalog.from_dict({"tick": "1 ms", "prefixes": {"": "http://ex/"}, "rdf": rdf})
        return transom.compile(self.text, catalog, language="sparql")

    def until(self, ticks: int) -> int | None:
        """The last tick of a run; None where the answer ends by itself."""
        return None

    def inputs(self, seed: int, ticks: int = 40) -> dict[str, list[tuple[Any, ...]]]:
        """Statements about four subjects, several at a tick.

        The second stream says nothing of one of them, and nothing at all in the last third, so that right sides of an
        OPTIONAL end before the left ones, and some never begin.
        """
        rng = Random(f"linked {seed}")
        found: dict[str, list[tuple[Any, ...]]] = {"s": [], "u": []}
        for tick in range(ticks):
            for _ in range(rng.choice((0, 1, 2, 3))):
                found["s"].append((tick, f":o{rng.randrange(4)}", rng.choice((":p", ":q")), rng.randrange(6)))
            if tick < ticks * 2 // 3 and rng.random() < 0.6:
                found["u"].append((tick, f":o{rng.randrange(3)}", ":r", rng.randrange(6)))
        return {name: found[name] for name in self.streams}

    def write(self, seed: int, ticks: int, files: int, folder: Path) -> None:
        """Its statements as so many files per stream, and one more that moves the watermark past all ends."""
        query = self.query()
        inputs = query.inputs(self.inputs(seed, ticks))
        split = Split(-(-sum(map(len, inputs.streams.values())) // files))
        write_streams(folder, query.sources, inputs, split, until=2 * ticks)

    def sources(self, spark: SparkSession, folder: Path) -> dict[str, DataFrame]:
        """Those files as streams, a file per micro-batch."""
        reader = spark.readStream.schema(FILES).option("maxFilesPerTrigger", 1)
        return {name: reader.parquet(str(folder / name)) for name in self.streams}

    def rows(self, frame: DataFrame) -> list[Any]:
        """What was written."""
        query = self.query()
        return plain_frame(frame, query.physical().schema, query.catalog.calendar, RdfResults.meta_columns).collect()

    def wrong(self, seed: int, ticks: int, rows: list[Any]) -> str | None:
        """What is wrong with rows that were written; changes are folded, so that what never goes has no end."""
        query = self.query()
        expected = query.simulate(self.inputs(seed, ticks))
        if not len(expected):
            return "nothing was expected, so nothing is shown"
        found = rdf_answer_from_rows(rows, query.physical(), query.result_kind, query.columns)
        return difference(expected, found)


def difference(expected: RdfAnswer, found: RdfAnswer) -> str | None:
    """How two answers differ, in words, or None."""
    one, other = (sorted(map(str, told(answer))) for answer in (expected, found))
    if one == other:
        return None
    missing, more = ([line for line in a if line not in b][:3] for a, b in ((one, other), (other, one)))
    return f"{len(one)} expected and {len(other)} found; missing {missing}, not expected {more}"


LINKED: Mapping[str, Linked] = {
    shape.name: shape
    for shape in (
        Linked(
            "rdf_join",
            f"SELECT ?x ?a ?b ?c {NAMED} WHERE {{ GRAPH :s {{ ?x :p ?a ; :q ?b }} GRAPH :u {{ ?x :r ?c }} }}",
            ("s", "u"),
        ),
        Linked(
            "rdf_optional",
            f"""SELECT ?x ?a ?b ?c {NAMED} WHERE {{ GRAPH :s {{ ?x :p ?a }} OPTIONAL {{ GRAPH :u {{ ?x :r ?b }} }}
                OPTIONAL {{ GRAPH :s {{ ?x :q ?c WINDOW RANGE 3 SLIDE }} FILTER (?c > ?a) }} }}""",
            ("s", "u"),
        ),
        Linked(
            "rdf_elems",
            """SELECT ?x ?a ?b FROM STREAM :s WINDOW ELEMS 9
               WHERE { ?x :p ?a OPTIONAL { ?x :q ?b WINDOW ELEMS 3 } }""",
        ),
        Linked(
            "rdf_order",
            """SELECT DISTINCT ?x FROM STREAM :s WINDOW RANGE 9 SLIDE 3
               WHERE { { SELECT ?x ?a WHERE { ?x :p ?a } ORDER BY DESC(?a) ?x LIMIT 3 } FILTER (?x != :o0) }""",
        ),
    )
}

ALL: Mapping[str, Shape | Linked] = {**OTHERS, **LINKED}
"""Every shape that is killed, of all languages."""
