"""What generated questions of CQL on Spark do not meet: tables that change, speed limits, leaving, text all the way."""

from __future__ import annotations

from functools import partial
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.spark.trying import UNEVEN, replay, side_by_side, stream
from transom import Catalog
from transom.physical.plan import Kernel
from transom.runtime.answers import difference

CATALOG = Catalog.from_dict(
    {
        "extents": {
            "cars": {
                "kind": "pushed",
                "attributes": ["x:float", "y:float", "id:string", "v:integer"],
                "position": {"x": "x", "y": "y", "unit": "m"},
                "object": "id",
                "max_speed": "20 km/h",
            },
            "lim": {"kind": "stored", "attributes": ["most:integer", "word:string"]},
        },
        "regions": {"Zone": {"polygon": [[0, 0], [9, 0], [9, 9], [0, 9]]}},
    }
)
QUESTIONS = {
    "a table": "SELECT RStream(c.id, c.v, lim.word) FROM cars AS c [PARTITION BY id ROWS 2], lim WHERE c.v = lim.most",
    "a table by time": "SELECT IStream(c.id, lim.word) "
    "FROM cars AS c [RANGE '4 seconds', SLIDE '2 seconds'], lim WHERE c.v = lim.most",
    "left of a table": "SELECT DStream(c.id, lim.word) FROM cars AS c [PARTITION BY id ROWS 1] "
    "LEFT JOIN lim ON c.v < lim.most",
    "a speed limit": "SELECT RStream(id, x, y) FROM cars [PARTITION BY id ROWS 1]",
    "speeds": "SELECT RStream(id, AvgSpd(cars)) FROM cars "
    "[PARTITION BY id RANGE BY '30 m' RATTR SPACE, SLIDE BY '5 m' SATTR SPACE]",
    "leaving": "SELECT DStream(id) FROM cars [PARTITION BY id ROWS 1] WHERE inside(g, Zone)",
    "in a subquery": "SELECT RStream(id, v) FROM cars [PARTITION BY id ROWS 3] WHERE v IN (SELECT most FROM lim)",
}


def given(seed: int) -> dict[str, Any]:
    """A few cars, some of which leap, and a table that changes now and then, once to what it was."""
    rng = Random(seed)
    rows = []
    places = {name: [rng.uniform(0, 9), rng.uniform(0, 9)] for name in "abc"}
    for tick in range(12):
        for name in "abc":
            if rng.random() < 0.6:
                far = 60.0 if rng.random() < 0.15 else 4.0
                here = [place + rng.uniform(-far, far) for place in places[name]]
                places[name] = places[name] if far > 9 else here
                rows.append((tick, *here, name, rng.randrange(4)))
    words = [(0, "none"), (1, "one"), (2, "two"), (2, "double")]
    return {"cars": rows, "lim": {0: words[:2], 3: words, 5: words, 8: []}}


@pytest.mark.parametrize("kernel", ["on", "off"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_as_the_reference(spark: Any, name: str, kernel: Kernel) -> None:
    query = transom.compile(QUESTIONS[name], CATALOG, language="cql")
    inputs = {lane: given(lane) for lane in range(6)}
    rows = {lane: query.inputs(one, until=13) for lane, one in inputs.items()}
    expected = {lane: query.simulate(one, until=13) for lane, one in inputs.items()}
    assert all(len(answer) for answer in expected.values())
    jobs = [partial(stream, query, spark, rows, split, kernel=kernel) for split in (UNEVEN,)]
    jobs.append(partial(replay, query, spark, rows, kernel=kernel))
    for found in side_by_side(jobs):
        assert {lane: difference(expected[lane], found[lane], index=False) for lane in rows} == dict.fromkeys(rows)
