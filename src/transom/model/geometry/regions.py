"""Regions, and exact tests whether a point lies inside, border included (C9).

A region is a set of polygons with holes, whose edges are straight in their coordinates, also in longitude and latitude.
The test asks on which side of an edge a point lies. That is computed in floating point, and again with fractions where
rounding could matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from transom.model.geometry.grid import BoundingBox, Edge, Grid, classify

Coordinates = tuple[float, float]
Ring = tuple[Coordinates, ...]
"""A closed line: the last point repeats the first."""
Polygon = tuple[Ring, ...]
"""The outer ring, then the holes."""

GRID_SIDE = 128
"""The number of cells along each side of a region's grid."""

_ERROR = 3.3306690738754716e-16
_SMALLEST = 1e-290
_LARGEST = 1e100
_ROWS_PER_EDGE = 2


def orientation(ax: float, ay: float, bx: float, by: float, x: float, y: float) -> int:
    """Return 1 if a point is left of the line from a to b, -1 if right of it, 0 if on it; computed exactly.

    >>> orientation(0.0, 0.0, 0.1, 0.1, 0.3, 0.3)
    0
    """
    left = (ax - x) * (by - y)
    right = (ay - y) * (bx - x)
    determinant = left - right
    size = abs(left) + abs(right)
    if size > _SMALLEST and (determinant > _ERROR * size or -determinant > _ERROR * size):
        return 1 if determinant > 0.0 else -1
    p, q = Fraction(x), Fraction(y)
    exact = (Fraction(ax) - p) * (Fraction(by) - q) - (Fraction(ay) - q) * (Fraction(bx) - p)
    return (exact > 0) - (exact < 0)


