"""Faults sown into windows in space on Spark: golden cases and a small one must notice each, without the kernel."""

from __future__ import annotations

import inspect
from functools import cache, partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import catalog_of, golden_cases, inputs_of
from tests.spark.test_faults import Sown, sow, sown
from tests.spark.trying import replay, side_by_side, stream
from transom import Catalog
from transom.machines import buckets, distance, lineage
from transom.model.answer import Answer
from transom.reference.sources import Inputs
from transom.runtime.answers import difference
from transom.runtime.micro_batches import Split
from transom.spark import places, regions, relate, runner, tracks

IN_WORKERS = (distance, lineage, buckets, runner)
"""Modules that run inside Spark's Python workers; a fault there travels by value."""

CARS = Catalog.from_dict(
    {
        "extents": {
            "cars": {
                "kind": "pushed",
                "attributes": ["x:float", "y:float", "id:string"],
                "position": {"x": "x", "y": "y", "unit": "m"},
                "object": "id",
                "max_speed": "36 km/h",
            }
        }
    }
)
LOST = (
    "SELECT RStream(c.id, COUNT(*), PATHLENGTH(c), AvgSpd(c), TRAJECTORY(c)) "
    "FROM c=cars [PARTITION BY id RANGE BY '10 m' RATTR SPACE, SLIDE BY '5 m' SATTR SPACE]"
)
LOST_ROWS = [
    (0, 20.0, 0.0, "a"),
    (1, 24.0, 3.0, "a"),
    (2, None, 3.0, "a"),
    (3, 28.0, 6.0, "a"),
    (4, 99.0, 6.0, "a"),
    (5, 32.0, 9.0, "a"),
]
"""A car at 5 metres a second, once without a place and once where it cannot be."""
CROWD_ROWS = [(tick, 5.0 * tick, float(car), f"car {car}") for tick in range(4) for car in range(80)]
"""So many cars that some of them share a bucket."""
SMALL = {"lost": (LOST_ROWS, 6), "crowd": (CROWD_ROWS, 4)}

SOWN = [
    sow(
        "open border",
        regions,
        "x.between(box.left, box.right) & y.between(box.bottom, box.top)",
        "(x > box.left) & (x < box.right) & (y > box.bottom) & (y < box.top)",
        ("c06", "replay"),
    ),
    sow(
        "a region tested on the wrong axis",
        regions,
        '_in_box(region.box, x, place["y"])',
        '_in_box(region.box, x, place["x"])',
        ("c06", "replay"),
    ),
    sow(
        "straight line instead of the way",
        distance,
        "self.distance += far\n        self.place = place\n",
        "self.distance = max(self.distance, far)\n        self.place = self.place or place\n",
        ("c09", "replay"),
    ),
    sow(
        "a place that is not known is the origin",
        distance,
        'far away."""\n        if place is None:\n            return 0\n',
        'far away."""\n        place = place or (0.0, 0.0)\n',
        ("lost", "replay"),
    ),
    sow("a leap counts", distance, "                return None\n", "                pass\n", ("lost", "replay")),
    sow(
        "the way begins anew with every batch",
        distance,
        "self.distance, self.tick, place = state",
        "_, self.tick, place = state",
        ("c10", "two rows"),
    ),
    sow(
        "every second mark is skipped",
        lineage,
        "self.next = mark + spec.step\n",
        "self.next = mark + 2 * spec.step\n",
        ("c10", "replay"),
    ),
    sow(
        "the first of several marks",
        lineage,
        "mark = spec.first + (reached - spec.first) // spec.step * spec.step",
        "mark = self.next",
        ("c10", "replay"),
    ),
    sow(
        "ticks compared as distances",
        lineage,
        "where = tuple(self._now(reach.coordinate, tick)",
        'where = tuple(self._now("tick", tick)',
        ("c10", "replay"),
    ),
    sow(
        "the row that crosses is inside",
        lineage,
        "while self.waiting and all(w <= high for w, (_, high) in zip(self.waiting[0].where, ends, strict=True)):",
        "while self.waiting:",
        ("c10", "replay"),
    ),
    sow("the low end is open", lineage, "any(where < low for", "any(where <= low for", ("c10", "replay")),
    sow(
        "one way for all objects",
        buckets,
        "found.setdefault(row_identity(arrival.key), (arrival.key, {}))",
        "found.setdefault(row_identity(()), (arrival.key, {}))",
        ("crowd", "replay"),
    ),
    sow(
        "a speed in metres per second",
        places,
        "scale = str(5 * tick_length)",
        "scale = str(18 * tick_length)",
        ("lost", "replay"),
    ),
    sow(
        "a path torn where a place is missing",
        tracks,
        "on_globe(place) if position.geodesic else place.isNotNull()",
        "on_globe(place) if position.geodesic else F.lit(True)",
        ("lost", "replay"),
    ),
    sow(
        "DStream says what came",
        relate,
        'left = F.col("n") if node.report == "came" else -F.col("n")',
        'left = F.col("n")',
        ("c19", "replay"),
    ),
]

TRIES = sorted({one for sown in SOWN for one in sown.tries})


@cache
def asked(name: str) -> tuple[transom.Query, Inputs, Answer]:
    """A question, what it reads, and the reference's answer to it."""
    if name in SMALL:
        own, until = SMALL[name]
        query, rows = transom.compile(LOST, CARS, language="cql"), {"cars": own}
    else:
        case = next(c for c in golden_cases("cql") if c.name.startswith(name))
        query = transom.compile(case.text, catalog_of(case.schema), language="cql")
        rows, until = inputs_of(case.schema, case.inputs), case.until
    return query, query.inputs(rows, until=until), query.simulate(rows, until=until)


def notices(spark: Any, name: str, way: str) -> str | None:
    """How an answer without the kernel differs from the right one."""
    query, inputs, expected = asked(name)
    if way == "replay":
        found = replay(query, spark, inputs, kernel="off")
    else:
        found = stream(query, spark, inputs, Split(2), kernel="off")
    return difference(expected, found, index=False)


def test_enough_faults_of_every_kind() -> None:
    assert len(SOWN) >= 8
    for fault in (one.fault for one in SOWN):
        assert inspect.getsource(fault.module).count(fault.right) == 1, fault.name


@pytest.mark.nightly
def test_without_a_fault_nothing_is_noticed(spark: Any) -> None:
    assert all(len(asked(name)[2]) for name, _ in TRIES)
    found = side_by_side([partial(notices, spark, name, way) for name, way in TRIES])
    assert dict(zip(TRIES, found, strict=True)) == dict.fromkeys(TRIES)


@pytest.mark.nightly
@pytest.mark.parametrize("one", SOWN, ids=lambda one: one.fault.name)
def test_fault_is_noticed(spark: Any, one: Sown) -> None:
    for name, _ in one.tries:
        asked(name)  # the right answer, before anything is wrong
    with sown(one.fault, IN_WORKERS):
        assert any(notices(spark, name, way) for name, way in one.tries)
