"""The machine that pairs the current windows of two sides (Figure 7), for windows of which a tick may hold several."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

from transom.errors import PlanError
from transom.machines import encoding
from transom.model.bag import Row

SideKind = Literal["windows", "stays"]
How = Literal["windows", "pairs", "partners", "both"]
"""Pairs of windows; or of two relations pairs of rows, left rows with their partners, or both as they are."""


class Event(NamedTuple):
    """One thing that a side says about a tick, in the order of the side's rows.

    A side of windows says: window `seq` exists (`row` is None), or window `seq` holds a row. A side of stays says:
    there is a window (`row` is None), or a row comes (`sign` 1) or goes (`sign` -1). `key` is what pairs must agree on.
    """

    seq: int
    sign: int
    order: Any
    key: Row
    row: Row | None


class Pair(NamedTuple):
    """One thing that is said about a pair of windows: that it exists (`row` is None), or that it holds a row.

    Of two relations there is one window per tick, and `seq` says what a row is: of `partners`, 1 a pair and 0 a left
    row by itself, with its number as `place`; of `both`, 0 a row of the left and 1 one of the right.
    """

    seq: int
    row: Row | None
    place: int | None = None


Entry = tuple[Any, Row, Row]
"""Order, key and values of a row."""

Held = list[Entry]
"""The rows of a window, in order."""


class ProductMachine:
    """The events of both sides tick by tick in, the windows of their pairs out; keeps the current windows of both.

    All windows of the last tick of a side are current (S10); nothing comes before both sides have begun (S8). Two
    relations are told at every tick at which one of them has a window; one that has not begun is empty (C16).
    """

    kind = "product"

    def __init__(self, left: SideKind, right: SideKind, how: How = "windows", widths: tuple[int, int] = (0, 0)) -> None:
        if how != "windows" and (left, right) != ("stays", "stays"):
            raise PlanError("relations come as stays")
        self.kinds: tuple[SideKind, SideKind] = (left, right)
        self.how = how
        self.nothing: Row = (None,) * widths[1]
        self.current: list[dict[int, Held] | None] = [None, None]
        self.coming: list[Held] = [[], []]
        self.stock: list[Counter[Entry] | None] = [None, None]
        self.gone: list[Counter[Entry]] = [Counter(), Counter()]

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        cut = [side for kind, side in zip(self.kinds, self.current) if kind == "windows" and side is not None]
        staying = sum(map(len, self.coming)) - sum(gone.total() for gone in self.gone)
        return sum(len(rows) for side in cut for rows in side.values()) + staying

    def take(self, left: Sequence[Event], right: Sequence[Event]) -> Iterator[Pair]:
        """What the pairs hold at a tick, of which these are all events; in order, left-major."""
        fresh = [self._renew(place, events) for place, events in enumerate((left, right))]
        if self.how != "windows":
            if any(fresh):
                yield from self._relations()
            return
        one, other = self.current
        if not any(fresh) or one is None or other is None:
            return
        for place in range(2):
            self._settle(place)
        for i, (_, mine) in enumerate(sorted(one.items())):
            for j, (_, yours) in enumerate(sorted(other.items())):
                seq = i * len(other) + j + 1
                yield Pair(seq, None)
                by_key: dict[Row, list[Row]] = {}
                for _, key, row in yours:
                    by_key.setdefault(key, []).append(row)
                for _, key, row in mine:
                    for match in by_key.get(key, ()):
                        yield Pair(seq, row + match)

    def _relations(self) -> Iterator[Pair]:
        """What two relations hold now."""
        for place in range(2):
            self._settle(place)
        yield Pair(1, None)
        if self.how == "both":
            for place, rows in enumerate(self.coming):
                yield from (Pair(place, row) for _, _, row in rows)
            return
        by_key: dict[Row, list[Row]] = {}
        for _, key, row in self.coming[1]:
            by_key.setdefault(key, []).append(row)
        for number, (_, key, row) in enumerate(self.coming[0], 1):
            own = number if self.how == "partners" else None
            if own is not None:
                yield Pair(0, row + self.nothing, own)
            yield from (Pair(1, row + match, own) for match in by_key.get(key, ()))

    def _renew(self, place: int, events: Sequence[Event]) -> bool:
        """Take in the events of a side; whether it has new windows."""
        if self.kinds[place] == "windows":
            if not events:
                return False
            windows: dict[int, Held] = {e.seq: [] for e in events}
            for e in events:
                if e.row is not None:
                    windows[e.seq].append((e.order, e.key, e.row))
            self.current[place] = windows
            return True
        rows = self.coming[place]
        for e in events:
            if e.row is not None and e.sign > 0:
                self._come(place, (e.order, e.key, e.row))
            elif e.row is not None:
                self._go(place, (e.order, e.key, e.row))
        if not any(e.row is None for e in events):
            return False
        self._settle(place)
        rows.sort(key=lambda held: _orderly(held[0]))
        self.current[place] = {1: rows}
        return True

    def _come(self, place: int, entry: Entry) -> None:
        self.coming[place].append(entry)
        stock = self.stock[place]
        if stock is not None:
            stock[entry] += 1

    def _go(self, place: int, entry: Entry) -> None:
        """A row goes: it is looked up here, and leaves the list when that is read next."""
        stock = self.stock[place]
        if stock is None:
            stock = self.stock[place] = Counter(self.coming[place])
        if not stock[entry]:
            raise ValueError("a row goes that never came")
        stock[entry] -= 1
        if not stock[entry]:
            del stock[entry]
        self.gone[place][entry] += 1

    def _settle(self, place: int) -> None:
        """Take the rows that have gone out of the list; of rows that are the same the first goes first."""
        gone = self.gone[place]
        if gone:
            self.coming[place][:] = [entry for entry in self.coming[place] if not _taken(gone, entry)]
            gone.clear()

    def save(self) -> bytes:
        """The state as bytes."""
        for place in range(2):
            self._settle(place)
        sides = [
            None if side is None or kind == "stays" else [[seq, _pack(rows)] for seq, rows in sorted(side.items())]
            for kind, side in zip(self.kinds, self.current)
        ]
        begun = [side is not None for side in self.current]
        return encoding.save(self.kind, [list(self.kinds), begun, sides, [_pack(rows) for rows in self.coming]])

    @classmethod
    def load(cls, state: bytes, how: How = "windows", widths: tuple[int, int] = (0, 0)) -> ProductMachine:
        """The machine as it was when it was saved."""
        kinds, begun, sides, coming = encoding.load(cls.kind, state)
        machine = cls(kinds[0], kinds[1], how, widths)
        machine.coming = [_unpack(rows) for rows in coming]
        for place, kind in enumerate(machine.kinds):
            if kind == "windows" and sides[place] is not None:
                machine.current[place] = {seq: _unpack(rows) for seq, rows in sides[place]}
            elif kind == "stays" and begun[place]:
                machine.current[place] = {1: machine.coming[place]}
        return machine


def _taken(gone: Counter[Entry], entry: Entry) -> bool:
    """Whether a row is one of those that have gone; each counts once."""
    if not gone[entry]:
        return False
    gone[entry] -= 1
    return True


def _pack(rows: Held) -> list[Any]:
    return [[encoding.pack_deep(order), encoding.pack(key), encoding.pack(row)] for order, key, row in rows]


def _unpack(rows: list[Any]) -> Held:
    return [(encoding.unpack_deep(order), encoding.unpack(key), encoding.unpack(row)) for order, key, row in rows]


def _orderly(order: Any) -> Any:
    return encoding.sort_key(order)
