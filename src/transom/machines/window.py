"""The machine that cuts windows: any slide and range on tick or index, several windows per tick."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from transom.algebra.sources import StoredTable
from transom.algebra.windows import Arrival, Between, Coordinate, Every, Window
from transom.errors import Unsupported
from transom.machines import encoding
from transom.model.bag import Bag, Element, Row


@dataclass(frozen=True, slots=True)
class WindowSpec:
    """What a window machine is told: when windows come (`tick`, `index` or `arrival`) and what they hold.

    A bound at base b is floor(b / step) * step + offset, as in the algebra. `tags` are what a tuple keeps of its tick
    and of its position in the stream that this machine sees. It travels as one small JSON document.
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
        """The specification of a window operator; Unsupported for what has no tick and no index."""
        if isinstance(op.input, StoredTable) or not isinstance(op.range, Between):
            raise Unsupported("Window", "a window machine cuts streams by ranges")
        if op.range.coordinate is Coordinate.DISTANCE:
            raise Unsupported("Window", "a window machine ranges by tick or by index")
        low, high = op.range.low, op.range.high
        match op.slide:
            case Every(coordinate=Coordinate.TICK | Coordinate.INDEX as coordinate, step=step, first=first):
                slide = coordinate.value
            case Arrival():
                slide, step, first = "arrival", 1, 0
            case _:
                raise Unsupported("Window", "a window machine slides by tick, by index or by arrival")
        ends = ((low.step, low.offset), (high.step, high.offset))
        tags = tuple(attribute.name for attribute in op.tags)
        return WindowSpec(slide, step, first, op.range.coordinate.value, *ends, start, tags)

    def to_json(self) -> str:
        """The document that every implementation of the machine reads."""
        return json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)

    @staticmethod
    def from_json(text: str) -> WindowSpec:
        """The specification in a document."""
        entries: dict[str, Any] = json.loads(text)
        ends = {name: tuple(entries[name]) for name in ("low", "high", "tags")}
        return WindowSpec(**{**entries, **ends})


class WindowMachine:
    """Rows of one key in order in, windows out; keeps only rows that a coming window can still hold.

    Windows by tick and by arrival come out when their tick is closed, windows by row when the row comes.
    """

    kind = "window"

    def __init__(self, spec: WindowSpec) -> None:
        self.spec = spec
        self.kept: deque[Element] = deque()
        self.count = 0
        self.pending: int | None = None
        beyond = max(0, -(-(spec.start - spec.first) // spec.step))
        self.next = spec.first + beyond * spec.step if spec.slide == "tick" else spec.first

    @property
    def held(self) -> int:
        """Rows that are remembered."""
        return len(self.kept)

    def take(self, tick: int, row: Row) -> Iterator[Bag]:
        """A row of a tick that is not closed; for windows by row, the window that it completes."""
        yield from self.advance(tick - 1)
        self.count += 1
        self.kept.append(Element(tick, self.count, row))
        if self.spec.slide == "arrival":
            self.pending = tick
        self._forget(tick)
        if self.spec.slide == "index" and self.count == self.next:
            yield self._window(tick, self.count)
            self.next += self.spec.step
            self._forget(tick)

    def advance(self, closed: int) -> Iterator[Bag]:
        """The windows of all ticks up to one that is closed now."""
        if self.spec.slide == "arrival" and self.pending is not None and self.pending <= closed:
            tick, self.pending = self.pending, None
            yield self._window(tick, self.count)
            self._forget(tick + 1)
        while self.spec.slide == "tick" and self.next <= closed:
            tick = self.next
            yield self._window(tick, self.count)
            self.next += self.spec.step
            self._forget(tick + 1)

    def _window(self, tick: int, count: int) -> Bag:
        base = tick if self.spec.range == "tick" else count
        low, high = _at(self.spec.low, base), _at(self.spec.high, base)
        return Bag(tick, tuple(self._tuple(e) for e in self.kept if low <= self._where(e) <= high))

    def _tuple(self, element: Element) -> Row:
        return element.row + tuple(element.tick if tag == "tick" else element.index for tag in self.spec.tags)

    def _where(self, element: Element) -> int:
        return element.tick if self.spec.range == "tick" else element.index

    def _forget(self, now: int) -> None:
        """Drop the rows below the lower bound of the next window that can come; bounds never go back."""
        if _at(self.spec.low, 0) > _at(self.spec.high, 0) and self.spec.low[0] == self.spec.high[0]:
            self.kept.clear()
            return
        low = _at(self.spec.low, self._next_base(now))
        while self.kept and self._where(self.kept[0]) < low:
            self.kept.popleft()

    def _next_base(self, now: int) -> int:
        """The least base of a coming window."""
        match self.spec.slide, self.spec.range:
            case ("tick", "tick") | ("index", "index"):
                return self.next
            case ("tick" | "arrival", "index"):
                return self.count
            case _:
                return now

    def save(self) -> bytes:
        """The state as bytes."""
        rows = [[e.tick, e.index, encoding.pack(e.row)] for e in self.kept]
        return encoding.save(self.kind, [self.count, self.next, self.pending, rows])

    @classmethod
    def load(cls, spec: WindowSpec, state: bytes) -> WindowMachine:
        """The machine as it was when it was saved."""
        machine = cls(spec)
        machine.count, machine.next, machine.pending, rows = encoding.load(cls.kind, state)
        machine.kept = deque(Element(tick, index, encoding.unpack(cells)) for tick, index, cells in rows)
        return machine


def _at(bound: tuple[int, int], base: int) -> int:
    step, offset = bound
    return base // step * step + offset
