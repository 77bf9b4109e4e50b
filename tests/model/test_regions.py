"""Regions against shapely's `covers`, and the grid against the regions. `-s` prints how much the grids decide."""

from __future__ import annotations

import pickle
import random
from collections.abc import Sequence
from fractions import Fraction

import pytest
import shapely

from tests.model.polygons import Sample, box, places, samples
from transom.model.geometry.grid import BORDER, INSIDE, OUTSIDE, Grid
from transom.model.geometry.regions import Coordinates, Region, close_ring, orientation

SAMPLES = samples()


def shape_of(sample: Sample) -> shapely.Geometry:
    return shapely.MultiPolygon([(polygon[0], list(polygon[1:])) for polygon in sample.plain])


def compare(sample: Sample, tried: Sequence[Coordinates]) -> tuple[int, float]:
    """Equal to shapely everywhere, and the grid never wrong; how many lie inside, and the share the grid decides."""
    region, shape = sample.region, shape_of(sample)
    shapely.prepare(shape)
    expected = shapely.covers(shape, shapely.points(tried)).tolist()
    decided = 0
    for (x, y), inside in zip(tried, expected, strict=True):
        if region.geodesic and x > 180.0:
            x -= 360.0
        assert region.covers(x, y) == inside, (x, y)
        known = region.certain(x, y)
        assert known is None or known == inside, (x, y)
        decided += known is not None
    return sum(expected), decided / len(tried)


def test_there_are_twenty_regions() -> None:
    assert len(SAMPLES) == 20
    assert max(len(ring) for sample in SAMPLES.values() for polygon in sample.plain for ring in polygon) > 10_000
    assert [name for name, sample in SAMPLES.items() if not shape_of(sample).is_valid] == ["cut in two"]


@pytest.mark.parametrize("name", list(SAMPLES))
def test_equal_to_shapely(name: str) -> None:
    sample = SAMPLES[name]
    inside, _ = compare(sample, places(random.Random(name), sample, 300))
    assert inside > 20


@pytest.mark.deep
@pytest.mark.parametrize("name", list(SAMPLES))
def test_equal_to_shapely_often(name: str) -> None:
    """A million places in all, many on the border; and how many of evenly spread ones the grid decides."""
    sample = SAMPLES[name]
    compare(sample, places(random.Random(f"{name}, deep"), sample, 50_000))
    rng = random.Random(f"{name}, spread")
    frame = sample.frame
    spread = [(rng.uniform(frame.left, frame.right), rng.uniform(frame.bottom, frame.top)) for _ in range(10_000)]
    inside, decided = compare(sample, spread)
    print(f"\n{name}: {100 * inside / len(spread):.1f} % of the box inside, the grid decides {100 * decided:.1f} %")


def test_the_grid_decides_most_places_of_a_sea() -> None:
    sea = SAMPLES["sea with an island"].region
    assert sea.grid().share > 0.9
    assert set(sea.grid().cells) == {OUTSIDE, INSIDE, BORDER}


def test_the_grid_is_plain_data() -> None:
    """What any engine computes from the numbers of the grid is what the region says."""
    sample = SAMPLES["holes"]
    grid = sample.region.grid(32)
    assert isinstance(grid, Grid)
    assert len(grid.cells) == grid.rows * grid.columns == 32 * 32
    for x, y in places(random.Random("plain"), sample, 500):
        frame = grid.box
        if frame.left <= x <= frame.right and frame.bottom <= y <= frame.top:
            column = min(int((x - frame.left) / grid.width), grid.columns - 1)
            row = min(int((y - frame.bottom) / grid.height), grid.rows - 1)
            assert {OUTSIDE: False, INSIDE: True, BORDER: None}[grid.cells[row * grid.columns + column]] == (
                grid.certain(x, y)
            )


def test_a_region_as_flat_as_a_line_has_no_grid_but_an_answer() -> None:
    line = Region("line", ((close_ring([(0, 0), (10, 0), (5, 0)]),),))
    assert line.covers(3, 0)
    assert line.certain(3, 0) is None
    assert line.certain(3, 1) is False
    assert not line.covers(3, 1e-300)


def test_borders_belong_to_a_region() -> None:
    ring = Region("ring", ((box(0, 0, 10, 10), box(2, 2, 8, 8)),))
    for x, y in ((0, 0), (10, 10), (5, 0), (10, 3.3), (2, 2), (2, 5), (8, 8), (5, 8)):
        assert ring.covers(x, y)
    for x, y in ((2.0000001, 5), (5, 5), (-1e-300, 0), (10, 10.000001), (float("nan"), 5), (5, float("inf"))):
        assert not ring.covers(x, y)
        assert not ring.certain(x, y)


def test_longitudes_a_full_turn_apart_are_the_same() -> None:
    pacific = SAMPLES["antimeridian"].region
    for x in (172.0, 180.0, -180.0, -170.0, -165.0, 190.0, 195.0):
        assert pacific.covers(x, -11)
    for x in (169.0, -164.0, 196.0, 0.0, 400.0, float("inf")):
        assert not pacific.covers(x, -11)
        assert pacific.certain(x, -11) is False
    arctic = Region("arctic", ((box(-180, 66, 180, 90),),), geodesic=True)
    assert all(arctic.covers(x, 70) for x in (-180.0, 0.0, 180.0, 300.0, -300.0))


def test_sides_are_exact() -> None:
    rng = random.Random("sides")
    for _ in range(3_000):
        ax, ay, bx, by = (rng.choice((rng.random(), rng.randrange(5) / 10)) for _ in range(4))
        part = rng.choice((rng.random(), 0.5, 0.25, 0.1, 3.0))
        x, y = ax + part * (bx - ax), ay + part * (by - ay)
        exact = (Fraction(ax) - Fraction(x)) * (Fraction(by) - Fraction(y))
        exact -= (Fraction(ay) - Fraction(y)) * (Fraction(bx) - Fraction(x))
        assert orientation(ax, ay, bx, by, x, y) == (exact > 0) - (exact < 0)
    assert orientation(1e-200, 0.0, 0.0, 1e-200, 0.0, 0.0) == 1
    assert orientation(0.0, 0.0, 1e-200, 1e-200, 3e-200, 3e-200) == 0


def test_regions_travel() -> None:
    sea = SAMPLES["holes"].region
    again = pickle.loads(pickle.dumps(sea))  # noqa: S301
    assert again == sea
    assert again.covers(0.5, 0.5)
