"""Figures 2 and 5: what the sources give. Inputs are simulated: lists of tagged tuples, lists of table versions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from transom.algebra.operator import Operator
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
from transom.model.bag import Element, Row, Version
from transom.model.rdf.answer import Aside
from transom.model.rdf.terms import Literal


@dataclass(frozen=True, slots=True)
class Inputs:
    """What every extent delivers, from the first to the last tick.

    `watch` is told which operator comes next, and `reject` which rows an operator does not let through. Statements are
    rows of terms; those after `until` count, since they say when what is valid then ends. `ends` says whether nothing
    happens after `until`: not where all that is read are statements. `aside` are the messages that gave none, by
    stream, `now` is when a query over stored graphs is asked (R28).
    """

    until: int
    streams: Mapping[str, Sequence[Element]] = field(default_factory=dict)
    tables: Mapping[str, Sequence[Version]] = field(default_factory=dict)
    start: int = 0
    watch: Callable[[Operator], None] = field(default=lambda _: None, compare=False)
    reject: Callable[[Operator, Sequence[Element]], None] = field(default=lambda _, __: None, compare=False)
    ends: bool = True
    now: Literal | None = None
    aside: Mapping[str, tuple[Aside, ...]] = field(default_factory=dict)

    def delivered(self, extent: str) -> list[Element]:
        """The elements of an extent between start and until, numbered from 1."""
        seen = [e for e in self.streams.get(extent, ()) if self.start <= e.tick <= self.until]
        return [Element(e.tick, place, e.row) for place, e in enumerate(seen, start=1)]


def stream_acquire(op: StreamAcquire, inputs: Inputs) -> list[Element]:
    """Figure 2: the readings at 0, every, 2*every, ... that there are; a missing one takes no number (S37)."""
    return inputs.delivered(op.extent)


def stream_receive(op: StreamReceive, inputs: Inputs) -> list[Element]:
    """Section 6.1: the tuples in order of arrival."""
    return inputs.delivered(op.extent)


def scan_table(op: StoredTable, now: int, inputs: Inputs) -> tuple[Row, ...]:
    """Figure 5: the content of the table at the end of a tick (S11)."""
    content: tuple[Row, ...] = ()
    for version in inputs.tables.get(op.extent, ()):
        if version.tick <= now:
            content = version.rows
    return content


def values(op: Values) -> tuple[Row, ...]:
    """The rows that the query says, at every tick."""
    return op.rows
