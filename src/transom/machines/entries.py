"""Entries of state: what a machine keeps, for people who look at it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from transom.model.bag import Row


class StateEntry(NamedTuple):
    """One entry of a machine's state: a row, a pane, a counter or a position.

    `part` says what it is. `side` is the number of the side or of the argument that it belongs to, `tick` its tick if
    it has one, `copies` how often the state has it.
    """

    part: str
    side: int
    tick: int | None
    copies: int
    values: Row | None


def rows_of_sides(bags: Iterable[Mapping[Row, int]]) -> Iterator[StateEntry]:
    """Yield a state entry per distinct row of the multisets: the multiset's number from 0, the row, its count."""
    for side, bag in enumerate(bags):
        for row, copies in bag.items():
            yield StateEntry("side", side, None, copies, row)


def listed(entry: StateEntry, key: Any = None) -> list[Any]:
    """Return [key, part, side, tick, copies, values] of a state entry; `key` is None if Spark stores the key apart."""
    return [key, *entry]
