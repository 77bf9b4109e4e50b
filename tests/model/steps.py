"""Random steps on the ellipsoid: short and long, at the poles, across the antimeridian, nearly to the other side."""

from __future__ import annotations

import math
import random
from collections.abc import Callable

Step = tuple[float, float, float, float]
"""Longitude and latitude before and after."""

METRES_PER_DEGREE = 111_320.0


def away(rng: random.Random, lon: float, lat: float, metres: float) -> Step:
    """A step of about so many metres in some direction, over a pole if need be."""
    bearing = rng.uniform(0.0, 2.0 * math.pi)
    north = lat + metres / METRES_PER_DEGREE * math.cos(bearing)
    east = lon + metres / METRES_PER_DEGREE * math.sin(bearing) / max(math.cos(math.radians(lat)), 1e-6)
    if abs(north) > 90.0:
        north, east = math.copysign(180.0, north) - north, east + 180.0
    return lon, lat, math.remainder(east, 360.0), north


def sphere(rng: random.Random) -> float:
    """A latitude such that all places are alike."""
    return math.degrees(math.asin(rng.uniform(-1.0, 1.0)))


def short(rng: random.Random) -> Step:
    """One centimetre to ten kilometres."""
    return away(rng, rng.uniform(-180.0, 180.0), sphere(rng), 10.0 ** rng.uniform(-2.0, 4.0))


def long(rng: random.Random) -> Step:
    """Up to about a thousand kilometres."""
    return away(rng, rng.uniform(-180.0, 180.0), sphere(rng), rng.uniform(1e4, 1e6))


def polar(rng: random.Random) -> Step:
    """Around one of the poles, in any longitudes, sometimes from the very pole."""
    side = rng.choice((-1.0, 1.0))
    reach = 10.0 ** rng.uniform(-6.0, 0.7)
    first, second = (side * (90.0 - rng.choice((0.0, 1.0, 1.0)) * rng.uniform(0.0, reach)) for _ in range(2))
    return rng.uniform(-180.0, 180.0), first, rng.uniform(-180.0, 180.0), second


def across(rng: random.Random) -> Step:
    """Across the antimeridian, also with longitudes up to 360."""
    lon, lat, east, north = away(rng, rng.choice((-180.0, 180.0)), sphere(rng), 10.0 ** rng.uniform(0.0, 5.9))
    return lon + rng.uniform(-1e-3, 1e-3), lat, east % 360.0 if rng.random() < 0.3 else east, north


def equator(rng: random.Random) -> Step:
    """On the equator or near it, and along a meridian."""
    lat = rng.choice((0.0, rng.uniform(-1e-3, 1e-3)))
    lon = rng.uniform(-180.0, 180.0)
    if rng.random() < 0.3:
        return lon, lat, lon, lat + rng.uniform(-8.0, 8.0)
    return lon, lat, lon + rng.uniform(-8.0, 8.0), rng.choice((lat, -lat, 0.0))


def far(rng: random.Random) -> Step:
    """From anywhere to anywhere."""
    return rng.uniform(-180.0, 180.0), sphere(rng), rng.uniform(-180.0, 180.0), sphere(rng)


def opposite(rng: random.Random) -> Step:
    """Nearly to the other side of the earth, where the usual series does not converge."""
    lon, lat = rng.uniform(-180.0, 180.0), rng.choice((0.0, sphere(rng)))
    near = 10.0 ** rng.uniform(-9.0, 0.5)
    north = min(90.0, max(-90.0, -lat + rng.uniform(-near, near)))
    return lon, lat, lon + 180.0 + rng.choice((0.0, 1.0)) * rng.uniform(-near, near), north


NEAR: dict[str, Callable[[random.Random], Step]] = {
    "short": short,
    "long": long,
    "polar": polar,
    "across": across,
    "equator": equator,
}
FAR: dict[str, Callable[[random.Random], Step]] = {"far": far, "opposite": opposite}
EVERY = {**NEAR, **FAR}
