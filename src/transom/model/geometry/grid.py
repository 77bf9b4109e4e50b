"""A box cut into equal rectangles (cells), each inside or outside a region, or possibly crossed by its border."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from math import inf

Edge = tuple[float, float, float, float]
"""A straight line from its lower to its upper end."""

OUTSIDE, INSIDE, BORDER = 0, 1, 2
"""The classification of a cell."""

_MARGIN = 1e-6
"""The margin added around an edge, as a fraction of a cell, so that rounding does not matter."""
_COARSEST = 1e-13
"""Cells smaller than this, relative to their coordinates, are too close to rounding errors to classify."""


@dataclass(frozen=True, slots=True)
class BoundingBox:
    """A rectangle, its border included."""

    left: float
    bottom: float
    right: float
    top: float

    @staticmethod
    def around(points: Iterable[tuple[float, float]]) -> BoundingBox:
        """The smallest box that contains some points."""
        left, bottom, right, top = inf, inf, -inf, -inf
        for x, y in points:
            left, right = min(left, x), max(right, x)
            bottom, top = min(bottom, y), max(top, y)
        return BoundingBox(left, bottom, right, top)

    def covers(self, x: float, y: float) -> bool:
        """Whether a point lies in the box or on its border."""
        return self.left <= x <= self.right and self.bottom <= y <= self.top


@dataclass(frozen=True, slots=True)
class Grid:
    """A region's box cut into equal rectangles (`cells`, row by row from the bottom): inside, outside or border.

    The last column and row include the right and the upper border of the box. Points outside the box are outside.
    """

    box: BoundingBox
    width: float
    height: float
    columns: int
    rows: int
    cells: bytes = field(repr=False)

    def cell(self, x: float, y: float) -> int:
        """The number of the grid cell that contains a point of the box, counted from 0, row by row from the bottom."""
        column = min(int((x - self.box.left) / self.width), self.columns - 1)
        row = min(int((y - self.box.bottom) / self.height), self.rows - 1)
        return row * self.columns + column

    def certain(self, x: float, y: float) -> bool | None:
        """Whether a point is in the region; None if its grid cell may contain a part of the region's border."""
        if not self.box.covers(x, y):
            return False
        cell_class = self.cells[self.cell(x, y)]
        return None if cell_class == BORDER else cell_class == INSIDE

    @property
    def share(self) -> float:
        """The share (0 to 1) of grid cells wholly inside or outside the region, where no exact test is needed."""
        return 1.0 - self.cells.count(BORDER) / len(self.cells)


def classify(box: BoundingBox, edges: Sequence[Edge], inside: Callable[[float, float], bool], count: int) -> Grid:
    """Cut `box` into `count` by `count` cells, and classify each as inside the region, outside, or on its border.

    A cell that one of `edges` may touch counts as border. No edge touches a cell that is inside or outside. `inside`
    tests a point exactly.
    """
    width, height = (box.right - box.left) / count, (box.top - box.bottom) / count
    largest_coordinate = max(abs(box.left), abs(box.right), abs(box.bottom), abs(box.top))
    if not min(width, height) > largest_coordinate * _COARSEST:
        return Grid(box, max(width, 1.0), max(height, 1.0), 1, 1, bytes([BORDER]))
    cells = bytearray(count * count)
    for edge in edges:
        for row, first, last in _touched(edge, box, width, height, count):
            cells[row * count + first : row * count + last + 1] = bytes([BORDER]) * (last - first + 1)
    for row in range(count):
        region_class: int | None = None
        middle = box.bottom + (row + 0.5) * height
        for column in range(count):
            cell = row * count + column
            if cells[cell] == BORDER:
                region_class = None
                continue
            if region_class is None:
                region_class = INSIDE if inside(box.left + (column + 0.5) * width, middle) else OUTSIDE
            cells[cell] = region_class
    return Grid(box, width, height, count, count, bytes(cells))


def _touched(edge: Edge, box: BoundingBox, width: float, height: float, count: int) -> Iterable[tuple[int, int, int]]:
    """Yield (row, first column, last column) of cells that an edge may touch; the box has `count` x `count` cells."""
    ax, ay, bx, by = edge
    low, high = (ay - box.bottom) / height, (by - box.bottom) / height
    start, end = (ax - box.left) / width, (bx - box.left) / width
    for row in range(max(0, int(low - _MARGIN)), min(count - 1, int(high + _MARGIN)) + 1):
        a, b = start, end
        if high - low > _MARGIN:
            slope = (end - start) / (high - low)
            a = start + slope * min(max(row - _MARGIN - low, 0.0), high - low)
            b = start + slope * min(max(row + 1 + _MARGIN - low, 0.0), high - low)
        first, last = max(0, int(min(a, b) - _MARGIN)), min(count - 1, int(max(a, b) + _MARGIN))
        yield row, min(first, count - 1), last
