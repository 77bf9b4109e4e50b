"""The steps in Java against the ones in Python: the same bits, on the plane and on the ellipsoid."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from tests.model.steps import EVERY, Step
from transom.model.geometry.geodesy import geodesic
from transom.model.geometry.space import MICROMETRES, Position, Speed, step_length

pytestmark = pytest.mark.kernel

KERNEL = Path(__file__).resolve().parents[2] / "kernel" / "src"
EARTH = Position("lon", "lat", geodesic=True)
EACH = {"opposite": 150}
Ask = Callable[[Sequence[str]], list[str]]


@pytest.fixture(scope="module")
def ask(tmp_path_factory: pytest.TempPathFactory) -> Ask:
    """Steps in Java: lines in, answers out."""
    assert shutil.which("javac"), "there is no JDK"
    folder = str(tmp_path_factory.mktemp("classes"))
    main, driver = KERNEL / "main" / "java", KERNEL / "test" / "java" / "transom" / "kernel" / "GeodesyTwins.java"
    command = ["javac", "--release", "17", "-proc:none", "-implicit:class", "-encoding", "UTF-8"]
    built = subprocess.run(
        [*command, "-sourcepath", str(main), "-d", folder, str(driver)], capture_output=True, text=True
    )
    assert built.returncode == 0, built.stderr

    def answers(lines: Sequence[str]) -> list[str]:
        run = ["java", "-XX:+UseSerialGC", "-cp", folder, "transom.kernel.GeodesyTwins"]
        done = subprocess.run(run, input="\n".join(lines) + "\n", capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        said = done.stdout.splitlines()
        assert len(said) == len(lines)
        return said

    return answers


def compare(ask: Ask, steps: Sequence[tuple[Position, Step]]) -> None:
    """Equal bits of the metres and equal micrometres for all steps."""
    said = ask([f"{str(p.geodesic).lower()} {p.unit} " + " ".join(map(float.hex, place)) for p, place in steps])
    for (position, place), found in zip(steps, said, strict=True):
        bits = struct.unpack("<q", struct.pack("<d", geodesic(*place)))[0] if position.geodesic else 0
        assert found == f"{bits} {step_length(position, place[:2], place[2:])}", place


def test_on_the_ellipsoid(ask: Ask) -> None:
    rng = random.Random("step twins")
    compare(ask, [(EARTH, make(rng)) for kind, make in EVERY.items() for _ in range(EACH.get(kind, 2_000))])
    corners = (-90.0, -45.0, -0.0, 0.0, 1e-300, 45.0, 89.9999999, 90.0)
    compare(ask, [(EARTH, (0.0, a, x, b)) for a in corners for b in corners for x in (0.0, 1e-9, 179.6, 180.0, -360.0)])


@pytest.mark.deep
def test_on_the_ellipsoid_often(ask: Ask) -> None:
    rng = random.Random("step twins, deep")
    for kind, make in EVERY.items():
        compare(ask, [(EARTH, make(rng)) for _ in range(5_000 if kind == "opposite" else 50_000)])


def test_on_the_plane(ask: Ask) -> None:
    rng = random.Random("plane twins")
    cases: list[tuple[Position, Step]] = []
    for unit in sorted({1, 7, *MICROMETRES.values()}):
        for _ in range(500):
            a, b, c, d = (
                rng.choice((rng.uniform(-1e6, 1e6), rng.gauss(0, 1), float(rng.randrange(9)))) for _ in "xyxy"
            )
            cases.append((Position("x", "y", unit=unit), (a, b, c, d)))
        for odd in (0.5, 1.5, 2.5, 1e300, 5e-324, 1e18):
            cases.append((Position("x", None, unit=unit), (0.0, 0.0, odd, 0.0)))
    compare(ask, cases)


def test_places_and_speed_limits(ask: Ask) -> None:
    rng = random.Random("limits")
    values = (0.0, -360.0, 360.5, 90.0, -90.5, float("inf"), float("nan"))
    places = [(geo, x, y) for geo in (True, False) for x in values for y in values]
    expected = [Position("x", "y", geo).point(x, y) is not None for geo, x, y in places]
    names = {"inf": "Infinity", "nan": "NaN"}
    said = ask([f"placed {str(geo).lower()} {names.get(str(x), x)} {names.get(str(y), y)}" for geo, x, y in places])
    assert said == [str(yes).lower() for yes in expected]
    limits = [tuple(int(10 ** rng.uniform(0, most)) for most in (15, 10, 15.95, 9)) for _ in range(2_000)]
    limits += [(9, 3, 27, 9), (9, 3, 28, 9), (1, 1, 2, 0), (1, 1, 1, 0), (2**62, 2**62, 2**62, 2**62)]
    allowed = [Speed(length, per).allows(far, ticks) for length, per, far, ticks in limits]
    assert ask([f"allows {' '.join(map(str, limit))}" for limit in limits]) == [str(yes).lower() for yes in allowed]
    assert 200 < sum(allowed) < 1_800
