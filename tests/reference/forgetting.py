"""Objects that fall silent and come again: the catalog, questions and rows that tests of `forget_after` share."""

from __future__ import annotations

from random import Random
from typing import Any

from transom import Catalog

FORGET = 3
"""Ticks without a row, more than which an object is forgotten."""

CARS = {
    "kind": "pushed",
    "attributes": ["x:float", "id:string", "v:integer"],
    "position": {"x": "x", "unit": "m"},
    "object": "id",
    "max_speed": "36 km/h",
    "forget_after": f"{FORGET} s",
}


def declared(**entries: Any) -> Catalog:
    """The catalog with more said of the cars."""
    return Catalog.from_dict({"extents": {"cars": {**CARS, **entries}}})


CATALOG = declared()

QUESTIONS = {
    "ways": "SELECT RStream(id, COUNT(*), MIN(x)) FROM cars "
    "[PARTITION BY id RANGE BY '30 m' RATTR SPACE, SLIDE BY '5 m' SATTR SPACE] GROUP BY id",
    "gone": "SELECT DStream(id, x) FROM cars [PARTITION BY id ROWS 2]",
    "counts": "SELECT DStream(COUNT(*), MAX(v)) FROM cars [PARTITION BY id RANGE '2 seconds']",
    "together": "SELECT RStream(a.id, b.id, b.v) FROM cars AS a [PARTITION BY id ROWS 1], "
    "cars AS b [PARTITION BY id ROWS 2] WHERE a.v = b.v",
}


def given(seed: int) -> list[tuple[Any, ...]]:
    """Rows of three cars, of which each is silent for a while now and then, and comes back somewhere else."""
    rng = Random(seed)
    rows = []
    for name in "abc":
        tick, x = rng.randrange(3), rng.uniform(0, 9)
        while tick < 22:
            rows.append((tick, x, name, rng.randrange(2)))
            gap = rng.choice([0, 1, 1, 2, FORGET + 1, FORGET + 2, FORGET + 4])
            tick += gap
            x += rng.uniform(-500, 500) if gap > FORGET else rng.uniform(-9, 9)
    return sorted(rows, key=lambda row: row[0])
