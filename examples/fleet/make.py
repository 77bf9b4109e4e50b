"""Vehicles on the roads of a plain, made from a seed: `python examples/fleet/make.py [--seed 7] [--only mycar]`.

Roads lie in a grid of 5 km. A vehicle drives from crossing to crossing, turns, stops to deliver, and is reported every
minute or so, some metres from where it is; now and then a report is tens of kilometres off.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator

NAMES = ("mycar", "van1", "van2", "van3", "lorry1", "lorry2")
GRID = 5000.0
TURNS = {(1, 0): [(0, 1), (0, -1)], (-1, 0): [(0, 1), (0, -1)], (0, 1): [(1, 0), (-1, 0)], (0, -1): [(1, 0), (-1, 0)]}
HOURS = 3


def drive(name: str, rng: random.Random) -> Iterator[tuple[int, str, float, float, int]]:
    """The reports of one vehicle: tick, name, place in metres, and the speed that it tells."""
    x, y = rng.randrange(-2, 3) * GRID, rng.randrange(-2, 3) * GRID
    along = rng.choice(list(TURNS))
    speed, left, stop = 0.0, GRID, 0
    report = rng.randrange(60)
    for tick in range(HOURS * 3600 + 1):
        if tick == report:
            report += rng.choice((50, 60, 60, 60, 75, 110))
            off = 40_000.0 if rng.random() < 0.006 else 0.0
            yield tick, name, round(x + rng.gauss(off, 4), 1), round(y + rng.gauss(0, 4), 1), round(speed * 3.6)
        if stop > 0:
            stop, speed = stop - 1, 0.0
            continue
        speed = speed or rng.uniform(14, 31) * (0.8 if name.startswith("lorry") else 1.0)
        x, y, left = x + along[0] * speed, y + along[1] * speed, left - speed
        if left <= 0:
            x, y, left = round(x / GRID) * GRID, round(y / GRID) * GRID, GRID
            home = [way for way in TURNS[along] if abs(x + way[0] * GRID) < 30_000 and abs(y + way[1] * GRID) < 30_000]
            out = max(abs(x + along[0] * GRID), abs(y + along[1] * GRID)) > 30_000
            if home and (out or rng.random() < 0.35):
                along = rng.choice(home)
            elif out:
                along = (-along[0], -along[1])
            speed = rng.uniform(14, 31) * (0.8 if name.startswith("lorry") else 1.0)
            stop = rng.randrange(600, 2400) if rng.random() < 0.08 else 0


def main() -> None:
    """Print the reports of all vehicles, or of one."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", choices=NAMES, help="one of the vehicles")
    options = parser.parse_args()
    names = [options.only] if options.only else NAMES
    draws = {name: random.Random(f"{options.seed} {name}") for name in names}
    rows = [row for name in names for row in drive(name, draws[name])]
    print("tick,ID,x,y,speed")
    for row in sorted(rows):
        print(*row, sep=",")


if __name__ == "__main__":
    main()
