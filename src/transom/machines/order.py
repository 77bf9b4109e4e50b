"""The machine that numbers rows."""

from __future__ import annotations

from collections.abc import Iterator

from transom.machines import encoding
from transom.model.bag import Element, Row


class OrderMachine:
    """Rows in order in, the same rows with their position out; keeps one number.

    The order of rows of one tick is the caller's: the extent's tie columns, then the payload (E1).
    """

    kind = "order"

    def __init__(self, count: int = 0) -> None:
        self.count = count

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return 0

    def take(self, tick: int, row: Row) -> Iterator[Element]:
        """The row with its number."""
        self.count += 1
        yield Element(tick, self.count, row)

    def advance(self, closed: int) -> Iterator[Element]:
        """Nothing waits for a tick to close."""
        yield from ()

    def save(self) -> bytes:
        """The state as bytes."""
        return encoding.save(self.kind, self.count)

    @classmethod
    def load(cls, state: bytes) -> OrderMachine:
        """The machine as it was when it was saved."""
        return cls(encoding.load(cls.kind, state))
