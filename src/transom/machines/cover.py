"""The machine that follows one row: whether pieces cover it, and whether it is there at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Literal

from transom.machines import encoding
from transom.machines.mates import LEFT, PAIR
from transom.model.bag import Row, row_key

Tell = Literal["outer", "lone", "matched", "once"]
"""The pieces and the row where none covers it; only that; the row where one does; the row once, however often it is."""


class CoverMachine:
    """Changes of the copies of one row, and of the pieces that cover it, in; changes of the row out.

    All changes of a tick act at once. Keeps two counts, what is out, and the row. `padding` is how many values a piece
    has more than the row.
    """

    kind = "cover"

    def __init__(self, tell: Tell, padding: int = 0) -> None:
        self.tell = tell
        self.padding = padding
        self.copies = 0
        self.cover = 0
        self.shown = 0
        self.row: Row | None = None

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return int(self.copies != 0 or self.cover != 0)

    def take(self, changes: Iterable[tuple[int, int, Row]]) -> Iterator[tuple[int, int, Row]]:
        """All changes of a tick: side, count and row each. Gives what it is (a piece or the row), count and row."""
        pieces: Counter[Row] = Counter()
        for side, count, row in changes:
            if side:
                self.cover += count
                pieces[row] += count
            else:
                self.copies += count
                self.row = row if self.row is None else self.row
        if self.copies < 0 or self.cover < 0:
            raise ValueError("a row goes that never came" if self.copies < 0 else "a piece ends that never began")
        if self.tell == "outer":
            yield from ((PAIR, pieces[row], row) for row in sorted(pieces, key=row_key) if pieces[row])
        wanted = self._wanted()
        if wanted != self.shown and self.row is not None:
            yield LEFT, wanted - self.shown, self.row + (None,) * self.padding
        self.shown = wanted
        if not self.held:
            self.row = None

    def _wanted(self) -> int:
        if self.tell == "once":
            return min(self.copies, 1)
        return self.copies if bool(self.cover) == (self.tell == "matched") else 0

    def save(self) -> bytes:
        """The state as bytes."""
        row = None if self.row is None else encoding.pack(self.row)
        return encoding.save(self.kind, [self.copies, self.cover, self.shown, row])

    @classmethod
    def load(cls, state: bytes, tell: Tell, padding: int) -> CoverMachine:
        """The machine as it was when it was saved."""
        machine = cls(tell, padding)
        machine.copies, machine.cover, machine.shown, row = encoding.load(cls.kind, state)
        machine.row = None if row is None else encoding.unpack(row)
        return machine
