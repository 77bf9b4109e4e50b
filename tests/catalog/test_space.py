"""Positions, objects, speeds, hints and regions in a catalog."""

from __future__ import annotations

import json

import pytest

from tests.catalog.marked import says
from transom.catalog import Catalog
from transom.catalog.resolve.space import read_speed
from transom.errors import CatalogError, NameProblem
from transom.model.geometry.space import Position, Speed
from transom.model.time import Calendar

SHIPS = "extents:\n  ships:\n    declare: pushed (id:string, lon:float, lat:float, x:integer, at:timestamp)\n"
EARTH = SHIPS + "    position: {lon: lon, lat: lat}\n"
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}


def ships(entries: str) -> Catalog:
    return Catalog.read(SHIPS + entries)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{lon: lon, lat: lat}", Position("lon", "lat", True)),
        ("{x: lon, y: x}", Position("lon", "x", False, 1_000_000)),
        ("{x: x, unit: km}", Position("x", None, False, 1_000_000_000)),
        ("{x: x, unit: nautical miles}", Position("x", None, False, 1_852_000_000)),
    ],
)
def test_positions(entry: str, expected: Position) -> None:
    extent = ships(f"    position: {entry}\n    object: id\n").extent("ships")
    assert extent.position == expected
    assert extent.object == "id"


def test_hints_and_speeds() -> None:
    catalog = Catalog.read(
        "tick: 100 ms\n" + EARTH + "    max_speed: 60 kn\n    max_rows_per_key: 500\n"
        "    max_dwell: 2 min\n    forget_after: 1050 ms\n"
    )
    extent = catalog.extent("ships")
    assert extent.max_speed == Speed(9_260_000, 3)
    assert (extent.max_rows_per_key, extent.max_dwell, extent.forget_after) == (500, 1200, 11)
    assert ships("").extent("ships").position is None


@pytest.mark.parametrize(
    ("words", "metres", "seconds"),
    [
        ("200 km/h", 200_000, 3600),
        ("20 m/s", 20, 1),
        ("20 m per s", 20, 1),
        ("1 km / 2 min", 1000, 120),
        ("0.5 km per hour", 500, 3600),
        ("36 kmh", 10, 1),
        ("30 knots", 55_560, 3600),
        ("60 mph", 60 * 1609.344, 3600),
    ],
)
def test_spellings_of_speeds(words: str, metres: float, seconds: int) -> None:
    speed = read_speed(words, Calendar())
    assert speed.length * seconds == int(metres * 1_000_000) * speed.ticks
    assert read_speed(words, Calendar(100_000)).allows(int(metres * 1_000_000), seconds * 10)


@pytest.mark.parametrize("words", ["fast", "200", "200 km", "km/h", "-1 km/h", "0 m/s", "5 s/m", "1 km/", "1 m/0 s"])
def test_what_is_no_speed(words: str) -> None:
    says(EARTH + f"    max_speed: «'{words}'»\n", f"{words!r} is not a speed", "200 km/h")


@pytest.mark.parametrize(
    ("entries", "message", "hint"),
    [
        ("position: {lon: «lo», lat: lat}", "no attribute 'lo'", "did you mean lon"),
        ("position: {lon: lon, lat: «at»}", "the attribute at is of type timestamp", "an integer or a float"),
        ("position: «{lon: lon}»", "this position has no lat", "lat: lat"),
        ("position: «{y: lat}»", "this position has no x", "x: x"),
        ("position: «{}»", "this position has no x", "x: x"),
        ("position: {lon: lon, lat: lat, «unit»: m}", "unit cannot be combined with lon", None),
        ("position: {x: x, unit: «parsec»}", "no unit of length 'parsec'", "write one of m, km"),
        ("position: {x: x, «z»: lat}", "unknown entry 'z'", None),
        ("position: «lon»", "expected entries, not 'lon'", "lon: lon"),
        ("«object»: id", "object needs a position", "position: {"),
        ("«max_speed»: 5 m/s", "max_speed needs a position", "position: {"),
        ("position: {x: x}\n    object: «car»", "no attribute 'car'", "write one of id"),
        ("position: {x: x}\n    max_dwell: «soon»", "'soon' is not a length of time such as '5 min'", "1 min"),
        ("max_rows_per_key: «0»", "expected at least 1, not 0", None),
    ],
)
def test_what_does_not_fit_an_extent(entries: str, message: str, hint: str | None) -> None:
    says(f"{SHIPS}    {entries}\n", message, hint)


def test_tables_do_not_move() -> None:
    table = "extents:\n  ports:\n    declare: stored (name:string, lon:float, lat:float)\n    «{}»: {}\n"
    for key, value in (("position", "{lon: lon, lat: lat}"), ("object", "name"), ("forget_after", "1 d")):
        says(table.format(key, value), f"a stored extent has no {key}", "streams")


