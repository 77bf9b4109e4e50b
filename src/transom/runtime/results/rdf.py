"""Results of Spark for queries over RDF: the DataFrame for users, and the answer in the reference engine's form."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.model.answer_kind import RdfAnswerKind
from transom.model.rdf.answer import BooleanInterval, RdfAnswer, SequenceInterval, merge_equal_neighbours
from transom.model.rdf.formats import rows, term_cell
from transom.model.rdf.ntriples import decode_term
from transom.model.rdf.solutions import Solution, Valid
from transom.model.rdf.terms import IRI, Literal, Triple, term_order_key
from transom.physical.nodes.node import PhysicalNode
from transom.physical.nodes.rdf import Sort
from transom.physical.nodes.windows import Form
from transom.reference.sources import Inputs
from transom.runtime.options import RunOptions
from transom.runtime.results.intervals import clip_intervals, to_intervals
from transom.runtime.results.results import Results
from transom.spark.columns import COUNT, IS_ROW, ORDER, TICK, TICK_NUMBER

TermTexts = tuple[str | None, ...]


class RdfResults(Results[RdfAnswer]):
    """The results of one planned query over RDF: a changelog in a live run, intervals in a replay."""

    meta_columns = ("change", "place", "empty", "start", "end", "n")

    def result(self, frame: DataFrame) -> DataFrame:
        """Select `tick`, the values, and `change` (of a row's count) or, if sorted, `empty` and `place` (rank)."""
        cells = [F.col(f"c{number}").alias(name) for number, name in enumerate(self.names)]
        if isinstance(self.plan, Sort):
            number = [F.col(ORDER).alias("place")]
            if self.plan.form is Form.TABLE:
                return frame.select(*number, *cells)
            return frame.select(F.col(TICK), (~F.col(IS_ROW)).alias("empty"), *number, *cells)
        if self.plan.form is Form.TABLE:
            return frame.select(*cells)
        if IS_ROW in frame.columns:
            frame = frame.where(IS_ROW)
        return frame.select(F.col(TICK), F.col(COUNT).alias("change"), *cells)

    def last_tick(self, options: RunOptions, sources: Mapping[str, DataFrame]) -> int | None:
        """Return None, because a replay over RDF gives validity intervals, which need no last tick."""
        return None

    def replay_frame(self, frame: DataFrame, start: int, until: int | None) -> DataFrame:
        """Convert a replay result to validity intervals in the run, sorted by start and (ORDER BY) by rank."""
        intervals = to_intervals(frame, self.names, self.calendar, self.kind)
        return clip_intervals(intervals, start, until).orderBy(
            "start", *(["place"] if self.kind == "sequences" else [])
        )

    def show(self, frame: DataFrame, max_rows: int, print_table: Callable[[RdfAnswer], None]) -> bool:
        """Print the first `max_rows` rows of a replay with `print_table`; return True if the replay has more rows."""
        rows = frame.limit(max_rows + 1).collect()
        print_table(rdf_answer_from_intervals(rows[:max_rows], self.kind, self.columns))
        return len(rows) > max_rows

    def collect_replay(self, frame: DataFrame, start: int, until: int | None) -> RdfAnswer:
        """Collect the answer of a replay over RDF from its validity intervals between `start` and `until`."""
        rows = self.replay_frame(frame, start, until).collect()
        return replace(rdf_answer_from_intervals(rows, self.kind, self.columns), calendar=self.calendar)

    def answer(self, rows: Iterable[Any]) -> RdfAnswer:
        """Convert collected rows of an answer frame (with ticks, prepared by `plain`) to an RDF answer."""
        return replace(rdf_answer_from_rows(rows, self.plan, self.kind, self.columns), calendar=self.calendar)

    def last_verified_tick(self, inputs: Inputs, answer: RdfAnswer, until: int | None) -> int:
        """Return the last tick that `verify` compares: `until`, else the last tick with an input or a change."""
        if inputs.ends:
            return inputs.until  # statements made of rows end with the rows
        return max(last_change(answer), inputs.until) if until is None else until

    def difference(self, expected: RdfAnswer, actual: RdfAnswer, *, index: bool = False) -> str | None:
        """Describe the first difference between two RDF answers; None if they are equal. `index` is ignored."""
        return rdf_difference(expected, actual)


def rdf_answer_from_rows(
    rows: Iterable[Any], plan: PhysicalNode, kind: RdfAnswerKind, columns: tuple[str, ...]
) -> RdfAnswer:
    """Convert collected rows of `plan` (changes, or ordered solution lists) to an RDF answer of `kind` and `columns`.

    `kind` is the kind of answer, and `columns` are its columns.
    """
    width = range(len(plan.schema))
    parsed = [(row.asDict(), tuple(row[f"c{number}"] for number in width)) for row in rows]
    to_intervals = {"sequences": _sequence_intervals, "boolean": _truth_intervals}.get(kind, _change_intervals)
    return rdf_answer_from_intervals(to_intervals(parsed), kind, columns)


def _change_intervals(rows: Iterable[tuple[Mapping[str, Any], TermTexts]]) -> Iterator[tuple[Any, ...]]:
    """Convert changes (row, terms) to (start tick, end tick, multiplicity, *terms); ValueError if one is below 0."""
    changes: dict[TermTexts, Counter[int]] = {}
    for row, cells in rows:
        changes.setdefault(cells, Counter())[row[TICK_NUMBER]] += row.get("change", 1)
    for cells, by_tick in changes.items():
        points = sorted(by_tick)
        counts = list(accumulate(by_tick[point] for point in points))
        if min(counts) < 0:
            raise ValueError(f"{cells} goes at {points[counts.index(min(counts))]}, and never came")
        yield from (
            (start, end, count, *cells) for count, start, end in merge_equal_neighbours(points, counts) if count
        )


def _truth_intervals(rows: Iterable[tuple[Mapping[str, Any], TermTexts]]) -> Iterator[tuple[Any, ...]]:
    """Convert changes (row, terms) of ASK solutions to (start tick, end tick, truth): true while a solution exists."""
    intervals = list(_change_intervals((row, ()) for row, _ in rows))
    points = sorted({0, *(start for start, *_ in intervals), *(end for _, end, *_ in intervals if end is not None)})
    values = [any(start <= tick and (end is None or tick < end) for start, end, _ in intervals) for tick in points]
    return ((start, end, value) for value, start, end in merge_equal_neighbours(points, values))


def _sequence_intervals(rows: Iterable[tuple[Mapping[str, Any], TermTexts]]) -> Iterator[tuple[Any, ...]]:
    """Convert ordered solution lists by tick, given as (row, terms), to (start tick, end tick, number in list, *terms).

    They are valid until the list changes.
    """
    lists: dict[int, list[tuple[int, TermTexts]]] = {0: []}
    for row, cells in rows:
        numbered_cells = lists.setdefault(row[TICK_NUMBER], [])
        if not row.get("empty", False):
            numbered_cells.append((row["place"], cells))
    points = sorted(lists)
    values = [tuple(cells for _, cells in sorted(lists[tick], key=lambda numbered: numbered[0])) for tick in points]
    for solutions, start, end in merge_equal_neighbours(points, values):
        yield from ((start, end, number, *cells) for number, cells in enumerate(solutions))


def rdf_answer_from_intervals(rows: Iterable[Any], kind: RdfAnswerKind, columns: tuple[str, ...]) -> RdfAnswer:
    """Convert rows with validity intervals to an RDF answer in the reference engine's order.

    `kind` is the kind of answer, and `columns` are its columns.
    """
    intervals = [tuple(row) for row in rows]
    if kind == "boolean":
        truth = sorted(
            (BooleanInterval(value, start, end) for start, end, value in intervals), key=lambda interval: interval.start
        )
        return RdfAnswer(kind, ("ask",), truth=tuple(truth))
    if kind == "sequences":
        lists: dict[tuple[int, int | None], list[tuple[int, Solution]]] = {}
        for start, end, number, *cells in intervals:
            lists.setdefault((start, end), []).append((number, decode_solution(tuple(cells), columns)))
        ordered = [
            SequenceInterval(
                tuple(solution for _, solution in sorted(numbered, key=lambda interval: interval[0])), start, end
            )
            for (start, end), numbered in lists.items()
        ]
        return RdfAnswer(kind, columns, sequences=tuple(sorted(ordered, key=lambda interval: interval.start)))
    if kind == "triples":
        triples = [Valid(decode_triple(tuple(cells)), start, end, count) for start, end, count, *cells in intervals]
        return RdfAnswer(kind, columns, triples=tuple(sorted(triples, key=_triple_sort_key)))
    solutions = [
        Valid(decode_solution(tuple(cells), columns), start, end, count) for start, end, count, *cells in intervals
    ]

    def by_solution(interval: Valid[Solution]) -> tuple[object, ...]:
        """Return the sort key of a solution in an answer: start of validity, values, end."""
        return interval.start, interval.payload.sort_key(columns), interval.end is None, interval.end or 0

    return RdfAnswer(kind, columns, solutions=tuple(sorted(solutions, key=by_solution)))


def _triple_sort_key(valid: Valid[Triple]) -> tuple[object, ...]:
    """Return the sort key of a triple in an answer: start of validity, terms, end."""
    return valid.start, triple_order(valid.payload), valid.end is None, valid.end or 0


def decode_solution(cells: TermTexts, columns: tuple[str, ...]) -> Solution:
    """Decode a row of terms in N-Triples to a solution; NULL leaves the variable of the column unbound."""
    return Solution.of({name: decode_term(text) for name, text in zip(columns, cells, strict=True) if text is not None})


def decode_triple(cells: TermTexts) -> Triple:
    """Decode three terms in N-Triples to a triple; raise ValueError if they are no valid RDF statement."""
    subject, predicate, object = (decode_term(text or "") for text in cells)
    if isinstance(subject, Literal) or not isinstance(predicate, IRI):
        raise ValueError(f"{cells} is no statement")
    return Triple(subject, predicate, object)


def triple_order(triple: Triple) -> tuple[tuple[int, str, str, str], ...]:
    """Return the sort key of a triple: subject, then predicate, then object."""
    return (term_order_key(triple.subject), term_order_key(triple.predicate), term_order_key(triple.object))


def rdf_difference(expected: RdfAnswer, actual: RdfAnswer) -> str | None:
    """Describe the first difference between two RDF answers, such as a missing solution; None if they are equal."""
    expected_lines, actual_lines = _answer_lines(expected), _answer_lines(actual)
    for line in sorted(set(expected_lines) | set(actual_lines)):
        if expected_lines.count(line) != actual_lines.count(line):
            text = _line_text(line)
            return (
                f"missing: {text}" if expected_lines.count(line) > actual_lines.count(line) else f"not expected: {text}"
            )
    return None if expected_lines == actual_lines else "the order is another"


def _answer_lines(answer: RdfAnswer) -> list[tuple[Hashable, ...]]:
    """Convert an RDF answer to comparable tuples (start, has no end, end, count, *terms), sorted except sequences."""
    lines = [
        (start, end is None, end or 0, count, *(term_cell(term) or "" for term in terms))
        for start, end, count, terms in rows(answer)
    ]
    return lines if answer.sequences else sorted(lines)


def _line_text(line: tuple[Hashable, ...]) -> str:
    """Format a tuple (start, has no end, end, count, *terms) of an RDF answer as text."""
    start, open_end, end, count, *terms = line
    return f"{start} to {'∞' if open_end else end}, {count} x ({', '.join(map(str, terms))})"


def last_change(answer: RdfAnswer) -> int:
    """Return the last tick at which an RDF answer changes; 0 if it never changes."""
    ticks = [tick for start, end, _, _ in rows(answer) for tick in (start, end) if tick is not None]
    return max(ticks, default=0)
