"""The machine that aggregates one group of rows incrementally; rows may be retracted in any order."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from transom.errors import PlanError
from transom.machines import codec
from transom.machines.aggregates.multiset import Multiset
from transom.machines.aggregates.totals import RetractableSum, RetractableTermSum
from transom.machines.entries import StateEntry
from transom.model.bag import Row
from transom.model.types import Type, Value

TERM = "term"
TERM_CELLS = 6
"""A term takes six columns: term, sort key, characters; and as a number its kind, exact and floating value."""

_FUNCTIONS = ("count", "sum", "avg", "min", "max")
_TERM_FUNCTIONS = ("sample", "concat")


@dataclass(frozen=True, slots=True)
class AggregateSpec:
    """One aggregate: a function of column number `argument` (from 0); COUNT without an argument counts rows.

    `type` is the type of that column. NULLs are ignored, unless the type is TERM: then NULL is an error, and SUM, AVG,
    MIN, MAX and GROUP_CONCAT (`concat`) of an error are NULL. SUM of no terms is 0. Terms are equal if they are the
    same term; MIN and MAX order them by sort key, then by term.
    """

    function: str
    type: str
    argument: int | None = None
    distinct: bool = False
    separator: str = " "

    def __post_init__(self) -> None:
        """Raise PlanError for an unknown function, a sum of a type that is not a number, or a missing argument."""
        allowed = _FUNCTIONS + (_TERM_FUNCTIONS if self.type == TERM else ())
        summed = self.function in ("sum", "avg") and self.type != TERM
        if self.function not in allowed or (summed and not Type(self.type).is_number):
            raise PlanError(f"there is no {self.function} of {self.type}")
        if self.argument is None and (self.function != "count" or self.distinct):
            raise PlanError(f"{self.function} needs an argument")

    @property
    def keeps_values(self) -> bool:
        """Whether the state must hold every distinct argument value with its count, as for DISTINCT, MIN and MAX."""
        return self.distinct or self.function in ("min", "max", *_TERM_FUNCTIONS)

    def total(self) -> RetractableSum | RetractableTermSum | None:
        """Create an empty running SUM, AVG or COUNT(column); None if another structure computes the aggregate."""
        if self.function in ("sum", "avg"):
            return (
                RetractableTermSum(self.function)
                if self.type == TERM
                else RetractableSum(self.function, Type(self.type))
            )
        counts = self.function == "count" and self.argument is not None and not self.distinct
        return RetractableSum(self.function, None) if counts else None


@dataclass(frozen=True, slots=True)
class GroupSpec:
    """The number of leading key columns of a row, and the aggregates of the group.

    A global group holds all rows: it exists even without rows, from the first tick at which a row or a window marker
    arrives.
    """

    keys: int
    aggregates: tuple[AggregateSpec, ...]
    is_global: bool = False

    def to_json(self) -> str:
        """Return this group-aggregate specification as the JSON that the Python and the Java implementation read."""
        entries = {"machine": "groups", "keys": self.keys, "whole": self.is_global}
        return json.dumps(entries | {"aggregates": [asdict(aggregate) for aggregate in self.aggregates]})

    @staticmethod
    def from_entries(entries: dict[str, Any]) -> GroupSpec:
        """Build a group-aggregate specification from the JSON value that `to_json` wrote."""
        aggregates = tuple(AggregateSpec(**aggregate) for aggregate in entries["aggregates"])
        return GroupSpec(entries["keys"], aggregates, entries["whole"])


class GroupAggregate:
    """Row changes of one group in; the retraction of its old result row and the insertion of the new one out.

    All changes of a tick apply at once. The state holds counts, exact sums and the last emitted row; for MIN, MAX,
    SAMPLE, GROUP_CONCAT and DISTINCT also all distinct values with their counts.
    """

    kind = "groups"

    def __init__(self, spec: GroupSpec) -> None:
        """Create a group without rows; every aggregate of the specification starts empty."""
        self.spec = spec
        self.rows = 0
        self.emitted: Row | None = None
        self.key: Row = ()
        self.totals = [aggregate.total() for aggregate in spec.aggregates]
        arguments = {a.argument: a.type for a in spec.aggregates if a.keeps_values and a.argument is not None}
        self.bags = {argument: (Multiset(), arguments[argument]) for argument in sorted(arguments)}

    @property
    def held(self) -> int:
        """Number of rows of the group if distinct values are kept; otherwise 1 for a group with rows, 0 without."""
        return self.rows if self.bags else min(self.rows, 1)

    def take(self, changes: Iterable[tuple[int, Row]]) -> Iterator[tuple[int, Row]]:
        """Apply (signed count, row) changes of a group; if its result row changes, yield (-1, old), (1, new row).

        Both inputs and outputs are (signed count, row): an output is (-1, old row) or (1, new row). Raises ValueError
        if a row is retracted that was never added.
        """
        for count, row in changes:
            self.rows += count
            self.key = row[: self.spec.keys]
            self._add(row, count)
        bags, totals = self.bags.values(), [total for total in self.totals if total is not None]
        if (
            self.rows < 0
            or any(bag.negative_count or bag.null_count < 0 for bag, _ in bags)
            or not all(t.valid for t in totals)
        ):
            raise ValueError("a row is retracted that was never added")
        before, self.emitted = self.emitted, None
        if self.rows or self.spec.is_global:
            self.emitted = (*self.key, *self._values())
        if codec.encode_json(before) != codec.encode_json(self.emitted):
            if before is not None:
                yield -1, before
            if self.emitted is not None:
                yield 1, self.emitted

    def _add(self, row: Row, count: int) -> None:
        """Add `count` copies of a row to all sums and multisets of values; a negative `count` removes copies."""
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
        """Yield the current aggregate values in specification order; SUM or AVG of RDF terms yields several columns."""
        for aggregate, total in zip(self.spec.aggregates, self.totals, strict=True):
            if total is not None:
                yield from total.value()
            elif aggregate.argument is None:
                yield self.rows
            else:
                yield _multiset_aggregate(aggregate, self.bags[aggregate.argument][0])

    def entries(self) -> Iterator[StateEntry]:
        """Yield state to inspect: the last result row with the group's row count, then each distinct value kept."""
        yield StateEntry("group", 0, None, self.rows, self.emitted)
        for argument, (bag, _) in self.bags.items():
            yield from (StateEntry("value", argument, None, copies, (member,)) for member, copies in bag.members())

    def save(self) -> bytes:
        """Serialize the state of the group: row count, key, last result row, sums and multisets."""
        totals = [None if total is None else total.pack() for total in self.totals]
        bags = [bag.pack() for bag, _ in self.bags.values()]
        return codec.save(self.kind, [self.rows, *map(codec.pack_nested, (self.key, self.emitted)), totals, bags])

    @classmethod
    def load(cls, state: bytes, spec: GroupSpec) -> GroupAggregate:
        """Restore a group from the bytes of `save`; `spec` is the specification with which it was created."""
        machine = cls(spec)
        machine.rows, *rows, totals, bags = codec.load(cls.kind, state)
        machine.key, machine.emitted = map(codec.unpack_nested, rows)
        for total, cell in zip(machine.totals, totals, strict=True):
            if total is not None:
                total.unpack(cell)
        for (argument, (_, kind)), cell in zip(list(machine.bags.items()), bags, strict=True):
            machine.bags[argument] = (Multiset.unpack(cell), kind)
        return machine


def _multiset_aggregate(aggregate: AggregateSpec, bag: Multiset) -> Value:
    """Compute the aggregate over the multiset `bag`: COUNT DISTINCT, MIN, MAX, SAMPLE or GROUP_CONCAT."""
    if aggregate.function == "count":
        return len(bag)
    if aggregate.type == TERM and bag.null_count and aggregate.function != "sample":
        return None
    if aggregate.function == "concat":
        return _concat_terms(aggregate, bag)
    extreme = bag.greatest() if aggregate.function == "max" else bag.least()
    value: Value = extreme[1] if aggregate.type == TERM and extreme is not None else extreme
    return value


def _concat_terms(aggregate: AggregateSpec, bag: Multiset) -> str | None:
    """GROUP_CONCAT: join the texts of the terms in `bag` in sort order; None if a term, as a blank node, has none."""
    parts: list[str] = []
    for characters, count in bag.labels():
        if characters is None:
            return None
        parts += [characters] * (1 if aggregate.distinct else count)
    return aggregate.separator.join(parts)
