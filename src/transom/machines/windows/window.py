"""The machine that builds windows: any slide and range on tick or index, several windows per tick."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from transom.algebra.sources import StoredTable
from transom.algebra.windows import Coordinate, CoordinateRange, Every, OnArrival, Window
from transom.errors import Unsupported
from transom.machines import codec
from transom.machines.entries import StateEntry
from transom.model.bag import Bag, Element, Row


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """Specification of a window machine: when it creates windows (`tick`, `index` or `arrival`) and what they hold.

    A bound at base b is floor(b / step) * step + offset, as in the algebra. `tags` append to a tuple its tick, or its
    position in the stream that this machine sees. Serialized as one small JSON document.
    """

    slide: str
    step: int
    first: int
    range: str
    low: tuple[int, int]
    high: tuple[int, int]
    start: int = 0
    tags: tuple[str, ...] = ()

    @staticmethod
    def of(op: Window, start: int = 0) -> WindowSpec:
        """Specify the machine for a window that slides by tick, row number or arrival; windows begin at tick `start`.

        Raises Unsupported for other windows.
        """
        if isinstance(op.input, StoredTable) or not isinstance(op.range, CoordinateRange):
            raise Unsupported("Window", "a window machine cuts streams by ranges")
        if op.range.coordinate is Coordinate.DISTANCE:
            raise Unsupported("Window", "a window machine ranges by tick or by index")
        low, high = op.range.low, op.range.high
        match op.slide:
            case Every(coordinate=Coordinate.TICK | Coordinate.INDEX as coordinate, step=step, first=first):
                slide = coordinate.value
            case OnArrival():
                slide, step, first = "arrival", 1, 0
            case _:
                raise Unsupported("Window", "a window machine slides by tick, by index or by arrival")
        ends = ((low.step, low.offset), (high.step, high.offset))
        tags = tuple(attribute.name for attribute in op.tags)
        return WindowSpec(slide, step, first, op.range.coordinate.value, *ends, start, tags)

    def to_json(self) -> str:
        """Return this window specification as the JSON that the Python and the Java implementation read."""
        return json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> WindowSpec:
        """Parse a window specification from the JSON that `to_json` wrote."""
        entries: dict[str, Any] = json.loads(text)
        ends = {name: tuple(entries[name]) for name in ("low", "high", "tags")}
        return WindowSpec(**{**entries, **ends})


class WindowMachine:
    """Rows of one key in order in, windows out; keeps only rows that a later window can hold.

    Windows by tick and by arrival are emitted when their tick is closed, windows by row when their last row arrives.
    """

    kind = "window"

    def __init__(self, spec: WindowSpec) -> None:
        """Create the windows of a stream without rows."""
        self.spec = spec
        self.rows: deque[Element] = deque()
        self.count = 0
        self.pending: int | None = None
        skipped = max(0, -(-(spec.start - spec.first) // spec.step))
        self.next = spec.first + skipped * spec.step if spec.slide == "tick" else spec.first

    @property
    def held(self) -> int:
        """Number of rows in state."""
        return len(self.rows)

    def take(self, tick: int, row: Row) -> Iterator[Bag]:
        """Add a row; yield the windows of earlier ticks and, for windows by row, the window that the row completes."""
        yield from self.advance(tick - 1)
        self.count += 1
        self.rows.append(Element(tick, self.count, row))
        if self.spec.slide == "arrival":
            self.pending = tick
        self._evict(tick)
        if self.spec.slide == "index" and self.count == self.next:
            yield self._window(tick, self.count)
            self.next += self.spec.step
            self._evict(tick)

    def advance(self, closed: int) -> Iterator[Bag]:
        """Close all ticks up to `closed`, and yield the windows of these ticks."""
        if self.spec.slide == "arrival" and self.pending is not None and self.pending <= closed:
            tick, self.pending = self.pending, None
            yield self._window(tick, self.count)
            self._evict(tick + 1)
        while self.spec.slide == "tick" and self.next <= closed:
            tick = self.next
            yield self._window(tick, self.count)
            self.next += self.spec.step
            self._evict(tick + 1)

    def _window(self, tick: int, count: int) -> Bag:
        """Return the window created at `tick` when `count` rows have arrived; `count` is NOW for a range by index."""
        base = tick if self.spec.range == "tick" else count
        low, high = _bound_at(self.spec.low, base), _bound_at(self.spec.high, base)
        return Bag(tick, tuple(self._tagged_row(e) for e in self.rows if low <= self._coordinate(e) <= high))

    def _tagged_row(self, element: Element) -> Row:
        """The values of a row, then its tick (time) or index (row number) for each of the window's `tags`."""
        return element.row + tuple(element.tick if tag == "tick" else element.index for tag in self.spec.tags)

    def _coordinate(self, element: Element) -> int:
        """The number by which the range selects a row: its tick (time) or its index (row number)."""
        return element.tick if self.spec.range == "tick" else element.index

    def _evict(self, tick: int) -> None:
        """Drop the rows that no window from `tick` on can hold: those below its low bound, which never decreases."""
        if _bound_at(self.spec.low, 0) > _bound_at(self.spec.high, 0) and self.spec.low[0] == self.spec.high[0]:
            self.rows.clear()
            return
        low = _bound_at(self.spec.low, self._next_base(tick))
        while self.rows and self._coordinate(self.rows[0]) < low:
            self.rows.popleft()

    def _next_base(self, tick: int) -> int:
        """Return the lowest NOW, a tick or a row count as the range needs, of any window created at `tick` or later."""
        match self.spec.slide, self.spec.range:
            case ("tick", "tick") | ("index", "index"):
                return self.next
            case ("tick" | "arrival", "index"):
                return self.count
            case _:
                return tick

    def entries(self) -> Iterator[StateEntry]:
        """Yield an entry with the tick and the values of each row in state, for people who inspect it."""
        yield from (StateEntry("row", 0, element.tick, 1, element.row) for element in self.rows)

    def save(self) -> bytes:
        """Serialize the state to bytes: the rows, the row count and the tick or index of the next window."""
        rows = [[e.tick, e.index, codec.pack(e.row)] for e in self.rows]
        return codec.save(self.kind, [self.count, self.next, self.pending, rows])

    @classmethod
    def load(cls, spec: WindowSpec, state: bytes) -> WindowMachine:
        """Restore the windows of a stream from the bytes of `save`; `spec` says which windows are created."""
        machine = cls(spec)
        machine.count, machine.next, machine.pending, rows = codec.load(cls.kind, state)
        machine.rows = deque(Element(tick, index, codec.unpack(cells)) for tick, index, cells in rows)
        return machine


def _bound_at(bound: tuple[int, int], base: int) -> int:
    """Return base // step * step + offset: the end, by `bound` (step, offset), of a range in a window at NOW `base`."""
    step, offset = bound
    return base // step * step + offset
