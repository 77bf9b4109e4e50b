"""Regions: what lies inside, the border included (C9), decided exactly.

A region is polygons with holes, whose edges are straight in their coordinates, also in longitude and latitude. Whether
a place lies inside is a question of which side of an edge it is on; that is computed in floating point, and where the
rounding could matter, anew with fractions.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from transom.model.grid import Box, Edge, Grid, classify

Place = tuple[float, float]
Ring = tuple[Place, ...]
"""A closed line: the last place is the first one again."""
Polygon = tuple[Ring, ...]
"""The outer ring, and then the holes."""

SIDE = 128
"""How many cells a region's grid has from one side to the other."""

_ERROR = 3.3306690738754716e-16
_SMALLEST = 1e-290
_LARGEST = 1e100
_ROWS_PER_EDGE = 2


def side(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """On which side of the line from a to b a place lies: 1 left, -1 right, 0 on it; exact.

    >>> side(0.0, 0.0, 0.1, 0.1, 0.3, 0.3)
    0
    """
    left = (ax - x) * (by - y)
    right = (ay - y) * (bx - x)
    found = left - right
    size = abs(left) + abs(right)
    if size > _SMALLEST and (found > _ERROR * size or -found > _ERROR * size):
        return 1 if found > 0.0 else -1
    p, q = Fraction(x), Fraction(y)
    exact = (Fraction(ax) - p) * (Fraction(by) - q) - (Fraction(ay) - q) * (Fraction(bx) - p)
    return (exact > 0) - (exact < 0)


class Area:
    """One polygon, made ready for questions: its edges in rows from bottom to top.

    A place is inside when a line from it to the right crosses the rings an odd number of times, so rings that cross
    themselves or each other mean what the even-odd rule says.
    """

    __slots__ = ("box", "edges", "height", "rows")

    def __init__(self, polygon: Polygon) -> None:
        self.edges: list[Edge] = []
        for ring in polygon:
            for (ax, ay), (bx, by) in pairwise(ring):
                self.edges.append((ax, ay, bx, by) if ay <= by else (bx, by, ax, ay))
        self.box = Box.around(place for ring in polygon for place in ring)
        count = max(1, len(self.edges) // _ROWS_PER_EDGE)
        self.height = (self.box.top - self.box.bottom) / count or 1.0
        self.rows: list[list[Edge]] = [[] for _ in range(count)]
        for edge in self.edges:
            for row in range(self._row(edge[1]), self._row(edge[3]) + 1):
                self.rows[row].append(edge)

    def _row(self, y: float) -> int:
        """The row that a height lies in; it never falls when the height grows."""
        return min(int((y - self.box.bottom) / self.height), len(self.rows) - 1)

    def covers(self, x: float, y: float) -> bool:
        """Whether a place lies in the polygon or on its border."""
        if not self.box.covers(x, y):
            return False
        inside = False
        for ax, ay, bx, by in self.rows[self._row(y)]:
            if not ay <= y <= by:
                continue
            if ay == by:
                if min(ax, bx) <= x <= max(ax, bx):
                    return True
                continue
            if x > ax and x > bx:
                continue
            if not (x < ax and x < bx):
                where = side(ax, ay, bx, by, x, y)
                if where == 0:
                    return True
                if where < 0:
                    continue
            if y < by:
                inside = not inside
        return inside


@dataclass(frozen=True, slots=True)
class Region:
    """A named region; if `geodesic`, of longitudes and latitudes, and then a full turn makes no difference.

    `laid` are the polygons as they lie beside each other, without jumps at the antimeridian.
    """

    name: str
    polygons: tuple[Polygon, ...]
    geodesic: bool = False
    laid: tuple[Polygon, ...] = field(init=False, repr=False, compare=False)
    areas: tuple[Area, ...] = field(init=False, repr=False, compare=False)
    box: Box = field(init=False, repr=False, compare=False)
    grids: dict[int, Grid] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        polygons = self.polygons
        for ring in (ring for polygon in polygons for ring in polygon):
            _check(ring, self.geodesic)
        if not polygons:
            raise ValueError("a region without a polygon")
        if self.geodesic:
            polygons = _gathered([_unwound(polygon) for polygon in polygons])
        object.__setattr__(self, "laid", polygons)
        object.__setattr__(self, "areas", tuple(map(Area, polygons)))
        object.__setattr__(self, "box", Box.around(p for polygon in polygons for p in polygon[0]))
        object.__setattr__(self, "grids", {})

    def covers(self, x: float, y: float) -> bool:
        """Whether a place lies in the region or on its border."""
        return any(area.covers(turned, y) for turned in self._turned(x) for area in self.areas)

    def certain(self, x: float, y: float) -> bool | None:
        """What the grid says: inside, outside, or None, where only `covers` knows."""
        grid, unsure = self.grid(), False
        for turned in self._turned(x):
            found = grid.certain(turned, y)
            if found:
                return True
            unsure = unsure or found is None
        return None if unsure else False

    def grid(self, cells: int = SIDE) -> Grid:
        """The region on a grid: plain data from which most places can be decided at once."""
        if cells not in self.grids:
            edges = [edge for area in self.areas for edge in area.edges]
            self.grids[cells] = classify(self.box, edges, self._inside, cells)
        return self.grids[cells]

    def _inside(self, x: float, y: float) -> bool:
        return any(area.covers(x, y) for area in self.areas)

    def _turned(self, x: float) -> Sequence[float]:
        """The longitudes of a place that lie within the box; on the plane, the coordinate itself."""
        if not self.geodesic:
            return (x,)
        if not abs(x) <= 360.0:
            return ()
        while x - 360.0 >= self.box.left:
            x -= 360.0
        while x < self.box.left:
            x += 360.0
        return (x, x + 360.0) if x + 360.0 <= self.box.right else (x,)


def closed(places: Iterable[Place]) -> Ring:
    """A ring through some places, closed if it is not."""
    ring = tuple((float(x), float(y)) for x, y in places)
    return ring if not ring or ring[0] == ring[-1] else (*ring, ring[0])


def _check(ring: Ring, geodesic: bool) -> None:
    if len(ring) < 4:
        raise ValueError("a ring has at least three corners")
    if ring[0] != ring[-1]:
        raise ValueError(f"a ring ends where it begins, not at {ring[-1][0]:g} {ring[-1][1]:g}")
    for x, y in ring:
        if not abs(x) <= _LARGEST or not abs(y) <= _LARGEST:
            raise ValueError(f"a corner at {x:g} {y:g}, beyond all places")
        if geodesic and (abs(y) > 90.0 or abs(x) > 360.0):
            raise ValueError(f"{x:g} {y:g} is not a longitude and a latitude")


def _unwound(polygon: Polygon) -> Polygon:
    """A polygon without jumps: an edge of more than half a turn is meant to cross the antimeridian."""
    rings: list[Ring] = []
    for ring in polygon:
        places = [ring[0]]
        turns = 0.0
        for (before, _), (x, y) in pairwise(ring):
            if 180.0 < abs(x - before) < 360.0:
                turns += 360.0 if x < before else -360.0
            places.append((x + turns, y))
        if turns != 0.0:
            raise ValueError("a ring goes around a pole: lead it along the antimeridian to the pole and back")
        rings.append(_beside(tuple(places), rings[0]) if rings else tuple(places))
    return tuple(rings)


def _beside(hole: Ring, outer: Ring) -> Ring:
    """A hole moved by full turns to where its polygon is."""
    left, right = min(x for x, _ in outer), max(x for x, _ in outer)
    for turn in (0.0, 360.0, -360.0):
        if left <= min(x for x, _ in hole) + turn and max(x for x, _ in hole) + turn <= right:
            return tuple((x + turn, y) for x, y in hole)
    return hole


def _gathered(polygons: Sequence[Polygon]) -> tuple[Polygon, ...]:
    """Polygons moved by full turns so that those on both sides of the antimeridian lie beside each other."""
    spans = [(min(x for x, _ in polygon[0]), max(x for x, _ in polygon[0])) for polygon in polygons]
    width = max(right for _, right in spans) - min(left for left, _ in spans)
    if width <= 180.0:
        return tuple(polygons)
    best, chosen = width, tuple(polygons)
    for start, _ in spans:
        turns = [-360.0 if left - 360.0 >= start else 360.0 if left < start else 0.0 for left, _ in spans]
        moved = max(right + turn for (_, right), turn in zip(spans, turns)) - start
        if moved < best:
            best, chosen = moved, tuple(_moved(polygon, turn) for polygon, turn in zip(polygons, turns))
    return chosen


def _moved(polygon: Polygon, turn: float) -> Polygon:
    return tuple(tuple((x + turn, y) for x, y in ring) for ring in polygon) if turn else polygon
