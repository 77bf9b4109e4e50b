"""What generated questions of CQL on Spark do not meet: tables that change, speed limits, leaving, text all the way.

A long stream goes through each query in a few micro-batches; without the kernel some as a replay only.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.spark.trying import replay, side_by_side, stream
from transom import Catalog
from transom.physical.nodes.windows import KernelMode
from transom.reference.evaluate import evaluate_stream
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.micro_batches import Split, read_streams, write_streams
from transom.spark.input.rejected import RejectedRows

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
    "nearest": "SELECT RStream(A.id, B.id AS near) "
    "FROM A=cars [PARTITION BY id ROWS 1], B=cars [PARTITION BY id ROWS 1] "
    "WHERE A.id <> B.id FIRST 1 PER A.id BY DISTANCE(A.g, B.g)",
    "stamps": "SELECT RStream(id, COUNT(*), WKB(PLACE(c)), WKT(TRAJECTORY(c)), HEADING(POINT(0, 0), PLACE(c)) > 40) "
    "FROM c=cars [RANGE '4 seconds', SLIDE '2 seconds'] GROUP BY id FIRST 2 BY DISTANCE(PLACE(c), POINT(4, 4))",
    "changes of three": "SELECT IStream(A.id, B.v, lim.word) "
    "FROM A=cars [PARTITION BY id ROWS 1], B=cars [PARTITION BY id ROWS 2], lim WHERE A.id = B.id AND B.v < lim.most",
    "three": "SELECT RStream(A.id, B.v, lim.word) "
    "FROM A=cars [PARTITION BY id ROWS 1], B=cars [PARTITION BY id ROWS 2], lim WHERE A.id = B.id AND B.v = lim.most",
    "not in a subquery": "SELECT DStream(id, v) FROM cars [PARTITION BY id ROWS 3] "
    "WHERE v NOT IN (SELECT most FROM lim)",
    "in a subquery": "SELECT RStream(id, v) FROM cars [PARTITION BY id ROWS 3] WHERE v IN (SELECT most FROM lim)",
}
IN_PYTHON = ("a table", "speeds", "leaving")
"""What is a stream without the kernel too."""

ROUND, ROUNDS = 14, 4
UNTIL = ROUND * ROUNDS - 1
FEW = Split(seed=3, times=12)
"""Three or four micro-batches for all rows."""


def given(seed: int) -> dict[str, Any]:
    """A few cars, some of which leap, and a table that changes now and then, once to what it was.

    After each round the cars are silent for two ticks, and go on from another place.
    """
    rng = Random(seed)
    rows = []
    table: dict[int, list[tuple[int, str]]] = {}
    words = [(0, "none"), (1, "one"), (2, "two"), (2, "double")]
    for first in range(0, ROUND * ROUNDS, ROUND):
        places = {name: [rng.uniform(0, 9), rng.uniform(0, 9)] for name in "abc"}
        for tick in range(first, first + ROUND - 2):
            for name in "abc":
                if rng.random() < 0.6:
                    far = 60.0 if rng.random() < 0.15 else 4.0
                    here = [place + rng.uniform(-far, far) for place in places[name]]
                    places[name] = places[name] if far > 9 else here
                    rows.append((tick, *here, name, rng.randrange(4)))
        table |= {first: words[:2], first + 3: words, first + 5: words, first + 8: []}
    return {"cars": rows, "lim": table}


@pytest.mark.parametrize("kernel", ["on", pytest.param("off", marks=pytest.mark.nightly)])
@pytest.mark.parametrize("turn", [0, *(pytest.param(turn, marks=pytest.mark.nightly) for turn in (1, 2, 3))])
def test_as_the_reference(spark: Any, kernel: KernelMode, turn: int) -> None:
    """Every fourth question, from one of the first four on."""
    one = given(1)
    jobs, wanted = [], []
    for name, text in list(QUESTIONS.items())[turn::4]:
        query = transom.compile(text, CATALOG, language="cql")
        rows, expected = query.inputs(one, until=UNTIL), query.simulate(one, until=UNTIL)
        assert len(expected) >= ROUNDS, name
        streamed = kernel == "on" or name in IN_PYTHON
        jobs.append(partial(stream, query, spark, rows, FEW) if streamed else partial(replay, query, spark, rows))
        wanted.append((name, expected))
    made = side_by_side([partial(job, kernel=kernel) for job in jobs])
    for (name, expected), found in zip(wanted, made, strict=True):
        assert row_difference(expected, found, index=False) is None, name


def test_rows_beyond_the_speed_limit_are_counted(spark: Any, tmp_path: Path) -> None:
    """After a replay and while a query runs; the reference says how many they are."""
    query = transom.compile(QUESTIONS["a speed limit"], CATALOG, language="cql")
    seen: list[int] = []
    inputs = replace(query.inputs(given(1), until=UNTIL), on_rejected=lambda _, __, rows: seen.append(len(rows)))
    evaluate_stream(query.optimized, inputs)  # type: ignore[arg-type]
    assert sum(seen) > 1
    paths = write_streams(tmp_path / "in", query.sources, inputs, Split(seed=3, times=24))
    still = read_streams(spark, query.sources, paths, live=False)
    rejected = RejectedRows()
    query.to_df(spark, still, until=UNTIL, rejected=rejected).collect()
    assert rejected.counts() == {"cars": sum(seen)}
    live = read_streams(spark, query.sources, paths, live=True)
    out, kept = f"parquet:{tmp_path / 'out'}", tmp_path / "kept"
    running = query.start(spark, out, kept, sources=live, until=UNTIL, once=True, allow_unbounded=True)
    running.wait()
    done = running.progress().sources["cars"]
    assert done.rejected == {"beyond max_speed": sum(seen)}
    assert (done.read, done.missing) == (done.used + sum(seen) + done.outside, 0)
