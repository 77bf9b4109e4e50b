"""What a query over RDF answers: solutions or statements with intervals, sequences, or a truth value over time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from transom.model.answer import RdfAnswerKind as RdfAnswerKind
from transom.model.rdf.solutions import Payload, Solution, Valid
from transom.model.rdf.terms import Term, Triple
from transom.model.reasons import Reason

Part = TypeVar("Part", bound=Hashable)
Interval = TypeVar("Interval", "Valid[Solution]", "Valid[Triple]", "Ordered", "Truth")


@dataclass(frozen=True, slots=True)
class Ordered:
    """A sequence of solutions that stays the same from start up to end."""

    solutions: tuple[Solution, ...]
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Truth:
    """A truth value that stays the same from start up to end."""

    value: bool
    start: int
    end: int | None


@dataclass(frozen=True, slots=True)
class Aside:
    """A message that gave no statements: where it stood, why, and what it held."""

    place: str
    reason: Reason
    words: str
    payload: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class RdfAnswer:
    """The answer to a query over RDF in canonical form: intervals are as long as they can be.

    Where nothing is valid there is no interval; a truth value is there for every instant from 0 on. `aside` are the
    messages that could not be read, by stream.
    """

    kind: RdfAnswerKind
    columns: tuple[str, ...]
    solutions: tuple[Valid[Solution], ...] = ()
    triples: tuple[Valid[Triple], ...] = ()
    sequences: tuple[Ordered, ...] = ()
    truth: tuple[Truth, ...] = ()
    aside: Mapping[str, tuple[Aside, ...]] = field(default_factory=dict, compare=False, hash=False)

    def __len__(self) -> int:
        return len(self.solutions) + len(self.triples) + len(self.sequences) + len(self.truth)

    def during(self, start: int, until: int | None) -> RdfAnswer:
        """What of the answer is valid at some instant from start to until; intervals are not cut."""

        def met(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            return tuple(
                one for one in parts if (one.end is None or one.end > start) and (until is None or one.start <= until)
            )

        return self._with(met)

    def since(self, start: int) -> RdfAnswer:
        """The answer from start on: intervals that begin before are cut."""

        def cut(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            return tuple(replace(one, start=max(one.start, start)) for one in parts)

        return self.during(start, None)._with(cut) if start else self

    def up_to(self, last: int) -> RdfAnswer:
        """The answer of which only the changes up to a tick are known: what lasts longer has no end."""

        def known(parts: Iterable[Interval]) -> tuple[Interval, ...]:
            return tuple(
                one if one.end is None or one.end <= last else replace(one, end=None)
                for one in parts
                if one.start <= last
            )

        return self._with(known)

    def known(self, start: int, until: int | None, last: int | None = None) -> RdfAnswer:
        """What is valid at some instant from start to until, if only changes up to the last tick are known."""
        return (self if last is None else self.up_to(last)).since(start).during(start, until)

    def _with(self, change: Callable[[Any], tuple[Any, ...]]) -> RdfAnswer:
        """The answer with its intervals changed."""
        return replace(
            self,
            solutions=change(self.solutions),
            triples=change(self.triples),
            sequences=change(self.sequences),
            truth=change(self.truth),
        )

    def terms(self, solution: Solution) -> tuple[Term | None, ...]:
        """The terms of a solution, column by column; None where it is unbound."""
        return tuple(solution.get(name) for name in self.columns)


def intervals(
    points: Sequence[int], snapshot: Callable[[int], Iterable[Payload]], order: Callable[[Payload], object]
) -> tuple[Valid[Payload], ...]:
    """Maximal intervals of constant multiplicity, by start and then by payload, of what is valid at some instants.

    `points` are the instants, in order, at which something may change; from the last one on nothing does.
    """
    counts: list[Counter[Payload]] = [Counter(snapshot(t)) for t in points]
    found: list[Valid[Payload]] = []
    for payload in dict.fromkeys(payload for count in counts for payload in count):
        for n, start, end in runs(points, [count[payload] for count in counts]):
            if n:
                found.append(Valid(payload, start, end, n))
    return tuple(sorted(found, key=lambda v: (v.start, order(v.payload), v.end is None, v.end or 0)))


def runs(points: Sequence[int], values: Sequence[Part]) -> list[tuple[Part, int, int | None]]:
    """Equal neighbours put together: each value with the instants from which and up to which it holds.

    >>> runs([0, 3, 5], ["a", "a", "b"])
    [('a', 0, 5), ('b', 5, None)]
    """
    found: list[tuple[Part, int, int | None]] = []
    for value, start, end in zip(values, points, (*points[1:], None)):
        if found and found[-1][0] == value:
            found[-1] = (value, found[-1][1], end)
        else:
            found.append((value, start, end))
    return found