def test_regions_of_every_spelling(tmp_path) -> None:
    (tmp_path / "sea.geojson").write_text(
        json.dumps({"type": "FeatureCollection", "features": [
            {"type": "Feature", "properties": {"name": "Sea"}, "geometry": SQUARE},
            {"type": "Feature", "properties": {"name": "Point"}, "geometry": {"type": "Point", "coordinates": [0, 0]}},
        ]})
    )  # fmt: skip
    (tmp_path / "sea.wkt").write_text("POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))\n")
    regions = """
regions:
  A: {wkt: "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))"}
  B: {polygon: [[0, 0], [10, 0], [10, 10], [0, 10]]}
  C: {geojson: {type: Polygon, coordinates: [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}}
  D: {file: sea.geojson, feature: Sea}
  E: {file: sea.wkt}
  F: {file: sea.wkt, on: plane}
"""
    catalog = Catalog.read(EARTH + regions, folder=tmp_path)
    assert {region.polygons for region in catalog.regions.values()} == {catalog.region("A").polygons}
    assert [region.geodesic for region in catalog.regions.values()] == [True] * 5 + [False]
    assert [region.name for region in catalog.regions.values()] == list("ABCDEF")
    assert catalog.region("E").covers(370.0 - 360.0, 5.0)
    with pytest.raises(NameProblem, match="no region 'G'"):
        catalog.region("G")
    same = Catalog.from_dict(
        {"extents": {"it": "pushed (x:integer)"}, "regions": {"F": {"file": tmp_path / "sea.wkt"}}}
    )
    assert same.regions["F"] == catalog.regions["F"]


@pytest.mark.parametrize(
    ("region", "message", "hint"),
    [
        ("Zone: {wkt: '«POINT» (1 2)'}", "expected POLYGON or MULTIPOLYGON, not POINT", "POLYGON"),
        ("Zone: «{}»", "a region is one of wkt, geojson, polygon and file, not 0 of them", "wkt"),
        ("Zone: «{wkt: POLYGON EMPTY, file: a.wkt}»",
         "a region is one of wkt, geojson, polygon and file, not 2 of them", None),
        ("Zone: {polygon: «[[0, 0], [1, 1]]»}", "a ring has at least three corners", "polygon"),
        ("Zone: {polygon: [[0, 0], «[1, 1, 1]», [2, 5]]}", "a point is two numbers, not 3", "[10, 5]"),
        ("Zone: {polygon: [[0, 0], [1, «x»], [2, 5]]}", "expected a number, not 'x'", None),
        ("Zone: {polygon: «[[25, 120], [25, 125], [30, 125]]»}",
         "25 120 is not a longitude and a latitude", "come first"),
        ("Zone: {polygon: «[[0, 80], [120, 80], [-120, 80]]»}",
         "a ring goes around a pole: lead it along the antimeridian to the pole and back", "-180 90"),
        ("Zone: {geojson: «{type: Point, coordinates: [1, 2]}»}", "a region is made of polygons, not of a Point", None),
        ("Zone: {wkt: POLYGON EMPTY, «feature»: a}", "wkt has no feature", "GeoJSON"),
        ("Zone: {file: «zone.shp»}", "cannot tell the format of 'zone.shp'", ".geojson"),
        ("Zone: {file: «zone.wkt»}", "no file 'zone.wkt'", "relative"),
        ("Zone: {wkt: POLYGON EMPTY, on: «moon»}", "expected plane or earth, not 'moon'", "write one of plane, earth"),
        ("«Ships»: {wkt: POLYGON EMPTY}", "the name 'Ships' is taken", "'ships' is there already"),
        ("«5th»: {wkt: POLYGON EMPTY}", "'5th' cannot be the name of a region", "letters"),
    ],
)  # fmt: skip
def test_what_is_no_region(region: str, message: str, hint: str | None) -> None:
    says(f"{EARTH}regions:\n  {region}\n", message, hint)


def test_files_of_regions_that_are_none(tmp_path) -> None:
    (tmp_path / "broken.geojson").write_text("{")
    (tmp_path / "deep.geojson").write_text("[" * 100_000)
    (tmp_path / "latin.wkt").write_bytes(b"\xe9")
    (tmp_path / "point.wkt").write_text("POINT (1 2)")
    cases = {
        "{file: broken.geojson}": "'broken.geojson' is not JSON",
        "{file: deep.geojson}": "'deep.geojson' is not JSON",
        "{file: latin.wkt}": "cannot read 'latin.wkt'",
        "{file: point.wkt}": "expected POLYGON or MULTIPOLYGON, not POINT",
        "{file: point.wkt, feature: x}": "a file of WKT has no feature",
    }
    for region, message in cases.items():
        with pytest.raises(CatalogError) as caught:
            Catalog.read(f"{EARTH}regions:\n  Zone: {region}\n", folder=tmp_path)
        assert caught.value.message == message


def test_mixed_positions_need_a_word() -> None:
    mixed = EARTH + "  cars:\n    declare: pushed (x:float)\n    position: {x: x}\nregions:\n"
    says(mixed + "  Zone: «{polygon: [[0, 0], [1, 0], [1, 1]]}»\n",
         "some extents have positions on the plane and some on the earth", "on: plane")  # fmt: skip
    assert not Catalog.read(mixed + "  Zone: {on: plane, polygon: [[0, 0], [1, 0], [1, 1]]}\n").region("Zone").geodesic
