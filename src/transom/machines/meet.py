"""The machine that joins two relations which arrive as changes (E7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from transom.machines import encoding
from transom.model.bag import Row, row_key

Side = Literal["left", "right"]


@dataclass(frozen=True, slots=True)
class Change:
    """So many copies of a row more (or, below 0, fewer) from a tick on."""

    tick: int
    count: int
    row: Row


class MeetMachine:
    """Changes of both sides of one key in order in, changes of their pairs out.

    Keeps the rows that are present on each side. All changes of a tick act at once: a pair that comes and goes within
    a tick was never there. Pairs are all pairs; a condition on them is for the engine to check.
    """

    kind = "meet"

    def __init__(self) -> None:
        self.present: dict[Side, Counter[Row]] = {"left": Counter(), "right": Counter()}
        self.coming: dict[Side, Counter[Row]] = {"left": Counter(), "right": Counter()}
        self.tick: int | None = None

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        sides = (*self.present.values(), *self.coming.values())
        return sum(abs(count) for side in sides for count in side.values())

    def take(self, side: Side, change: Change) -> Iterator[Change]:
        """A change of one side; gives the changes of the pairs of earlier ticks."""
        yield from self.advance(change.tick - 1)
        self.tick = change.tick
        self.coming[side][change.row] += change.count

    def advance(self, closed: int) -> Iterator[Change]:
        """The changes of the pairs of all ticks up to one that is closed now."""
        if self.tick is None or self.tick > closed:
            return
        left, right = self.present["left"], self.present["right"]
        left_new, right_new = self.coming["left"], self.coming["right"]
        pairs: Counter[Row] = Counter()
        for row, count in left_new.items():
            for other, times in right.items():
                pairs[row + other] += count * times
        _apply(left, left_new)
        for other, times in right_new.items():
            for row, count in left.items():
                pairs[row + other] += count * times
        _apply(right, right_new)
        tick, self.tick = self.tick, None
        for row in sorted(pairs, key=row_key):
            if pairs[row]:
                yield Change(tick, pairs[row], row)

    def save(self) -> bytes:
        """The state as bytes."""
        bags = [
            [[encoding.pack(row), count] for row, count in bag.items()]
            for bag in (*self.present.values(), *self.coming.values())
        ]
        return encoding.save(self.kind, [self.tick, *bags])

    @classmethod
    def load(cls, state: bytes) -> MeetMachine:
        """The machine as it was when it was saved."""
        tick, *bags = encoding.load(cls.kind, state)
        machine = cls()
        machine.tick = tick
        counters = [Counter({encoding.unpack(cells): count for cells, count in bag}) for bag in bags]
        machine.present = {"left": counters[0], "right": counters[1]}
        machine.coming = {"left": counters[2], "right": counters[3]}
        return machine


def _apply(bag: Counter[Row], changes: Counter[Row]) -> None:
    for row, count in changes.items():
        bag[row] += count
        if not bag[row]:
            del bag[row]
    changes.clear()
