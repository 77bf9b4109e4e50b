"""The machine that numbers the rows of a stream."""

from __future__ import annotations

from collections.abc import Iterator

from transom.machines import codec
from transom.machines.entries import StateEntry
from transom.model.bag import Element, Row


class RowNumberMachine:
    """Rows in order in, the same rows out, numbered from 1; the state is one counter.

    The caller orders the rows of one tick: by the extent's tie columns, then by the payload (E1).
    """

    kind = "order"

    def __init__(self, count: int = 0) -> None:
        """Create a numbering of the rows of a stream, of which the first `count` already have a number."""
        self.count = count

    @property
    def held(self) -> int:
        """Number of rows in state; always 0, as the state is one counter."""
        return 0

    def take(self, tick: int, row: Row) -> Iterator[Element]:
        """Yield one element: the row with its tick and its index, which is the previous row's plus 1, from 1."""
        self.count += 1
        yield Element(tick, self.count, row)

    def advance(self, closed: int) -> Iterator[Element]:
        """Yield nothing, since no row waits for a tick to close."""
        yield from ()

    def entries(self) -> Iterator[StateEntry]:
        """Yield one state entry: the number of the last row, which is the whole state."""
        yield StateEntry("count", 0, None, self.count, None)

    def save(self) -> bytes:
        """Serialize the number of rows that have been numbered."""
        return codec.save(self.kind, self.count)

    @classmethod
    def load(cls, state: bytes) -> RowNumberMachine:
        """Restore the numbering of rows from the counter that `save` serialized."""
        return cls(codec.load(cls.kind, state))
