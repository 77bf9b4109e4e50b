"""The machine that joins relations of one key incrementally: inner, left, semi, anti and mark joins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import product
from typing import Literal

from transom.machines import codec
from transom.machines.entries import StateEntry, rows_of_sides
from transom.model.bag import Row, row_key

JoinOutput = Literal["inner", "left", "semi", "anti", "mark", "candidates"]
"""What a join emits: pairs; pairs and unmatched left rows; matched or unmatched left rows; left rows with a match flag.

`candidates` are all pairs and all left rows, for a residual that is checked after the machine.
"""

PAIR, LEFT = 1, 0
_WITH_PAIRS = ("inner", "left", "candidates")


class DeltaJoin:
    """Changes of two or more relations of one key in; changes of their join out, each with a signed count.

    All changes of a tick apply at once. Within a key every left row matches every right row; a residual is checked
    later, on `candidates`. The state holds the rows of all sides. A tick only processes its changes; it touches all
    left rows only when the first row of the right side is inserted or the last one is retracted.
    """

    kind = "join"

    def __init__(self, widths: Sequence[int], emit: JoinOutput = "inner") -> None:
        """Create a join without rows; `widths`: column count per input; `emit`: join type, such as `left` or `semi`."""
        self.widths = tuple(widths)
        self.emit = emit
        self.present: list[Counter[Row]] = [Counter() for _ in widths]

    @property
    def held(self) -> int:
        """Number of rows in state, over all joined relations."""
        return sum(bag.total() for bag in self.present)

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """Apply a tick's changes (input number, signed count, row); yield (1 for pair or 0 for left row, count, row).

        A change of an input is (side, signed count, row), of the output (PAIR or LEFT, signed count, row). Raises
        ValueError if a row is retracted that was never added.
        """
        side_changes: list[Counter[Row]] = [Counter() for _ in self.widths]
        for side, count, row in changes:
            side_changes[side][row] += count
        matched = bool(self.present[1])
        pairs = self._pairs(side_changes)
        if self.emit in _WITH_PAIRS:
            yield from ((PAIR, count, row) for row, count in _sorted_changes(pairs))
        if self.emit != "inner":
            yield from ((LEFT, count, row) for row, count in _sorted_changes(self._left(side_changes[0], matched)))

    def _pairs(self, side_changes: Sequence[Counter[Row]]) -> Counter[Row]:
        """Apply a tick's changes per input; return the joined rows that appear or disappear, with signed counts.

        So no pair counts twice.
        """
        pairs: Counter[Row] = Counter()
        for side, changes in enumerate(side_changes):
            bags = [changes if other == side else bag for other, bag in enumerate(self.present)]
            if changes and self.emit in _WITH_PAIRS:
                for rows in product(*(bag.items() for bag in bags)):
                    count = 1
                    for _, times in rows:
                        count *= times
                    pairs[tuple(value for row, _ in rows for value in row)] += count
            bag = self.present[side]
            for row, count in changes.items():
                bag[row] += count
                if bag[row] < 0:
                    raise ValueError("a row is retracted that was never added")
                if not bag[row]:
                    del bag[row]
        return pairs

    def _left(self, left_changes: Counter[Row], matched_before: bool) -> Counter[Row]:
        """Return a tick's output changes of left rows; `matched_before`: whether the right input had rows before it."""
        now = bool(self.present[1])
        emitted: Counter[Row] = Counter()
        if self.emit == "candidates" or (self.emit == "mark" and matched_before == now):
            changes: Iterable[tuple[Row, int, bool]] = ((row, count, now) for row, count in left_changes.items())
        elif self.emit == "mark":
            changes = [*self._before(left_changes, matched_before), *self._after(now)]
        else:
            emits_matched = self.emit == "semi"
            if matched_before == now:
                changes = ((row, count, now) for row, count in left_changes.items() if now == emits_matched)
            else:
                changes = self._after(now) if now == emits_matched else self._before(left_changes, matched_before)
        padding = (None,) * sum(self.widths[1:]) if self.emit in ("left", "candidates") else ()
        for row, count, flag in changes:
            emitted[(*row, flag) if self.emit == "mark" else row + padding] += count
        return emitted

    def _after(self, matched: bool) -> Iterator[tuple[Row, int, bool]]:
        """Yield (row, count, `matched`) for every left row after this tick; `matched`: right input has rows."""
        return ((row, count, matched) for row, count in self.present[0].items())

    def _before(self, left_changes: Counter[Row], matched: bool) -> Iterator[tuple[Row, int, bool]]:
        """Yield (row, -count, `matched`) for every left row before this tick's changes, to retract what was emitted."""
        before = self.present[0].copy()
        before.subtract(left_changes)
        return ((row, -count, matched) for row, count in before.items())

    def entries(self) -> Iterator[StateEntry]:
        """Yield a state entry per distinct row of each joined input, with its count, for inspection."""
        yield from rows_of_sides(self.present)

    def save(self) -> bytes:
        """Serialize the rows of all joined relations with their counts."""
        bags = [[[codec.pack(row), count] for row, count in bag.items()] for bag in self.present]
        return codec.save(self.kind, bags)

    @classmethod
    def load(cls, state: bytes, widths: Sequence[int], emit: JoinOutput = "inner") -> DeltaJoin:
        """Restore a join from the bytes of `save`; `widths` and `emit` are those with which it was created."""
        machine = cls(widths, emit)
        bags = codec.load(cls.kind, state)
        machine.present = [Counter({codec.unpack(cells): count for cells, count in bag}) for bag in bags]
        return machine


def _sorted_changes(changes: Counter[Row]) -> list[tuple[Row, int]]:
    """Return the changes whose count is not 0 as (row, count), sorted by row."""
    return [(row, changes[row]) for row in sorted(changes, key=row_key) if changes[row]]
