"""Rows that people give: types, order, numbers (S31, S37, E1)."""

from __future__ import annotations

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from transom.catalog import Catalog
from transom.connectors import elements, versions
from transom.errors import DataError
from transom.model.bag import Element, TableVersion
from transom.model.time import Calendar

CALENDAR = Calendar(epoch=datetime(2009, 1, 1, tzinfo=UTC))


def extent(declaration: str, **entries: object):
    return Catalog.from_dict({"extents": {"it": {"declare": declaration, **entries}}}).extent("it")


ROAD = extent("sensed (site:integer, temp:float)", every="1 min", sites=[2, 1])
TRAFFIC = extent("pushed (site:integer, name:string)")
CLASSES = extent("stored (temp:integer, category:string)", rows=2)


def shape(stream):
    return [(element.tick, element.index, *element.row) for element in stream]


def test_sequences_and_mappings_are_the_same():
    rows = [(0, 2, 1.5), {"tick": 60, "site": 1, "temp": 2, "more": "is passed over"}, [60, 2, None]]
    assert elements(ROAD, rows, CALENDAR) == [
        Element(0, 1, (2, 1.5)),
        Element(60, 2, (2, None)),
        Element(60, 3, (1, 2.0)),
    ]


def test_readings_of_a_tick_come_in_the_order_of_the_sites():
    rows = [(60, 1, 0), (0, 1, 0), (60, 2, 0), (0, 2, 0)]
    assert shape(elements(ROAD, rows, CALENDAR)) == [(0, 1, 2, 0), (0, 2, 1, 0), (60, 3, 2, 0), (60, 4, 1, 0)]


def test_a_missing_reading_takes_no_number():
    assert shape(elements(ROAD, [(0, 1, 0), (120, 2, 0)], CALENDAR)) == [(0, 1, 1, 0), (120, 2, 2, 0)]


def test_ties_keep_the_order_given():
    rows = [(5, 1, "b"), (3, 9, "z"), (5, 1, "a"), (5, 0, "c")]
    assert [row[2:] for row in shape(elements(TRAFFIC, rows, CALENDAR))] == [(9, "z"), (1, "b"), (1, "a"), (0, "c")]


def test_ties_by_the_declared_order_and_then_by_payload():
    ordered = extent("pushed (site:integer, name:string)", order=["name"])
    rows = [(5, 2, "b"), (5, None, "b"), (5, 7, "a"), (5, 1, None), (4, 9, "z")]
    stream = shape(elements(ordered, rows, CALENDAR))
    assert [row[2:] for row in stream] == [(9, "z"), (1, None), (7, "a"), (None, "b"), (2, "b")]


def test_sites_without_an_attribute_for_them():
    bare = extent("sensed (temp:integer)", sites=["n", "s"])
    assert shape(elements(bare, [(0, 5), (0, 4)], CALENDAR)) == [(0, 1, 5), (0, 2, 4)]


def test_a_sensed_extent_without_sites():
    free = extent("sensed (site:integer)")
    rows = [(3, 8), (3, 7), (4, 8), (3, None), (3, None)]
    stream = shape(elements(free, rows, CALENDAR))
    assert stream == [(3, 1, 8), (3, 2, 7), (3, 3, None), (3, 4, None), (4, 5, 8)]


@pytest.mark.parametrize("entries", [{}, {"order": ["temp"]}, {"sites": ["a", "b"]}])
def test_a_site_is_read_once_per_tick(entries):
    pump = extent("sensed (site:string, temp:integer)", **entries)
    with pytest.raises(DataError) as caught:
        elements(pump, [(60, "a", 2), (60, "b", 2), (60, "a", 1)], CALENDAR)
    assert caught.value.message == "row 3 of it: site: a second reading of 'a' at tick 60"


@pytest.mark.parametrize(
    ("row", "hint"),
    [
        ({"tick": 0, "site": 1, "nmae": "a"}, "did you mean name for nmae?"),
        ({"tick": 0, "site": 1, "other": "a"}, "write None where there is no value"),
        ({"tick": 0, "site": 1}, "write None where there is no value"),
        ({"tik": 0, "site": 1, "name": "a"}, "did you mean tick for tik?"),
        ({"tick": 0, "site": 1, "name": 5}, "write text"),
        ({"tick": "soon", "site": 1, "name": "a"}, "write a whole number, or ISO 8601 such as 2009-03-01T12:00:00Z"),
        ({"tick": "2008-12-31", "site": 1, "name": "a"}, "set `epoch` in the catalog earlier"),
    ],
)
def test_hints(row, hint):
    with pytest.raises(DataError) as caught:
        elements(TRAFFIC, [row], CALENDAR)
    assert caught.value.hint == hint


