"""Figures 2 and 5: sources over simulated inputs, which are lists of tagged tuples and of table versions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from transom.algebra.operator import Operator
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive, Values
from transom.algebra.streams import SpeedLimit
from transom.model.bag import Bag, Element, Row, TableVersion
from transom.model.rdf.answer import RejectedMessage
from transom.model.rdf.terms import Literal
from transom.reference.rejections import Rejections


@dataclass(frozen=True, slots=True)
class Inputs:
    """The input of every extent, from the first to the last tick.

    `on_operator` is called with each operator before its evaluation, `on_tick` with the tick of each window before an
    operator is applied to it, `on_rejected` with the rows that a speed limit
    accepts and rejects; `rejections` is where the inputs of a query keep them. Statements are rows of terms; those
    after `until` count too, since they can end the validity of earlier ones. `ends` says whether the input ends at
    `until`; it is false if only statements are read. `rejected` has the messages and rows that could not be read, by
    stream.
    `now` is the result of NOW in a query over stored graphs (R28).
    """

    until: int
    streams: Mapping[str, Sequence[Element]] = field(default_factory=dict)
    tables: Mapping[str, Sequence[TableVersion]] = field(default_factory=dict)
    start: int = 0
    on_operator: Callable[[Operator], None] = field(default=lambda _: None, compare=False)
    on_rejected: Callable[[SpeedLimit, Sequence[Element], Sequence[Element]], None] = field(
        default=lambda _, __, ___: None, compare=False
    )
    rejections: Rejections = field(default_factory=Rejections, compare=False)
    on_tick: Callable[[int], None] = field(default=lambda _: None, compare=False)
    ends: bool = True
    now: Literal | None = None
    rejected: Mapping[str, tuple[RejectedMessage, ...]] = field(default_factory=dict)

    def watched(self, windows: Iterable[Bag]) -> Iterator[Bag]:
        """Yield the windows unchanged, and call `on_tick` with the tick of each of them."""
        for window in windows:
            self.on_tick(window.tick)
            yield window

    def elements_of(self, extent: str) -> list[Element]:
        """Return the recorded elements of a source between the run's start and end, numbered from 1."""
        elements = [e for e in self.streams.get(extent, ()) if self.start <= e.tick <= self.until]
        return [Element(e.tick, index, e.row) for index, e in enumerate(elements, start=1)]


def stream_acquire(op: StreamAcquire, inputs: Inputs) -> list[Element]:
    """Return the readings of a source that is sampled at a fixed interval of ticks (Figure 2 acquire; S37)."""
    return inputs.elements_of(op.extent)


def stream_receive(op: StreamReceive, inputs: Inputs) -> list[Element]:
    """Return the recorded tuples of a source that pushes them, in order of arrival (Section 6.1 receive)."""
    return inputs.elements_of(op.extent)


def scan_table(op: StoredTable, now: int, inputs: Inputs) -> tuple[Row, ...]:
    """Return the rows of a stored table at the end of tick `now` (Figure 5 scanTable; S11)."""
    content: tuple[Row, ...] = ()
    for version in inputs.tables.get(op.extent, ()):
        if version.tick <= now:
            content = version.rows
    return content


def values(op: Values) -> tuple[Row, ...]:
    """Return the rows of SPARQL's VALUES clause, which are the same at every tick."""
    return op.rows
