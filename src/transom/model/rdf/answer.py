"""Answers over RDF: solutions or statements with validity intervals, sequences, or a boolean over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from transom.model.answer import RdfAnswerKind as RdfAnswerKind
from transom.model.rdf.solutions import Payload, Solution, Valid
from transom.model.rdf.terms import Term, Triple
from transom.model.reject_reason import RejectReason

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
    """A message rejected by an RDF stream: where it came from, the reason, and its payload."""

    origin: str
    reason: RejectReason
    detail: str
    payload: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RdfAnswer:
    """The answer to a query over RDF in canonical form, with maximal validity intervals.

    Where nothing is valid there is no interval; a boolean covers every instant from 0 on. `rejected` has the messages
    that could not be read, by stream.
    """

    kind: RdfAnswerKind
    columns: tuple[str, ...]
    solutions: tuple[Valid[Solution], ...] = ()
    triples: tuple[Valid[Triple], ...] = ()
    sequences: tuple[SequenceInterval, ...] = ()
    truth: tuple[BooleanInterval, ...] = ()
    rejected: Mapping[str, tuple[RejectedMessage, ...]] = field(default_factory=dict, compare=False, hash=False)

    def __len__(self) -> int:
        """The number of intervals: of solutions, statements, sequences of solutions or booleans."""
        return len(self.solutions) + len(self.triples) + len(self.sequences) + len(self.truth)

    def during(self, start: int, until: int | None) -> RdfAnswer:
        """The answer with only the intervals that overlap start to until (None: no end), which are not cut."""

        def overlapping(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            """Those intervals that contain a tick from start to until."""
            return tuple(
                interval
                for interval in parts
                if (interval.end is None or interval.end > start) and (until is None or interval.start <= until)
            )

        return self._map_intervals(overlapping)

    def since(self, start: int) -> RdfAnswer:
        """The answer from tick `start` on: earlier intervals are dropped, and one that contains it begins there."""

        def clip_starts(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            """The intervals, each with its start moved up to `start` if it is earlier."""
            return tuple(replace(interval, start=max(interval.start, start)) for interval in parts)

        return self.during(start, None)._map_intervals(clip_starts) if start else self

    def up_to(self, last: int) -> RdfAnswer:
        """The answer as seen at tick `last`: later changes are dropped, and intervals that end later have no end."""

        def forget_later_changes(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            """The intervals that begin at tick `last` or before; an end after that tick becomes None."""
            return tuple(
                interval if interval.end is None or interval.end <= last else replace(interval, end=None)
                for interval in parts
                if interval.start <= last
            )

        return self._map_intervals(forget_later_changes)

    def clipped(self, start: int, until: int | None, last: int | None = None) -> RdfAnswer:
        """The answer from start to until (None: no end); unless `last` is None, without changes after that tick."""
        return (self if last is None else self.up_to(last)).since(start).during(start, until)

    def _map_intervals(self, transform: Callable[[Any], tuple[Any, ...]]) -> RdfAnswer:
        """The answer with `transform` applied to its tuples of timed solutions, triples, sequences and booleans."""
        return replace(
            self,
            solutions=transform(self.solutions),
            triples=transform(self.triples),
            sequences=transform(self.sequences),
            truth=transform(self.truth),
        )

    def terms(self, solution: Solution) -> tuple[Term | None, ...]:
        """The terms of a solution in the order of the answer's columns; None where a variable is unbound."""
        return tuple(solution.get(name) for name in self.columns)


def intervals(
    points: Sequence[int], snapshot: Callable[[int], Iterable[Payload]], order: Callable[[Payload], object]
) -> tuple[Valid[Payload], ...]:
    """Maximal validity intervals of bags `snapshot(t)` that change only at `points`; sorted by start, then by `order`.

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
        """What `sorted` compares for a validity interval: start, payload by `order`, and end; no end comes last."""
        return interval.start, order(interval.payload), interval.end is None, interval.end or 0

    return tuple(sorted(valid, key=sort_key))


def merge_equal_neighbours(points: Sequence[int], values: Sequence[Item]) -> list[tuple[Item, int, int | None]]:
    """Merge equal values at consecutive `points` to runs (value, start, end); the last run's end is None.

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
