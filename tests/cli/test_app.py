"""The command line on the motorway example: output, exit codes, and where errors go."""

from __future__ import annotations

import csv
import io
import json
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import pytest

from transom.cli.app import main
from transom.errors import UsageError

ROOT = Path(__file__).parents[2]
QUERIES = ["q1.sneeql", "q2.sneeql", "q3.sneeql"]


@pytest.fixture
def roads(tmp_path: Path) -> Path:
    """A copy of the motorway example."""
    return Path(shutil.copytree(ROOT / "examples" / "roads", tmp_path / "roads"))


@dataclass
class Result:
    """What a command printed, and how it ended."""

    returncode: int
    stdout: str
    stderr: str


def transom(*words: str | Path, cwd: Path | None = None) -> Result:
    """Run the command line as `main` does, in this process."""
    output, errors = io.StringIO(), io.StringIO()
    code = 0
    with (
        redirect_stdout(output),
        redirect_stderr(errors),
        mock.patch.object(sys, "argv", ["transom", *map(str, words)]),
        chdir(cwd or Path.cwd()),
    ):
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Result(code, output.getvalue(), errors.getvalue())


def test_as_a_process_of_its_own(roads: Path) -> None:
    command = [sys.executable, "-m", "transom", "check", "q1.sneeql"]
    result = subprocess.run(command, capture_output=True, text=True, cwd=roads, check=True)
    assert result.stdout.startswith("q1.sneeql: fine")
    command[-1] = "q9.sneeql"
    assert subprocess.run(command, capture_output=True, text=True, cwd=roads, check=False).returncode == 2


@pytest.mark.parametrize("name", QUERIES)
def test_every_verb_on_every_query(name: str, roads: Path) -> None:
    checked = transom("check", roads / name)
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "fine" in checked.stdout
    assert "remembers" in checked.stdout
    for stage in ("syntax", "algebra", "plan"):
        assert transom("explain", roads / name, "--stage", stage).returncode == 0
    simulated = transom("simulate", roads / name, "--format", "jsonl")
    lines = [json.loads(line) for line in simulated.stdout.splitlines()]
    assert lines
    assert all(": warning: " in line for line in simulated.stderr.splitlines()), "quiet in a pipe, but for warnings"
    drawn = transom("picture", roads / name, "-o", roads / "out.svg")
    assert drawn.returncode == 0
    assert ET.parse(roads / "out.svg").getroot().tag.endswith("svg")  # noqa: S314 - we wrote it


def test_only_the_spark_stage_of_explain_starts_spark(roads: Path) -> None:
    with mock.patch("transom.cli.run.start_session", side_effect=UsageError("Spark is started")) as started:
        for stage in ("syntax", "algebra", "optimized", "plan"):
            assert transom("explain", roads / "q1.sneeql", "--stage", stage).returncode == 0
        assert not started.called
        spark = transom("explain", roads / "q1.sneeql", "--stage", "spark")
    assert (spark.returncode, started.called) == (2, True)
    assert "Spark is started" in spark.stderr


def test_explain_shows_the_state_bound(roads: Path) -> None:
    plan = transom("explain", roads / "q2.sneeql", "--stage", "optimized")
    assert "state rate(road) * 601 s = 44 rows" in plan.stdout
    assert "state: 2 * rate(road) * 601 s + 11 * rate(traffic) * 1 s + 11 = 319 rows" in plan.stdout
    assert "rules: product_to_join, prune_columns" in plan.stdout
    on_spark = transom("explain", roads / "q2.sneeql")
    assert "executor kernel (product of windows); reason row windows end at unknown ticks" in on_spark.stdout
    assert on_spark.stdout.count("; state ") == 4
    assert "executor native (time window)" in on_spark.stdout
    without = transom("explain", roads / "q2.sneeql", "--stage", "optimized", "--without", "product_to_join")
    assert "WindowCrossProduct" in without.stdout
    dot = transom("explain", roads / "q2.sneeql", "--stage", "optimized", "--format", "dot").stdout
    assert dot.startswith("digraph plan {")
    assert dot.count("->") == 6
    tree = json.loads(transom("explain", roads / "q2.sneeql", "--format", "json").stdout)
    assert tree["columns"] == ["MIN(temp):integer", "MAX(vibration):integer"]


