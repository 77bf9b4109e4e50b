"""Test cases on Spark, as `transom test --spark` runs them: one in each language, and batches as micro-batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

pytest.importorskip("pyspark")

import transom.cli.test as command
from transom.cli.app import app
from transom.testing.cases import read_cases
from transom.testing.run import run_case

CASES = """\
cases:
- name: a window in SNEEql
  language: sneeql
  catalog: {a: "pushed (x:integer)"}
  query: SELECT MAX(x) FROM a [FROM NOW-9 TO NOW SLIDE 10 SEC]
  batches:
  - inputs: {a: [[0, 5], [10, 7]]}
    expected: [[0, [[5]]], [10, [[7]]]]
  - inputs: {a: [[15, 9], [20, 1]]}
    expected: [[20, [[9]]]]
- name: a stream in CQL
  language: cql
  catalog: {a: "pushed (x:integer)"}
  query: SELECT IStream(x) FROM a [RANGE '10 seconds']
  inputs: {a: [[1, 5], [3, 5], [4, 6]]}
  expected: [[1, 5], [3, 5], [4, 6]]
- name: solutions in SPARQL
  language: sparql
  catalog: {tick: 1 ms, prefixes: {"": "http://ex/"}, rdf: {s: {stream: "http://ex/s"}}}
  query: "SELECT ?x ?y FROM STREAM <http://ex/s> WINDOW RANGE 10 SLIDE WHERE { ?x :p ?y }"
  batches:
  - inputs: {s: [[0, ":a", ":p", 1]]}
    until: 4
    expected: [[0, inf, 1, ":a", 1]]
  - inputs: {s: [[6, ":a", ":p", 2.5]]}
    until: 20
    expected: [[0, 10, 1, ":a", 1], [6, 16, 1, ":a", 2.5]]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "three.test.yaml"
    path.write_text(CASES, "utf-8")
    return path


@pytest.mark.parametrize("engine", ["reference", "Spark"])
def test_three_languages_pass(engine: str, spark: Any, file: Path) -> None:
    outcomes = [run_case(case, spark if engine == "Spark" else None) for case in read_cases(file).cases]
    assert [line for outcome in outcomes for line in outcome.lines()] == []
    assert all(outcome.passed for outcome in outcomes)


def test_the_command_shows_what_differs_on_spark(spark: Any, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "start_session", lambda master: spark)
    file.write_text(CASES.replace("[4, 6]]\n- name", "[4, 7]]\n- name"), "utf-8")
    result = CliRunner().invoke(app, ["test", str(file), "--spark", "-k", "cql"])
    assert result.exit_code == 1
    assert "- [4, 7]" in result.stdout
    assert "+ [4, 6]" in result.stdout
    assert "1 case: 0 passed, 1 failed" in result.stdout
