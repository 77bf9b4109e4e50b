"""The machine that joins rows of one key by overlapping validity intervals, whose ends are known on arrival."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush

from transom.errors import PlanError
from transom.machines import codec
from transom.machines.entries import StateEntry
from transom.model.bag import Row


class IntervalJoinMachine:
    """Rows of both inputs tick by tick in, joined pairs out; keeps rows while their validity intervals last.

    A row is valid from its own tick up to the tick in its first value, exclusive. A pair is emitted once, at the later
    tick of its rows if both are valid then, with the earlier of both ends as its first value. The pairs of a tick come
    in the order in which their left rows arrived, those of one left row in the order in which their right rows arrived.
    """

    kind = "pairs"

    def __init__(self) -> None:
        """Create a join of rows with overlapping validity intervals; both inputs have no rows yet."""
        self.left = _IntervalSide()
        self.right = _IntervalSide()

    @property
    def held(self) -> int:
        """Number of valid rows in state, of both sides."""
        return len(self.left.rows) + len(self.right.rows)

    def take(self, tick: int, left: Sequence[Row], right: Sequence[Row]) -> Iterator[Row]:
        """Join a tick's rows with the other input's valid rows; yield (earlier end tick, left and right values).

        The first value of a row is the tick until which it is valid. Raises PlanError for a row whose validity interval
        is empty.
        """
        self.evict(tick - 1)
        for row in (*left, *right):
            if _end_tick(row) <= tick:
                raise PlanError(f"a row of tick {tick} leaves at {_end_tick(row)}: it is never valid")
        for left_row in self.left.rows.values():
            for right_row in right:
                yield _join_rows(left_row, right_row)
        valid_right = (*self.right.rows.values(), *right)
        for left_row in left:
            for right_row in valid_right:
                yield _join_rows(left_row, right_row)
        self.left.add(left)
        self.right.add(right)

    def evict(self, closed: int) -> None:
        """Drop the rows of both sides that are not valid at any tick after `closed`."""
        self.left.drop(closed)
        self.right.drop(closed)

    def entries(self) -> Iterator[StateEntry]:
        """Yield the valid rows of both sides, whose first value is the tick at which they stop being valid."""
        for index, side in enumerate((self.left, self.right)):
            yield from (StateEntry("side", index, None, 1, row) for row in side.rows.values())

    def save(self) -> bytes:
        """Serialize the valid rows of both sides."""
        sides = [[codec.pack(row) for row in side.rows.values()] for side in (self.left, self.right)]
        return codec.save(self.kind, sides)

    @classmethod
    def load(cls, state: bytes) -> IntervalJoinMachine:
        """Restore a join of rows with overlapping validity intervals from the bytes of `save`."""
        machine = cls()
        left, right = codec.load(cls.kind, state)
        machine.left.add(map(codec.unpack, left))
        machine.right.add(map(codec.unpack, right))
        return machine


class _IntervalSide:
    """The valid rows of one input of a join by arrival number, and a heap of (end of validity, arrival number)."""

    def __init__(self) -> None:
        """Create the state of one input of an interval join, without rows."""
        self.rows: dict[int, Row] = {}
        self.ends: list[tuple[int, int]] = []
        self.count = 0

    def add(self, rows: Iterable[Row]) -> None:
        """Add rows to this input of the join, each valid until the tick in its first value, exclusive."""
        for row in rows:
            self.count += 1
            self.rows[self.count] = row
            heappush(self.ends, (_end_tick(row), self.count))

    def drop(self, closed: int) -> None:
        """Drop the rows of this input of the join that are not valid at any tick after `closed`."""
        while self.ends and self.ends[0][0] <= closed + 1:
            del self.rows[heappop(self.ends)[1]]


def _end_tick(row: Row) -> int:
    """Return a row's first value, the tick at which the row stops being valid; PlanError if it is no integer."""
    end = row[0]
    if not isinstance(end, int):
        raise PlanError(f"a row leaves at a tick, not at {end!r}")
    return end


def _join_rows(left: Row, right: Row) -> Row:
    """Join two rows (end tick, values...) to one: the earlier end tick, then the values of left and right."""
    return (min(_end_tick(left), _end_tick(right)), *left[1:], *right[1:])
