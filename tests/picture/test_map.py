"""Maps: what they show is what the reference engine says, and they stand on their own."""

from __future__ import annotations

import json
import random
import re
from xml.etree import ElementTree

import pytest

import transom
from transom.catalog import Catalog
from transom.errors import UsageError
from transom.model.geometry.shapes import from_geojson
from transom.model.time import Calendar
from transom.picture.map.chart import caption_lines, map_clock, map_frame
from transom.picture.map.colours import SPEED_COLOURS
from transom.picture.map.content import MapContent
from transom.picture.map.frame import LEFT, PLOT_WIDTH, unwrap_longitudes
from transom.picture.map.tracks import gather_map_content
from transom.picture.svg import text_width

CATALOG = Catalog.read("""
extents:
  cars:
    declare: pushed (id:string, x:float, y:float)
    position: {x: x, y: y, unit: km}
    object: id
  train: {declare: 'pushed (km:float)', position: {x: km, unit: km}}
  ships: {declare: 'pushed (lon:float, lat:float)', position: {lon: lon, lat: lat}}
  wind: pushed (speed:float)
regions:
  Zone: {on: plane, polygon: [[0, 0], [10, 0], [10, 10], [0, 10]]}
  Depot: {on: plane, polygon: [[20, 0], [30, 0], [30, 10]]}
  Fiji: {on: earth, polygon: [[177, -19], [-179, -19], [-179, -16], [177, -16]]}
""")
CARS = [
    (0, "a", 0, 0),
    (1, "b", 20, 20),
    (2, "a", 3, 4),
    (4, "a", 9, 12),
    (5, "a", None, 1),
    (6, "a", 9, 2),
    (8, "b", 1, 1),
]
BY_DISTANCE = (
    "SELECT RStream(id, COUNT(*)) FROM cars [PARTITION BY id RANGE BY '10 km' RATTR SPACE, "
    "SLIDE BY '5 km' SATTR SPACE] GROUP BY id"
)
INSIDE = "SELECT IStream(id) FROM cars [RANGE BY Zone RATTR SPACE]"


def query(text: str) -> transom.Query:
    return transom.compile(text, CATALOG, language="cql")


def shown(text: str, extent: str, rows: list, at: int | None = None):
    asked = query(text)
    inputs = asked.inputs({extent: rows})
    return gather_map_content(asked.algebra, inputs, asked.sources, CATALOG, at, asked.evaluate(inputs))


def held(text: str, at: int | None = None) -> dict[str, list[int]]:
    found = shown(text, "cars", CARS, at)
    return {way.name: [spot.tick for spot in way.points if spot.in_window] for way in found.tracks}


