"""Faults sown into windows in space on Spark: golden cases and a small one must notice each, without the kernel."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import pytest

pytest.importorskip("pyspark")

import transom
from tests.cases import catalog_of, golden_cases, inputs_of
from tests.faults import faulty_tree
from tests.spark.faults.test_faults import Sown, sow, sown
from tests.spark.trying import replay, side_by_side, stream
from transom import Catalog
from transom.machines import buckets
from transom.machines.windows import distance, keyed_window
from transom.model.answer import Answer
from transom.reference.sources import Inputs
from transom.runtime.results.rows import row_difference
from transom.runtime.verify.micro_batches import Split
from transom.spark import changes
from transom.spark.expressions import regions, spatial, tracks
from transom.spark.stateful import runner

IN_WORKERS = (distance, keyed_window, buckets, runner)
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
        regions._in_box,
        "E_.between(A_, B_) & F_.between(C_, D_)",
        "(E_ > A_) & (E_ < B_) & (F_ > C_) & (F_ < D_)",
        ("c06", "replay"),
    ),
    sow(
        "a region tested on the wrong axis",
        regions._in_rectangle,
        "'y'",
        "'x'",
        ("c06", "replay"),
    ),
    sow(
        "straight line instead of the way",
        distance.Odometer.advance_to,
        "B_.distance += A_\nB_.last_position = C_",
        "B_.distance = max(B_.distance, A_)\nB_.last_position = B_.last_position or C_",
        ("c09", "replay"),
    ),
    sow(
        "a place that is not known is the origin",
        distance.Odometer.advance_to,
        "if position is None:\n    return 0",
        "position = position or (0.0, 0.0)",
        ("lost", "replay"),
    ),
    sow("a leap counts", distance.Odometer.advance_to, "return None", "pass", ("lost", "replay")),
    sow(
        "the way begins anew with every batch",
        distance.Odometer.load,
        "self.distance",
        "_",
        ("c10", "two rows"),
    ),
    sow(
        "every second mark is skipped",
        keyed_window.KeyedWindowMachine._windows_after_rows,
        "boundary + A_",
        "boundary + 2 * A_",
        ("c10", "replay"),
    ),
    sow(
        "the first of several marks",
        keyed_window.KeyedWindowMachine._windows_after_rows,
        "spec.first + (A_ - spec.first) // spec.step * spec.step",
        "self.next",
        ("c10", "replay"),
    ),
    sow(
        "ticks compared as distances",
        keyed_window.KeyedWindowMachine._add_row,
        "reach.coordinate",
        "'tick'",
        ("c10", "replay"),
    ),
    sow(
        "the row that crosses is inside",
        keyed_window.KeyedWindowMachine._window,
        "A_ and all((value <= high for value, (_, high) in zip(A_[0].coordinates, ends, strict=True)))",
        "A_",
        ("c10", "replay"),
    ),
    sow("the low end is open", keyed_window._is_below, "A_ < B_", "A_ <= B_", ("c10", "replay")),
    sow(
        "one way for all objects",
        buckets.Bucket.run,
        "A_(arrival.key)",
        "A_(())",
        ("crowd", "replay"),
    ),
    sow(
        "a speed in metres per second",
        spatial.kilometres_per_hour,
        "5",
        "18",
        ("lost", "replay"),
    ),
    sow(
        "a path torn where a place is missing",
        tracks._ordered_points,
        "A_.isNotNull()",
        "F.lit(True)",
        ("lost", "replay"),
    ),
    sow(
        "DStream says what came",
        changes.changes_to_stream,
        "A_ if node.report == 'inserted' else -A_",
        "A_",
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
    return row_difference(expected, found, index=False)


def test_enough_faults_of_every_kind() -> None:
    assert len(SOWN) >= 8
    for fault in (one.fault for one in SOWN):
        assert faulty_tree(fault), fault.name


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
