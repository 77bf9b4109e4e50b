"""What a checkpoint depends on: whatever of the catalog changes answers changes its fingerprint."""

from __future__ import annotations

from typing import Any

import pytest

import transom
from transom import Catalog
from transom.runtime.fingerprint import fingerprint

ZONE = [[0, 0], [9, 0], [9, 9], [0, 9]]
INSIDE = "SELECT RStream(id) FROM cars [PARTITION BY id RANGE BY Zone RATTR SPACE]"
ASKED = "SELECT RStream(id) FROM cars [PARTITION BY id ROWS 2] WHERE inside(g, Zone)"
TIMED = "SELECT RStream(id) FROM cars [PARTITION BY id ROWS 2]"


def printed(text: str, corners: Any = ZONE, **entries: Any) -> dict[str, Any]:
    extent = {
        "kind": "pushed",
        "attributes": ["x:float", "y:float", "id:string", "name:string"],
        "position": {"x": "x", "y": "y", "unit": "m"},
        "object": "id",
        **entries,
    }
    regions = {"Zone": {"polygon": corners}, "Other": {"polygon": [[0, 0], [1, 0], [1, len(corners)]]}}
    query = transom.compile(text, Catalog.from_dict({"extents": {"cars": extent}, "regions": regions}), language="cql")
    return fingerprint(query, query.physical(), 0, None, index=False, approximate=False)


def changed(one: dict[str, Any], other: dict[str, Any]) -> set[str]:
    return {name for name in {**one, **other} if one.get(name) != other.get(name)}


@pytest.mark.parametrize("text", [INSIDE, ASKED])
def test_a_moved_corner_makes_another_region(text: str) -> None:
    before = printed(text)
    assert changed(before, printed(text)) == set()
    assert changed(before, printed(text, [[0, 0], [9, 0], [9, 9.000001], [0, 9]])) == {"region Zone"}
    assert changed(before, printed(text, [*ZONE, [0, 4]])) == {"region Zone"}, "another region is none of its business"


def test_a_query_without_a_region_does_not_care() -> None:
    assert changed(printed(TIMED), printed(TIMED, ZONE[:3])) == set()


@pytest.mark.parametrize(
    ("entries", "also"),
    [
        ({"position": {"x": "x", "y": "y", "unit": "km"}}, set()),
        ({"object": "name"}, set()),
        ({"max_speed": "50 km/h"}, {"the plan"}),
        ({"forget_after": "1 min"}, {"the plan"}),
    ],
    ids=["unit", "object", "max_speed", "forget_after"],
)
def test_what_is_said_of_objects_counts(entries: dict[str, Any], also: set[str]) -> None:
    assert changed(printed(TIMED), printed(TIMED, **entries)) == {"objects of cars", *also}
    assert changed(printed(TIMED), printed(TIMED, keys=7, max_rows_per_key=9)) == set(), "hints change no answer"


def test_columns_of_files_count() -> None:
    plain = printed(TIMED, source={"files": "a.csv"})
    other = printed(TIMED, source={"files": {"path": "a.csv", "fields": {"name": "Name"}}})
    timed = printed(TIMED, source={"files": {"path": "a.csv", "time": "at", "time_format": "%Y-%m-%d"}})
    assert changed(plain, printed(TIMED)) == set()
    assert changed(plain, other) == changed(plain, timed) == {"columns of cars"}
