"""Peers of the benchmark of statements: the same star by hand in PySpark, and repeated queries to Oxigraph.

The versions by hand know more than our engine: a message is about one subject and has no duplicate statements. A pivot
is enough, and nothing has to be joined. Answers have the form of ours: changes, at the instants at which ticks of 1 ms
end.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyoxigraph as ox
from pyspark.sql import DataFrame
from pyspark.sql import functions as F


def of_pivoted(table: DataFrame, columns: Sequence[str], width: int, slide: int) -> DataFrame:
    """The star over a table that is already pivoted: a row per subject, a column per predicate."""
    return _changes(table.dropna(subset=list(columns)), columns, width, slide)


def of_messages(messages: DataFrame, names: Mapping[str, str], width: int, slide: int) -> DataFrame:
    """The star over messages, each of which is pivoted by itself."""
    pairs = F.transform("statements", lambda one: F.struct(one["p"], one["o"]))
    whole = messages.select("tick", F.col("statements")[0]["s"].alias("x"), F.map_from_entries(pairs).alias("told"))
    table = whole.select("tick", "x", *(F.col("told")[term].alias(own) for own, term in names.items()))
    return of_pivoted(table, list(names), width, slide)


def of_statements(statements: DataFrame, names: Mapping[str, str], width: int, slide: int) -> DataFrame:
    """The star over single statements: Spark groups them by subject and instant until the watermark closes a group.

    The instant is the end of a tick, because tick 0 begins where Spark's watermark begins and would be late.
    """
    marked = statements.withColumn("at", F.timestamp_millis(F.col("tick") + 1)).withWatermark("at", "1 millisecond")
    cells = [F.max(F.when(F.col("p") == term, F.col("o"))).alias(own) for own, term in names.items()]
    table = marked.groupBy("at", F.col("s").alias("x")).agg(*cells)
    return of_pivoted(table.withColumn("tick", F.unix_millis("at") - 1), list(names), width, slide)


def _changes(table: DataFrame, columns: Sequence[str], width: int, slide: int) -> DataFrame:
    """Each row as an insertion, and a retraction at the last multiple of the slide within the width."""
    goes = F.expr(f"(tick + {width}) div {slide} * {slide}")
    moments = [F.struct(at.alias("t"), F.lit(n).alias("change")) for at, n in ((F.col("tick"), 1), (goes, -1))]
    told = table.select(F.inline(F.array(*moments)), "x", *columns)
    return told.select(F.timestamp_millis(F.col("t") + 1).alias("tick"), "change", "x", *columns)


@dataclass(frozen=True)
class Store:
    """Statements in order of time, and a query that Oxigraph evaluates at the end of every slide.

    Statements are parsed to quads beforehand, so parsing is not timed. A snapshot holds the statements of the last
    `width` up to the last instant before the next slide.
    """

    ticks: Sequence[int]
    quads: Sequence[ox.Quad]
    text: str
    width: int
    slide: int

    @staticmethod
    def of(statements: Iterable[tuple[int, tuple[str, str, str]]], text: str, width: int, slide: int) -> Store:
        """Parse statements to quads of Oxigraph."""
        rows = list(statements)
        lines = "\n".join(" ".join((*terms, ".")) for _, terms in rows)
        quads = list(ox.parse(lines, ox.RdfFormat.N_TRIPLES))
        return Store([tick for tick, _ in rows], quads, text, width, slide)

    def filled(self, first: int) -> ox.Store:
        """An Oxigraph store with the statements of the window before slide `first`."""
        store = ox.Store()
        store.bulk_extend(self._between(first * self.slide - self.width, first * self.slide))
        return store

    def snapshots(self, store: ox.Store, first: int, last: int) -> Iterator[ox.QuerySolutions]:
        """Yield the solutions at the end of every slide from `first` up to but not including `last`."""
        for at in range(first, last):
            end = (at + 1) * self.slide
            for gone in self._between(end - self.slide - self.width, end - self.width):
                store.remove(gone)
            store.extend(self._between(end - self.slide, end))
            found = store.query(self.text)
            assert isinstance(found, ox.QuerySolutions)
            yield found

    def _between(self, start: int, end: int) -> Sequence[ox.Quad]:
        return self.quads[bisect_left(self.ticks, start) : bisect_left(self.ticks, end)]
