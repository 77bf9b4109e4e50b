"""The machine that compares consecutive windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from transom.machines import encoding
from transom.model.bag import Bag, Element, Row, difference

Report = Literal["came", "went", "both", "grown"]


class ChangeMachine:
    """Windows in order in, what came (ISTREAM) or went (DSTREAM) out, numbered; keeps the previous window.

    Several windows of one tick are compared in their order (S12, S13). With the report `both` that is what went and
    then what came; with `grown` it is the whole window, if anything came. When a key is over, nothing is kept.
    """

    kind = "change"

    def __init__(self, report: Report) -> None:
        self.report = report
        self.previous: tuple[Row, ...] = ()
        self.count = 0
        self.over = False

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return len(self.previous)

    def take(self, window: Bag) -> Iterator[Element]:
        """The next window."""
        before, self.previous = self.previous, window.rows
        changed = difference(window.rows, before) if self.report == "came" else difference(before, window.rows)
        for row in changed:
            self.count += 1
            yield Element(window.tick, self.count, row)

    def turn(self, window: Bag) -> Iterator[tuple[int, Row]]:
        """The next window as changes: rows that went with -1, then rows that came with 1."""
        before, self.previous = self.previous, window.rows
        yield from ((-1, row) for row in difference(before, window.rows))
        yield from ((1, row) for row in difference(window.rows, before))

    def grow(self, window: Bag) -> tuple[Row, ...] | None:
        """The next window, if a row was added to it."""
        before, self.previous = self.previous, window.rows
        return window.rows if difference(window.rows, before) else None

    def save(self) -> bytes | None:
        """The state as bytes; None when the key is over."""
        if self.over:
            return None
        return encoding.save(self.kind, [self.report, self.count, [encoding.pack(row) for row in self.previous]])

    @classmethod
    def load(cls, state: bytes) -> ChangeMachine:
        """The machine as it was when it was saved."""
        report, count, rows = encoding.load(cls.kind, state)
        machine = cls(report)
        machine.count, machine.previous = count, tuple(map(encoding.unpack, rows))
        return machine
