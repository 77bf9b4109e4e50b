"""A region that no row comes near is a warning, which asks whether longitude and latitude are swapped."""

from __future__ import annotations

import warnings

import pytest

import transom
from transom.errors import AnswerWarning

CATALOG = """
extents:
  fietsen:
    declare: pushed (id:string, lat:float, lon:float, speed:float)
    position: {lon: lon, lat: lat}
    object: id
regions:
  Binnenstad: {polygon: [[5.1, 52.07], [5.13, 52.07], [5.13, 52.12], [5.1, 52.12]]}
"""
PLANE = """
extents:
  cars: {declare: "pushed (id:string, x:float, y:float)", position: {x: x, y: y}, object: id}
regions:
  Depot: {polygon: [[0, 0], [10, 0], [10, 10], [0, 10]]}
"""
BOX = "no row of fietsen lies in the bounding box of Binnenstad (lon 5.1 to 5.13, lat 52.07 to 52.12); the rows span "
SWAPPED = [(0, "a", 5.11, 52.08, 1.0), (60, "a", 5.2, 52.11, 1.0), (70, "a", None, 52.0, 1.0)]
ELSEWHERE = [(0, "a", 51.0, 4.0, 1.0), (60, "a", 51.5, 4.25, 1.0)]
INSIDE = "SELECT RStream(id) FROM fietsen [NOW] WHERE INSIDE(g, Binnenstad)"
WINDOW = "SELECT RStream(COUNT(*)) FROM fietsen [RANGE BY Binnenstad RATTR SPACE, SLIDE '1 minute']"


def warned(text: str, rows: list[tuple[object, ...]], catalog: str = CATALOG, call: str = "simulate") -> list[str]:
    """The warnings about the answer of a query."""
    query = transom.compile(text, transom.Catalog.read(catalog), language="cql")
    (name,) = query.catalog.sources
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", AnswerWarning)
        getattr(query, call)({name: rows})
    return [str(warning.message) for warning in caught if warning.category is AnswerWarning]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", [INSIDE, WINDOW, INSIDE.replace("INSIDE", "NOT INSIDE")])
@pytest.mark.parametrize("call", ["simulate", "map"])
def test_the_rows_are_elsewhere(text: str, call: str) -> None:
    swapped = f"{BOX}lon 52.08 to 52.11, lat 5.11 to 5.2: are lon and lat swapped?"
    assert warned(text, SWAPPED, call=call) == [swapped]
    assert warned(text, ELSEWHERE, call=call) == [f"{BOX}lon 4 to 4.25, lat 51 to 51.5"]


@pytest.mark.filterwarnings("ignore")
def test_one_row_in_the_box_is_enough() -> None:
    assert warned(INSIDE, [*ELSEWHERE, (99, "b", 52.07, 5.1, 0.0)]) == []
    assert warned(INSIDE, []) == []
    assert warned(INSIDE, [(0, "a", None, 5.1, 0.0)]) == []


def test_regions_of_the_plane_have_x_and_y() -> None:
    text = "SELECT RStream(id) FROM cars [NOW] WHERE INSIDE(g, Depot)"
    found = warned(text, [(0, "a", 11.0, 5.0)], PLANE)
    assert found == [
        "no row of cars lies in the bounding box of Depot (x 0 to 10, y 0 to 10); the rows span x 11 to 11, y 5 to 5"
    ]


def test_points_of_other_columns_are_not_judged() -> None:
    """The region may be about a place that is not the position of the row."""
    text = "SELECT RStream(id) FROM cars [NOW] WHERE INSIDE(POINT(x, 0), Depot)"
    assert warned(text, [(0, "a", 11.0, 5.0)], PLANE) == []
