"""`transom diff`: exit codes, text, JSON, and the options of the run that made the checkpoint."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.cli.test_app import transom
from tests.runtime.test_difference import LONGER, TEXT, made
from transom import Catalog, compile
from transom.runtime.checkpoint.sealed import write_sealed

CATALOG = """
tick: 1 s
extents:
  road: {kind: pushed, rate: 9 per s, attributes: ["site:integer", "temp:float"]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    (tmp_path / "old.sneeql").write_text(TEXT)
    (tmp_path / "new.sneeql").write_text(LONGER)
    query = compile(TEXT, Catalog.load(tmp_path / "catalog.yaml"))
    made(tmp_path / "k", query, start=5, until=70)
    return tmp_path


def test_same_query_resumes_with_the_recorded_options(folder: Path) -> None:
    same = transom("diff", folder / "old.sneeql", folder / "k")
    assert (same.returncode, same.stderr) == (0, "")
    state, *others = same.stdout.splitlines()
    assert re.match(r"state kept: (Sliding)?WindowAggregate\(", state)
    assert others == ["a run resumes this checkpoint"]
    other = transom("diff", folder / "old.sneeql", folder / "k", "--until", "80")
    assert other.returncode == 1
    assert "changed: until was 70, and is 80" in other.stdout.splitlines()


def test_checkpoint_of_other_versions_says_so(folder: Path) -> None:
    file = folder / "k" / "plan.json"
    kept = {**json.loads(file.read_text()), "made by": {"transom": "0.2", "spark": "4.2.0"}}
    write_sealed(file, {name: part for name, part in kept.items() if name != "digest"})
    found = transom("diff", folder / "old.sneeql", folder / "k")
    assert (found.returncode, found.stdout.splitlines()[0]) == (
        0,
        "the checkpoint was made by Transom 0.2 on Spark 4.2.0",
    )


def test_changed_query(folder: Path) -> None:
    found = transom("diff", folder / "new.sneeql", folder / "k", "--quiet")
    assert (found.returncode, found.stderr) == (1, "")
    lines = found.stdout.splitlines()
    assert [f"  -{TEXT}", f"  +{LONGER}"] == [line for line in lines if line[2] in "-+" and TEXT[:9] in line]
    assert [line.partition(":")[0] for line in lines if not line.startswith("  ")] == [
        "changed",
        "state new",
        "state lost",
        "a run needs a new checkpoint",
    ]


def test_json(folder: Path) -> None:
    found = transom("diff", folder / "new.sneeql", folder / "k", "--format", "json")
    assert found.returncode == 1
    report = json.loads(found.stdout)
    assert (report["resumes"], report["answered_until"]) == (False, None)
    assert report["rows_needed"] == {"ticks": 9, "from": None}
    assert {operator["fate"] for operator in report["operators"]} == {"rebuilt", "new", "lost"}
    assert report["made_by"].keys() == {"transom", "spark"}


def test_damaged_or_missing_checkpoint_is_refused_by_name(folder: Path) -> None:
    assert transom("diff", folder / "old.sneeql", folder / "none").returncode == 3
    file = folder / "k" / "plan.json"
    file.write_text(file.read_text().replace('"start": 5', '"start": 6'))
    found = transom("diff", folder / "old.sneeql", folder / "k")
    assert (found.returncode, found.stdout) == (3, "")
    assert f"{file} is not what Transom wrote" in found.stderr