def test_simulate_formats_say_the_same(roads: Path) -> None:
    query = roads / "q2.sneeql"
    table = transom("simulate", query, "--until", "2 min").stdout.splitlines()
    rows = list(csv.DictReader(io.StringIO(transom("simulate", query, "--until", "120", "--format", "csv").stdout)))
    objects = [
        json.loads(line) for line in transom("simulate", query, "-u", "120", "--format", "jsonl").stdout.splitlines()
    ]
    assert list(rows[0]) == ["tick", "seq", "empty", "MIN(temp)", "MAX(vibration)"]
    assert len(rows) == len(objects) == len(table) - 2
    assert [r["tick"] for r in rows] == [o["tick"] for o in objects]
    assert [int(r["MIN(temp)"]) for r in rows] == [o["rows"][0]["MIN(temp)"] for o in objects]


def test_empty_windows_are_shown(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(
        "extents:\n  a:\n    declare: pushed (x:integer)\n    source: {files: a.csv}\n"
    )
    (tmp_path / "a.csv").write_text("tick,x\n1,\n")
    (tmp_path / "q.sneeql").write_text("SELECT x FROM a [FROM NOW TO NOW SLIDE 1 SEC]")
    lines = transom("simulate", tmp_path / "q.sneeql").stdout.splitlines()
    assert [line.split() for line in lines[2:]] == [["0", "1", "(empty)"], ["1", "1", "NULL"]]
    records = transom("simulate", tmp_path / "q.sneeql", "--format", "csv").stdout.splitlines()
    assert records == ["tick,seq,empty,x", "0,1,true,", "1,1,false,"]


def test_check_warns_and_hints(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text("a: pushed (x:integer)\n")
    (tmp_path / "q.sneeql").write_text(
        "SELECT x FROM a [FROM NOW TO NOW-1 SLIDE 1 SEC], a [FROM NOW-3 TO NOW SLIDE 1 SEC] AS b"
    )
    found = transom("check", tmp_path / "q.sneeql")
    assert found.returncode == 1
    (tmp_path / "q.sneeql").write_text(
        "SELECT a.x FROM a [FROM NOW TO NOW-1 SLIDE 1 SEC], a [FROM NOW-3 TO NOW SLIDE 1 SEC] AS b"
    )
    found = transom("check", tmp_path / "q.sneeql")
    assert found.returncode == 0
    assert "warning: FROM is later than TO" in found.stdout
    [line] = [line for line in found.stdout.splitlines() if "warning" in line]
    assert line == f"{tmp_path / 'q.sneeql'}:1:19: warning: FROM is later than TO, so every window is empty"
    assert "hint: declare the rate of a" in found.stdout


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["check", "wrong.sneeql"], 1, "did you mean FROM?"),
        (["simulate", "wrong.sneeql"], 1, "wrong.sneeql:1:"),
        (
            ["check", "nowhere.sneeql"],
            2,
            "no query file nowhere.sneeql\n  hint: in this folder there are latin.sneeql, q1.s",
        ),
        (["check", "no/where.sneeql"], 2, "no query file no/where.sneeql\n  hint: give the path of a query file"),
        (
            ["check", "data/road.csv"],
            2,
            "road.csv holds rows, and no query\n  hint: `transom init data/road.csv` drafts",
        ),
        (["check", "q1.sql"], 2, "names no language"),
        (["check", "q1.sneeql", "--catalog", "none.yaml"], 2, "no catalog file"),
        (["check", "q1.sneeql", "--catalog", "torn.yaml"], 1, "torn.yaml"),
        (["explain", "q1.sneeql", "--stage", "dreams"], 2, "dreams"),
        (["explain", "q1.sneeql", "--without", "luck"], 2, "no optimizer rule is called luck"),
        (["simulate", "q1.sneeql", "--until", "soon"], 2, "is not a time"),
        (["picture", "q1.sneeql"], 2, "output"),
        (["picture", "q1.sneeql", "-o", "no/such/folder.svg"], 2, "cannot write"),
        (["sing"], 2, "sing"),
        (["picture", "q1.sneeql", "-o", "q1.gif"], 2, "let it end in .svg or .png"),
        (["simulate", "q1.sneeql", "--until", "2001-01-01"], 2, "lies before tick 0"),
        (["simulate", "q1.sneeql", "--until", "9" * 30], 2, "is not a time"),
        (["check", "latin.sneeql"], 1, "save it as UTF-8"),
    ],
)
def test_exit_codes(words: list[str], code: int, said: str, roads: Path) -> None:
    (roads / "wrong.sneeql").write_text("SELECT weight FORM traffic")
    (roads / "q1.sql").write_text("SELECT 1")
    (roads / "torn.yaml").write_text("extents: [")
    (roads / "latin.sneeql").write_bytes("SELECT 'ü' AS x FROM road".encode("latin-1"))
    result = transom(*words, cwd=roads)
    assert result.returncode == code, result.stderr
    assert said in result.stderr
    assert "Traceback" not in result.stderr


