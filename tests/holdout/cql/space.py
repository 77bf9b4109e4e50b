"""Places, distances and regions: planar by exact integers, on the earth by pyproj's geodesic of WGS 84."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise

import pyproj

Place = tuple[float, float]
MICRO = 1_000_000
KM = 1000 * MICRO
EARTH = pyproj.Geod(ellps="WGS84")


def planar_step(a: Place, b: Place) -> int:
    """Micrometres between two places whose coordinates are kilometres, halves to even."""
    dx, dy = (Fraction(p) - Fraction(q) for p, q in zip(a, b))
    square = (dx * dx + dy * dy) * KM * KM
    root = math.isqrt(math.floor(square * 4))  # twice the root, cut off
    whole, half = divmod(root, 2)
    if not half:
        return whole
    exact = Fraction(root) ** 2 == square * 4
    return whole + 1 if not exact or whole % 2 else whole


@cache
def earth_step(a: Place, b: Place) -> int:
    """Micrometres of the shortest way between two places of longitude and latitude."""
    return round(EARTH.inv(a[0], a[1], b[0], b[1])[2] * MICRO)


def step(a: Place, b: Place, earth: bool) -> int:
    """Micrometres between two places."""
    return earth_step(a, b) if earth else planar_step(a, b)


def heading(a: Place, b: Place, earth: bool) -> float:
    """Degrees from north, clockwise; on the earth of the geodesic."""
    if earth:
        return float(EARTH.inv(a[0], a[1], b[0], b[1])[0]) % 360
    return math.degrees(math.atan2(b[0] - a[0], b[1] - a[1])) % 360


def has_place(place: tuple[float | None, float | None], earth: bool) -> bool:
    """Whether coordinates mean a place."""
    x, y = place
    return x is not None and y is not None and (not earth or (abs(y) <= 90 and abs(x) <= 360))


@dataclass(frozen=True)
class Region:
    """A ring of corners, and more rings that are holes or islands; borders belong to it."""

    name: str
    corners: tuple[Place, ...]
    earth: bool = False
    more: tuple[tuple[Place, ...], ...] = ()
    islands: bool = False

    def wkt(self) -> str:
        """As well-known text."""
        rings = [", ".join(f"{x} {y}" for x, y in (*ring, ring[0])) for ring in (self.corners, *self.more)]
        if self.islands:
            return "MULTIPOLYGON (" + ", ".join(f"(({ring}))" for ring in rings) + ")"
        return "POLYGON (" + ", ".join(f"({ring})" for ring in rings) + ")"

    def covers(self, place: Place) -> bool:
        """Whether a place is inside: exact, and on the earth at every turn of the longitude."""
        rings = [_unrolled(ring) if self.earth else list(ring) for ring in (self.corners, *self.more)]
        turns = (-720, -360, 0, 360, 720) if self.earth else (0,)
        return any(_inside(rings, (place[0] + turn, place[1])) for turn in turns)


def _unrolled(corners: Sequence[Place]) -> list[Place]:
    """An edge of more than 180 degrees crosses the antimeridian; one of exactly 360 goes all around."""
    ring = [corners[0]]
    for (before, _), (x, y) in pairwise(corners):
        across = x - before
        if 180 < abs(across) < 360:
            across -= 360 if across > 0 else -360
        ring.append((ring[-1][0] + across, y))
    return ring


def _inside(rings: Sequence[Sequence[Place]], place: Place) -> bool:
    """On a border, or with an odd number of edges to the right of it."""
    px, py = map(Fraction, place)
    crossings = False
    for (x1, y1), (x2, y2) in (edge for ring in rings for edge in zip(ring, (*ring[1:], ring[0]))):
        ax, ay, bx, by = map(Fraction, (x1, y1, x2, y2))
        side = (bx - ax) * (py - ay) - (by - ay) * (px - ax)
        if side == 0 and min(ax, bx) <= px <= max(ax, bx) and min(ay, by) <= py <= max(ay, by):
            return True
        if (ay > py) != (by > py) and px < (bx - ax) * (py - ay) / (by - ay) + ax:
            crossings = not crossings
    return crossings
