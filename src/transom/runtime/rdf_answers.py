"""Answers of Spark to queries over RDF: the DataFrame that a user gets, and the same as the reference engine has it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.model.answer import RdfAnswerKind
from transom.model.rdf.answer import Ordered, RdfAnswer, Truth, runs
from transom.model.rdf.formats import cell, rows
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.spelling import decode
from transom.model.rdf.terms import IRI, Literal, Triple, in_order
from transom.physical.node import Physical
from transom.physical.plan import Form
from transom.physical.rdf_plan import Sequence
from transom.reference.sources import Inputs
from transom.runtime.options import RunOptions
from transom.runtime.rdf_intervals import during, intervals
from transom.runtime.results import Results
from transom.spark.marks import TICK

Texts = tuple[str | None, ...]


class RdfResults(Results[RdfAnswer]):
    """The results of one planned query over RDF: changes as they come, and intervals in a replay."""

    own = ("change", "place", "empty", "start", "end", "n")

    def result(self, frame: DataFrame) -> DataFrame:
        """The frame of a plan's top as a user sees it: changes, sequences, or what follows from stored graphs alone."""
        cells = [F.col(f"c{place}").alias(name) for place, name in enumerate(self.names)]
        if isinstance(self.plan, Sequence):
            place = [F.col("o").alias("place")]
            if self.plan.form is Form.TABLE:
                return frame.select(*place, *cells)
            return frame.select(F.col(TICK), (~F.col("p")).alias("empty"), *place, *cells)
        if self.plan.form is Form.TABLE:
            return frame.select(*cells)
        if "p" in frame.columns:
            frame = frame.where("p")
        return frame.select(F.col(TICK), F.col("n").alias("change"), *cells)

    def last_tick(self, options: RunOptions, sources: Mapping[str, DataFrame]) -> int | None:
        """A replay has no end: it gives intervals, which are not cut."""
        return None

    def replayed(self, frame: DataFrame, start: int, until: int | None) -> DataFrame:
        """The batch result as intervals."""
        found = intervals(frame, self.names, self.calendar, self.kind)
        return during(found, start, until).orderBy("start", *(["place"] if self.kind == "sequences" else []))

    def show(self, frame: DataFrame, most: int, table: Callable[[RdfAnswer], None]) -> bool:
        """Print the first rows of a replay as the table of an answer; whether there are more."""
        rows = frame.limit(most + 1).collect()
        table(gathered(rows[:most], self.kind, self.columns))
        return len(rows) > most

    def of_replay(self, frame: DataFrame, start: int, until: int | None) -> RdfAnswer:
        """The answer of a replay, by the intervals that a user gets."""
        return gathered(self.replayed(frame, start, until).collect(), self.kind, self.columns)

    def answer(self, rows: Iterable[Any]) -> RdfAnswer:
        """The rows of a plain result as an answer."""
        return answer(rows, self.plan, self.kind, self.columns)

    def last_of(self, inputs: Inputs, whole: RdfAnswer, until: int | None) -> int:
        """The last tick of which a stream says anything."""
        if inputs.ends:
            return inputs.until  # rows of which statements are made end then
        return max(last_change(whole), inputs.until) if until is None else until

    def difference(self, expected: RdfAnswer, found: RdfAnswer, *, index: bool = False) -> str | None:
        """The first difference between two answers in words, or None."""
        return difference(expected, found)


def answer(rows: Iterable[Any], plan: Physical, kind: RdfAnswerKind, columns: tuple[str, ...]) -> RdfAnswer:
    """The rows of a plain result as an answer: changes are added up (E7)."""
    width = range(len(plan.schema))
    told = [(row.asDict(), tuple(row[f"c{place}"] for place in width)) for row in rows]
    found = {"sequences": _sequences, "boolean": _truth}.get(kind, _intervals)
    return gathered(found(told), kind, columns)


def _intervals(rows: Iterable[tuple[Mapping[str, Any], Texts]]) -> Iterator[tuple[Any, ...]]:
    """Each row from one change of how often it is there to the next."""
    changes: dict[Texts, Counter[int]] = {}
    for given, cells in rows:
        changes.setdefault(cells, Counter())[given["t"]] += given.get("change", 1)
    for cells, by_tick in changes.items():
        points = sorted(by_tick)
        counts = list(accumulate(by_tick[point] for point in points))
        if min(counts) < 0:
            raise ValueError(f"{cells} goes at {points[counts.index(min(counts))]}, and never came")
        yield from ((start, end, n, *cells) for n, start, end in runs(points, counts) if n)


