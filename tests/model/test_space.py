from __future__ import annotations

import math
import random
from itertools import pairwise

import pytest

from transom.model.geometry.space import LONGEST_STEP, MICROMETRES, Position, Speed, read_distance, step_length

PLANE = Position("x", "y")
EARTH = Position("lon", "lat", geodesic=True)


def test_units_are_spelt_as_people_and_the_seed_spell_them() -> None:
    assert read_distance("50 kms") == read_distance("50 km") == 50 * MICROMETRES["km"] == 50_000_000_000
    assert read_distance("km") == read_distance("1000 metres") == 10**9
    assert read_distance("1.5 mi") == 2_414_016_000
    assert read_distance("2 nautical miles") == read_distance("3.704 km")
    assert read_distance("0 m") == 0


@pytest.mark.parametrize("words", ["", "50", "5 parsecs", "-1 km", "1 e3 m", "km 5", "0.0000001 m", "5 min"])
def test_what_is_no_length_is_refused(words: str) -> None:
    with pytest.raises(ValueError, match="is"):
        read_distance(words)


def test_steps_on_the_plane_and_on_a_line() -> None:
    assert step_length(PLANE, (0.0, 0.0), (3.0, 4.0)) == 5_000_000
    assert step_length(PLANE, (3.0, 4.0), (0.0, 0.0)) == 5_000_000
    assert step_length(PLANE, (1.5, 2.5), (1.5, 2.5)) == 0
    assert step_length(Position("g", None, unit=MICROMETRES["km"]), (50.0, 0.0), (35.5, 0.0)) == 14_500_000_000


def test_halves_are_rounded_to_even() -> None:
    micro = Position("x", "y", unit=1)
    assert [step_length(micro, (0.0, 0.0), (half, 0.0)) for half in (0.5, 1.5, 2.5, 3.5)] == [0, 2, 2, 4]


def test_a_step_has_a_longest_length() -> None:
    assert step_length(PLANE, (0.0, 0.0), (1e300, 1e300)) == LONGEST_STEP
    assert step_length(PLANE, (-1e308, 0.0), (1e308, 0.0)) == LONGEST_STEP


def test_rows_without_a_place() -> None:
    assert PLANE.point(1, 2.5) == (1.0, 2.5)
    assert Position("x", None).point(7) == (7.0, 0.0)
    for x, y in ((None, 1.0), (1.0, None), (math.nan, 1.0), (1.0, math.inf), ("1", 1.0)):
        assert PLANE.point(x, y) is None
    assert EARTH.point(181.0, 91.0) is None  # what AIS sends for an unknown place
    assert EARTH.point(400.0, 0.0) is None
    assert EARTH.point(350.0, -90.0) == (350.0, -90.0)


def test_speed_limits_are_compared_as_whole_numbers() -> None:
    limit = Speed(200 * MICROMETRES["km"], 3600)
    assert limit.allows(200 * MICROMETRES["km"], 3600)
    assert not limit.allows(200 * MICROMETRES["km"] + 1, 3600)
    assert limit.allows(55_555_555, 0)
    assert not limit.allows(55_555_556, 1)


def test_the_path_of_small_steps_is_not_shorter_than_the_way() -> None:
    rng = random.Random(5)
    for _ in range(200):
        places = [(rng.uniform(-1, 1), rng.uniform(50, 51)) for _ in range(4)]
        path = sum(step_length(EARTH, a, b) for a, b in pairwise(places))
        assert path >= step_length(EARTH, places[0], places[-1])
