"""The machine that gives what no piece covers of a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from transom.machines import encoding
from transom.machines.meet import Change
from transom.model.bag import Row


class GapsMachine:
    """Changes of the copies of one row, and of the pieces that cover it, in; changes of the uncovered row out.

    At any tick the uncovered row has as many copies as the row if no piece covers it, and none otherwise. All changes
    of a tick act at once. Keeps two counts, what is out, and the row.
    """

    kind = "gaps"

    def __init__(self) -> None:
        self.copies = 0
        self.cover = 0
        self.shown = 0
        self.row: Row | None = None

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return int(self.copies != 0 or self.cover != 0)

    def take(self, tick: int, copies: Sequence[tuple[int, Row]], cover: int) -> Iterator[Change]:
        """All changes of a tick: copies of the row that come or go, and how many more pieces cover it now."""
        for count, row in copies:
            self.copies += count
            self.row = row if self.row is None else self.row
        self.cover += cover
        if self.copies < 0 or self.cover < 0:
            raise ValueError("a row goes that never came" if self.copies < 0 else "a piece ends that never began")
        wanted = 0 if self.cover else self.copies
        if wanted != self.shown and self.row is not None:
            yield Change(tick, wanted - self.shown, self.row)
        self.shown = wanted
        if not self.held:
            self.row = None

    def save(self) -> bytes:
        """The state as bytes."""
        row = None if self.row is None else encoding.pack(self.row)
        return encoding.save(self.kind, [self.copies, self.cover, self.shown, row])

    @classmethod
    def load(cls, state: bytes) -> GapsMachine:
        """The machine as it was when it was saved."""
        machine = cls()
        machine.copies, machine.cover, machine.shown, row = encoding.load(cls.kind, state)
        machine.row = None if row is None else encoding.unpack(row)
        return machine
