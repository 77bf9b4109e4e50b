"""The machine that follows one left row: how many pairs match it, and how many copies of it there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from transom.machines import encoding
from transom.machines.delta_join import LEFT, PAIR
from transom.model.bag import Row, row_key

Emit = Literal["left", "semi", "anti", "mark", "distinct", "numbered"]
"""Pairs, and the row while none matches it; the row while one does; while none does; always, with whether one does.

`distinct` is the row once, however many copies there are. `numbered` is every copy with its number from 0.
"""


class MatchCounter:
    """Changes of the copies of one row, and of the pairs that match it, in; changes of the row out.

    All changes of a tick act at once. The machine keeps two counts, what it has emitted, and the row. `padding` is how
    many values a pair has more than the row.
    """

    kind = "matches"

    def __init__(self, emit: Emit, padding: int = 0) -> None:
        self.emit = emit
        self.padding = padding
        self.copies = 0
        self.matches = 0
        self.emitted = [0, 0]
        self.row: Row | None = None

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return int(self.copies != 0 or self.matches != 0)

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """All changes of a tick: side, count and row each. Gives PAIR or LEFT, a count and a row."""
        pairs: Counter[Row] = Counter()
        for side, count, row in changes:
            if side:
                self.matches += count
                pairs[row] += count
            else:
                self.copies += count
                self.row = row if self.row is None else self.row
        if self.copies < 0 or self.matches < 0:
            what = "row" if self.copies < 0 else "pair"
            raise ValueError(f"a {what} is retracted that was never added")
        if self.emit == "left":
            yield from ((PAIR, pairs[row], row) for row in sorted(pairs, key=row_key) if pairs[row])
        wanted = self._wanted()
        if self.row is not None and self.emit == "numbered":
            before = self.emitted[0]
            yield from ((LEFT, 1, (*self.row, copy)) for copy in range(before, self.copies))
            yield from ((LEFT, -1, (*self.row, copy)) for copy in range(self.copies, before))
        elif self.row is not None:
            for flag in (False, True):
                count = wanted[flag] - self.emitted[flag]
                if count:
                    yield LEFT, count, self._emitted(self.row, flag)
        self.emitted = wanted
        if not self.held:
            self.row = None

    def _emitted(self, row: Row, flag: bool) -> Row:
        return (*row, flag) if self.emit == "mark" else row + (None,) * self.padding

    def _wanted(self) -> list[int]:
        """How many copies are out now: of the unmatched row, and of the matched one."""
        if self.emit == "distinct":
            return [min(self.copies, 1), 0]
        if self.emit == "numbered":
            return [self.copies, 0]
        copies = [0, self.copies] if self.matches else [self.copies, 0]
        if self.emit == "mark":
            return copies
        return [0, copies[1]] if self.emit == "semi" else [copies[0], 0]

    def save(self) -> bytes:
        """The state as bytes."""
        row = None if self.row is None else encoding.pack(self.row)
        return encoding.save(self.kind, [self.copies, self.matches, *self.emitted, row])

    @classmethod
    def load(cls, state: bytes, emit: Emit, padding: int) -> MatchCounter:
        """The machine as it was when it was saved."""
        machine = cls(emit, padding)
        machine.copies, machine.matches, *machine.emitted, row = encoding.load(cls.kind, state)
        machine.row = None if row is None else encoding.unpack(row)
        return machine
