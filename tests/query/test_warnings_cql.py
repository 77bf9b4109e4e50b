"""Warnings about CQL queries, and windows that hints suggest."""

from __future__ import annotations

import re
import warnings

import pytest

import transom
from transom.catalog.catalog import Catalog
from transom.errors import LanguageRule

OVERLAP = (
    "the window is one longer than its slide, so a row on the boundary is in two windows; "
    "for windows that do not overlap write"
)
TWO_DAYS = "[RANGE BY '172799 seconds' RATTR TIME, SLIDE BY '172800 seconds' SATTR TIME]"
ACROSS = (
    "distances are measured from row to row of gps, across all objects; "
    "declare its `object` in the catalog and write PARTITION BY, or declare keys: 1"
)
TRACKS = """
extents:
  gps: {declare: "pushed (id:string, x:float, y:float)", position: {x: x, y: y, unit: m}, MORE}
"""


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ("[RANGE '1 minute', SLIDE '1 minute']", f"{OVERLAP} [RANGE '59 seconds', SLIDE '60 seconds']"),
        ("[RANGE BY '2 days' RATTR TIME, SLIDE BY '2 days' SATTR TIME]", f"{OVERLAP} {TWO_DAYS}"),
        (
            "[PARTITION BY id RANGE '2 hours', SLIDE '2 hours']",
            f"{OVERLAP} [PARTITION BY id RANGE '7199 seconds', SLIDE '7200 seconds']",
        ),
        ("[RANGE '59 seconds', SLIDE '60 seconds']", None),
        ("[RANGE '1 second']", None),
        ("[ROWS 5 SLIDE 5]", None),
        ("[PARTITION BY id RANGE BY '1 km' RATTR SPACE, SLIDE BY '1 km' SATTR SPACE]", None),
        ("[RANGE BY '1 km' RATTR SPACE, SLIDE BY '500 m' SATTR SPACE]", ACROSS),
        ("[RANGE '1 minute', SLIDE BY '500 m' SATTR SPACE]", ACROSS),
    ],
)
def test_windows_that_mislead(window: str, words: str | None) -> None:
    text = f"SELECT RStream(id) FROM gps {window}"
    query = transom.compile(text, Catalog.read(TRACKS.replace(", MORE", "")), language="cql")
    assert [remark.message for remark in query.warnings] == ([] if words is None else [words])
    for remark in query.warnings:
        assert text[remark.span.start : remark.span.end] == window


@pytest.mark.parametrize(("tick", "width"), [("1 ms", "59999 ms"), ("100 ms", "59900 ms"), ("1 us", "59999999 us")])
@pytest.mark.parametrize("window", ["NOW-59 TO NOW", "NOW-60 TO NOW", "NOW-60 TO NOW-1"])
def test_a_tick_shorter_than_a_second_has_its_tumbling_window_in_cql(window: str, tick: str, width: str) -> None:
    catalog = Catalog.read(f"tick: {tick}\nextents:\n  gps: pushed (id:string)\n")
    with pytest.warns(transom.errors.QueryWarning) as caught:
        transom.compile(f"SELECT COUNT(*) AS n FROM gps [FROM {window} SLIDE 60 SEC]", catalog, language="sneeql")
    [message] = (str(warning.message) for warning in caught)
    better = f"[RANGE '{width}', SLIDE '60 seconds']"
    assert f"write the query in CQL with {better}, because SNEEql has no unit shorter than SEC" in message
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        query = transom.compile(f"SELECT COUNT(*) AS n FROM gps {better}", catalog, language="cql")
    [ticks_per_slide] = {catalog.calendar.ticks(60_000_000)}
    row_ticks = [0, 1, ticks_per_slide - 1, ticks_per_slide, ticks_per_slide + 1, 2 * ticks_per_slide]
    answer = query.simulate({"gps": [(row_tick, "a") for row_tick in row_ticks]}, until=2 * ticks_per_slide)
    assert [window.rows for window in answer.windows] == [((1,),), ((3,),), ((2,),)]  # each row is in one window


@pytest.mark.parametrize(
    ("window", "better"),
    [
        ("RANGE '59 seconds', SLIDE '60 seconds'", "RANGE '59999 milliseconds', SLIDE '60000 milliseconds'"),
        ("RANGE '58 seconds', SLIDE '60 seconds'", None),
        ("RANGE '59999 ms', SLIDE '60 seconds'", ""),
    ],
)
def test_a_gap_shorter_than_the_unit_of_its_window_is_hardly_meant(window: str, better: str | None) -> None:
    catalog = Catalog.read("tick: 1 ms\nextents:\n  gps: pushed (id:string)\n")
    query = transom.compile(f"SELECT RStream(id) FROM gps [{window}]", catalog, language="cql")
    gap = "rows between two windows are in none of them"
    expected = [gap] if better is None else [f"{gap}; for windows without a gap write [{better}]"] if better else []
    assert [remark.message for remark in query.warnings] == expected


