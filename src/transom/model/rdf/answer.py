"""Answers over RDF: solutions or statements with validity intervals, sequences, or a boolean over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

from transom.model import tabular
from transom.model.answer_kind import RdfAnswerKind as RdfAnswerKind
from transom.model.rdf.solutions import Payload, Solution, Valid
from transom.model.rdf.terms import Term, Triple
from transom.model.reject_reason import RejectReason
from transom.model.schema import unique_names
from transom.model.time import Calendar
from transom.model.types import Type

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

_INTERVAL_TAGS = ("start", "end", "n")
_META_COLUMNS = ("tick", "change", "place", "empty", "start", "end", "n")
"""Names that no variable has as a column: those of all forms of an answer on Spark, so that all engines agree."""
Item = TypeVar("Item", bound=Hashable)
Interval = TypeVar("Interval", "Valid[Solution]", "Valid[Triple]", "SequenceInterval", "BooleanInterval")


@dataclass(frozen=True, slots=True)
class SequenceInterval:
    """A sequence of solutions that is constant for start <= t < end; an end of None is forever."""

    solutions: tuple[Solution, ...]
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class BooleanInterval:
    """A boolean that is constant for start <= t < end; an end of None is forever."""

    value: bool
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class RejectedMessage:
    """A message rejected by an RDF stream, or a row of a CSV file: where it is, the reason, and its payload.

    `unit` says in the plural what it is.
    """

    origin: str
    reason: RejectReason
    detail: str
    payload: str = field(repr=False)
    unit: str = "messages"


AnswerPart: TypeAlias = "Valid[Solution] | Valid[Triple] | SequenceInterval | BooleanInterval"
"""One interval of an answer over RDF."""


@dataclass(frozen=True, slots=True, repr=False)
class RdfAnswer:
    """The answer to a query over RDF in canonical form: its validity intervals are as long as possible.

    The answer of an ASK query has a value at every instant from 0 on. `rejected` contains the messages that could not
    be read, by stream. `calendar` converts ticks to instants.

    Examples:
        >>> import transom
        >>> catalog = {"prefixes": {"": "http://ex/"}, "rdf": {"s": {"stream": "http://ex/s"}}}
        >>> text = "SELECT ?x FROM STREAM <http://ex/s> WINDOW RANGE 10 S SLIDE WHERE { ?x :p ?y }"
        >>> answer = transom.compile(text, catalog, language="sparql").simulate({"s": [(0, ":a", ":p", 1)]})
        >>> answer
        <RdfAnswer: 1 solutions (x)>
        >>> answer[0].start, answer[0].end
        (0, 10)
    """

    kind: RdfAnswerKind
    columns: tuple[str, ...]
    solutions: tuple[Valid[Solution], ...] = ()
    triples: tuple[Valid[Triple], ...] = ()
    sequences: tuple[SequenceInterval, ...] = ()
    truth: tuple[BooleanInterval, ...] = ()
    rejected: Mapping[str, tuple[RejectedMessage, ...]] = field(default_factory=dict, compare=False, hash=False)
    calendar: Calendar | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        """A summary for consoles: number of intervals, kind of answer and columns, without the solutions."""
        return f"<RdfAnswer: {len(self):,} {self.kind} ({', '.join(self.columns)})>"

    def __len__(self) -> int:
        """The number of intervals in the answer; each has one solution, statement, sequence or boolean."""
        return len(self.solutions) + len(self.triples) + len(self.sequences) + len(self.truth)

    def __iter__(self) -> Iterator[AnswerPart]:
        """Iterate over the parts: solutions, triples, sequences or ASK results, each with validity interval."""
        return iter((*self.solutions, *self.triples, *self.sequences, *self.truth))

    @overload
    def __getitem__(self, position: int) -> AnswerPart:
        """The interval at a position, from 0; negative positions count from the end."""

    @overload
    def __getitem__(self, position: slice) -> RdfAnswer:
        """The answer with only the intervals whose positions in the list are in a slice."""

    def __getitem__(self, position: int | slice) -> AnswerPart | RdfAnswer:
        """The interval at a position, or the answer with only those of a slice."""
        if isinstance(position, slice):
            return self._map_intervals(lambda parts: parts[position])
        return tuple(self)[position]

    @property
    def header(self) -> tuple[str, ...]:
        """The column names of `records`: start, end, `n` (copies) or `place` (position), then the variables."""
        tags = {"boolean": ("start", "end"), "sequences": ("start", "end", "place")}.get(self.kind, _INTERVAL_TAGS)
        return (*tags, *self.value_columns)

    @property
    def value_columns(self) -> tuple[str, ...]:
        """The column names of the variables; a name that another column has gets an underscore.

        Examples:
            >>> answer.value_columns
            ('x',)
        """
        return tuple(unique_names(self.columns, _META_COLUMNS))

    def records(self) -> Iterator[tuple[Any, ...]]:
        """Yield flat records: start, end (None if there is none), number of copies, and terms.

        If the solutions are in order, the position in the sequence, from 0, replaces the number of copies. A boolean
        has neither.

        Examples:
            >>> [(start, end, n, str(x)) for start, end, n, x in answer.records()]
            [(0, 10, 1, '<http://ex/a>')]
        """
        for solution in self.solutions:
            yield (solution.start, solution.end, solution.n, *self.terms(solution.payload))
        for triple in self.triples:
            statement = triple.payload
            yield (triple.start, triple.end, triple.n, statement.subject, statement.predicate, statement.object)
        for sequence in self.sequences:
            for number, member in enumerate(sequence.solutions):
                yield (sequence.start, sequence.end, number, *self.terms(member))
        for truth in self.truth:
            yield (truth.start, truth.end, truth.value)

    @property
    def schema(self) -> dict[str, str]:
        """The type of each column of `records`, by name; RDF terms have the type `term`.

        Examples:
            >>> answer.schema
            {'start': 'time', 'end': 'time', 'n': 'integer', 'x': 'term'}
        """
        return {name: str(kind) for name, kind in self._column_types()}

    def _column_types(self) -> list[tuple[str, Type]]:
        """The name and type of each column of `records`, the answer as a flat table."""
        values = [Type.BOOLEAN] if self.kind == "boolean" else [Type.INTEGER, *(Type.TERM for _ in self.columns)]
        return list(zip(self.header, (Type.TIME, Type.TIME, *values), strict=True))

    def to_arrow(self, *, instants: bool | None = None, terms: tabular.Terms = "ntriples") -> pyarrow.Table:
        """The answer as a pyarrow Table.

        Timestamps are the instants at which ticks begin, in UTC. Raises UsageError if pyarrow is missing.

        Args:
            instants: Whether values of type time, such as `tick`, become timestamps; by default if the catalog sets an
                `epoch`.
            terms: How to write RDF terms: ntriples, or value (IRIs without brackets, literals without datatype).

        Examples:
            >>> answer.to_arrow().to_pylist()
            [{'start': 0, 'end': 10, 'n': 1, 'x': '<http://ex/a>'}]
        """
        return tabular.to_arrow(self._column_types(), self.records(), self.calendar, instants, terms)

    def to_pandas(self, *, instants: bool | None = None, terms: tabular.Terms = "ntriples") -> pandas.DataFrame:
        """The answer as a pandas DataFrame.

        Raises UsageError if pandas or pyarrow is missing.

        Integer and boolean columns have nullable types, so NULL does not turn them into floats.

        Args:
            instants: Whether values of type time, such as `tick`, become timestamps; by default if the catalog sets an
                `epoch`.
            terms: How to write RDF terms: ntriples, or value (IRIs without brackets, literals without datatype).

        Examples:
            >>> answer.to_pandas(terms="value")
               start  end  n            x
            0      0   10  1  http://ex/a
        """
        return tabular.to_pandas(self.to_arrow(instants=instants, terms=terms))

    def to_polars(self, *, instants: bool | None = None, terms: tabular.Terms = "ntriples") -> polars.DataFrame:
        """The answer as a polars DataFrame.

        Raises UsageError if polars or pyarrow is missing.

        Args:
            instants: Whether values of type time, such as `tick`, become timestamps; by default if the catalog sets an
                `epoch`.
            terms: How to write RDF terms: ntriples, or value (IRIs without brackets, literals without datatype).

        Examples:
            >>> answer.to_polars(terms="value")["x"].to_list()
            ['http://ex/a']
        """
        return tabular.to_polars(self.to_arrow(instants=instants, terms=terms))

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The answer as a stream of the Arrow C data interface, with `requested_schema` if that is not None."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def during(self, start: int, until: int | None) -> RdfAnswer:
        """The answer with only the intervals that overlap the time from start to until; they are not cut.

        Examples:
            >>> len(answer.during(5, 20)), len(answer.during(10, 20))
            (1, 0)
        """

        def overlapping(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            """Keep the intervals that overlap the enclosing method's ticks `start` to `until` (None: no end)."""
            return tuple(
                interval
                for interval in parts
                if (interval.end is None or interval.end > start) and (until is None or interval.start <= until)
            )

        return self._map_intervals(overlapping)

    def since(self, start: int) -> RdfAnswer:
        """The answer from tick `start` on: earlier intervals are dropped, and intervals that contain `start` are cut.

        Examples:
            >>> answer.since(5)[0].start
            5
        """

        def clip_starts(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            """Make intervals that begin before the enclosing method's `start` begin at `start`."""
            return tuple(replace(interval, start=max(interval.start, start)) for interval in parts)

        return self.during(start, None)._map_intervals(clip_starts) if start else self

    def up_to(self, last: int) -> RdfAnswer:
        """The answer as known at tick `last`: intervals that begin later are dropped; ends that are later are None.

        Examples:
            >>> print(answer.up_to(5)[0].end)
            None
        """

        def forget_later_changes(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            """Keep intervals that begin by tick `last` of `up_to`; replace an end after that tick by None."""
            return tuple(
                interval if interval.end is None or interval.end <= last else replace(interval, end=None)
                for interval in parts
                if interval.start <= last
            )

        return self._map_intervals(forget_later_changes)

    def clipped(self, start: int, until: int | None, last: int | None = None) -> RdfAnswer:
        """The answer from tick `start` to `until` (None for no end), as known at tick `last`.

        Examples:
            >>> answer.clipped(5, 20)[0].start
            5
        """
        return (self if last is None else self.up_to(last)).since(start).during(start, until)

    def _map_intervals(self, transform: Callable[[Any], tuple[Any, ...]]) -> RdfAnswer:
        """Return a copy of the answer with a function applied to each of its four collections of intervals."""
        return replace(
            self,
            solutions=transform(self.solutions),
            triples=transform(self.triples),
            sequences=transform(self.sequences),
            truth=transform(self.truth),
        )

    def terms(self, solution: Solution) -> tuple[Term | None, ...]:
        """The terms of a solution in the order of the columns; an unbound variable is None.

        Examples:
            >>> [str(term) for term in answer.terms(answer.solutions[0].payload)]
            ['<http://ex/a>']
        """
        return tuple(solution.get(name) for name in self.columns)


def intervals(
    points: Sequence[int], snapshot: Callable[[int], Iterable[Payload]], order: Callable[[Payload], object]
) -> tuple[Valid[Payload], ...]:
    """Build the longest intervals, by start and `order`, of items in `snapshot(t)`, which changes only at `points`.

    The result is sorted by start, then by `order`.

    `snapshot` returns the bag of payloads at an instant; each interval has a constant multiplicity. `points` are the
    instants, in order, at which something may change; after the last one nothing does.
    """
    counts: list[Counter[Payload]] = [Counter(snapshot(t)) for t in points]
    valid: list[Valid[Payload]] = []
    for payload in dict.fromkeys(payload for counter in counts for payload in counter):
        for n, start, end in merge_equal_neighbours(points, [counter[payload] for counter in counts]):
            if n:
                valid.append(Valid(payload, start, end, n))

    def sort_key(interval: Valid[Payload]) -> tuple[object, ...]:
        """Return a validity interval's sort key: start, the caller's `order` of its payload, end (None last)."""
        return interval.start, order(interval.payload), interval.end is None, interval.end or 0

    return tuple(sorted(valid, key=sort_key))


def merge_equal_neighbours(points: Sequence[int], values: Sequence[Item]) -> list[tuple[Item, int, int | None]]:
    """Merge equal values at consecutive `points` into runs (value, start, end); the last run has the end None.

    >>> merge_equal_neighbours([0, 3, 5], ["a", "a", "b"])
    [('a', 0, 5), ('b', 5, None)]
    """
    runs: list[tuple[Item, int, int | None]] = []
    for value, start, end in zip(values, points, (*points[1:], None)):
        if runs and runs[-1][0] == value:
            runs[-1] = (value, runs[-1][1], end)
        else:
            runs.append((value, start, end))
    return runs
