"""The rows of an answer on a map: which are marked, and where."""

from __future__ import annotations

import json
from typing import Any

import pytest

import transom
from transom.catalog import Catalog

CATALOG = Catalog.read("""
epoch: 2026-03-02T06:00:00Z
extents:
  cars:
    declare: pushed (id:string, x:float, y:float, load:integer)
    position: {x: x, y: y}
    object: id
  driver:
    declare: stored (id:string, name:string)
    source: {table: [[a, Ann], [b, Bo]]}
regions:
  Zone: {on: plane, polygon: [[0, 0], [10, 0], [10, 10], [0, 10]]}
""")
ROWS = [
    (0, "a", 20.0, 0.0, 1),
    (1, "b", 0.0, 20.0, 2),
    (2, "a", 5.0, 5.0, 3),
    (4, "b", 5.0, 6.0, 4),
    (6, "a", 9, 20, 5),
]


def answers(text: str, **options: Any) -> list[dict[str, Any]]:
    """The answer rows of a map: their properties, with the coordinates of their geometry."""
    drawn = transom.compile(text, CATALOG, language="cql").map({"cars": ROWS}, **options)
    features = [e for e in json.loads(drawn.geojson)["features"] if e["properties"]["kind"] == "answer"]
    return [{**e["properties"], "at": e["geometry"] and e["geometry"]["coordinates"]} for e in features]


def marks(text: str, **options: Any) -> list[tuple[int, str, Any]]:
    """Tick, names and coordinates of the answer rows."""
    return [(row["tick"], row["name"], row["at"]) for row in answers(text, **options)]


ARRIVALS = "SELECT IStream(id) FROM cars [PARTITION BY id ROWS 1] WHERE INSIDE(g, Zone)"
LEAVING = "SELECT DStream(id) FROM cars [PARTITION BY id ROWS 1] WHERE INSIDE(g, Zone)"


def test_a_row_is_where_its_object_is_at_its_tick() -> None:
    assert marks(ARRIVALS) == [(2, "a", [5.0, 5.0]), (4, "b", [5.0, 6.0])]
    assert marks(LEAVING) == [(6, "a", [9.0, 20.0])]
    assert marks(ARRIVALS, at=3) == [(2, "a", [5.0, 5.0])]


def test_maps_of_different_queries_over_the_same_rows_differ() -> None:
    arriving, leaving = (transom.compile(text, CATALOG, language="cql") for text in (ARRIVALS, LEAVING))
    first, second = arriving.map({"cars": ROWS}).svg, leaving.map({"cars": ROWS}).svg
    assert "answer, with time: 2 rows" in first
    assert "answer, with time: 1 row" in second
    assert ">06:00:04<" in first
    assert "answer at 06:00:06, tick 6: id a" in second


def test_a_renamed_object_behind_a_join_is_known() -> None:
    joined = "cars AS c [PARTITION BY id ROWS 1] JOIN driver ON c.id = driver.id"
    text = f"SELECT IStream(c.id AS car, driver.name) FROM {joined}"
    assert marks(text)[0] == (0, "a", [20.0, 0.0])
    assert answers(text)[0]["values"] == {"car": "a", "driver.name": "Ann"}


def test_two_objects_of_a_row_are_connected() -> None:
    text = (
        "SELECT IStream(A.id, B.id) FROM cars AS A [PARTITION BY id ROWS 1], cars AS B [PARTITION BY id ROWS 1] "
        "WHERE A.id < B.id AND WITHIN(A.g, B.g, '2 m')"
    )
    assert marks(text) == [(4, "a, b", [[5.0, 5.0], [5.0, 6.0]])]
    svg = transom.compile(text, CATALOG, language="cql").map({"cars": ROWS}).svg
    assert svg.count('class="answer pair"') == 1
    assert "objects of the same answer row" in svg


def test_a_row_with_a_point_is_at_the_point() -> None:
    text = "SELECT RStream(Stamps(*)) FROM cars [RANGE '2 seconds', SLIDE '2 seconds'] WHERE id = 'a'"
    rows = answers(text)
    assert [(row["first_tick"], row["tick"], row["count"], row["at"]) for row in rows] == [
        (0, 2, 2, [20.0, 0.0]),
        (2, 4, 2, [5.0, 5.0]),
        (6, 6, 1, [9.0, 20.0]),
    ]
    assert [row["latest"] for row in rows] == [False, False, True]
    assert "earlier answers: 2 rows" in transom.compile(text, CATALOG, language="cql").map({"cars": ROWS}).svg


def test_coordinates_of_a_row_are_its_position() -> None:
    text = "SELECT RStream(id, x, y) FROM cars [RANGE '1 second', SLIDE '3 seconds'] WHERE id = 'a'"
    assert marks(text) == [(0, "a", [20.0, 0.0]), (3, "a", [5.0, 5.0]), (6, "a", [9.0, 20.0])]


def test_a_row_about_the_only_object_is_at_this_object() -> None:
    text = "SELECT RStream(MAX(load)) FROM cars [RANGE '9 seconds', SLIDE '4 seconds'] WHERE id = 'b'"
    assert [mark for mark in marks(text) if mark[0] == 4] == [(4, "b", [5.0, 6.0])]


def test_rows_without_a_position_are_counted() -> None:
    text = "SELECT RStream(MAX(load)) FROM cars [RANGE '9 seconds', SLIDE '4 seconds']"
    assert [mark[2] for mark in marks(text)] == [None, None]
    assert "2 answer rows without a position" in transom.compile(text, CATALOG, language="cql").map({"cars": ROWS}).svg


@pytest.mark.parametrize(
    "text", ["SELECT id FROM cars [PARTITION BY id ROWS 1]", "SELECT RStream(id) FROM cars [ROWS 1]"]
)
def test_relations_and_their_streams_mark_the_latest_answer(text: str) -> None:
    latest = [(row["name"], row["at"]) for row in answers(text) if row["latest"]]
    assert latest[-1] == ("a", [9.0, 20.0])


def test_many_rows_have_small_rings() -> None:
    many = [(tick, "a", tick * 1.0, 0.0, 1) for tick in range(80)]
    text = "SELECT RStream(Stamps(*)) FROM cars [RANGE '100 seconds', SLIDE '79 seconds']"
    svg = transom.compile(text, CATALOG, language="cql").map({"cars": many}).svg
    assert svg.count('class="answer crowded"') == 79 + 1
    assert "latest answer about each object" not in svg
    assert "latest answer" not in transom.compile(ARRIVALS, CATALOG, language="cql").map({"cars": ROWS}).svg
