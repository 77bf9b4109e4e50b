"""Rows in AIS, GPX and GeoJSON files."""

from __future__ import annotations

import json
import sys

import pytest
from pyais.encode import encode_dict

from transom.catalog import Catalog
from transom.connectors import open_stream, open_table
from transom.connectors.files.tracks import track_json_lines
from transom.errors import DataError, UsageError
from transom.model.bag import Element

SHIPS = "pushed (mmsi:integer, type:integer, lon:float, lat:float, sog:float, cog:float, heading:integer)"
GPX = """<?xml version="1.0" encoding="UTF-8"?>
<gpx version="1.1" creator="me" xmlns="http://www.topografix.com/GPX/1/1">
  <wpt lat="1" lon="2"><name>not of a track</name></wpt>
  <trk><name>morning</name><trkseg>
    <trkpt lat="47.5" lon="-8.25"><ele>410.5</ele><time>2009-01-01T00:00:10Z</time></trkpt>
    <trkpt lat="47.6" lon="8.75"><time>2009-01-01T00:00:20Z</time></trkpt>
  </trkseg><trkseg>
    <trkpt lat="47.7" lon="8.8"><time>2009-01-01T00:00:30Z</time></trkpt>
  </trkseg></trk>
  <trk><trkseg><trkpt lat="1" lon="2"><time>2009-01-01T00:00:05.5Z</time></trkpt></trkseg></trk>
</gpx>"""
POINTS = {
    "type": "FeatureCollection",
    "features": [
        {"type": "Feature", "id": "a", "properties": {"time": 3, "speed": 5},
         "geometry": {"type": "Point", "coordinates": [1, 2.5, 30]}},
        {"type": "Feature", "properties": {"time": "2009-01-01T00:00:02Z", "name": "x"},
         "geometry": {"type": "Point", "coordinates": [-1.5, 2]}},
    ],
}  # fmt: skip
LINE = {
    "type": "Feature",
    "properties": {"name": "x", "coordTimes": ["2009-01-01T00:00:01Z", "2009-01-01T00:00:03Z"]},
    "geometry": {"type": "LineString", "coordinates": [[1, 2], [3, 4]]},
}
FRONT = "2009-01-01T00:01:00Z "


def sentences(**values: object) -> list[str]:
    """The sentences of a message, as a receiver writes them."""
    given = {"mmsi": 219000001, "lon": 121.5, "lat": 29.25, "speed": 12.3, "course": 88.5, "heading": 90, **values}
    return encode_dict(given, talker_id="AI", sentence_type="VDM", radio_channel="A", seq_id=3)


def sentence(**values: object) -> str:
    [one] = sentences(**values)
    return one


@pytest.fixture
def read(tmp_path):
    def read(declaration: str, files: object, **contents: str):
        for name, content in contents.items():
            (tmp_path / name.replace("__", ".")).write_text(content, encoding="utf-8")
        catalog = Catalog.from_dict(
            {"epoch": "2009-01-01", "extents": {"it": {"declare": declaration, "source": {"files": files}}}},
            folder=tmp_path,
        )
        opened = open_table if declaration.startswith("stored") else open_stream
        return opened(catalog.extent("it"), catalog.calendar, tmp_path)

    return read


def refused(read, *args, **contents) -> DataError:
    with pytest.raises(DataError) as caught:
        read(*args, **contents)
    assert caught.value.hint
    return caught.value


def test_position_reports(read):
    lines = [
        f"\\s:station,c:1230768070*00\\{sentence(msg_type=1)}",
        FRONT + sentence(msg_type=18, mmsi=219000002, lon=-179.5, lat=-33.5),
        f"1230768065,{sentence(msg_type=3)}",
        f"{sentence(msg_type=27, speed=7, course=88)},1230768090",
        f"1230768064500\t{sentence(msg_type=9, speed=120)}",
        "",
        "# a remark",
        "$GPZDA,000100.00,01,01,2009,00,00*60",
        FRONT + sentence(msg_type=4),
    ]
    found = read(SHIPS, "a.nmea", a__nmea="\r\n".join(lines))
    assert [(e.tick, *e.row[:2]) for e in found] == [
        (60, 219000002, 18), (64, 219000001, 9), (65, 219000001, 3), (70, 219000001, 1), (90, 219000001, 27),
    ]  # fmt: skip
    assert found[0].row[2:4] == (-179.5, -33.5)
    assert found[3] == Element(70, 4, (219000001, 1, 121.5, 29.25, 12.3, 88.5, 90))
    assert found[4].row[2:] == (121.5, 29.25, 7.0, 88.0, None)


def test_what_a_transponder_does_not_know_is_null(read):
    text = FRONT + sentence(msg_type=1, lon=181, lat=91, speed=102.3, course=360, heading=511) + "\n"
    text += FRONT + sentence(msg_type=27, lon=181, lat=91, speed=63, course=511)
    assert [element.row[2:] for element in read(SHIPS, "a.ais", a__ais=text)] == [(None,) * 5] * 2


