"""Windows of one key on the hand-made cases: the machine alone, told what the text of the query says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cases import Case, golden_cases
from transom.machines.aggregates.sliding import SlidingAggregateSpec
from transom.machines.buckets import Bucket, TimedMachineFactory
from transom.machines.emission import TimedEmission
from transom.machines.protocol import InputRow
from transom.machines.windows.distance import PositionSpec
from transom.machines.windows.keyed_window_spec import KeyedWindowSpec, RangeSpec

KM = 1_000_000_000
X, Y, TICK = 0, 1, 3


@pytest.fixture(scope="module")
def golden() -> dict[str, Case]:
    return {case.name[:3]: case for case in golden_cases("cql")}


def space(past: int, slide: int | None) -> RangeSpec:
    """The last kilometres, up to the last mark or up to now."""
    step = KM if slide is None else slide * KM
    return RangeSpec("distance", (1 if slide is None else step, -past * KM), (1 if slide is None else step, 0))


def run(case: Case, stream: str, *, inside: Any = None, key: int | None = None, **told: Any) -> list[Any]:
    """What the machines of all keys tell of a stream; a row is x, y, whether it is inside, and its tick."""
    place = PositionSpec(X, Y, False, KM)
    spec = KeyedWindowSpec(position=place, until=case.until, tags=("tick",), **told)
    rows = []
    for tick, where, *values in case.inputs[stream]:
        x, y = where if isinstance(where, list) else (where, 0)
        name = () if key is None else (values[key],)
        rows.append((tick, InputRow(0, 1, True, 1, None, name, (x, y, inside is None or inside(where, values)))))
    found = Bucket(TimedMachineFactory(spec.to_json())).run(rows, case.until)
    return [(of, told) for of, told in sorted(found, key=lambda one: (one[1].tick, one[0]))]


def stamps(said: list[tuple[Any, TimedEmission]], place: int | None = None) -> list[list[Any]]:
    """Tick, place and stamp of each row that is told."""
    rows = [(t.tick, t.row) for _, t in said if t.row is not None and place in (None, t.number)]
    return [[tick, row[X], row[TICK]] for tick, row in rows]


@pytest.mark.parametrize(
    ("name", "slide", "step", "reach"),
    [
        ("c09", "distance", 10 * KM, space(50, 10)),
        ("c11", "tick", 600, space(20, None)),
        ("c12", "distance", 10 * KM, RangeSpec("tick", (1, -600), (1, 0))),
        ("c15", "distance", 10 * KM, space(10, 10)),
    ],
)
def test_contents(golden: dict[str, Case], name: str, slide: str, step: int, reach: RangeSpec) -> None:
    said = run(golden[name], "Stream_mycar", slide=slide, step=step, ranges=(reach,))
    assert stamps(said) == golden[name].expected["rows"]


def test_in_the_plane(golden: dict[str, Case]) -> None:
    said = run(golden["c10"], "Stream_mycar", slide="distance", step=5 * KM, ranges=(space(10, 5),))
    found = [[t.tick, [t.row[X], t.row[Y]], t.row[TICK]] for _, t in said if t.row is not None]
    assert found == golden["c10"].expected["rows"]


def test_what_leaves(golden: dict[str, Case]) -> None:
    said = run(golden["c19"], "Stream_mycar", slide="distance", step=10 * KM, ranges=(space(20, 10),), output="changes")
    assert stamps(said, -1) == golden["c19"].expected["rows"]


def test_average_speed(golden: dict[str, Case]) -> None:
    asked = (
        SlidingAggregateSpec("path", "integer", None),
        SlidingAggregateSpec("first", "integer", TICK),
        SlidingAggregateSpec("last", "integer", TICK),
    )
    told: dict[str, Any] = {"output": "aggregates", "aggregates": asked}
    moving = {"slide": "distance", "step": 10 * KM, "ranges": (space(50, 10),)}
    for name, stream, key in (("c07", "Stream_mycar", None), ("c08", "Stream_car", 0)):
        found = []
        for of, t in run(golden[name], stream, key=key, **moving, **told):
            assert t.row is not None
            path, first, last = t.row
            if path is not None and last != first:
                found.append([t.tick, *(of or ("mycar",)), path * 3600 / (KM * (last - first))])
        assert found == golden[name].expected["rows"]
    time = {"slide": "tick", "step": 600, "ranges": (RangeSpec("tick", (600, -3600), (600, 0)),), "flag": 2}
    said = run(golden["c01"], "Stream_car", inside=lambda _, values: values[0] == "mycar", **time, **told)
    speeds = [[t.tick, t.row[0] / KM] for _, t in said if t.row is not None and t.row[0] is not None]
    assert speeds == golden["c01"].expected["rows"]


def test_a_key_has_no_window_before_its_first_row(golden: dict[str, Case]) -> None:
    asked = (SlidingAggregateSpec("count", "integer", None),)
    mixed = {"slide": "tick", "step": 600, "ranges": (space(20, None),), "output": "aggregates", "aggregates": asked}
    said = run(golden["c18"], "Stream_car", key=0, **mixed)
    assert [[t.tick, *of, *(t.row or ())] for of, t in said] == golden["c18"].expected["rows"]


def test_region_and_rows(golden: dict[str, Case]) -> None:
    """A region holds what was ever inside, border included; rows of one instant are one evaluation."""

    def sea(where: list[int], values: list[Any]) -> bool:
        return 120 <= where[0] <= 125 and 25 <= where[1] <= 30 and values[0] == "o1"

    said = run(golden["c05"], "Moving_Objects_Stream", inside=sea, slide="inside", flag=2)
    found = [[t.tick, [t.row[X], t.row[Y]], t.row[TICK]] for _, t in said if t.row is not None]
    assert found == golden["c05"].expected["rows"]
    said = run(golden["c17"], "Stream_car", slide="arrival", ranges=(RangeSpec("index", (1, -1), (1, 0)),))
    ticks = [(t.tick, t.row[TICK]) for _, t in said if t.row is not None]
    assert ticks == [(1, 1), (2, 2), (2, 2), (5, 2), (5, 5)]
