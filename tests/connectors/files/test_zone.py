"""Local times in CSV files: times without an offset are in the zone that the catalog names."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

import transom
from transom.errors import CatalogError, DataError, RejectedWarning

CATALOG = """
epoch: 2024-03-31T00:00:00Z
extents:
  door:
    declare: pushed (n:integer, seen:timestamp)
    source: {files: {path: door.csv, time: at, zone: Europe/Berlin, invalid_rows: reject}}
"""
ROWS = """at,n,seen
2024-03-31 01:59:59,1,2024-03-31T03:00:00
2024-03-31 02:30:00,2,
2024-03-31T03:00:00,3,2024-03-31
7200,4,2024-06-01T12:00+00:00
2024-10-27T02:59:59.999999,5,
2024-10-27T02:30:00+01:00,6,2024-12-01
2024-10-27T02:30:00Z,7,2024-10-27T02:30
 2024-10-27 03:00,8,2024-10-27T01:59:59
2100-01-01,9,
20241101T00,10,1969-12-31
2024-11-01,11,soon
"""
TAKEN = {
    1: ("2024-03-31T00:59:59Z", "2024-03-31T01:00:00Z"),
    3: ("2024-03-31T01:00:00Z", "2024-03-30T23:00:00Z"),
    4: ("2024-03-31T02:00:00Z", "2024-06-01T12:00:00Z"),
    6: ("2024-10-27T01:30:00Z", "2024-11-30T23:00:00Z"),
    8: ("2024-10-27T02:00:00Z", "2024-10-26T23:59:59Z"),
}
COUNTS = {"no time": 3, "wrong type": 3}
FIRST = "door.csv:3: at: '2024-03-31 02:30:00' is skipped in Europe/Berlin, where clocks go forward"
QUERY = "SELECT n, seen FROM door"


def written(folder: Path, catalog: str = CATALOG, content: str = ROWS) -> transom.Catalog:
    """A catalog beside a file of local times."""
    (folder / "door.csv").write_text(content)
    return transom.Catalog.read(catalog, folder=folder)


def test_local_times_are_instants_of_the_zone(tmp_path: Path) -> None:
    query = transom.compile(QUERY, written(tmp_path))
    epoch = datetime(2024, 3, 31, tzinfo=UTC)
    inputs = query.inputs(None)
    found = {element.row[0]: (element.tick, element.row[1]) for element in inputs.streams["door"]}
    expected = {
        n: ((datetime.fromisoformat(at) - epoch).total_seconds(), datetime.fromisoformat(seen))
        for n, (at, seen) in TAKEN.items()
    }
    assert found == expected
    reasons = [message.reason.value for message in inputs.rejected["door"]]
    assert {reason: reasons.count(reason) for reason in reasons} == COUNTS
    assert [message.detail for message in inputs.rejected["door"]][1:4] == [
        "at: '2024-10-27T02:59:59.999999' occurs twice in Europe/Berlin, where clocks go back",
        "seen: '2024-10-27T02:30' occurs twice in Europe/Berlin, where clocks go back",
        "at: '2100-01-01' is outside of the years 1970 to 2099, for which the rules of Europe/Berlin are known",
    ]
    with pytest.warns(RejectedWarning, match=FIRST):
        query.simulate()


def test_a_format_of_times_and_a_zone(tmp_path: Path) -> None:
    catalog = CATALOG.replace("zone:", "time_format: '%d.%m.%Y %H:%M', zone:").replace(", invalid_rows: reject", "")
    query = transom.compile(QUERY, written(tmp_path, catalog, "at,n,seen\n01.06.2024 02:00,1,\n"))
    [element] = query.simulate().elements
    assert element.tick == (datetime(2024, 6, 1, tzinfo=UTC) - datetime(2024, 3, 31, tzinfo=UTC)).total_seconds()
    query = transom.compile(QUERY, written(tmp_path, catalog, "at,n,seen\n27.10.2024 02:30,1,\n"))
    with pytest.raises(DataError) as caught:
        query.simulate()
    problem = "'27.10.2024 02:30' occurs twice in Europe/Berlin, where clocks go back"
    assert caught.value.message == f"line 2 of door: at: {problem}"
    assert str(caught.value.hint).startswith("write the offset behind the time, such as +01:00")


@pytest.mark.parametrize(
    ("written_time", "hour"),
    [
        ("27.10.2024 02:30+02:00", 0.5),
        ("27.10.2024 02:30 +01:00", 1.5),
        ("27.10.2024 02:30+0100 ", 1.5),
        ("27.10.2024 02:30Z", 2.5),
    ],
)
def test_an_offset_may_follow_a_time_in_a_format(written_time: str, hour: float, tmp_path: Path) -> None:
    """The hint of the error of an ambiguous time says to write it."""
    catalog = CATALOG.replace("zone:", "time_format: '%d.%m.%Y %H:%M', zone:").replace(", invalid_rows: reject", "")
    query = transom.compile(QUERY, written(tmp_path, catalog, f"at,n,seen\n{written_time},1,\n"))
    [element] = query.simulate().elements
    midnight = (datetime(2024, 10, 27, tzinfo=UTC) - datetime(2024, 3, 31, tzinfo=UTC)).total_seconds()
    assert element.tick == midnight + hour * 3600


def test_without_a_zone_a_format_has_no_offset(tmp_path: Path) -> None:
    catalog = CATALOG.replace("zone: Europe/Berlin, invalid_rows: reject", "time_format: '%d.%m.%Y %H:%M'")
    query = transom.compile(QUERY, written(tmp_path, catalog, "at,n,seen\n27.10.2024 02:30+02:00,1,\n"))
    with pytest.raises(DataError, match="is not written as"):
        query.simulate()


def test_versions_of_a_table_have_a_zone(tmp_path: Path) -> None:
    declared = "{t: {declare: 'stored (at:timestamp)', source: {files: {versions: {0: t.csv}, zone: Europe/Berlin}}}}"
    (tmp_path / "t.csv").write_text("at\n2024-06-01T12:00\n")
    query = transom.compile(
        "SELECT at FROM t [SCAN 1 SEC]", transom.Catalog.read(f"extents: {declared}", folder=tmp_path)
    )
    assert query.simulate(until=0)[0].rows == ((datetime(2024, 6, 1, 10, tzinfo=UTC),),)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Europe/Berlin", "Europe/Berlim", "did you mean Europe/Berlin"),
        ("Europe/Berlin", "CEST/nowhere", "zones have names such as"),
        ("Europe/Berlin", "localtime", "no time zone is called"),
        ("path: door.csv", "path: door.jsonl", "jsonl files have no zone"),
    ],
)
def test_zones_that_are_refused(old: str, new: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        transom.Catalog.read(CATALOG.replace(old, new))