def _truth(rows: Iterable[tuple[Mapping[str, Any], Texts]]) -> Iterator[tuple[Any, ...]]:
    """The times in which there is a row, and those between them."""
    there = list(_intervals((given, ()) for given, _ in rows))
    points = sorted({0, *(start for start, *_ in there), *(end for _, end, *_ in there if end is not None)})
    values = [any(start <= t and (end is None or t < end) for start, end, _ in there) for t in points]
    return ((start, end, value) for value, start, end in runs(points, values))


def _sequences(rows: Iterable[tuple[Mapping[str, Any], Texts]]) -> Iterator[tuple[Any, ...]]:
    """Each list from the tick at which it is another one to the next such tick."""
    lists: dict[int, list[tuple[int, Texts]]] = {0: []}
    for given, cells in rows:
        found = lists.setdefault(given["t"], [])
        if not given.get("empty", False):
            found.append((given["place"], cells))
    points = sorted(lists)
    values = [tuple(cells for _, cells in sorted(lists[t], key=lambda e: e[0])) for t in points]
    for held, start, end in runs(points, values):
        yield from ((start, end, place, *cells) for place, cells in enumerate(held))


def gathered(rows: Iterable[Any], kind: RdfAnswerKind, columns: tuple[str, ...]) -> RdfAnswer:
    """Rows of intervals as the answer that the reference engine would give."""
    told = [tuple(row) for row in rows]
    if kind == "boolean":
        truth = sorted((Truth(value, start, end) for start, end, value in told), key=lambda one: one.start)
        return RdfAnswer(kind, ("ask",), truth=tuple(truth))
    if kind == "sequences":
        lists: dict[tuple[int, int | None], list[tuple[int, Solution]]] = {}
        for start, end, place, *cells in told:
            lists.setdefault((start, end), []).append((place, solution_of(tuple(cells), columns)))
        ordered = [
            Ordered(tuple(solution for _, solution in sorted(held, key=lambda one: one[0])), start, end)
            for (start, end), held in lists.items()
        ]
        return RdfAnswer(kind, columns, sequences=tuple(sorted(ordered, key=lambda one: one.start)))
    if kind == "triples":
        triples = [Valid(triple_of(tuple(cells)), start, end, n) for start, end, n, *cells in told]
        return RdfAnswer(kind, columns, triples=tuple(sorted(triples, key=_by_triple)))
    solutions = [Valid(solution_of(tuple(cells), columns), start, end, n) for start, end, n, *cells in told]

    def by_solution(one: Valid[Solution]) -> tuple[object, ...]:
        return one.start, one.payload.in_order(columns), one.end is None, one.end or 0

    return RdfAnswer(kind, columns, solutions=tuple(sorted(solutions, key=by_solution)))


def _by_triple(one: Valid[Triple]) -> tuple[object, ...]:
    return one.start, triple_order(one.payload), one.end is None, one.end or 0


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


def difference(expected: RdfAnswer, found: RdfAnswer) -> str | None:
    """The first difference between two answers in words, or None."""
    one, other = _lines(expected), _lines(found)
    for line in sorted(set(one) | set(other)):
        if one.count(line) != other.count(line):
            shown = _shown(line)
            return f"missing: {shown}" if one.count(line) > other.count(line) else f"not expected: {shown}"
    return None if one == other else "the order is another"


def _lines(answer: RdfAnswer) -> list[tuple[Hashable, ...]]:
    """The rows of an answer, in order of their start; within a sequence as it has them."""
    found = [
        (start, end is None, end or 0, n, *(cell(term) or "" for term in terms))
        for start, end, n, terms in rows(answer)
    ]
    return found if answer.sequences else sorted(found)


def _shown(line: tuple[Hashable, ...]) -> str:
    start, open_end, end, n, *terms = line
    return f"{start} to {'∞' if open_end else end}, {n} x ({', '.join(map(str, terms))})"


def last_change(answer: RdfAnswer) -> int:
    """The last tick at which an answer changes."""
    ticks = [tick for start, end, _, _ in rows(answer) for tick in (start, end) if tick is not None]
    return max(ticks, default=0)