def test_messages_of_several_sentences(read):
    parts = sentences(msg_type=5, shipname="ANNA")
    assert len(parts) == 2
    text = "\n".join([FRONT + parts[0], FRONT + sentence(msg_type=1), FRONT + parts[1]])
    assert len(read(SHIPS, "a.nmea", a__nmea=text)) == 1
    error = refused(read, SHIPS, "b.nmea", b__nmea=FRONT + parts[1])
    assert "line 1: part 2 of a message whose other parts are missing" in str(error)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("hello", "line 2: no AIS sentence"),
        ("!AIVDM,1,1,,A,11mg=5@01s8d;e0@g:d3MBl;P000,0", "line 2: no AIS sentence"),
        ("!AIVDM,1,1,,A,11mg=5@01s8d;e0@g:d3MBl;P000,0*00", "line 2: a damaged sentence"),
        (sentence(msg_type=1), "line 2 of it: time: nothing is neither a tick nor an instant"),
        ("soon " + sentence(msg_type=1), "line 2 of it: time: 'soon' is not an instant"),
        ("9999999999999 " + sentence(msg_type=1), None),
    ],
)
def test_sentences_that_are_refused(read, line, message):
    text = f"{FRONT}{sentence(msg_type=1)}\n{line}"
    if message is None:
        assert len(read(SHIPS, "a.nmea", a__nmea=text)) == 2
    else:
        assert message in str(refused(read, SHIPS, "a.nmea", a__nmea=text))


def test_without_pyais(read, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyais", None)
    with pytest.raises(UsageError, match="needs pyais") as caught:
        read(SHIPS, "a.nmea", a__nmea=FRONT + sentence(msg_type=1))
    assert caught.value.hint == "in a checkout of Transom: pip install '.[ais]'"


def test_tracks_in_gpx(read):
    declaration = "pushed (track:string, segment:integer, lon:float, lat:float, ele:float, file:string)"
    assert read(declaration, "ride.gpx", ride__gpx=GPX) == [
        Element(5, 1, ("2", 1, 2.0, 1.0, None, "ride")),
        Element(10, 2, ("morning", 1, -8.25, 47.5, 410.5, "ride")),
        Element(20, 3, ("morning", 1, 8.75, 47.6, None, "ride")),
        Element(30, 4, ("morning", 2, 8.8, 47.7, None, "ride")),
    ]
    plain = GPX.replace(' xmlns="http://www.topografix.com/GPX/1/1"', "")
    assert len(read("pushed (lon:float)", {"path": "a.xml", "format": "gpx"}, a__xml=plain)) == 4


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("</gpx>", "", "the file is not XML"),
        ("<?xml", "<!DOCTYPE gpx [<!ENTITY a 'b'>]><?xml", "the file declares entities"),
        ("gpx", "kml", "the file is kml, not gpx"),
        ('lat="47.5"', 'lat="north"', "point 1: lat is 'north'"),
        ('lat="47.6"', "", "point 2: no lon or no lat"),
        ("<time>2009-01-01T00:00:20Z</time>", "", "point 2 of it: time: nothing is neither"),
    ],
)
def test_gpx_that_is_refused(read, old, new, message):
    assert message in str(refused(read, "pushed (lon:float)", "a.gpx", a__gpx=GPX.replace(old, new)))


def test_points_in_geojson(read):
    declaration = "pushed (id:string, lon:float, lat:float, ele:float, speed:integer, name:string, file:string)"
    expected = [
        Element(2, 1, (None, -1.5, 2.0, None, None, "x", "a")),
        Element(3, 2, ("a", 1.0, 2.5, 30.0, 5, None, "a")),
    ]
    assert read(declaration, "a.geojson", a__geojson=json.dumps(POINTS)) == expected
    lines = "\n".join(json.dumps(feature) for feature in POINTS["features"])
    assert read(declaration, "a.geojsonl", a__geojsonl=lines) == expected
    ports = read("stored (lon:float, name:string)", "a.geojson")
    assert ports[0].rows == ((1.0, None), (-1.5, "x"))


def test_lines_in_geojson(read):
    expected = [Element(1, 1, ("x", 1.0, 2.0)), Element(3, 2, ("x", 3.0, 4.0))]
    several = json.loads(json.dumps(LINE))
    several["geometry"] = {"type": "MultiLineString", "coordinates": [[[1, 2]], [[3, 4]]]}
    times = several["properties"].pop("coordTimes")
    several["properties"]["coordinateProperties"] = {"times": [times[:1], times[1:]]}
    for data in (LINE, several, {"type": "FeatureCollection", "features": [LINE]}):
        assert read("pushed (name:string, lon:float, lat:float)", "a.geojson", a__geojson=json.dumps(data)) == expected


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([1], "the file holds no features"),
        ({**LINE, "geometry": None}, "a feature without a geometry"),
        ({**LINE, "geometry": {"type": "Polygon", "coordinates": []}}, "a Polygon is no part of a track"),
        ({**LINE, "properties": {}}, "a line without times"),
        ({**LINE, "properties": {"times": [1]}}, "a line with 2 corners and 1 times"),
        ({**LINE, "geometry": {"type": "Point", "coordinates": [1]}}, "a place that is no list of two numbers"),
    ],
)
def test_geojson_that_is_refused(read, data, message):
    assert message in str(refused(read, "pushed (lon:float)", "a.geojson", a__geojson=json.dumps(data)))


def test_files_that_are_no_text(read, tmp_path):
    assert "the file is not JSON" in str(refused(read, "pushed (lon:float)", "a.geojson", a__geojson="{"))
    (tmp_path / "b.gpx").write_bytes(b"\xff\xfe")
    assert "not UTF-8" in str(refused(read, "pushed (lon:float)", "b.gpx"))
    assert read("pushed (lon:float)", "c.geojson", c__geojson='{"type": "FeatureCollection", "features": []}') == []


def test_rows_as_json_lines():
    found = [json.loads(line) for line in track_json_lines("gpx", GPX, "/far/away/ride.gpx")]
    assert found[1] == {"time": "2009-01-01T00:00:20Z", "lon": 8.75, "lat": 47.6, "ele": None,
                        "track": "morning", "segment": 1, "file": "ride"}  # fmt: skip
    assert len(found) == 4
