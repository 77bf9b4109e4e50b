"""Rows of CSV files that cannot be read: an error, or rejected and counted."""

from __future__ import annotations

from pathlib import Path

import pytest

import transom
from transom.connectors.files.csv_files import read_csv_lines
from transom.connectors.files.read import REJECT_HINT
from transom.connectors.files.records import InvalidLine
from transom.errors import CatalogError, DataError, RejectedWarning
from transom.model.reject_reason import rejected_line

CATALOG = """
epoch: 2024-05-01T00:00:00Z
extents:
  logger:
    declare: pushed (device:integer, temp:float)
    source: {files: {path: log.csv, time: at, invalid_rows: reject}}
"""
BROKEN = """at,temp,device
2024-05-01T08:00:00Z,20.5,1
2024-05-01T08:00:10Z,21
2024-05-01T08:00:20Z,n/a,3
2024-05-01T08:00:30Z,"22,4

late,23,5
at,temp,device
2024-04-30T08:00:40Z,24,6
-1,24,6
2024-05-01T08:00:50Z,24.5,7,8
2024-05-01T08:01:00Z,"25",8
late,n/a,9
2024-05-01T08:01:10Z,,
"""
ROWS = [(8 * 3600, (1, 20.5)), (8 * 3600 + 60, (8, 25.0)), (8 * 3600 + 70, (None, None))]
COUNTS = {"wrong number of cells": 2, "wrong type": 1, "not CSV": 1, "no time": 3, "before tick 0": 2}
FIRST = "log.csv:3: 2 cells, the header has 3"
QUERY = "SELECT device, temp FROM logger"


def written(folder: Path, catalog: str = CATALOG, content: str = BROKEN) -> transom.Catalog:
    """A catalog beside a file with invalid lines."""
    (folder / "log.csv").write_text(content)
    return transom.Catalog.read(catalog, folder=folder)


def test_invalid_rows_are_rejected_and_counted(tmp_path: Path) -> None:
    query = transom.compile(QUERY, written(tmp_path))
    inputs = query.inputs(None)
    assert [(element.tick, element.row) for element in inputs.streams["logger"]] == ROWS
    reasons = [message.reason.value for message in inputs.rejected["logger"]]
    assert {reason: reasons.count(reason) for reason in reasons} == COUNTS
    assert [message.origin.rpartition(":")[2] for message in inputs.rejected["logger"]] == [
        *("3", "4", "5", "7", "8", "9", "10", "11", "13")
    ]
    with pytest.warns(RejectedWarning, match="rejected rows of logger: 2 before tick 0, .*; the first of") as caught:
        query.simulate()
    _, *lines = str(caught[0].message).splitlines()
    assert [line.strip().split(": ")[0] for line in lines] == list(dict.fromkeys(reasons))
    assert lines[0].endswith(FIRST)
    assert [line.rpartition("log.csv:")[2].split(":")[0] for line in lines] == ["3", "4", "5", "7", "9"]


def test_without_the_key_the_first_invalid_row_is_an_error(tmp_path: Path) -> None:
    catalog = CATALOG.replace(", invalid_rows: reject", "")
    for content in (BROKEN, "at,temp,device\n1,x,1\n", "at,temp,device\nsoon,1,1\n", 'at,temp,device\n1,"1,1\n'):
        for form in (catalog, CATALOG.replace("reject", "stop")):
            with pytest.raises(DataError) as caught:
                transom.compile(QUERY, written(tmp_path, form, content)).simulate()
            assert str(caught.value.hint).endswith(REJECT_HINT)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("pushed", "stored", "a stored extent has no invalid_rows"),
        ("path: log.csv, time: at", "path: log.jsonl, time: at", "jsonl files have no invalid_rows"),
        ("reject", "drop", "expected stop or reject"),
    ],
)
def test_sources_that_reject_no_rows(old: str, new: str, message: str) -> None:
    with pytest.raises(CatalogError, match=message):
        transom.Catalog.read(CATALOG.replace(old, new))


def test_versions_reject_no_rows() -> None:
    declared = (
        "extents: {t: {declare: 'stored (x:integer)', source: {files: {versions: {0: a.csv}, invalid_rows: stop}}}}"
    )
    with pytest.raises(CatalogError, match="a stored extent has no invalid_rows"):
        transom.Catalog.read(declared)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_lines_that_are_no_rows(tmp_path: Path, delimiter: str) -> None:
    path = tmp_path / "a.csv"
    lines = ["a,b", '1, "x,y"', '2,"x', 'z",3', "", '4,5"6', '7,"a ""b"""', "8,9,10"]
    path.write_text("\ufeff" + "\r\n".join(line.replace(",", delimiter) for line in lines))
    found = list(read_csv_lines(str(path), delimiter))
    assert [record.number for record in found] == [1, 2, 3, 4, 6, 7, 8]
    assert [record.number for record in found if isinstance(record, InvalidLine)] == [3, 4, 6, 8]
    values = [record.values for record in found if not isinstance(record, InvalidLine)]
    assert values == [["a", "b"], ["1", f"x{delimiter}y"], ["7", 'a "b"']]


def test_a_file_that_is_not_text_stays_an_error(tmp_path: Path) -> None:
    catalog = written(tmp_path)
    (tmp_path / "log.csv").write_bytes(b"at,temp,device\n1,\xff,2\n")
    with pytest.raises(DataError, match="not UTF-8"):
        transom.compile(QUERY, catalog).simulate()


def test_one_reason_of_rejection_is_one_line() -> None:
    line = rejected_line("s", {"no time": 1200}, {"no time": "a.nt:2: no time"})
    assert line == "rejected messages of s: 1,200 no time; the first is a.nt:2: no time"


def test_each_of_several_reasons_has_a_line_up_to_five() -> None:
    reasons = ["f", "e", "d", "c", "b", "a"]
    text = rejected_line("s", dict.fromkeys(reasons, 1), {reason: f"x:{reason}" for reason in reasons}, "rows")
    assert text.splitlines() == [
        "rejected rows of s: 1 a, 1 b, 1 c, 1 d, 1 e, 1 f; the first of each reason:",
        *(f"  {reason}: x:{reason}" for reason in ["f", "e", "d", "c", "b"]),
    ]
