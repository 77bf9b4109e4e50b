"""Bounds of very many rows: a warning that says how many, and where they come from."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import transom
from transom.algebra.state.bound import MANY_ROWS
from transom.cli.app import app

CATALOG = """
extents:
  a: {{declare: 'pushed (x:integer)', rate: {rate} per 1 s}}
  b: {{declare: 'pushed (x:integer)', rate: {rate} per 1 s}}
  t: {{declare: 'stored (x:integer)', rows: 10}}
"""
PAIRS = "ISTREAM(SELECT a.x FROM a [RANGE '99 seconds', SLIDE '1 second'], b [RANGE '99 seconds', SLIDE '1 second'])"
WINDOW = "SELECT x FROM a [RANGE '99 seconds', SLIDE '1 second']"


def written(folder: Path, rate: int, query: str) -> str:
    """A query beside its catalog."""
    (folder / "catalog.yaml").write_text(CATALOG.format(rate=rate))
    (folder / "q.cql").write_text(query)
    return str(folder / "q.cql")


def test_a_product_names_its_factors(tmp_path: Path) -> None:
    path = written(tmp_path, 10_000, PAIRS)
    shown = CliRunner().invoke(app, ["check", path])
    assert shown.exit_code == 0
    first, verdict = shown.output.splitlines()[:2]
    factors = "rate(a) * 100 s = 1,000,000 and rate(b) * 100 s = 1,000,000"
    assert first.startswith("warning: this query may have to keep 1,000,00")
    assert f"rows in memory; the largest part is rate(a) * 100 s * rate(b) * 100 s, where {factors}; shorten" in first
    assert verdict.endswith("q.cql: 1 warning")
    assert CliRunner().invoke(app, ["check", "--strict", path]).exit_code == 1
    report = json.loads(CliRunner().invoke(app, ["check", "--format", "json", path]).stdout)
    assert [problem["code"] for problem in report["queries"][0]["problems"]] == ["LargeState"]


@pytest.mark.parametrize(("rate", "large"), [(MANY_ROWS // 100, False), (MANY_ROWS // 100 + 1, True)])
def test_the_limit(tmp_path: Path, rate: int, large: bool) -> None:
    path = written(tmp_path, rate, WINDOW)
    state = transom.compile(WINDOW, tmp_path / "catalog.yaml", language="cql").state
    assert (state.rows, state.is_excessive) == (100 * rate, large)
    assert state.largest == (f"rate(a) * 100 s = {100 * rate:,}" if large else None)
    shown = CliRunner().invoke(app, ["check", path]).output
    assert ("warning: this query may have to keep" in shown) is large
    assert ("q.cql: fine" in shown) is not large


def test_commands_that_evaluate_print_one_short_line(tmp_path: Path) -> None:
    path = written(tmp_path, 10_000, PAIRS)
    run = ["simulate", path, "--until", "0"]
    for extent in ("a", "b"):
        (tmp_path / f"{extent}.csv").write_text("tick,x\n0,1\n")
    catalog = (tmp_path / "catalog.yaml").read_text()
    for extent in ("a", "b"):
        catalog = catalog.replace(f"  {extent}: {{", f"  {extent}: {{source: {{files: {extent}.csv}}, ")
    (tmp_path / "catalog.yaml").write_text(catalog)
    shown = CliRunner().invoke(app, run)
    lines = shown.stderr.splitlines()
    assert lines == ["warning: this query may have to keep more than 10^12 rows in memory; `transom check` says why"]
    quiet = CliRunner().invoke(app, [*run, "--quiet"])
    assert (quiet.exit_code, quiet.stderr) == (0, "")
    strict = CliRunner().invoke(app, [*run, "--quiet", "--strict"])
    assert strict.exit_code == 1
    assert strict.stderr.splitlines()[0] == lines[0]
