"""The machine that pairs stays of two sides of one key, where it is known from the start when a row goes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from transom.errors import PlanError
from transom.machines import encoding
from transom.model.bag import Row


class PairsMachine:
    """Rows of both sides tick by tick in, pairs out; keeps the rows that are there.

    The first value of a row is the tick at which it goes: it is there from its own tick up to that one, which is no
    longer part of its stay. A pair comes out once, at the later tick of its rows if both are there then, with the
    earlier of both ends as its first value. The pairs of a tick come in the order in which their left rows arrived,
    those of one left row in the order in which their right rows arrived.
    """

    kind = "pairs"

    def __init__(self) -> None:
        self.left = _Side()
        self.right = _Side()

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return len(self.left.rows) + len(self.right.rows)

    def take(self, tick: int, left: Sequence[Row], right: Sequence[Row]) -> Iterator[Row]:
        """All rows of a tick of both sides, each side in order; ticks come in order. Gives the pairs of the tick."""
        self.forget(tick - 1)
        for row in (*left, *right):
            if _end(row) <= tick:
                raise PlanError(f"a row of tick {tick} goes at {_end(row)}: it is never there")
        for row in self.left.rows.values():
            for other in right:
                yield _pair(row, other)
        others = (*self.right.rows.values(), *right)
        for row in left:
            for other in others:
                yield _pair(row, other)
        self.left.add(left)
        self.right.add(right)

    def forget(self, closed: int) -> None:
        """Forget the rows that no tick after one that is closed now can meet."""
        self.left.drop(closed)
        self.right.drop(closed)

    def save(self) -> bytes:
        """The state as bytes."""
        sides = [[encoding.pack(row) for row in side.rows.values()] for side in (self.left, self.right)]
        return encoding.save(self.kind, sides)

    @classmethod
    def load(cls, state: bytes) -> PairsMachine:
        """The machine as it was when it was saved."""
        machine = cls()
        left, right = encoding.load(cls.kind, state)
        machine.left.add(map(encoding.unpack, left))
        machine.right.add(map(encoding.unpack, right))
        return machine


class _Side:
    """The rows of a side by the number of their arrival, and these numbers by the ends of the rows."""

    def __init__(self) -> None:
        self.rows: dict[int, Row] = {}
        self.ends: list[tuple[int, int]] = []
        self.count = 0

    def add(self, rows: Iterable[Row]) -> None:
        for row in rows:
            self.count += 1
            self.rows[self.count] = row
            heappush(self.ends, (_end(row), self.count))

    def drop(self, closed: int) -> None:
        while self.ends and self.ends[0][0] <= closed + 1:
            del self.rows[heappop(self.ends)[1]]


def _end(row: Row) -> int:
    end = row[0]
    if not isinstance(end, int):
        raise PlanError(f"a row goes at a tick, not at {end!r}")
    return end


def _pair(left: Row, right: Row) -> Row:
    return (min(_end(left), _end(right)), *left[1:], *right[1:])
