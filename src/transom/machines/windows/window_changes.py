"""The machine that compares consecutive windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from transom.machines import codec
from transom.machines.entries import StateEntry
from transom.model.bag import Bag, Element, Row, difference

ChangeReport = Literal["inserted", "deleted", "both", "extended"]


class WindowChangesMachine:
    """Windows in order in, numbered rows that were added (ISTREAM) or removed (DSTREAM) out; keeps the previous window.

    Several windows of one tick are compared in their order (S12, S13). The report `both` emits removed rows, then added
    rows; `extended` emits all rows of a window to which a row was added. At the end of a key the state is dropped.
    """

    kind = "change"

    def __init__(self, report: ChangeReport) -> None:
        """Compare each window with the one before; `report`: emit added rows, removed, both, or all if any was added.

        They are the added rows, the removed rows, both, or all rows of a window with an added row.
        """
        self.report = report
        self.previous: tuple[Row, ...] = ()
        self.count = 0
        self.ended = False

    @property
    def held(self) -> int:
        """Number of rows in state: those of the previous window."""
        return len(self.previous)

    def take(self, window: Bag) -> Iterator[Element]:
        """Compare a window with the previous one; yield its added or, if `report` is not inserted, its removed rows.

        Removed rows are yielded if `report` is `deleted`.
        """
        before, self.previous = self.previous, window.rows
        changed = difference(window.rows, before) if self.report == "inserted" else difference(before, window.rows)
        for row in changed:
            self.count += 1
            yield Element(window.tick, self.count, row)

    def signed_changes(self, window: Bag) -> Iterator[tuple[int, Row]]:
        """Compare a window with the previous one; yield (-1, row) per removed row, then (1, row) per added row."""
        before, self.previous = self.previous, window.rows
        yield from ((-1, row) for row in difference(before, window.rows))
        yield from ((1, row) for row in difference(window.rows, before))

    def rows_if_added(self, window: Bag) -> tuple[Row, ...] | None:
        """Return all rows of a window if any row was added since the previous window; otherwise None."""
        before, self.previous = self.previous, window.rows
        return window.rows if difference(window.rows, before) else None

    def entries(self) -> Iterator[StateEntry]:
        """Yield the rows of the previous window."""
        yield from (StateEntry("row", 0, None, 1, row) for row in self.previous)

    def save(self) -> bytes | None:
        """Serialize the report, the count of emitted rows and the previous window; None once the key has ended."""
        if self.ended:
            return None
        return codec.save(self.kind, [self.report, self.count, [codec.pack(row) for row in self.previous]])

    @classmethod
    def load(cls, state: bytes) -> WindowChangesMachine:
        """Restore a comparison of consecutive windows from the bytes of `save`."""
        report, count, rows = codec.load(cls.kind, state)
        machine = cls(report)
        machine.count, machine.previous = count, tuple(map(codec.unpack, rows))
        return machine
