"""Emissions of machines that emit for several ticks at once, and the protocol of these machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, Protocol

from transom.machines.entries import StateEntry
from transom.model.bag import Row


class TimedEmission(NamedTuple):
    """An emission at a tick: a row of a window, or a window marker if `present` is false.

    `number` is the position in the window, the sign of a change, the distance of a row, or 0 for aggregates. With
    `seq` 0 it is not a window: `number` counts the rejected rows of the tick, or is 0 at the end of the key.
    """

    tick: int
    seq: int
    present: bool
    number: int
    row: Row | None


class TimedMachine(Protocol):
    """A machine of one key that also emits when no rows arrive; a bucket holds many of them."""

    @property
    def held(self) -> int:
        """Number of rows, or of panes, in the state of the key."""

    @property
    def blank(self) -> bool:
        """Whether the key's state equals that of a key without rows, so that it can be dropped."""

    @property
    def next_wakeup(self) -> int | None:
        """The next tick at which the key has work to do even if no more rows arrive; None if there is none."""

    def take(self, tick: int, rows: Sequence[Row]) -> list[TimedEmission]:
        """Process all rows of a tick, in order, and return the emissions of all ticks up to this tick."""

    def advance(self, closed: int) -> list[TimedEmission]:
        """Close all ticks up to and including `closed`, which get no more rows, and return their emissions."""

    def save(self) -> bytes:
        """Serialize the state of the machine, which is that of one key, to bytes."""

    def entries(self) -> Iterator[StateEntry]:
        """Yield the entries of the key's state, such as rows, panes and counters, for people who inspect it."""
