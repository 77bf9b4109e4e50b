"""Regions read from WKT and GeoJSON, compared with what shapely reads, and what is refused."""

from __future__ import annotations

import json

import pytest
import shapely
from shapely.geometry import mapping, shape

from tests.model.polygons import samples
from transom.model.geometry.regions import Region
from transom.model.geometry.shapes import ShapeProblem, from_geojson, from_wkt

BOX = "POLYGON ((0 0, 10 0, 10 10, 0 10, 0 0))"
SQUARE = {"type": "Polygon", "coordinates": [[[0, 0], [10, 0], [10, 10], [0, 10], [0, 0]]]}
TWO = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "id": 7, "properties": {"name": "East"}, "geometry": SQUARE},
        {
            "type": "Feature",
            "properties": {"NAME": "West"},
            "geometry": {"type": "MultiPolygon", "coordinates": [[[[-9, 0, 5], [-8, 0, 5], [-8, 1, 5], [-9, 0, 5]]]]},
        },
    ],
}


@pytest.mark.parametrize("name", ["holes", "islands", "touching hole"])
def test_what_shapely_writes_is_read(name: str) -> None:
    sample = samples()[name]
    written = shapely.MultiPolygon([(polygon[0], list(polygon[1:])) for polygon in sample.plain])
    assert from_wkt(name, written.wkt).polygons == tuple(
        tuple(tuple(ring.coords) for ring in (one.exterior, *one.interiors))
        for one in shapely.from_wkt(written.wkt).geoms
    )
    assert from_geojson(name, json.loads(json.dumps(mapping(written))), geodesic=False) == sample.region


@pytest.mark.parametrize(
    "text",
    [
        BOX,
        "polygon((0 0,10 0,10 10,0 10,0 0))",
        "SRID=4326;POLYGON Z ((0 0 1, 10 0 1, 10 10 1, 0 10 1, 0 0 1))",
        " MULTIPOLYGON (((0 0, 1e1 0, +10 10.0, .0 10, 0 0)))  ",
    ],
)
def test_spellings_of_wkt(text: str) -> None:
    region = from_wkt("box", text)
    assert region == from_wkt("box", BOX)
    assert shape(SQUARE).equals(shapely.Polygon(region.polygons[0][0]))


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ("POINT (1 2)", "expected POLYGON or MULTIPOLYGON, not POINT", "POINT"),
        ("POLYGON EMPTY", "an empty region", "EMPTY"),
        ("POLYGON Q ((0 0))", "did not expect Q", "Q"),
        ("POLYGON ((0 0, 1 x, 2 2, 0 0))", "expected a number, not 'x'", "x"),
        ("POLYGON ((0 0, 1 1, 2 2, 0 0)", "expected , or ), not the end", ")"),
        ("POLYGON ((0 0, 1 1, 2 2, 0 0)) ; DROP", "did not expect '; DROP'", "; DROP"),
        ("POLYGON (0 0, 1 1)", "expected (, not '0'", "0"),
        ("", "expected POLYGON or MULTIPOLYGON, not the end", ""),
        ("POLYGON ((0 0, 1 ?))", "expected a number, not '?'", "?"),
    ],
)
def test_wkt_that_is_none(text: str, message: str, place: str) -> None:
    with pytest.raises(ShapeProblem) as problem:
        from_wkt("zone", text)
    assert str(problem.value) == message
    assert text[problem.value.start : problem.value.end] == place if text else True


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("POLYGON ((0 0, 1 1, 0 0))", "a ring has at least three corners"),
        ("POLYGON ((0 0, 1 1, 2 2, 3 0))", "a ring ends where it begins, not at 3 0"),
        ("POLYGON ((0 0, 1e999 1, 2 2, 0 0))", "a corner at inf 1 is out of range"),
        ("POLYGON ((0 0, 1 91, 2 2, 0 0))", "1 91 is not a longitude and a latitude"),
        ("POLYGON ((0 80, 120 80, -120 80, 0 80))", "a ring goes around a pole"),
    ],
)
def test_rings_that_are_none(text: str, message: str) -> None:
    with pytest.raises(ShapeProblem, match=message):
        from_wkt("zone", text, geodesic=True)


def test_features_are_chosen_by_name() -> None:
    whole = from_geojson("both", TWO)
    assert len(whole.polygons) == 2
    assert whole.geodesic
    for name in ("East", "7"):
        assert from_geojson("east", TWO, feature=name).polygons == whole.polygons[:1]
    assert from_geojson("west", TWO, feature="West").covers(-8.0, 0.5)
    assert from_geojson("one", TWO["features"][0], feature="East") == Region("one", whole.polygons[:1], True)  # type: ignore[index]
    collection = {"type": "GeometryCollection", "geometries": [SQUARE, SQUARE]}
    assert len(from_geojson("twice", collection).polygons) == 2


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (TWO, "no feature is called 'North'; there are 7, West"),
        ({"type": "FeatureCollection", "features": []}, "no feature is called 'North'"),
        (TWO["features"][0], "the feature is not called 'North'"),  # type: ignore[index]
        ({"type": "Point", "coordinates": [1, 2]}, "a region is made of polygons, not of a Point"),
        ([1, 2], "expected GeoJSON"),
        ({"type": "Polygon", "coordinates": []}, "a polygon is a list of rings"),
        ({"type": "Polygon", "coordinates": [3]}, "a ring is a list of points"),
        ({"type": "Polygon", "coordinates": [[[1, True]]]}, "a point is a list of two numbers"),
        ({"type": "Polygon", "coordinates": [[[1, 10**400]]]}, "a coordinate is too large"),
        ({"type": "GeometryCollection", "geometries": []}, "a region without a polygon"),
    ],
)
def test_geojson_that_is_none(data: object, message: str) -> None:
    with pytest.raises(ShapeProblem, match=message):
        from_geojson("zone", data, feature="North")