def test_ways_follow_objects_and_leave_out_rows_without_a_place() -> None:
    ways = {way.name: way.points for way in shown(BY_DISTANCE, "cars", CARS).tracks}
    assert [(s.tick, s.distance // 10**9) for s in ways["a"]] == [(0, 0), (2, 5), (4, 15), (6, 25)]
    assert [s.tick for s in ways["b"]] == [1, 8]


def test_rejected_rows_are_marked_and_not_part_of_the_way() -> None:
    """What a map sums is what PATHLENGTH gives: rows beyond max_speed are crosses, counted, and on no line."""
    limited = Catalog.read("""
extents:
  cars:
    declare: pushed (id:string, x:float, y:float)
    position: {x: x, y: y, unit: km}
    object: id
    max_speed: 3600 km/h
""")
    rows = [(0, "a", 0, 0), (5, "a", 3, 4), (6, "a", 500, 500), (7, "a", 500, 501), (10, "a", 6, 8), (0, "b", 1, 1)]
    text = "SELECT RStream(id, PathLength(cars) AS way) FROM cars [PARTITION BY id RANGE UNBOUNDED] GROUP BY id"
    asked = transom.compile(text, limited, language="cql")
    answer = asked.simulate({"cars": rows}).elements[-1].row
    found = asked.map({"cars": rows})
    features = json.loads(found.geojson)["features"]
    tracks = {one["properties"]["name"]: one for one in features if one["properties"]["kind"] == "track"}
    assert tracks["a"]["properties"]["metres"] == 10_000.0 == answer[1]
    assert tracks["a"]["geometry"]["coordinates"] == [[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]
    rejected = [one for one in features if one["properties"]["kind"] == "rejected"]
    assert [(one["properties"]["tick"], one["geometry"]["coordinates"]) for one in rejected] == [
        (6, [500.0, 500.0]),
        (7, [500.0, 501.0]),
    ]
    assert "a: 3 rows, 10.000 km; 2 rejected" in found.svg
    assert "beyond max_speed: 2 rows" in found.svg
    assert found.svg.count('class="rejected"') == 3, "one of them in the legend"
    assert "max_speed" not in asked.map({"cars": rows[:2]}).svg


def test_the_window_in_force() -> None:
    assert held(BY_DISTANCE) == {"a": [4, 6], "b": []}
    assert held(BY_DISTANCE, at=3) == {"a": [0, 2], "b": [1]}
    assert held(INSIDE) == {"a": [0, 2, 6], "b": [8]}
    assert held(INSIDE, at=2) == {"a": [0, 2], "b": []}


def test_marks_stand_where_the_window_slid() -> None:
    marks = shown(BY_DISTANCE, "cars", CARS).marks
    assert [(m.tick, m.x, m.y, m.label) for m in marks if m.label.startswith(("5 km", "15 km"))] == [
        (2, 3.0, 4.0, "5 km at tick 2"),
        (4, 9.0, 12.0, "15 km at tick 4"),
    ]
    assert shown(INSIDE, "cars", CARS).marks == ()


def test_regions_of_the_same_kind_are_drawn() -> None:
    lands = {land.name: land.in_query for land in shown(INSIDE, "cars", CARS).regions}
    assert lands == {"Zone": True, "Depot": False}


@pytest.mark.parametrize("colour", ["object", "speed"])
def test_a_drawing_stands_on_its_own(colour, tmp_path) -> None:
    found = query(BY_DISTANCE).map({"cars": CARS}, at=6, colour=colour)
    root = ElementTree.fromstring(found.svg)  # noqa: S314 - our own
    names = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert {"polyline", "circle", "path", "text"} <= names
    assert not re.search(r"(href|src|url\((?!#))", found.svg)
    assert found.svg in found.html
    assert "http" not in found.html.replace("http://www.w3.org/2000/svg", "")
    assert "{{" not in found.html
    assert found._repr_svg_() == found.svg
    for ending in ("svg", "html", "geojson"):
        found.save(tmp_path / f"map.{ending}")
        assert (tmp_path / f"map.{ending}").stat().st_size > 1000
    with pytest.raises(UsageError, match="no name for a map"):
        found.save(tmp_path / "map.jpg")


def test_names_are_escaped() -> None:
    rows = [(0, "<b>&", 0, 0), (1, "<b>&", 1, 1)]
    svg = query(BY_DISTANCE).map({"cars": rows}).svg
    assert "<b>" not in svg
    assert "&lt;b&gt;&amp;" in svg


def test_features() -> None:
    data = json.loads(query(BY_DISTANCE).map({"cars": CARS}).geojson)
    kinds = [feature["properties"]["kind"] for feature in data["features"]]
    assert kinds[:4] == ["region", "region", "track", "track"]
    assert set(kinds[4:]) == {"window", "mark", "answer"}
    assert from_geojson("all", data["features"][0], geodesic=False).polygons == CATALOG.region("Zone").polygons
    track = data["features"][2]
    assert track["properties"]["metres"] == 25_000
    assert track["properties"]["coordTimes"][1] == "1970-01-01T00:00:02+00:00"


def test_across_the_antimeridian() -> None:
    assert unwrap_longitudes([179.0, -179.0, 178.0], 179.0) == [179.0, 181.0, 178.0]
    assert unwrap_longitudes([-179.0], 170.0) == [181.0]
    rows = [(0, 178.0, -17.0), (1, -179.5, -17.5), (2, 179.5, -18.0)]
    asked = query("SELECT IStream(lon) FROM ships [RANGE BY Fiji RATTR SPACE]")
    points = re.findall(r'<polyline points="([^"]*)"', asked.map({"ships": rows}).svg)
    xs = [float(pair.split(",")[0]) for pair in points[0].split()]
    assert xs[0] < xs[2] < xs[1]
    assert xs[1] - xs[0] < 760


def test_places_on_a_line_are_drawn_over_time() -> None:
    found = shown("SELECT RStream(km) FROM train [RANGE '2 seconds', SLIDE '1 seconds']", "train", [(0, 1.0), (3, 5.0)])
    assert found.line
    assert [(s.x, s.y) for s in found.tracks[0].points] == [(1.0, 0.0), (5.0, 3.0)]
    assert found.regions == ()


def test_axes_and_the_scale_bar_have_units() -> None:
    plane = query(BY_DISTANCE).map({"cars": CARS}).svg
    assert ">20 km<" in plane
    assert re.search(r">5 km</text></g>", plane)
    ships = query("SELECT IStream(lon) FROM ships [ROWS 1]").map({"ships": [(0, 10.0, 54.0), (60, 11.0, 54.5)]}).svg
    assert ">54.2°N<" in ships
    assert re.search(r">\d+ km at 54°N<", ships)
    line = query("SELECT RStream(km) FROM train [ROWS 1]").map({"train": [(0, 1.0), (30, 5.0)]}).svg
    assert ">2 km<" in line
    assert ">10 s<" in line


def test_speeds_have_round_classes_from_light_to_dark() -> None:
    svg = query(BY_DISTANCE).map({"cars": CARS}, colour="speed").svg
    assert "speed in km/h:" in svg
    assert [limit for limit in ("0 – 2500", "2500 – 5000", "10000 or more") if f">{limit}<" not in svg] == []
    light = [sum(int(colour[i : i + 2], 16) for i in (1, 3, 5)) for colour in SPEED_COLOURS]
    assert light == sorted(light, reverse=True)


def test_labels_lie_on_the_map_and_not_on_one_another() -> None:
    svg = query(BY_DISTANCE).map({"cars": CARS}).svg
    root = ElementTree.fromstring(svg)  # noqa: S314 - our own
    labels = next(e for e in root.iter() if e.get("class") == "labels")
    boxes = [
        (float(e.get("x", "")), float(e.get("y", "")), text_width(e.text or "", float(e.get("font-size", ""))))
        for e in labels
    ]
    assert {e.text for e in labels} >= {"a", "b", "Zone", "Depot"}
    for number, (x, y, width) in enumerate(boxes):
        assert x > 0
        assert x + width < float(root.get("width", ""))
        for other_x, other_y, other_width in boxes[number + 1 :]:
            assert abs(y - other_y) > 11 or x + width < other_x or other_x + other_width < x
    assert all(e.get("paint-order") == "stroke" for e in labels)


def test_a_region_nearby_is_shown_whole() -> None:
    content = shown(INSIDE, "cars", CARS)
    frame = map_frame(content, CATALOG.calendar)
    for region in content.regions:
        outline = frame.outline(region.polygons[0][0])
        assert all(LEFT <= x <= LEFT + PLOT_WIDTH and frame.plot_top <= y <= frame.bottom for x, y in outline)


def test_the_caption_says_window_and_time_in_words() -> None:
    svg = query(BY_DISTANCE).map({"cars": CARS}, at=6).svg
    assert "as of tick 6 (6 s)" in svg
    assert "cars: every 5 km of path a window with the tuples of the last 10 km of path, for each id" in svg


def test_the_slider_shows_the_window_at_each_stop() -> None:
    asked = query(BY_DISTANCE)
    page = asked.map({"cars": CARS}).html
    data = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1])  # type: ignore[index]
    assert data["stops"] == list(range(9))
    track = data["tracks"][0]
    for number, stop in enumerate(data["stops"]):
        at_stop = [
            tick for tick, ranges in zip(track["ticks"], track["held"]) if any(a <= number <= b for a, b in ranges)
        ]
        assert at_stop == held(BY_DISTANCE, at=stop)["a"]
    assert re.search(r'<input type="range" id="time" min="0" max="8" value="8"', page)


def test_positions_in_different_units_are_refused() -> None:
    text = "SELECT RStream(cars.id) FROM cars [ROWS 1], vans [ROWS 1] WHERE cars.id = vans.id"
    mixed = Catalog.read("""
extents:
  cars: {declare: 'pushed (id:string, x:float, y:float)', position: {x: x, y: y, unit: km}}
  vans: {declare: 'pushed (id:string, x:float, y:float)', position: {x: x, y: y, unit: m}}
""")
    with pytest.raises(UsageError, match="positions in different units"):
        transom.compile(text, mixed, language="cql").map({"cars": [], "vans": []}, until=1)


def test_what_has_no_map() -> None:
    with pytest.raises(UsageError, match="nothing that the query reads has a position"):
        query("SELECT RStream(speed) FROM wind [ROWS 2]").map({"wind": [(0, 1.0)]})
    empty = query(INSIDE).map({"cars": []}, until=5)
    ElementTree.fromstring(empty.svg)  # noqa: S314 - our own


def test_a_long_caption_ends_with_an_ellipsis() -> None:
    content = MapContent((), (), (), 3, ("a window " * 40, *("cars: every second a window",) * 5), False, False)
    lines = caption_lines(content, map_clock(content, Calendar()))
    assert lines[0] == "as of tick 3 (3 s)"
    assert len(lines[1]) <= 125
    assert lines[1].endswith(" …")
    assert lines[3] == "and 4 more windows"


@pytest.mark.parametrize("seed", range(24))
def test_any_positions_make_a_map(seed: int) -> None:
    """Poles, equal and huge coordinates, no rows or a single row: each map is well formed and has no NaN."""
    draw = random.Random(seed)
    extent = draw.choice(["cars", "ships"])
    text = {
        "cars": BY_DISTANCE,
        "ships": "SELECT IStream(lon, lat) FROM ships [RANGE '3 seconds', SLIDE '2 seconds']",
    }[extent]
    plane = [0.0, -0.0, 1e-9, 5.0, 1e15, -1e9, None]
    earth = [0.0, 90.0, -90.0, 89.99, 45.0, None]
    rows = []
    for tick in range(draw.choice([0, 1, 2, 6])):
        numbers = [draw.choice(plane if extent == "cars" else earth) for _ in range(2)]
        rows.append((tick, *(["a"] if extent == "cars" else []), *numbers))
    found = query(text).map({extent: rows}, until=9, colour=draw.choice(["object", "speed"]))
    ElementTree.fromstring(found.svg)  # noqa: S314 - our own
    assert "nan" not in found.svg
    assert json.loads(found.geojson)["type"] == "FeatureCollection"
