"""The written-out geodesic against pyproj's, on random steps. `-s` prints the worst error of each kind."""

from __future__ import annotations

import math
import random

import pytest
from pyproj import Geod

from tests.model.steps import EVERY, FAR, NEAR, Step
from transom.model.geometry.geodesy import azimuth, geodesic

TRUTH = Geod(ellps="WGS84")
CENTIMETRE = 0.01
FAR_ERROR = 0.0002


def worst(kind: str, steps: list[Step]) -> tuple[float, float]:
    """The largest error among steps of up to 1,000 km, and among longer ones, in metres."""
    columns = [list(column) for column in zip(*steps)]
    truth = TRUTH.inv(*columns)[2]
    near, far = 0.0, 0.0
    for place, length in zip(steps, truth, strict=True):
        error = abs(geodesic(*place) - length)
        if length <= 1e6:
            near = max(near, error)
        else:
            far = max(far, error)
    print(f"\n{kind}: {len(steps)} steps, worst error {near:.3g} m up to 1,000 km, {far:.3g} m beyond")
    return near, far


@pytest.mark.parametrize("kind", list(EVERY))
def test_a_few_thousand_steps(kind: str) -> None:
    rng = random.Random(f"geodesy {kind}")
    near, far = worst(kind, [EVERY[kind](rng) for _ in range(200 if kind == "opposite" else 1_000)])
    assert near < CENTIMETRE / 1_000
    assert far < FAR_ERROR


@pytest.mark.deep
@pytest.mark.parametrize(("kind", "count"), [*((kind, 240_000) for kind in NEAR), *((kind, 20_000) for kind in FAR)])
def test_a_million_steps(kind: str, count: int) -> None:
    rng = random.Random(f"geodesy, deep: {kind}")
    near, far = worst(kind, [EVERY[kind](rng) for _ in range(count)])
    assert near < CENTIMETRE
    assert far < FAR_ERROR


@pytest.mark.parametrize("kind", list(EVERY))
def test_direction(kind: str) -> None:
    rng = random.Random(f"azimuth {kind}")
    for step in (EVERY[kind](rng) for _ in range(200 if kind == "opposite" else 1_000)):
        truth, _, length = TRUTH.inv(*step)
        found = azimuth(*step)
        if length == 0.0:
            assert found is None
            continue
        assert found is not None
        assert 0.0 <= found < 360.0
        turned = math.radians(abs(math.remainder(found - truth, 360.0)))
        assert turned * min(length, 1e6) < CENTIMETRE, step


def test_direction_in_corners() -> None:
    """The direction of nearly opposite places, of places on one meridian, and at the poles."""
    for lat1 in (-90.0, -45.0, -1e-9, 0.0, 0.1, 30.0):
        for lat2 in (-45.0, -30.0, 0.0, 0.2, 89.0):
            for lon in (0.0, 90.0, 179.0, 179.4, -179.4, 179.7, -179.7):
                truth, _, length = TRUTH.inv(0.0, lat1, lon, lat2)
                found = azimuth(0.0, lat1, lon, lat2)
                assert (found is None) == (length == 0.0)
                if found is not None:
                    assert abs(math.remainder(found - truth, 360.0)) < 1e-6, (lat1, lat2, lon)
    assert azimuth(0.0, 0.0, 179.4, 0.2) == pytest.approx(43.235182, abs=1e-6)
    assert azimuth(0.0, 0.0, 180.0, 0.0) == azimuth(5.0, -90.0, 7.0, 90.0) == 0.0
    assert azimuth(5.0, 90.0, 7.0, -90.0) == 180.0
    assert azimuth(-180.0, 55.25, 180.0, 55.25) is None


def test_corners() -> None:
    """Poles, the equator, opposite places, and no way at all."""
    for lat1 in (-90.0, -45.0, -1e-9, 0.0, 30.0, 90.0):
        for lat2 in (-90.0, -45.0, -30.0, 0.0, 1e-9, 45.0, 90.0):
            steps = [(0.0, lat1, lon, lat2) for lon in (0.0, 1e-12, 90.0, 179.0, 179.4, 179.7, 180.0, -180.0, 360.0)]
            assert max(worst("corners", steps)) < FAR_ERROR
    assert geodesic(12.5, 55.25, 12.5, 55.25) == 0.0
    assert geodesic(12.5, 55.25, 372.5, 55.25) == 0.0
    assert geodesic(-180.0, 55.25, 180.0, 55.25) == 0.0
