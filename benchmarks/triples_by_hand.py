"""The peers of the benchmark of statements: the same star by hand in PySpark, and Oxigraph asked again and again.

What is by hand knows more than our engine does: that a message is about one subject, and says nothing twice. So a pivot
will do, and nothing has to be joined. An answer comes as ours does: as changes, at the instants at which ticks of 1 ms
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
    """Over a table that is pivoted already: a row for a subject, a column for a predicate."""
    return _changes(table.dropna(subset=list(columns)), columns, width, slide)


def of_messages(messages: DataFrame, names: Mapping[str, str], width: int, slide: int) -> DataFrame:
    """Over messages: each is pivoted by itself."""
    pairs = F.transform("statements", lambda one: F.struct(one["p"], one["o"]))
    whole = messages.select("tick", F.col("statements")[0]["s"].alias("x"), F.map_from_entries(pairs).alias("told"))
    table = whole.select("tick", "x", *(F.col("told")[term].alias(own) for own, term in names.items()))
    return of_pivoted(table, list(names), width, slide)


def of_statements(statements: DataFrame, names: Mapping[str, str], width: int, slide: int) -> DataFrame:
    """Over statements one by one: Spark groups them by subject and instant, and a group is done with the watermark.

    The instant is the end of a tick: tick 0 begins where Spark's watermark begins, and would be late.
    """
    marked = statements.withColumn("at", F.timestamp_millis(F.col("tick") + 1)).withWatermark("at", "1 millisecond")
    cells = [F.max(F.when(F.col("p") == term, F.col("o"))).alias(own) for own, term in names.items()]
    table = marked.groupBy("at", F.col("s").alias("x")).agg(*cells)
    return of_pivoted(table.withColumn("tick", F.unix_millis("at") - 1), list(names), width, slide)


def _changes(table: DataFrame, columns: Sequence[str], width: int, slide: int) -> DataFrame:
    """Each row as two changes: it comes, and it goes at the last multiple of the slide within the width."""
    goes = F.expr(f"(tick + {width}) div {slide} * {slide}")
    moments = [F.struct(at.alias("t"), F.lit(n).alias("change")) for at, n in ((F.col("tick"), 1), (goes, -1))]
    told = table.select(F.inline(F.array(*moments)), "x", *columns)
    return told.select(F.timestamp_millis(F.col("t") + 1).alias("tick"), "change", "x", *columns)


@dataclass(frozen=True)
class Store:
    """Statements in order of time, and a question that is asked at the end of every slide.

    A statement is made a quad beforehand, so reading text costs nothing here. A snapshot holds what came within the
    width up to the last instant before the next slide.
    """

    ticks: Sequence[int]
    quads: Sequence[ox.Quad]
    text: str
    width: int
    slide: int

    @staticmethod
    def of(statements: Iterable[tuple[int, tuple[str, str, str]]], text: str, width: int, slide: int) -> Store:
        """Statements as Oxigraph has them."""
        rows = list(statements)
        lines = "\n".join(" ".join((*terms, ".")) for _, terms in rows)
        quads = list(ox.parse(lines, ox.RdfFormat.N_TRIPLES))
        return Store([tick for tick, _ in rows], quads, text, width, slide)

    def filled(self, first: int) -> ox.Store:
        """A store as it stands before a slide."""
        store = ox.Store()
        store.bulk_extend(self._between(first * self.slide - self.width, first * self.slide))
        return store

    def snapshots(self, store: ox.Store, first: int, last: int) -> Iterator[ox.QuerySolutions]:
        """What is answered at the end of every slide."""
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
