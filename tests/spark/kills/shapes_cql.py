"""Plans over moving objects to be killed: windows by distance, both mixtures, and a region in a join."""

from __future__ import annotations

from collections.abc import Mapping
from random import Random
from typing import Any

import transom
from tests.spark.kills.shapes import KILLED, Shape
from transom import Catalog, Query

CARS = {
    "kind": "pushed",
    "attributes": ["x:float", "y:float", "id:string", "v:integer"],
    "position": {"x": "x", "y": "y", "unit": "m"},
    "object": "id",
    "max_speed": "90 km/h",
    "max_rows_per_key": 100,
    "keys": 3,
}
CALLS = {"kind": "pushed", "attributes": ["id:string", "word:integer"], "rate": "5 per s"}


class Moving(Shape):
    """A question of CQL and what it reads."""

    def catalog(self, rate: int = 50) -> Catalog:
        """The catalog: cars with a speed limit, calls, and a region that the cars enter and leave."""
        return Catalog.from_dict(
            {
                "extents": {"cars": {**CARS, "rate": f"{rate} per s"}, "calls": CALLS},
                "regions": {"Zone": {"polygon": [[0, 0], [60, 0], [60, 60], [0, 60]]}},
            }
        )

    def query(self, rate: int = 50) -> Query:
        return transom.compile(self.text, self.catalog(rate), language="cql")

    def inputs(self, seed: int, ticks: int = 40) -> dict[str, Any]:
        """Cars that stop, turn, jump over several marks and are now and then reported where they cannot be."""
        rng = Random(f"cars {seed}")
        places = {name: (rng.uniform(0, 60), rng.uniform(0, 60)) for name in "abc"}
        rows: list[tuple[Any, ...]] = []
        for tick in range(ticks):
            for name, (x, y) in places.items():
                if rng.random() < 0.7:
                    far = rng.choice((0.0, 3.0, 8.0, 16.0))
                    places[name] = (x + rng.choice((-far, far)), y + rng.choice((0.0, far / 4)) - 0.1 * (y - 30))
                    wrong = 900.0 if rng.random() < 0.1 else 0.0
                    rows.append((tick, places[name][0] + wrong, places[name][1], name, rng.randrange(9)))
        calls = [(tick, rng.choice("abc"), rng.randrange(5)) for tick in range(ticks) if rng.random() < 0.5]
        return {name: {"cars": rows, "calls": calls}[name] for name in self.streams}


MOVING: Mapping[str, Shape] = {
    shape.name: shape
    for shape in (
        Moving(
            "distance",
            "SELECT RStream(c.id, COUNT(*), SUM(v), AvgSpd(c)) "
            "FROM c=cars [PARTITION BY id RANGE BY '50 m' RATTR SPACE, SLIDE BY '10 m' SATTR SPACE]",
            ("cars",),
        ),
        Moving(
            "mixed",
            "SELECT RStream(c.id, COUNT(*), PATHLENGTH(c)) "
            "FROM c=cars [PARTITION BY id RANGE BY '50 m' RATTR SPACE, SLIDE BY '3 seconds' SATTR TIME]",
            ("cars",),
        ),
        Moving(
            "turned",
            "SELECT IStream(id, t, v) "
            "FROM cars [PARTITION BY id RANGE BY '9 seconds' RATTR TIME, SLIDE BY '20 m' SATTR SPACE]",
            ("cars",),
        ),
        Moving(
            "region",
            "SELECT IStream(cars.id, cars.t, v, word) FROM cars [RANGE BY Zone RATTR SPACE], "
            "calls [PARTITION BY id ROWS 1] WHERE cars.id = calls.id",
            ("cars", "calls"),
        ),
    )
}

ALL: Mapping[str, Shape] = KILLED | MOVING
"""Every shape of rows that is killed, of both languages."""
