"""Answers of Spark to queries over RDF in the form of the reference engine: changes are folded (E7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.model.rdf.answer import Ordered, RdfAnswer, RdfAnswerKind, Truth, intervals, runs
from transom.model.rdf.solutions import Solution
from transom.model.rdf.spelling import decode
from transom.model.rdf.terms import IRI, Literal, Triple, in_order
from transom.model.time import Calendar
from transom.physical.node import Physical
from transom.runtime.rdf_dataframe import names_of
from transom.spark.columns import quoted
from transom.spark.marks import TICK, TickTime

Texts = tuple[str | None, ...]


def plain(plan: Physical, frame: DataFrame, calendar: Calendar) -> DataFrame:
    """An answer with ticks as numbers and columns by their places."""
    tick = TickTime(calendar).number() if TICK in frame.columns else F.lit(0)
    more = [F.col(name) for name in ("change", "empty", "place") if name in frame.columns]
    cells = [F.col(quoted(name)).alias(f"c{place}") for place, name in enumerate(names_of(plan))]
    return frame.select(tick.cast("long").alias("t"), *more, *cells)


def answer(rows: Iterable[Any], plan: Physical, kind: RdfAnswerKind, columns: tuple[str, ...]) -> RdfAnswer:
    """The rows of a plain result as an answer."""
    fields = [row.asDict() for row in rows]
    width = range(len(plan.schema))
    return _answer([(given, tuple(given[f"c{place}"] for place in width)) for given in fields], kind, columns)


def _answer(rows: list[tuple[Mapping[str, Any], Texts]], kind: RdfAnswerKind, columns: tuple[str, ...]) -> RdfAnswer:
    if kind == "sequences":
        return RdfAnswer(kind, columns, sequences=_sequences(rows, columns))
    changes: dict[int, Counter[Texts]] = {}
    for given, cells in rows:
        changes.setdefault(given["t"], Counter())[cells] += given.get("change", 1)
    points = sorted({0, *changes})
    contents: dict[int, Counter[Texts]] = {}
    there: Counter[Texts] = Counter()
    for point in points:
        there = Counter(there)
        for cells, count in changes.get(point, Counter()).items():
            there[cells] += count
            if there[cells] < 0:
                raise ValueError(f"{cells} goes at {point}, and never came")
            if not there[cells]:
                del there[cells]
        contents[point] = there
    if kind == "boolean":
        told = runs(points, [bool(contents[point]) for point in points])
        return RdfAnswer(kind, ("ask",), truth=tuple(Truth(*run) for run in told))
    if kind == "triples":
        made = {cells: triple_of(cells) for content in contents.values() for cells in content}
        triples = intervals(points, lambda t: (made[c] for c in contents[t].elements()), triple_order)
        return RdfAnswer(kind, columns, triples=triples)
    known = {cells: solution_of(cells, columns) for content in contents.values() for cells in content}
    solutions = intervals(points, lambda t: (known[c] for c in contents[t].elements()), lambda s: s.in_order(columns))
    return RdfAnswer(kind, columns, solutions=solutions)


def _sequences(rows: list[tuple[Mapping[str, Any], Texts]], columns: tuple[str, ...]) -> tuple[Ordered, ...]:
    lists: dict[int, list[tuple[int, Texts]]] = {0: []}
    for given, cells in rows:
        found = lists.setdefault(given["t"], [])
        if not given.get("empty", False):
            found.append((given["place"], cells))
    points = sorted(lists)
    values = [tuple(solution_of(cells, columns) for _, cells in sorted(lists[t], key=lambda e: e[0])) for t in points]
    return tuple(Ordered(*run) for run in runs(points, values) if run[0])


def solution_of(cells: Texts, columns: tuple[str, ...]) -> Solution:
    """A row of texts as a solution."""
    return Solution.of({name: decode(text) for name, text in zip(columns, cells, strict=True) if text is not None})


def triple_of(cells: Texts) -> Triple:
    """A row of texts as a statement."""
    subject, predicate, object = (decode(text or "") for text in cells)
    if isinstance(subject, Literal) or not isinstance(predicate, IRI):
        raise ValueError(f"{cells} is no statement")
    return Triple(subject, predicate, object)


def triple_order(triple: Triple) -> tuple[tuple[int, str, str, str], ...]:
    """What puts any two statements in one fixed order."""
    return (in_order(triple.subject), in_order(triple.predicate), in_order(triple.object))
