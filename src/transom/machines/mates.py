"""The machine that brings relations of one key together which arrive as changes: pairs, and rows without a partner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Literal

from transom.machines import encoding
from transom.model.bag import Row, row_key

Tell = Literal["pairs", "outer", "lone", "matched", "asked"]
"""All pairs; pairs and left rows without a partner; only those; left rows with one; pairs and all left rows."""

PAIR, LEFT = 1, 0


class MatesMachine:
    """Changes of two or more relations of one key in; changes of what they make together out, each with a count.

    All changes of a tick act at once. Every row of the key is a partner of every other: where a condition is asked of
    pairs, the engine does it with what is `asked`. Keeps the rows that are there.
    """

    kind = "mates"

    def __init__(self, widths: Sequence[int], tell: Tell = "pairs") -> None:
        self.widths = tuple(widths)
        self.tell = tell
        self.present: list[Counter[Row]] = [Counter() for _ in widths]

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return sum(bag.total() for bag in self.present)

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """All changes of a tick: side, count and row each. Gives what it is (a pair or a left row), count and row."""
        coming: list[Counter[Row]] = [Counter() for _ in self.widths]
        for side, count, row in changes:
            coming[side][row] += count
        was, covered = dict(self.present[0]), bool(self.present[1])
        pairs = self._pairs(coming)
        if self.tell in ("pairs", "outer", "asked"):
            yield from ((PAIR, count, row) for row, count in _in_order(pairs))
        if self.tell != "pairs":
            lefts = self._lefts(coming[0], was, covered)
            nothing = (None,) * sum(self.widths[1:]) if self.tell in ("outer", "asked") else ()
            yield from ((LEFT, count, row + nothing) for row, count in _in_order(lefts))

    def _pairs(self, coming: Sequence[Counter[Row]]) -> Counter[Row]:
        """The changes of all pairs; each side is taken in after those before it, so that no pair counts twice."""
        pairs: Counter[Row] = Counter()
        for place, changes in enumerate(coming):
            sides = [changes if other == place else bag for other, bag in enumerate(self.present)]
            if changes and self.tell not in ("lone", "matched"):
                for rows in product(*(side.items() for side in sides)):
                    count = 1
                    for _, times in rows:
                        count *= times
                    pairs[tuple(value for row, _ in rows for value in row)] += count
            bag = self.present[place]
            for row, count in changes.items():
                bag[row] += count
                if bag[row] < 0:
                    raise ValueError("a row goes that never came")
                if not bag[row]:
                    del bag[row]
        return pairs

    def _lefts(self, coming: Counter[Row], was: dict[Row, int], covered: bool) -> Counter[Row]:
        """The changes of left rows: of all, of those without a partner, or of those with one."""
        if self.tell == "asked":
            return coming
        wanted = self.tell == "matched"
        found: Counter[Row] = Counter()
        if bool(self.present[1]) == wanted:
            found.update(self.present[0])
        if covered == wanted:
            found.subtract(was)
        return found

    def save(self) -> bytes:
        """The state as bytes."""
        bags = [[[encoding.pack(row), count] for row, count in bag.items()] for bag in self.present]
        return encoding.save(self.kind, bags)

    @classmethod
    def load(cls, state: bytes, widths: Sequence[int], tell: Tell = "pairs") -> MatesMachine:
        """The machine as it was when it was saved."""
        machine = cls(widths, tell)
        bags = encoding.load(cls.kind, state)
        machine.present = [Counter({encoding.unpack(cells): count for cells, count in bag}) for bag in bags]
        return machine


def _in_order(changes: Counter[Row]) -> list[tuple[Row, int]]:
    return [(row, changes[row]) for row in sorted(changes, key=row_key) if changes[row]]