def test_one_object_needs_no_partition() -> None:
    text = "SELECT RStream(id) FROM gps [RANGE BY '1 km' RATTR SPACE, SLIDE BY '500 m' SATTR SPACE]"
    assert not transom.compile(text, Catalog.read(TRACKS.replace("MORE", "keys: 1")), language="cql").warnings


SPEED_OF_MANY = (
    "max_speed of gps compares the positions of different objects, and rejects rows by mistake; "
    "name the column of the object in the catalog, as in `object: id`, or declare keys: 1 if there is only one"
)


@pytest.mark.parametrize(
    ("more", "text", "words"),
    [
        ("max_speed: 90 km/h", "SELECT RStream(id) FROM gps [NOW]", [SPEED_OF_MANY]),
        ("max_speed: 90 km/h", "SELECT RStream(a.id) FROM gps [NOW] AS a, gps [NOW] AS b", [SPEED_OF_MANY]),
        ("max_speed: 90 km/h, keys: 6", "SELECT RStream(id) FROM gps [NOW]", [SPEED_OF_MANY]),
        ("max_speed: 90 km/h, keys: 1", "SELECT RStream(id) FROM gps [NOW]", []),
        ("max_speed: 90 km/h, object: id", "SELECT RStream(id) FROM gps [NOW]", []),
        ("keys: 6", "SELECT RStream(id) FROM gps [NOW]", []),
    ],
)
def test_a_speed_limit_needs_the_object(more: str, text: str, words: list[str]) -> None:
    query = transom.compile(text, Catalog.read(TRACKS.replace("MORE", more)), language="cql")
    assert [remark.message for remark in query.warnings] == words
    assert all(text[remark.span.start : remark.span.end] == "gps" for remark in query.warnings)


def test_a_speed_limit_needs_the_object_in_sneeql() -> None:
    query = transom.compile("SELECT id FROM gps", Catalog.read(TRACKS.replace("MORE", "max_speed: 90 km/h")))
    assert [remark.message for remark in query.warnings] == [SPEED_OF_MANY]


GPS = """
extents:
  gps:
    declare: pushed (id:string, east:float, north:float, lat:float, lon:float)
    position: {lon: east, lat: north}
    object: id
"""
LONGITUDE_FIRST = "the longitude comes first in POINT: write POINT"


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("WITHIN(g, POINT(lat, lon), '5 km')", [f"{LONGITUDE_FIRST}(lon, lat)"]),
        ("WITHIN(g, POINT(north, gps.east), '5 km')", [f"{LONGITUDE_FIRST}(gps.east, north)"]),
        ("WITHIN(g, POINT(lon, lat), '5 km')", []),
        ("WITHIN(g, POINT(north, 8.5), '5 km')", []),
        ("WITHIN(g, POINT(north, lat), '5 km')", []),
    ],
)
def test_a_latitude_before_a_longitude(condition: str, words: list[str]) -> None:
    text = f"SELECT RStream(id) FROM gps [NOW] WHERE {condition}"
    query = transom.compile(text, Catalog.read(GPS), language="cql")
    assert [remark.message for remark in query.warnings] == words
    for remark in query.warnings:
        assert text[remark.span.start : remark.span.end].startswith("POINT(")


def test_a_latitude_before_a_longitude_is_warned_of_once() -> None:
    text = "SELECT POINT(lat, lon), COUNT(*) FROM gps [NOW] GROUP BY POINT(lat, lon)"
    query = transom.compile(text, Catalog.read(GPS), language="cql")
    assert len({remark.span for remark in query.warnings}) == len(query.warnings) == 2


