"""The machine that pairs the current windows of two sides (Figure 7), with several windows per tick."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from transom.errors import PlanError
from transom.machines import codec
from transom.machines.entries import StateEntry
from transom.model.bag import Row

SideKind = Literal["windows", "intervals"]
ProductOutput = Literal["windows", "pairs", "partners", "both"]
"""Pairs of windows; or, for two relations: pairs of rows, left rows and pairs, or the rows of both sides."""


class SideEvent(NamedTuple):
    """An event of one input of a product at a tick: a row is inserted or retracted, or a window begins (`row` is None).

    On a side of windows, `seq` numbers the windows of the tick. On a side of intervals an event inserts `copies` equal
    rows, or retracts as many if `copies` is negative. If `row` is None, the event is a window marker. The rows of a
    pair have equal `key`s.
    """

    seq: int
    copies: int
    order: Any
    key: Row
    row: Row | None


class ProductRow(NamedTuple):
    """A row of a pair of windows, or a window marker if `row` is None.

    Two relations have one window per tick, and `seq` is the kind of a row: for `partners`, 1 is a pair and 0 a left row
    padded with NULLs, and `left_number` is the number of the left row; for `both`, 0 is a left and 1 a right row.
    """

    seq: int
    row: Row | None
    left_number: int | None = None


OrderedRow = tuple[Any, Row, Row]
"""Sort order, key and values of a row."""

WindowRows = list[OrderedRow]
"""The rows of a window, in order."""


class ProductMachine:
    """Events of both sides tick by tick in, pairs of windows out; keeps the current windows of both sides.

    All windows of the last tick of a side are current (S10); nothing is emitted before both sides have started (S8).
    Two relations are emitted at every tick at which one of them has a window; one that has not started is empty (C16).
    """

    kind = "product"

    def __init__(
        self, left: SideKind, right: SideKind, output: ProductOutput = "windows", widths: tuple[int, int] = (0, 0)
    ) -> None:
        """Join current windows; `left`, `right`: how rows arrive; `output`: rows to emit; `widths`: column counts.

        An input arrives as windows or as changes (`intervals`); `widths` has the column counts of both.
        """
        if output != "windows" and (left, right) != ("intervals", "intervals"):
            raise PlanError("a relation is given as changes, not as windows")
        self.kinds: tuple[SideKind, SideKind] = (left, right)
        self.output = output
        self.null_row: Row = (None,) * widths[1]
        self.current: list[dict[int, WindowRows] | None] = [None, None]
        self.side_rows: list[WindowRows] = [[], []]
        self.row_counts: list[Counter[OrderedRow] | None] = [None, None]
        self.removed: list[Counter[OrderedRow]] = [Counter(), Counter()]

    @property
    def held(self) -> int:
        """Number of rows in the current windows of both sides."""
        cut = [windows for kind, windows in zip(self.kinds, self.current) if kind == "windows" and windows is not None]
        valid_rows = sum(map(len, self.side_rows)) - sum(removed.total() for removed in self.removed)
        return sum(len(rows) for windows in cut for rows in windows.values()) + valid_rows

    def take(self, left: Sequence[SideEvent], right: Sequence[SideEvent]) -> Iterator[ProductRow]:
        """Apply a tick's events; if an input has new windows, yield each pair of current windows: a marker, then rows.

        Each pair is a window marker, then its rows.
        """
        has_new_windows = [self._update_side(side, events) for side, events in enumerate((left, right))]
        if self.output != "windows":
            if any(has_new_windows):
                yield from self._relations()
            return
        left_windows, right_windows = self.current
        if not any(has_new_windows) or left_windows is None or right_windows is None:
            return
        for side in range(2):
            self._apply_removals(side)
        for i, (_, left_rows) in enumerate(sorted(left_windows.items())):
            for j, (_, right_rows) in enumerate(sorted(right_windows.items())):
                seq = i * len(right_windows) + j + 1
                yield ProductRow(seq, None)
                by_key: dict[Row, list[Row]] = {}
                for _, key, row in right_rows:
                    by_key.setdefault(key, []).append(row)
                for _, key, row in left_rows:
                    for match in by_key.get(key, ()):
                        yield ProductRow(seq, row + match)

    def _relations(self) -> Iterator[ProductRow]:
        """Yield a window marker (row None), then both inputs' rows, or pairs and maybe left rows, by `self.output`."""
        for side in range(2):
            self._apply_removals(side)
        yield ProductRow(1, None)
        if self.output == "both":
            for side, rows in enumerate(self.side_rows):
                yield from (ProductRow(side, row) for _, _, row in rows)
            return
        by_key: dict[Row, list[Row]] = {}
        for _, key, row in self.side_rows[1]:
            by_key.setdefault(key, []).append(row)
        for number, (_, key, row) in enumerate(self.side_rows[0], 1):
            left_number = number if self.output == "partners" else None
            if left_number is not None:
                yield ProductRow(0, row + self.null_row, left_number)
            yield from (ProductRow(1, row + match, left_number) for match in by_key.get(key, ()))

    def _update_side(self, side: int, events: Sequence[SideEvent]) -> bool:
        """Apply a tick's events to side 0 (left) or 1 (right); return whether this side has new windows."""
        if self.kinds[side] == "windows":
            if not events:
                return False
            windows: dict[int, WindowRows] = {e.seq: [] for e in events}
            for e in events:
                if e.row is not None:
                    windows[e.seq].append((e.order, e.key, e.row))
            self.current[side] = windows
            return True
        rows = self.side_rows[side]
        for e in events:
            if e.row is not None:
                update = self._add_row if e.copies > 0 else self._remove_row
                for _ in range(abs(e.copies)):
                    update(side, (e.order, e.key, e.row))
        if not any(e.row is None for e in events):
            return False
        self._apply_removals(side)
        rows.sort(key=lambda entry: codec.sort_key(entry[0]))
        self.current[side] = {1: rows}
        return True

    def _add_row(self, side: int, entry: OrderedRow) -> None:
        """Insert a row, with sort order and join key, into input `side` (0 left, 1 right), which arrives as changes."""
        self.side_rows[side].append(entry)
        counts = self.row_counts[side]
        if counts is not None:
            counts[entry] += 1

    def _remove_row(self, side: int, entry: OrderedRow) -> None:
        """Retract a row from input `side` (0 left, 1 right); raises ValueError if the row was never inserted."""
        counts = self.row_counts[side]
        if counts is None:
            counts = self.row_counts[side] = Counter(self.side_rows[side])
        if not counts[entry]:
            raise ValueError("a row is deleted that was never inserted")
        counts[entry] -= 1
        if not counts[entry]:
            del counts[entry]
        self.removed[side][entry] += 1

    def _apply_removals(self, side: int) -> None:
        """Remove the retracted rows from the list of rows of input 0 (left) or 1 (right).

        Of equal rows the first goes first.
        """
        removed = self.removed[side]
        if removed:
            self.side_rows[side][:] = [entry for entry in self.side_rows[side] if not _take_removal(removed, entry)]
            removed.clear()

    def entries(self) -> Iterator[StateEntry]:
        """Yield the rows of the current windows of both sides."""
        for side, (kind, windows) in enumerate(zip(self.kinds, self.current)):
            self._apply_removals(side)
            rows = self.side_rows[side]
            if kind == "windows":
                rows = [row for _, window in sorted((windows or {}).items()) for row in window]
            yield from (StateEntry("side", side, None, 1, row) for _, _, row in rows)

    def save(self) -> bytes:
        """Serialize the current windows of both sides."""
        for side in range(2):
            self._apply_removals(side)
        sides = [
            [[seq, _pack_rows(rows)] for seq, rows in sorted(windows.items())]
            if windows is not None and kind == "windows"
            else None
            for kind, windows in zip(self.kinds, self.current)
        ]
        started = [windows is not None for windows in self.current]
        return codec.save(self.kind, [list(self.kinds), started, sides, [_pack_rows(rows) for rows in self.side_rows]])

    @classmethod
    def load(cls, state: bytes, output: ProductOutput = "windows", widths: tuple[int, int] = (0, 0)) -> ProductMachine:
        """Restore a join from the bytes of `save`; `output` and `widths` are those with which it was created."""
        kinds, started, windows, side_rows = codec.load(cls.kind, state)
        machine = cls(kinds[0], kinds[1], output, widths)
        machine.side_rows = [_unpack_rows(rows) for rows in side_rows]
        for side, kind in enumerate(machine.kinds):
            if kind == "windows" and windows[side] is not None:
                machine.current[side] = {seq: _unpack_rows(rows) for seq, rows in windows[side]}
            elif kind == "intervals" and started[side]:
                machine.current[side] = {1: machine.side_rows[side]}
        return machine


def _take_removal(removed: Counter[OrderedRow], entry: OrderedRow) -> bool:
    """Return whether a row is still to be removed, and if so count one of its removals in `removed` as done."""
    if not removed[entry]:
        return False
    removed[entry] -= 1
    return True


def _pack_rows(rows: WindowRows) -> list[Any]:
    """Encode the rows of a window, each with its sort order and join key, for JSON."""
    return [[codec.pack_nested(order), codec.pack(key), codec.pack(row)] for order, key, row in rows]


def _unpack_rows(rows: list[Any]) -> WindowRows:
    """Decode the rows of a window that `_pack_rows` encoded."""
    return [(codec.unpack_nested(order), codec.unpack(key), codec.unpack(row)) for order, key, row in rows]
