"""`transom test`: differences, updates, JUnit, selection, and errors that point into the file."""

from __future__ import annotations

import re
from pathlib import Path
from unittest.mock import MagicMock
from xml.etree import ElementTree

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.calendar_windows.golden import calendar_file
from tests.cases import GOLDEN, golden_file
from transom.cli.app import app
from transom.errors import TransomError
from transom.testing.cases import CaseFile, read_cases
from transom.testing.run import run_case

QUERY = "SELECT road.site, road.vibration FROM road WHERE road.temp < 50 AND road.vibration > 20\n"
CATALOG = "epoch: 2009-01-01T00:00:00Z\nextents:\n  road: pushed (site:integer, temp:integer, vibration:integer)\n"
CASES = """\
# the limits of the alarm
cases:
- name: a cold road
  inputs:
    road:
      - [0, 3, 49, 21]   # an alarm
      - {tick: 60, site: 4, temp: 50, vibration: 30}
  columns: [road.site, road.vibration]
  expected:   # by hand
    - [0, 1, 3, 21]
- name: two batches
  batches:
    - inputs: {road: [[0, 3, 49, 21]]}
      until: 9
      expected:
        - [0, 1, 3, 21]
    - inputs:
        road:
          - [10, 3, 49, 22]
      expected:
        - [10, 2, 3, 22]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "alarm.sneeql").write_text(QUERY, "utf-8")
    (tmp_path / "catalog.yaml").write_text(CATALOG, "utf-8")
    path = tmp_path / "alarm.test.yaml"
    path.write_text(CASES, "utf-8")
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["test", *map(str, arguments)])


def error_of(arguments: list[object]) -> TransomError:
    """The error that the command raises, which `main` prints."""
    error = run(*arguments).exception
    assert isinstance(error, TransomError)
    return error


def replace_in(file: Path, old: str, new: str) -> None:
    assert old in CASES
    file.write_text(CASES.replace(old, new), "utf-8")


def test_a_folder_of_cases_passes(file: Path) -> None:
    result = run(file.parent)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("2 cases: 2 passed (")


@pytest.mark.parametrize("case", [*golden_file().cases, *calendar_file().cases], ids=lambda case: case.name)
def test_golden_case(case: object) -> None:
    """The hand-derived cases are a test file: the tests of both engines read them with the same reader."""
    outcome = run_case(case)  # type: ignore[arg-type]
    assert outcome.lines() == []
    assert outcome.passed


def test_golden_cases_are_read_by_the_reader_of_the_command() -> None:
    assert isinstance(golden_file(), CaseFile)
    assert golden_file().path == GOLDEN
    assert len(golden_file().cases) == 112


def test_differences_point_into_the_file(file: Path) -> None:
    replace_in(file, "    - [0, 1, 3, 21]\n- name", "    - [60, 1, 3, 21]\n- name")
    result = run(file)
    assert result.exit_code == 1
    lines = result.stdout.replace(str(file), "FILE").splitlines()
    assert lines[:4] == [
        "FILE:3: a cold road: FAILED",
        "  FILE:9: - is missing, + is not expected: [tick, index, road.site, road.vibration]",
        "    - [60, 1, 3, 21] at 2009-01-01T00:01:00.000Z  (line 10)",
        "    + [0, 1, 3, 21] at 2009-01-01T00:00:00.000Z",
    ]
    assert lines[4].startswith("2 cases: 1 passed, 1 failed")


def test_an_answer_of_a_later_batch_is_not_one_of_an_earlier(file: Path) -> None:
    replace_in(file, "        - [0, 1, 3, 21]\n", "        - [0, 1, 3, 21]\n        - [10, 2, 3, 22]\n")
    result = run(file, "-k", "BATCHES")
    assert result.exit_code == 1
    assert "- [10, 2, 3, 22] at 2009-01-01T00:00:10.000Z  (line 17)" in result.stdout


def test_update_keeps_comments_and_order(file: Path) -> None:
    replace_in(file, "[0, 3, 49, 21]   # an alarm", "[0, 3, 49, 31]   # an alarm")
    result = run(file, "--update")
    assert result.exit_code == 0, result.output
    assert "a cold road: updated, 1 row removed, 1 added" in result.stdout
    wanted = CASES.replace("49, 21]   #", "49, 31]   #").replace("expected:   #", "expected:  #")
    assert file.read_text("utf-8") == wanted.replace("    - [0, 1, 3, 21]\n- name", "    - [0, 1, 3, 31]\n- name")


@pytest.mark.parametrize("answers", ["", " []", " # nothing yet", "\n    []", " [[7, 1, 3, 21],\n    [8, 2, 3, 21]]"])
def test_update_records_answers_in_any_form(file: Path, answers: str) -> None:
    replace_in(file, "   # by hand\n    - [0, 1, 3, 21]", answers)
    assert run(file).exit_code == 1
    assert run(file, "--update").exit_code == 0
    assert run(file).exit_code == 0
    assert ("# nothing yet" in file.read_text("utf-8")) == ("#" in answers)


def test_update_leaves_a_passing_file_alone(file: Path) -> None:
    assert run(file, "--update").exit_code == 0
    assert file.read_text("utf-8") == CASES


def test_junit_lists_cases_and_wrong_files(file: Path, tmp_path: Path) -> None:
    replace_in(file, "columns: [road.site, road.vibration]", "columns: [road.site]")
    (tmp_path / "broken.test.yaml").write_text("cases: [", "utf-8")
    assert run(tmp_path, "--junit", tmp_path / "report.xml").exit_code == 1
    suites = ElementTree.parse(tmp_path / "report.xml").getroot()  # noqa: S314 - written by the test itself
    found = {Path(suite.attrib["name"]).name: suite for suite in suites}
    assert [case.attrib["line"] for case in found["alarm.test.yaml"]] == ["3", "11"]
    assert "columns: expected ['road.site']" in found["alarm.test.yaml"][0][0].attrib["message"]
    assert found["alarm.test.yaml"].attrib["failures"] == "1"
    assert found["broken.test.yaml"].attrib["errors"] == "1"


@pytest.mark.parametrize(
    ("old", "new", "place", "words"),
    [
        ("batches:", "batchs:", "12:3", "unknown entry 'batchs'"),
        ("temp: 50", "tempp: 50", "7:29", "unknown column 'tempp'"),
        ("[0, 3, 49, 21]   #", "[0, 3, x, 21]   #", "6:9", "row 1 of road: temp: 'x' is not of type integer"),
        ("[10, 3, 49, 22]", "[10, 3, 49]", "19:13", "row 2 of road: 3 values, expected 4"),
        ("[10, 3, 49, 22]", "[9, 3, 49, 22]", "18:9", "rows of road come after the end of the batch before"),
        ("    road:\n      - [0", "    rod:\n      - [0", "5:5", "no extent is called 'rod'"),
        ("    - [0, 1, 3, 21]\n- name", "    - [0, 3, 21]\n- name", "10:7", "3 values, expected 4"),
        ("name: two batches", "name: a cold road", "11:9", "the name 'a cold road' is repeated"),
        ("  columns:", "  error: no\n  columns:", "8:3", "a case has either expected or error"),
        ("      until: 9", "      until: soon", "14:14", "until: 'soon' is not a time"),
        ("# the limits of the alarm", "query_file: none.sneeql", "11:3", "cannot read"),
        ("# the limits", "a: &x 1\n# the limits", "1:4", "anchors and aliases are not read in a test file"),
    ],
)
def test_errors_point_to_the_line(file: Path, old: str, new: str, place: str, words: str) -> None:
    replace_in(file, old, new)
    result = run(file)
    assert f"{file}:{place}: {words}" in result.output
    assert result.exit_code == 1


def test_nothing_to_run_is_an_error(file: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, words in (
        ([tmp_path / "empty"], "no test file in the folder"),
        ([tmp_path / "gone.test.yaml"], "cannot read"),
        ([file, "-k", "warm"], "no case is selected by -k warm"),
        ([file, "--update", "--spark"], "--update takes the answers of the reference engine"),
    ):
        error = error_of(arguments)
        assert words in str(error)
        assert error.exit_code == 2


def test_a_refused_query_is_expected_by_its_message(tmp_path: Path) -> None:
    text = 'cases: [{name: a, query: SELECT y FROM a, catalog: {a: "pushed (x:integer)"}, error: no attribute}]'
    for expected, passed in (("no attribute", True), ("no window", False)):
        (case,) = read_cases(tmp_path / "a.yaml", text.replace("no attribute", expected)).cases
        assert run_case(case).passed is passed
    (case,) = read_cases(tmp_path / "a.yaml", text.replace("SELECT y", "SELECT x")).cases
    assert re.search("expected the error 'no attribute', but the query is valid", run_case(case).lines()[0])


COMPUTED = """\
cases:
- name: minutes
  language: sparql
  query: "SELECT ?n FROM STREAM :clock WINDOW RANGE 1 MINUTE SLIDE 1 S WHERE { :clock :minute ?n }"
  catalog:
    tick: 1 s
    prefixes: {"": "http://example.org/"}
    rdf:
      clock:
        stream: http://example.org/clock
        template: {extent: minute, subject: ":clock", predicates: {time: ":minute"}}
    extents: {minute: "pushed (time:time)"}
  inputs:
    clock: [[0, ":clock", ":minute", 7]]
  until: 99
  expected:
    - [0, 60, 1, 7]
"""


def test_rows_of_a_stream_that_spark_computes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "minutes.test.yaml"
    path.write_text(COMPUTED, "utf-8")
    [case] = read_cases(path).cases
    assert run_case(case).lines() == []
    error = run_case(case, MagicMock()).error
    assert error is not None
    assert "Spark computes clock and does not take its rows" in error.message
    assert "give rows of minute" in str(error.hint)
    assert error.span is not None
    assert error.span.position(COMPUTED) == (14, 5)
