"""Which aggregates the machine of a window tells itself, and which need its rows."""

from __future__ import annotations

import pytest

import transom
from transom.physical.nodes.keyed_windows import KeyedWindow, KeyedWindowAggregate, TrajectoryAggregate
from transom.physical.nodes.walk import walk

CATALOG = transom.Catalog.from_dict(
    {
        "extents": {
            "cars": {
                "kind": "pushed",
                "attributes": ["x:float", "y:float", "id:string", "v:integer", "w:float"],
                "position": {"x": "x", "y": "y", "unit": "m"},
                "object": "id",
            }
        },
        "regions": {"town": {"wkt": "POLYGON ((0 0, 9 0, 9 9, 0 9, 0 0))"}},
    }
)
FAR = "cars [PARTITION BY id RANGE BY '5 km' RATTR SPACE, SLIDE BY '1 km' SATTR SPACE]"
ROWS = "cars [PARTITION BY id ROWS 3]"


def nodes(text: str, *, kernel: bool = True) -> set[type]:
    query = transom.compile(text, CATALOG, language="cql")
    assert isinstance(query, transom.Query)
    return {type(node) for node in walk(query.physical(kernel=kernel))} & {
        KeyedWindowAggregate,
        KeyedWindow,
        TrajectoryAggregate,
    }


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT RStream(R.id, AvgSpd(R)) FROM R={FAR}",
        f"SELECT RStream(R.id, PathLength(R), COUNT(*), MAX(v)) FROM R={FAR}",
        f"SELECT RStream(R.id, SUM(R.v + 1), AVG(w), MIN(id)) FROM R={FAR} GROUP BY R.id HAVING COUNT(*) > 2",
        f"SELECT RStream(id, COUNT(*)) FROM {ROWS} GROUP BY id",
    ],
)
def test_the_machine_tells_aggregates(text: str) -> None:
    assert nodes(text) == {KeyedWindowAggregate}


@pytest.mark.parametrize(
    "text",
    [
        f"SELECT RStream(R.id, Trajectory(R)) FROM R={FAR}",
        f"SELECT RStream(R.id, R.v, AvgSpd(R)) FROM R={FAR} GROUP BY R.id, R.v",
        f"SELECT RStream(R.id, COUNT(*)) FROM R={FAR} WHERE R.v > 3 GROUP BY R.id",
        f"SELECT IStream(R.id, COUNT(*)) FROM R={FAR} GROUP BY R.id",
    ],
)
def test_what_needs_the_rows_of_a_window(text: str) -> None:
    assert KeyedWindowAggregate not in nodes(text)
    assert KeyedWindow in nodes(text)


def test_floats_are_summed_by_spark_where_there_is_no_kernel() -> None:
    text = f"SELECT RStream(R.id, SUM(w)) FROM R={FAR}"
    assert nodes(text) == {KeyedWindowAggregate}
    assert nodes(text, kernel=False) == {KeyedWindow}


@pytest.mark.parametrize("aggregate", ["SUM(v)", "AVG(v)", "MAX(w)", "COUNT(w)"])
def test_only_sums_of_floats_need_the_rows_without_the_kernel(aggregate: str) -> None:
    assert nodes(f"SELECT RStream(R.id, {aggregate}) FROM R={FAR}", kernel=False) == {KeyedWindowAggregate}
