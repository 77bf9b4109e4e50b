"""Vessels in and around the East China Sea, made from a seed: `python examples/sea/make.py [--seed 3] > vessels.csv`.

A vessel sails from place to place at its speed and lies at anchor for a while. Like transponders of AIS, it reports
more often under way than at anchor, here about every 12 and every 30 minutes; nobody hears it for hours now and then,
and some reports have the place that AIS sends for "not known".
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

HOURS = 24
ROUTES: dict[str, tuple[float, list[tuple[float, float]]]] = {
    "o1": (11.0, [(122.3, 30.4), (124.0, 29.2), (126.2, 28.6), (127.6, 27.2), (129.0, 27.8)]),
    "o2": (8.5, [(121.9, 28.0), (123.1, 27.2), (122.6, 26.4), (121.2, 26.9)]),
    "o3": (17.0, [(131.2, 31.6), (128.2, 30.6), (125.6, 30.9), (122.4, 31.0)]),
    "o4": (14.0, [(119.6, 24.0), (121.0, 25.9), (122.9, 28.1), (123.4, 30.2), (122.9, 32.4)]),
    "o5": (9.5, [(125.3, 28.9), (124.9, 28.5), (125.4, 28.2), (125.0, 27.9), (125.6, 28.6)]),
    "o6": (19.0, [(126.0, 34.0), (126.4, 31.8), (124.6, 28.4), (122.6, 25.6), (120.4, 22.4)]),
}
"""The speed of each vessel in knots, and where it goes."""

COMPASS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")


def sail(name: str, rng: random.Random) -> Iterator[tuple[int, str, float, float, float, str]]:
    """The reports of one vessel: tick, name, longitude, latitude, speed in knots, direction."""
    knots, route = ROUTES[name]
    lon, lat = route[0]
    ahead, anchor, silent = route[1:], 0, 0
    report = rng.randrange(12)
    way = (0.0, 0.0)
    for minute in range(HOURS * 60 + 1):
        speed = 0.0 if anchor or not ahead else knots * rng.uniform(0.95, 1.05)
        if minute >= report:
            report = minute + (rng.choice((9, 12, 12, 15)) if speed else 30)
            silent = rng.randrange(120, 300) if rng.random() < 0.012 else 0
            report += silent
            lost = rng.random() < 0.004
            place = (181.0, 91.0) if lost else (round(lon, 4), round(lat, 4))
            yield minute * 60, name, *place, round(speed, 1), COMPASS[_eighth(*way)]
        if anchor:
            anchor -= 1
        elif ahead:
            east, north = ahead[0][0] - lon, ahead[0][1] - lat
            far = (east * east * 0.76 + north * north) ** 0.5
            step = speed / 60 / 60
            if far <= step:
                (lon, lat), ahead = ahead[0], ahead[1:]
                anchor = rng.randrange(60, 200) if rng.random() < 0.4 else 0
            else:
                way = (east, north)
                lon, lat = lon + east / far * step, lat + north / far * step


def _eighth(east: float, north: float) -> int:
    """The nearest of eight directions."""
    if abs(east) > 2.4 * abs(north):
        return 2 if east > 0 else 6
    if abs(north) > 2.4 * abs(east):
        return 0 if north > 0 else 4
    if north > 0:
        return 1 if east > 0 else 7
    return 3 if east > 0 else 5


def main() -> None:
    """Print the reports of all vessels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=3)
    options = parser.parse_args()
    draws = {name: random.Random(f"{options.seed} {name}") for name in ROUTES}
    rows = [row for name in ROUTES for row in sail(name, draws[name])]
    print("tick,ID,lon,lat,velocity,orientation")
    for row in sorted(rows):
        print(*row, sep=",")


if __name__ == "__main__":
    main()