def test_no_catalog_beside_the_query(tmp_path: Path) -> None:
    (tmp_path / "q.sneeql").write_text("SELECT x FROM a")
    result = transom("check", tmp_path / "q.sneeql")
    assert result.returncode == 2
    assert "hint: give one with --catalog, or draft one for your rows: transom init data.csv" in result.stderr


def test_fmt(roads: Path) -> None:
    query = roads / "q3.sneeql"
    query.write_text("-- what changed\n" + query.read_text())
    assert transom("fmt", query, "--check").returncode == 1
    assert "written anew" in transom("fmt", query).stdout
    assert query.read_text().startswith(
        "-- what changed\nISTREAM(\n  SELECT road.site, tempClass.category\n  FROM road ["
    )
    assert transom("fmt", query, "--check").returncode == 0
    assert "canonical form" in transom("fmt", query).stdout


def test_version() -> None:
    result = transom("--version")
    assert (result.returncode, result.stdout) == (0, "transom 0.3.0.dev0\n")


def test_until_takes_an_instant(roads: Path) -> None:
    by_tick = transom("simulate", roads / "q1.sneeql", "--until", "120")
    by_instant = transom("simulate", roads / "q1.sneeql", "--until", "2009-03-02T06:02:00Z")
    assert by_tick.stdout == by_instant.stdout != ""


def test_start_leaves_out_what_came_before(roads: Path) -> None:
    rows = transom("simulate", roads / "q1.sneeql", "--start", "2 min", "--format", "csv").stdout.splitlines()
    assert rows[1].startswith("2009-03-02T06:02:00.000Z,")


def test_output_that_cannot_be_written(roads: Path) -> None:
    with mock.patch("pathlib.Path.write_text", side_effect=PermissionError("read only")):
        assert transom("fmt", roads / "q3.sneeql").returncode == 2
    with mock.patch("transom.cli.printing.answers.write_data", side_effect=OSError("no space")):
        result = transom("simulate", roads / "q1.sneeql", "--format", "csv")
    assert (result.returncode, "no space" in result.stderr) == (2, True)


def test_simulate_warns_beside_its_answer(roads: Path) -> None:
    (roads / "odd.sneeql").write_text("SELECT temp FROM road [FROM NOW TO NOW-1 SLIDE 5 MIN]")
    result = transom("simulate", roads / "odd.sneeql", "--format", "csv")
    assert "warning: FROM is later than TO" in result.stderr
    assert result.stdout.startswith("tick,seq,empty,temp")