class PreparedPolygon:
    """A polygon indexed for point tests: its edges in rows from bottom to top.

    A point is inside if a ray to the right crosses the rings an odd number of times, so rings that cross themselves or
    each other follow the even-odd rule.
    """

    __slots__ = ("box", "edges", "height", "rows")

    def __init__(self, polygon: Polygon) -> None:
        """Sort the edges of a polygon into horizontal strips of about two edges each, which speeds up point tests."""
        self.edges: list[Edge] = []
        for ring in polygon:
            for (ax, ay), (bx, by) in pairwise(ring):
                self.edges.append((ax, ay, bx, by) if ay <= by else (bx, by, ax, ay))
        self.box = BoundingBox.around(point for ring in polygon for point in ring)
        count = max(1, len(self.edges) // _ROWS_PER_EDGE)
        self.height = (self.box.top - self.box.bottom) / count or 1.0
        self.rows: list[list[Edge]] = [[] for _ in range(count)]
        for edge in self.edges:
            for row in range(self._row(edge[1]), self._row(edge[3]) + 1):
                self.rows[row].append(edge)

    def _row(self, y: float) -> int:
        """The number of the horizontal strip that contains the height `y`, counted from 0 at the bottom.

        It never falls as `y` grows.
        """
        return min(int((y - self.box.bottom) / self.height), len(self.rows) - 1)

    def covers(self, x: float, y: float) -> bool:
        """Whether a point lies in the polygon or on its border."""
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
                side = orientation(ax, ay, bx, by, x, y)
                if side == 0:
                    return True
                if side < 0:
                    continue
            if y < by:
                inside = not inside
        return inside


@dataclass(frozen=True, slots=True)
class Region:
    """A named region; if `geodesic`, its coordinates are longitudes and latitudes modulo full turns.

    `unwrapped` has the polygons side by side, without jumps at the antimeridian.
    """

    name: str
    polygons: tuple[Polygon, ...]
    geodesic: bool = False
    unwrapped: tuple[Polygon, ...] = field(init=False, repr=False, compare=False)
    areas: tuple[PreparedPolygon, ...] = field(init=False, repr=False, compare=False)
    box: BoundingBox = field(init=False, repr=False, compare=False)
    grids: dict[int, Grid] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check the rings and prepare the polygons for point tests; raise ValueError if a ring is invalid.

        Parts on both sides of the antimeridian are joined.
        """
        polygons = self.polygons
        for ring in (ring for polygon in polygons for ring in polygon):
            _check_ring(ring, self.geodesic)
        if not polygons:
            raise ValueError("a region without a polygon")
        if self.geodesic:
            polygons = _gather_polygons([_unwrap_longitudes(polygon) for polygon in polygons])
        object.__setattr__(self, "unwrapped", polygons)
        object.__setattr__(self, "areas", tuple(map(PreparedPolygon, polygons)))
        object.__setattr__(self, "box", BoundingBox.around(p for polygon in polygons for p in polygon[0]))
        object.__setattr__(self, "grids", {})

    def covers(self, x: float, y: float) -> bool:
        """Whether a point lies in the region or on its border."""
        return any(area.covers(longitude, y) for longitude in self._longitudes(x) for area in self.areas)

    def box_covers(self, x: float, y: float) -> bool:
        """Whether a point lies in the bounding box of the region or on its border."""
        return any(self.box.covers(longitude, y) for longitude in self._longitudes(x))

    def certain(self, x: float, y: float) -> bool | None:
        """Whether a point is in the region, as far as its grid can tell; None if an exact test (`covers`) is needed."""
        grid, undecided = self.grid(), False
        for longitude in self._longitudes(x):
            decision = grid.certain(longitude, y)
            if decision:
                return True
            undecided = undecided or decision is None
        return None if undecided else False

    def grid(self, cells: int = GRID_SIDE) -> Grid:
        """Return the cached grid of `cells` by `cells` cells that decides most of the region's point tests quickly."""
        if cells not in self.grids:
            edges = [edge for area in self.areas for edge in area.edges]
            self.grids[cells] = classify(self.box, edges, self._inside, cells)
        return self.grids[cells]

    def _inside(self, x: float, y: float) -> bool:
        """Whether one of the polygons contains a point, whose longitude is already in the region's range."""
        return any(area.covers(x, y) for area in self.areas)

    def _longitudes(self, x: float) -> Sequence[float]:
        """Return the longitudes, equal to x up to multiples of 360, at which the region may contain a point.

        There are none if x is no valid longitude. On the plane, x itself is returned.
        """
        if not self.geodesic:
            return (x,)
        if not abs(x) <= 360.0:
            return ()
        while x - 360.0 >= self.box.left:
            x -= 360.0
        while x < self.box.left:
            x += 360.0
        return (x, x + 360.0) if x + 360.0 <= self.box.right else (x,)


def close_ring(points: Iterable[Coordinates]) -> Ring:
    """Close a ring: repeat its first point at the end, unless the points already end with it."""
    ring = tuple((float(x), float(y)) for x, y in points)
    return ring if not ring or ring[0] == ring[-1] else (*ring, ring[0])


def _check_ring(ring: Ring, geodesic: bool) -> None:
    """Raise ValueError unless a ring is closed and has three corners and valid coordinates (degrees if `geodesic`)."""
    if len(ring) < 4:
        raise ValueError("a ring has at least three corners")
    if ring[0] != ring[-1]:
        raise ValueError(f"a ring ends where it begins, not at {ring[-1][0]:g} {ring[-1][1]:g}")
    for x, y in ring:
        if not abs(x) <= _LARGEST or not abs(y) <= _LARGEST:
            raise ValueError(f"a corner at {x:g} {y:g} is out of range")
        if geodesic and (abs(y) > 90.0 or abs(x) > 360.0):
            raise ValueError(f"{x:g} {y:g} is not a longitude and a latitude")


def _unwrap_longitudes(polygon: Polygon) -> Polygon:
    """Remove jumps of 360 degrees where a polygon crosses the antimeridian; raise ValueError if it encloses a pole."""
    rings: list[Ring] = []
    for ring in polygon:
        points = [ring[0]]
        turns = 0.0
        for (before, _), (x, y) in pairwise(ring):
            if 180.0 < abs(x - before) < 360.0:
                turns += 360.0 if x < before else -360.0
            points.append((x + turns, y))
        if turns != 0.0:
            raise ValueError("a ring goes around a pole: lead it along the antimeridian to the pole and back")
        rings.append(_shift_hole(tuple(points), rings[0]) if rings else tuple(points))
    return tuple(rings)


def _shift_hole(hole: Ring, outer: Ring) -> Ring:
    """Shift a polygon's hole by 360 degrees if needed, so that it lies inside the polygon's unwrapped outer ring."""
    left, right = min(x for x, _ in outer), max(x for x, _ in outer)
    for turn in (0.0, 360.0, -360.0):
        if left <= min(x for x, _ in hole) + turn and max(x for x, _ in hole) + turn <= right:
            return tuple((x + turn, y) for x, y in hole)
    return hole


def _gather_polygons(polygons: Sequence[Polygon]) -> tuple[Polygon, ...]:
    """Shift polygons by 360 degrees so that those on both sides of the antimeridian become neighbours."""
    spans = [(min(x for x, _ in polygon[0]), max(x for x, _ in polygon[0])) for polygon in polygons]
    width = max(right for _, right in spans) - min(left for left, _ in spans)
    if width <= 180.0:
        return tuple(polygons)
    best_width, best_polygons = width, tuple(polygons)
    for start, _ in spans:
        turns = [-360.0 if left - 360.0 >= start else 360.0 if left < start else 0.0 for left, _ in spans]
        shifted_width = max(right + turn for (_, right), turn in zip(spans, turns)) - start
        if shifted_width < best_width:
            best_width = shifted_width
            best_polygons = tuple(_shift_polygon(polygon, turn) for polygon, turn in zip(polygons, turns))
    return best_polygons


def _shift_polygon(polygon: Polygon, turn: float) -> Polygon:
    """Add `turn` degrees to all longitudes of a polygon."""
    return tuple(tuple((x + turn, y) for x, y in ring) for ring in polygon) if turn else polygon
