"""Twenty regions to test with, as lists of rings: boxes, stars, holes, slivers, coast lines, the antimeridian."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from transom.model.geometry.grid import BoundingBox
from transom.model.geometry.regions import Polygon, Region, Ring, close_ring


@dataclass(frozen=True)
class Sample:
    """A region, and the polygons on the plane that a geometry library takes for it."""

    region: Region
    plain: tuple[Polygon, ...]

    @property
    def frame(self) -> BoundingBox:
        """The box of the polygons on the plane."""
        return BoundingBox.around(place for polygon in self.plain for place in polygon[0])


def star(rng: random.Random, corners: int, x: float, y: float, reach: float, rough: float = 0.5) -> Ring:
    """A ring around a place, as rough as asked for."""
    angles = sorted(rng.uniform(0, 2 * math.pi) for _ in range(corners))
    return close_ring(
        (x + reach * r * math.cos(a), y + reach * r * math.sin(a))
        for a, r in ((a, rng.uniform(1 - rough, 1)) for a in angles)
    )


def coast(corners: int, seed: int, x: float = 122.0, y: float = 29.0) -> Ring:
    """A coast line: a ring with bays in bays, from waves of many lengths."""
    rng = random.Random(seed)
    waves = [(n, rng.uniform(0, 2 * math.pi), rng.uniform(0.3, 1) / n) for n in (2, 3, 5, 9, 17, 33, 65, 129, 257, 900)]
    turns = [2 * math.pi * place / corners for place in range(corners)]
    reach = [4 + sum(size * math.cos(n * a + start) for n, start, size in waves) for a in turns]
    return close_ring((x + r * math.cos(a), y + r * math.sin(a) * 0.8) for a, r in zip(turns, reach))


def box(left: float, bottom: float, right: float, top: float) -> Ring:
    """A rectangle."""
    return close_ring([(left, bottom), (right, bottom), (right, top), (left, top)])


def comb(teeth: int) -> Ring:
    """A comb with thin teeth."""
    return close_ring([(0.0, 0.0), *((float(n), 10.0 if n % 2 else 0.5) for n in range(teeth)), (float(teeth), 0.0)])


def moved(polygon: Polygon, turn: float) -> Polygon:
    return tuple(tuple((x + turn, y) for x, y in ring) for ring in polygon)


def wrapped(polygon: Polygon) -> Polygon:
    """The polygon as people write it: no longitude beyond 180."""
    return tuple(tuple((x - 360 if x > 180 else x, y) for x, y in ring) for ring in polygon)


def samples() -> dict[str, Sample]:
    """The regions by name."""
    rng = random.Random("polygons")
    plane: dict[str, tuple[Polygon, ...]] = {
        "box": ((box(0, 0, 10, 10),),),
        "tenths": ((box(0.1, 0.2, 0.7, 0.3),),),
        "triangle": ((close_ring([(0, 0), (10, 0), (0, 10)]),),),
        "diamond": ((close_ring([(0.1, 0), (1, 0.3), (0.7, 1.1), (-0.3, 0.9)]),),),
        "star": ((star(rng, 40, 5, 5, 4),),),
        "spikes": ((star(rng, 200, 0, 0, 1, 0.95),),),
        "sliver": ((close_ring([(0, 0), (1000, 1), (1000, 1 + 1e-9), (0, 1e-9)]),),),
        "needle": ((close_ring([(0, 0), (1e6, 1), (1e6, 1 + 1e-6)]),),),
        "holes": ((box(0, 0, 10, 10), box(1, 1, 4, 4), star(rng, 12, 7, 7, 2), box(6, 1, 9, 3)),),
        "touching hole": ((box(0, 0, 10, 10), close_ring([(0, 5), (3, 3), (3, 7)])),),
        "comb": ((comb(60),),),
        "islands": tuple((star(rng, 30, 3.0 * n, 2.0 * (n % 3), 0.9),) for n in range(9)),
        "island in a lake": ((box(0, 0, 9, 9), box(1, 1, 8, 8)), (box(3, 3, 6, 6), box(4, 4, 5, 5))),
        "large numbers": ((star(rng, 50, 5e6, 4e6, 1000),),),
        "small numbers": ((star(rng, 50, 1e-7, 1e-7, 5e-8),),),
    }
    found = {name: Sample(Region(name, polygons), polygons) for name, polygons in plane.items()}
    sea = (coast(10_000, 1), star(rng, 300, 122, 29, 0.8))
    lands: dict[str, tuple[Polygon, ...]] = {
        "coast": ((coast(10_000, 2),),),
        "sea with an island": (sea,),
    }
    for name, polygons in lands.items():
        found[name] = Sample(Region(name, polygons, geodesic=True), polygons)
    pacific: Polygon = (box(170, -25, 195, -10), star(rng, 20, 180, -18, 2))
    found["antimeridian"] = Sample(Region("antimeridian", (wrapped(pacific),), geodesic=True), (pacific,))
    east, west = (box(170, -25, 180, -10),), (box(-180, -25, -165, -10),)
    found["cut in two"] = Sample(Region("cut in two", (east, west), geodesic=True), (east, moved(west, 360.0)))
    bering = (close_ring((x + 182, y + 40) for x, y in coast(2_000, 3, 0, 20)),)
    found["Bering"] = Sample(Region("Bering", (wrapped(bering),), geodesic=True), (bering,))
    return found


def places(rng: random.Random, sample: Sample, count: int) -> list[tuple[float, float]]:
    """Places in and around the box of a region, many of them near or on its border."""
    frame = sample.frame
    wide, high = frame.right - frame.left, frame.top - frame.bottom
    rings = [ring for polygon in sample.plain for ring in polygon]
    found: list[tuple[float, float]] = []
    while len(found) < count:
        kind = rng.random()
        ring = rng.choice(rings)
        at = rng.randrange(len(ring) - 1)
        (ax, ay), (bx, by) = ring[at], ring[at + 1]
        if kind < 0.6:
            x = rng.uniform(frame.left - wide / 10, frame.right + wide / 10)
            found.append((x, rng.uniform(frame.bottom - high / 10, frame.top + high / 10)))
        elif kind < 0.7:
            found.append((ax, ay))
        elif kind < 0.8:
            found.append(((ax + bx) / 2, (ay + by) / 2))
        elif kind < 0.9:
            part = rng.random()
            found.append((ax + part * (bx - ax), ay + part * (by - ay)))
        else:
            tiny = 10 ** rng.uniform(-17, -3)
            found.append((ax + rng.uniform(-tiny, tiny) * wide, ay + rng.uniform(-tiny, tiny) * high))
    return found
