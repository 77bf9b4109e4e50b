"""The machine that joins relations of one key which arrive as changes: inner, left, semi, anti and mark joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Literal

from transom.machines import encoding
from transom.model.bag import Row, row_key

Emit = Literal["inner", "left", "semi", "anti", "mark", "candidates"]
"""Pairs; pairs and unmatched left rows; matched left rows; unmatched ones; all left rows with whether they match.

`candidates` are all pairs and all left rows, for a residual that is checked after the machine.
"""

PAIR, LEFT = 1, 0
_WITH_PAIRS = ("inner", "left", "candidates")


class DeltaJoin:
    """Changes of two or more relations of one key in; changes of their join out, each with a signed count.

    All changes of a tick act at once. Every row of the key matches every other; a residual is checked on `candidates`.
    The machine keeps the rows of all sides. The work of a tick follows its changes, and all rows of the left side only
    when the first row of the right side comes or the last one goes.
    """

    kind = "join"

    def __init__(self, widths: Sequence[int], emit: Emit = "inner") -> None:
        self.widths = tuple(widths)
        self.emit = emit
        self.present: list[Counter[Row]] = [Counter() for _ in widths]

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return sum(bag.total() for bag in self.present)

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """All changes of a tick: side, count and row each. Gives PAIR or LEFT, a count and a row."""
        coming: list[Counter[Row]] = [Counter() for _ in self.widths]
        for side, count, row in changes:
            coming[side][row] += count
        matched = bool(self.present[1])
        pairs = self._pairs(coming)
        if self.emit in _WITH_PAIRS:
            yield from ((PAIR, count, row) for row, count in _in_order(pairs))
        if self.emit != "inner":
            yield from ((LEFT, count, row) for row, count in _in_order(self._left(coming[0], matched)))

    def _pairs(self, coming: Sequence[Counter[Row]]) -> Counter[Row]:
        """The changes of all pairs; each side is applied after those before it, so that no pair counts twice."""
        pairs: Counter[Row] = Counter()
        for place, changes in enumerate(coming):
            sides = [changes if other == place else bag for other, bag in enumerate(self.present)]
            if changes and self.emit in _WITH_PAIRS:
                for rows in product(*(side.items() for side in sides)):
                    count = 1
                    for _, times in rows:
                        count *= times
                    pairs[tuple(value for row, _ in rows for value in row)] += count
            bag = self.present[place]
            for row, count in changes.items():
                bag[row] += count
                if bag[row] < 0:
                    raise ValueError("a row is retracted that was never added")
                if not bag[row]:
                    del bag[row]
        return pairs

    def _left(self, coming: Counter[Row], matched: bool) -> Counter[Row]:
        """The changes of left rows, as they are emitted; `matched` says whether they matched before this tick."""
        now = bool(self.present[1])
        found: Counter[Row] = Counter()
        if self.emit == "candidates" or (self.emit == "mark" and matched == now):
            changes: Iterable[tuple[Row, int, bool]] = ((row, count, now) for row, count in coming.items())
        elif self.emit == "mark":
            changes = [*self._before(coming, matched), *self._after(now)]
        else:
            wanted = self.emit == "semi"
            if matched == now:
                changes = ((row, count, now) for row, count in coming.items() if now == wanted)
            else:
                changes = self._after(now) if now == wanted else self._before(coming, matched)
        padding = (None,) * sum(self.widths[1:]) if self.emit in ("left", "candidates") else ()
        for row, count, flag in changes:
            found[(*row, flag) if self.emit == "mark" else row + padding] += count
        return found

    def _after(self, matched: bool) -> Iterator[tuple[Row, int, bool]]:
        return ((row, count, matched) for row, count in self.present[0].items())

    def _before(self, coming: Counter[Row], matched: bool) -> Iterator[tuple[Row, int, bool]]:
        """Retractions of all left rows as they were before this tick."""
        before = self.present[0].copy()
        before.subtract(coming)
        return ((row, -count, matched) for row, count in before.items())

    def save(self) -> bytes:
        """The state as bytes."""
        bags = [[[encoding.pack(row), count] for row, count in bag.items()] for bag in self.present]
        return encoding.save(self.kind, bags)

    @classmethod
    def load(cls, state: bytes, widths: Sequence[int], emit: Emit = "inner") -> DeltaJoin:
        """The machine as it was when it was saved."""
        machine = cls(widths, emit)
        bags = encoding.load(cls.kind, state)
        machine.present = [Counter({encoding.unpack(cells): count for cells, count in bag}) for bag in bags]
        return machine


def _in_order(changes: Counter[Row]) -> list[tuple[Row, int]]:
    return [(row, changes[row]) for row in sorted(changes, key=row_key) if changes[row]]
