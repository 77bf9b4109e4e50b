"""A region on a grid: cells that lie inside, outside, or on its border, as plain data that any engine can look up."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

Edge = tuple[float, float, float, float]
"""A straight line from its lower to its upper end."""

OUTSIDE, INSIDE, UNSURE = 0, 1, 2
"""What is known of a cell."""

_ROOM = 1e-6
"""By how much of a cell an edge is taken to be wider than it is, so that rounding does not matter."""
_COARSEST = 1e-13
"""Cells that are smaller than this, as part of their coordinates, are too near to rounding to say anything."""


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, its border included."""

    left: float
    bottom: float
    right: float
    top: float

    @staticmethod
    def around(places: Iterable[tuple[float, float]]) -> Box:
        """The smallest box that holds some places."""
        left, bottom, right, top = inf, inf, -inf, -inf
        for x, y in places:
            left, right = min(left, x), max(right, x)
            bottom, top = min(bottom, y), max(top, y)
        return Box(left, bottom, right, top)

    def covers(self, x: float, y: float) -> bool:
        """Whether a place lies in the box or on its border."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass(frozen=True, slots=True)
class Grid:
    """Cells row by row from the bottom; a place in the box is in the cell floor((x - left) / width), likewise upwards.

    The last column and row take the right and the upper border of the box as well. Outside the box all is outside.
    """

    box: Box
    width: float
    height: float
    columns: int
    rows: int
    cells: bytes = field(repr=False)

    def cell(self, x: float, y: float) -> int:
        """The number of the cell of a place in the box; it is computed the same wherever floating point is IEEE's."""
        column = min(int((x - self.box.left) / self.width), self.columns - 1)
        row = min(int((y - self.box.bottom) / self.height), self.rows - 1)
        return row * self.columns + column

    def certain(self, x: float, y: float) -> bool | None:
        """Inside, outside, or None on a cell through which the border goes."""
        if not self.box.covers(x, y):
            return False
        found = self.cells[self.cell(x, y)]
        return None if found == UNSURE else found == INSIDE

    @property
    def share(self) -> float:
        """The part of the cells that are decided."""
        return 1.0 - self.cells.count(UNSURE) / len(self.cells)


def classify(box: Box, edges: Sequence[Edge], inside: Callable[[float, float], bool], count: int) -> Grid:
    """The grid of a region of `count` by `count` cells: no edge touches a cell that is decided."""
    width, height = (box.right - box.left) / count, (box.top - box.bottom) / count
    largest = max(abs(box.left), abs(box.right), abs(box.bottom), abs(box.top))
    if not min(width, height) > largest * _COARSEST:
        return Grid(box, max(width, 1.0), max(height, 1.0), 1, 1, bytes([UNSURE]))
    cells = bytearray(count * count)
    for edge in edges:
        for row, first, last in _touched(edge, box, width, height, count):
            cells[row * count + first : row * count + last + 1] = bytes([UNSURE]) * (last - first + 1)
    for row in range(count):
        known: int | None = None
        middle = box.bottom + (row + 0.5) * height
        for column in range(count):
            at = row * count + column
            if cells[at] == UNSURE:
                known = None
                continue
            if known is None:
                known = INSIDE if inside(box.left + (column + 0.5) * width, middle) else OUTSIDE
            cells[at] = known
    return Grid(box, width, height, count, count, bytes(cells))


def _touched(edge: Edge, box: Box, width: float, height: float, count: int) -> Iterable[tuple[int, int, int]]:
    """The cells that an edge may touch: row, first and last column."""
    ax, ay, bx, by = edge
    low, high = (ay - box.bottom) / height, (by - box.bottom) / height
    start, end = (ax - box.left) / width, (bx - box.left) / width
    for row in range(max(0, int(low - _ROOM)), min(count - 1, int(high + _ROOM)) + 1):
        a, b = start, end
        if high - low > _ROOM:
            slope = (end - start) / (high - low)
            a = start + slope * min(max(row - _ROOM - low, 0.0), high - low)
            b = start + slope * min(max(row + 1 + _ROOM - low, 0.0), high - low)
        first, last = max(0, int(min(a, b) - _ROOM)), min(count - 1, int(max(a, b) + _ROOM))
        yield row, min(first, count - 1), last
