"""The machine that aggregates one group of rows which arrive as changes, retracted in any order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from transom.errors import PlanError
from transom.machines import encoding
from transom.machines.multiset import Multiset
from transom.machines.totals import TermTotal, Total
from transom.model.bag import Row
from transom.model.types import Type, Value

TERM = "term"
TERM_CELLS = 6
"""A term is six values: itself, its sort key, its characters, and as a number its kind, exact and floating value."""

_FUNCTIONS = ("count", "sum", "avg", "min", "max")
_OF_TERMS = ("sample", "concat")


@dataclass(frozen=True, slots=True)
class AggregateSpec:
    """One aggregate: a function of the values at a place of the rows; COUNT without a place counts rows.

    `type` is the type of these values. NULL does not count, but where the type is TERM it is an error: SUM, AVG, MIN,
    MAX and GROUP_CONCAT (`concat`) of an error are NULL, and SUM of nothing is 0. Terms are equal if they are the same
    term; the least and the greatest are found by sort key and then by term.
    """

    function: str
    type: str
    argument: int | None = None
    distinct: bool = False
    separator: str = " "

    def __post_init__(self) -> None:
        known = _FUNCTIONS + (_OF_TERMS if self.type == TERM else ())
        summed = self.function in ("sum", "avg") and self.type != TERM
        if self.function not in known or (summed and not Type(self.type).is_number):
            raise PlanError(f"there is no {self.function} of {self.type}")
        if self.argument is None and (self.function != "count" or self.distinct):
            raise PlanError(f"{self.function} needs an argument")

    @property
    def keeps_values(self) -> bool:
        """Whether all different values must be remembered."""
        return self.distinct or self.function in ("min", "max", *_OF_TERMS)

    def total(self) -> Total | TermTotal | None:
        """The sum behind the aggregate, if it needs one."""
        if self.function in ("sum", "avg"):
            return TermTotal(self.function) if self.type == TERM else Total(self.function, Type(self.type))
        counts = self.function == "count" and self.argument is not None and not self.distinct
        return Total(self.function, None) if counts else None


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """How many values at the start of a row are the key of its group, and the aggregates.

    The group that is `whole` is all rows there are: it also exists without rows, from the first tick at which a row or
    a window marker arrives.
    """

    keys: int
    aggregates: tuple[AggregateSpec, ...]
    whole: bool = False

    def to_json(self) -> str:
        """The document that every implementation of the machine reads."""
        entries = {"machine": "groups", "keys": self.keys, "whole": self.whole}
        return json.dumps(entries | {"aggregates": [asdict(aggregate) for aggregate in self.aggregates]})

    @staticmethod
    def from_entries(entries: dict[str, Any]) -> GroupSpec:
        """The specification in a document."""
        aggregates = tuple(AggregateSpec(**aggregate) for aggregate in entries["aggregates"])
        return GroupSpec(entries["keys"], aggregates, entries["whole"])


class GroupAggregate:
    """Changes of the rows of one group in; changes of its aggregates out: the old row goes, the new one comes.

    All changes of a tick act at once. The machine keeps counts and exact sums, and for MIN, MAX, SAMPLE, GROUP_CONCAT
    and DISTINCT all different values with their counts; and the row that it has emitted.
    """

    kind = "groups"

    def __init__(self, spec: GroupSpec) -> None:
        self.spec = spec
        self.rows = 0
        self.emitted: Row | None = None
        self.key: Row = ()
        self.totals = [aggregate.total() for aggregate in spec.aggregates]
        arguments = {a.argument: a.type for a in spec.aggregates if a.keeps_values and a.argument is not None}
        self.bags = {argument: (Multiset(), arguments[argument]) for argument in sorted(arguments)}

    @property
    def held(self) -> int:
        """Rows that are remembered; if only sums are, the group counts as one."""
        return self.rows if self.bags else min(self.rows, 1)

    def take(self, changes: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
        """All changes of a tick: count and row each. Gives a count and a row with the key and the aggregates."""
        for count, row in changes:
            self.rows += count
            self.key = row[: self.spec.keys]
            self._add(row, count)
        bags, totals = self.bags.values(), [total for total in self.totals if total is not None]
        if self.rows < 0 or any(bag.below or bag.missing < 0 for bag, _ in bags) or not all(t.valid for t in totals):
            raise ValueError("a row is retracted that was never added")
        before, self.emitted = self.emitted, None
        if self.rows or self.spec.whole:
            self.emitted = (*self.key, *self._values())
        if encoding.dump(before) != encoding.dump(self.emitted):
            if before is not None:
                yield -1, before
            if self.emitted is not None:
                yield 1, self.emitted

    def _add(self, row: Row, count: int) -> None:
        steps: dict[int | None, int] = {}
        for argument, (bag, kind) in self.bags.items():
            if kind == TERM:
                term, order, characters = row[argument : argument + 3]
                steps[argument] = bag.add(None if term is None else (order, term), count, characters)  # type: ignore[arg-type]
            else:
                value = row[argument]
                steps[argument] = bag.add(value + 0.0 if isinstance(value, float) else value, count)  # -0.0 is 0.0
        for aggregate, total in zip(self.spec.aggregates, self.totals, strict=True):
            if total is not None and aggregate.argument is not None:
                width = TERM_CELLS if aggregate.type == TERM else 1
                copies = steps[aggregate.argument] if aggregate.distinct else count
                if copies:
                    total.add(row[aggregate.argument : aggregate.argument + width], copies)

    def _values(self) -> Iterator[Value]:
        for aggregate, total in zip(self.spec.aggregates, self.totals, strict=True):
            if total is not None:
                yield from total.value()
            elif aggregate.argument is None:
                yield self.rows
            else:
                yield _of_values(aggregate, self.bags[aggregate.argument][0])

    def save(self) -> bytes:
        """The state as bytes."""
        totals = [None if total is None else total.pack() for total in self.totals]
        bags = [bag.pack() for bag, _ in self.bags.values()]
        return encoding.save(self.kind, [self.rows, *map(encoding.pack_deep, (self.key, self.emitted)), totals, bags])

    @classmethod
    def load(cls, state: bytes, spec: GroupSpec) -> GroupAggregate:
        """The machine as it was when it was saved."""
        machine = cls(spec)
        machine.rows, *rows, totals, bags = encoding.load(cls.kind, state)
        machine.key, machine.emitted = map(encoding.unpack_deep, rows)
        for total, cell in zip(machine.totals, totals, strict=True):
            if total is not None:
                total.unpack(cell)
        for (argument, (_, kind)), cell in zip(list(machine.bags.items()), bags, strict=True):
            machine.bags[argument] = (Multiset.unpack(cell), kind)
        return machine


def _of_values(aggregate: AggregateSpec, bag: Multiset) -> Value:
    """An aggregate of a multiset of values, or of terms with their sort keys before them."""
    if aggregate.function == "count":
        return len(bag)
    if aggregate.type == TERM and bag.missing and aggregate.function != "sample":
        return None
    if aggregate.function == "concat":
        return _concatenated(aggregate, bag)
    found = bag.greatest() if aggregate.function == "max" else bag.least()
    value: Value = found[1] if aggregate.type == TERM and found is not None else found
    return value


def _concatenated(aggregate: AggregateSpec, bag: Multiset) -> str | None:
    """The characters of all terms in order; NULL if a term has none."""
    parts: list[str] = []
    for characters, count in bag.labels():
        if characters is None:
            return None
        parts += [characters] * (1 if aggregate.distinct else count)
    return aggregate.separator.join(parts)