DISTANCE_WINDOW = "RANGE BY '1 km' RATTR SPACE, SLIDE BY '500 m' SATTR SPACE]"
ALL_OBJECTS = "PATHLENGTH follows one path through the rows of all objects; write PARTITION BY id in the window"
MIXED = "distances are measured from row to row of s, across all objects; write PARTITION BY in its window"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SELECT PATHLENGTH(R) FROM R=gps [RANGE '1 hour']", [ALL_OBJECTS]),
        ("SELECT PATHLENGTH(R) FROM R=gps [RANGE '1 hour'] WHERE R.id = 'a'", []),
        ("SELECT id, PATHLENGTH(R) FROM R=gps [RANGE '1 hour'] GROUP BY id", []),
        ("SELECT PATHLENGTH(R) FROM R=gps [PARTITION BY id RANGE '1 hour']", []),
        (f"SELECT * FROM (SELECT RStream(*) FROM gps [NOW]) AS s [{DISTANCE_WINDOW}", [MIXED]),
        (f"SELECT * FROM (RStream(SELECT * FROM gps [NOW])) AS s [{DISTANCE_WINDOW}", [MIXED]),
        (f"SELECT * FROM (SELECT RStream(*) FROM gps [NOW]) AS s [PARTITION BY id {DISTANCE_WINDOW}", []),
        (f"SELECT * FROM (SELECT RStream(*) FROM gps [NOW] WHERE id = 'a') AS s [{DISTANCE_WINDOW}", []),
    ],
)
def test_a_path_through_the_rows_of_several_objects(text: str, words: list[str]) -> None:
    """Such a path jumps from one object to the next."""
    assert [remark.message for remark in transom.compile(text, Catalog.read(GPS), language="cql").warnings] == words


FAR = "RStream(AvgSpd(gps)) FROM gps [PARTITION BY id RANGE BY '1 km' RATTR SPACE, SLIDE BY '1 km' SATTR SPACE]"


@pytest.mark.parametrize(("length", "warned"), [("1 km", True), ("3 km", False)])
def test_a_range_shorter_than_the_way_between_rows_has_no_speed(length: str, warned: bool) -> None:
    catalog = Catalog.read(TRACKS.replace("MORE", "object: id"))
    query = transom.compile(f"SELECT {FAR.replace('1 km', length)}", catalog, language="cql")
    rows = [{"tick": 10 * n, "id": "a", "x": 1900.0 * n, "y": 0.0} for n in range(4)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answer = query.simulate({"gps": rows})
    assert bool(answer.elements) is not warned
    expected = "query:1:16: every window has rows of one tick only, and a speed needs two: write a longer range"
    assert [str(warning.message) for warning in caught] == [expected] * warned


def test_no_rows_are_no_reason_to_warn_of_their_speed() -> None:
    catalog = Catalog.read(TRACKS.replace("MORE", "object: id"))
    assert transom.compile(f"SELECT {FAR}", catalog, language="cql").simulate({"gps": []}).elements == ()


@pytest.mark.parametrize(
    ("tick", "language", "exact"),
    [
        ("1 s", "cql", True),
        ("1 s", "sneeql", True),
        ("250 ms", "cql", True),
        ("250 ms", "sneeql", False),
        ("7 s", "cql", True),
    ],
)
def test_the_window_of_a_hint_replaces_that_of_spark(tick: str, language: str, exact: bool) -> None:
    """It compiles without a warning, so windows that do not overlap in Spark do not overlap here."""
    catalog = Catalog.read(f"tick: {tick}\nextents:\n  gps: {{declare: 'pushed (id:string)'}}")
    with pytest.raises(LanguageRule) as caught:
        transom.compile("SELECT COUNT(*) FROM gps GROUP BY window(t, '7 minutes')", catalog, language=language)
    hint = caught.value.hint or ""
    window = re.search(r"gps \[.*\]", hint)
    assert window is not None
    assert ("for example" not in hint) is exact
    query = transom.compile(f"SELECT COUNT(*) FROM {window[0]}", catalog, language=language)
    assert not query.warnings or not exact


def test_the_window_of_a_hint_holds_the_rows_of_that_of_spark() -> None:
    """Spark's window from 60 to 120 has the ticks 60 to 119."""
    catalog = Catalog.read("extents:\n  gps: {declare: 'pushed (n:integer)'}")
    with pytest.raises(LanguageRule) as caught:
        transom.compile("SELECT n FROM gps GROUP BY window(t, '1 minute', '30 seconds')", catalog)
    window = re.search(r"gps \[.*\]", caught.value.hint or "")
    assert window is not None
    rows = [{"tick": n, "n": n} for n in range(200)]
    answer = transom.compile(f"SELECT MIN(n), MAX(n), COUNT(*) FROM {window[0]}", catalog).simulate({"gps": rows})
    assert {w.tick: w.rows for w in answer.windows}[120] == ((60, 119, 60),)
    assert {w.tick: w.rows for w in answer.windows}[150] == ((90, 149, 60),)
