"""`check` for programs: JSON, annotations of GitHub; and --quiet and --strict over all commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.test_app import ROOT, transom
from tests.cli.test_queries import CATALOG
from transom.cli.printing.reports import annotation, problem
from transom.errors import Span

ROADS = ROOT / "examples" / "roads"
NEVER = "SELECT weight FROM gate [FROM NOW-10 TO NOW-20 SLIDE 1 MIN]"


def test_the_report_on_a_query_that_is_right() -> None:
    checked = transom("check", "--format", "json", ROADS / "q2.sneeql")
    assert (checked.returncode, checked.stderr) == (0, "")
    document = json.loads(checked.stdout)
    assert (document["errors"], document["warnings"]) == (0, 0)
    [report] = document["queries"]
    assert (report["file"], report["fine"], report["language"]) == (str(ROADS / "q2.sneeql"), True, "sneeql")
    assert report["gives"] == {"kind": "windows", "columns": ["MIN(temp)", "MAX(vibration)"]}
    assert (report["state"]["rows"], report["state"]["bounded"]) == (319, True)
    assert report["engines"] == {"runs": ["reference", "spark"], "replay_only": False, "refusals": []}
    assert report["problems"] == []


def test_the_report_on_an_error_says_where_it_is() -> None:
    words = ["check", "--format", "json", "-q", "SELECT weight FROM gate [NOW]\nWHERE wieght < 5", "--language", "cql"]
    checked = transom(*words, "-c", CATALOG)
    assert (checked.returncode, checked.stderr) == (1, "")
    [report] = json.loads(checked.stdout)["queries"]
    assert report["fine"] is False
    [error] = report["problems"]
    assert (error["line"], error["column"], error["end_line"], error["end_column"]) == (2, 7, 2, 13)
    assert (error["severity"], error["code"]) == ("error", "NameProblem")
    assert error["hint"].startswith("did you mean gate.weight?")


def test_the_report_on_a_warning_and_on_engines_that_refuse(tmp_path: Path) -> None:
    words = ["check", "--format", "json", "-q", NEVER, "-c", CATALOG]
    checked = transom(*words)
    assert checked.returncode == 0
    document = json.loads(checked.stdout)
    assert document["warnings"] == 1
    [warning] = document["queries"][0]["problems"]
    assert (warning["severity"], warning["code"], warning["line"]) == ("warning", "QueryWarning", 1)
    assert transom(*words, "--strict").returncode == 1
    (tmp_path / "catalog.yaml").write_text("rdf:\n  s: {stream: 'http://s', files: s.csv}\n")
    text = "SELECT (COUNT(*) AS ?n) FROM STREAM <http://s> WINDOW RANGE 10 SLIDE 5 WHERE { ?x ?p ?y } GROUP BY ?x"
    (tmp_path / "q.rq").write_text(text)
    checked = transom("check", "--format", "json", tmp_path / "q.rq")
    if json.loads(checked.stdout)["queries"][0]["fine"]:
        for refusal in json.loads(checked.stdout)["queries"][0]["engines"]["refusals"]:
            assert refusal["engine"] == "spark"
            assert refusal["reason"]


def test_a_catalog_that_is_wrong_is_the_file_of_the_problem(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text("a: pushed (x:integr)\n")
    (tmp_path / "q.sneeql").write_text("SELECT x FROM a")
    checked = transom("check", "--format", "json", tmp_path / "q.sneeql")
    [error] = json.loads(checked.stdout)["queries"][0]["problems"]
    assert (checked.returncode, error["file"], error["code"]) == (1, str(tmp_path / "catalog.yaml"), "CatalogError")
    (tmp_path / "catalog.yaml").unlink()
    checked = transom("check", "--format", "json", tmp_path / "q.sneeql")
    assert checked.returncode == 2
    assert json.loads(checked.stdout)["queries"][0]["problems"][0]["line"] is None


def test_a_problem_names_the_decision_of_its_message() -> None:
    text = "SELECT x"
    found = problem("q", "error", "NameProblem", "no, see C31", text=text, span=Span(7, 8))
    assert (found["decision"], found["column"], found["end_column"]) == ("C31", 8, 9)
    assert problem("q", "error", "NameProblem", "no")["decision"] is None


def test_annotations_escape_what_would_end_them() -> None:
    text = "SELECT x"
    found = problem("a,b:c.cql", "warning", "QueryWarning", "50%\nof it", hint="no", text=text, span=Span(7, 8))
    assert annotation(found) == (
        "::warning file=a%2Cb%3Ac.cql,line=1,col=8,title=QueryWarning::50%25%0Aof it; hint: no"
    )


def test_annotations_of_several_queries(tmp_path: Path) -> None:
    (tmp_path / "wrong.sneeql").write_text("SELECT x FROM nothing")
    checked = transom("check", "--format", "github", tmp_path / "wrong.sneeql", ROADS / "q1.sneeql", "-c", CATALOG)
    lines = checked.stdout.splitlines()
    assert checked.returncode == 1
    assert len(lines) == 2
    assert lines[0].startswith(f"::error file={tmp_path}/wrong.sneeql,line=1,col=15,title=NameProblem::no extent")


@pytest.mark.parametrize("name", ["check", "fmt", "picture"])
def test_quiet_leaves_out_what_is_no_answer(name: str, tmp_path: Path) -> None:
    (tmp_path / "q.sneeql").write_text("select weight from gate")
    more = ["--output", str(tmp_path / "q.svg")] if name == "picture" else []
    loud = transom(name, tmp_path / "q.sneeql", "-c", CATALOG, *more)
    assert (loud.returncode, loud.stdout != "") == (0, True)
    (tmp_path / "q.sneeql").write_text("select weight from gate")
    quiet = transom(name, tmp_path / "q.sneeql", "-c", CATALOG, "--quiet", *more)
    assert (quiet.returncode, quiet.stdout, quiet.stderr) == (0, "", "")


def test_quiet_keeps_answers_warnings_and_errors() -> None:
    words = ["simulate", "-q", NEVER, "-c", CATALOG, "--until", "60"]
    assert transom(*words, "--quiet") == transom(*words)
    assert "warning: FROM is later" in transom("check", "-q", NEVER, "-c", CATALOG, "--quiet").stdout
    assert transom("check", "-q", "SELECT", "--language", "cql", "-c", CATALOG, "--quiet").stderr.startswith("error: ")


@pytest.mark.parametrize("name", ["check", "fmt", "explain", "simulate", "picture", "run", "replay", "verify"])
def test_strict_fails_on_a_warning_about_the_query(name: str, tmp_path: Path) -> None:
    """Before any data is read, and before Spark is started."""
    (tmp_path / "q.sneeql").write_text(NEVER)
    more = {"picture": ["-o", tmp_path / "q.svg"], "run": ["-k", tmp_path / "k", "--log-format", "text"]}.get(name, [])
    strict = transom(name, tmp_path / "q.sneeql", "-c", CATALOG, "--strict", *more)
    assert strict.returncode == 1
    assert "warning: FROM is later than TO" in strict.stdout + strict.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"q.sneeql"}
    assert (tmp_path / "q.sneeql").read_text() == NEVER


def test_strict_fails_on_a_warning_about_the_data_after_the_answer() -> None:
    words = ["simulate", ROOT / "examples" / "windpark" / "restless.rq", "--until", "30 min"]
    strict = transom(*words, "--strict")
    assert strict.stdout == transom(*words).stdout
    assert (strict.returncode, transom(*words).returncode) == (1, 0)
    assert strict.stderr.splitlines()[-1] == "error: warnings fail with --strict"


def test_strict_passes_without_a_warning() -> None:
    assert transom("check", ROADS / "q1.sneeql", "--strict").returncode == 0
    assert transom("simulate", ROADS / "q1.sneeql", "--strict").returncode == 0