@pytest.mark.parametrize("tick", [60, "60", datetime(2009, 1, 1, 0, 1), "2009-01-01T00:01:00.9Z", 60.0])
def test_ticks_may_be_instants(tick):
    assert elements(TRAFFIC, [(tick, 1, "a")], CALENDAR)[0].tick == 60


def test_an_attribute_called_tick_is_the_tick_too():
    own = extent("pushed (tick:timestamp, a:decimal)")
    rows = [{"tick": "2009-01-01T00:01:00Z", "a": "1.50"}]
    assert elements(own, rows, CALENDAR) == [Element(60, 1, (datetime(2009, 1, 1, 0, 1, tzinfo=UTC), Decimal("1.50")))]
    assert elements(own, [(7, "2009-01-01", 2)], CALENDAR)[0].tick == 7


def test_until_drops_later_rows_and_includes_its_own_tick():
    rows = [(60, 1, 0), (120, 1, 0), (0, 1, 0)]
    assert [row[0] for row in shape(elements(ROAD, rows, CALENDAR, until=60))] == [0, 60]
    assert elements(ROAD, [], CALENDAR) == []


@pytest.mark.parametrize(
    ("given", "rows", "message"),
    [
        (TRAFFIC, [(0, 1, "a"), (0, 1)], "row 2 of it: 2 values, expected 3"),
        (TRAFFIC, [(0, "x", "a")], "row 1 of it: site: 'x' is not of type integer"),
        (TRAFFIC, [(0, 1, 5)], "row 1 of it: name: 5 is not of type string"),
        (TRAFFIC, [(0, 2**63, "a")], "row 1 of it: site: 9223372036854775808 is not of type integer"),
        (TRAFFIC, [(-1, 1, "a")], "row 1 of it: tick: -1 lies before tick 0"),
        (TRAFFIC, [("2008-12-31", 1, "a")], "row 1 of it: tick: '2008-12-31' lies before tick 0"),
        (TRAFFIC, [(None, 1, "a")], "row 1 of it: tick: nothing is neither a tick nor an instant"),
        (TRAFFIC, [{"site": 1, "name": "a"}], "row 1 of it: no tick"),
        (TRAFFIC, [{"tick": 1, "site": 1}], "row 1 of it: no value for name"),
        (TRAFFIC, ["abc"], "row 1 of it: 'abc' is not a row"),
        (TRAFFIC, [5], "row 1 of it: 5 is not a row"),
        (ROAD, [(0, 1, 0), (30, 1, 0)], "row 2 of it: tick 30 is no multiple of 60"),
        (ROAD, [(0, 3, 0)], "row 1 of it: site: 3 is not a site"),
        (ROAD, [(0, None, 0)], "row 1 of it: site: the site is missing"),
        (ROAD, [(0, 1, 0), (0, 2, 0), (0, 1, 9)], "row 3 of it: site: a second reading of 1 at tick 0"),
    ],
)
def test_rows_that_do_not_fit(given, rows, message):
    with pytest.raises(DataError) as caught:
        elements(given, rows, CALENDAR)
    assert caught.value.message == message


def test_versions():
    assert versions(CLASSES, [(20, "cool"), {"temp": 30, "category": None}]) == [
        TableVersion(0, ((20, "cool"), (30, None)))
    ]
    assert versions(CLASSES, {600: [(1, "a")], 0: []}) == [TableVersion(0, ()), TableVersion(600, ((1, "a"),))]
    assert versions(CLASSES, {600: [(1, "a")], 0: []}, until=599) == [TableVersion(0, ())]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([(1,)], "row 1 of it: 1 values, expected 2"),
        ([(1, "a"), ("x", "a")], "row 2 of it: temp: 'x' is not of type integer"),
        ([{"temp": 1}], "row 1 of it: no value for category"),
        ({-1: []}, "it: -1 is not a tick"),
        ({"0": []}, "it: '0' is not a tick"),
        ([(1, "a")] * 3, "it holds 3 rows from tick 0 on, at most 2 are declared"),
    ],
)
def test_versions_that_do_not_fit(rows, message):
    with pytest.raises(DataError) as caught:
        versions(CLASSES, rows)
    assert caught.value.message == message
