"""What .ci/user relies on: the lines of README that it types, and a comparison that notices every difference."""

from __future__ import annotations

import csv
import importlib.util
import re
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

ROOT = Path(__file__).parents[1]
spec = importlib.util.spec_from_file_location("user_checks", ROOT / ".ci" / "user_checks.py")
assert spec is not None
assert spec.loader is not None
checks = importlib.util.module_from_spec(spec)
spec.loader.exec_module(checks)


def test_installs_are_the_lines_of_console_blocks_word_for_word() -> None:
    page = "# A\n\n```console\n$ pip install '.[x, y]'\nout\n$ transom check q\n```\n\n```text\n$ pip install no\n```\n"
    assert checks.installs(page) == ["pip install '.[x, y]'"]
    shown = checks.installs((ROOT / "README.md").read_text("utf-8"))
    assert any(re.match(r"pip install '?\.", line) for line in shown)
    assert any("[spark]" in line for line in shown)


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ([("1", "a"), ("1", "a"), ("2", "b")], []),
        ([("1", "a"), ("2", "b")], ["missing: 1,a"]),
        ([("1", "a"), ("1", "a"), ("2", "b"), ("3", "")], ["not expected: 3,"]),
        ([], ["missing: 1,a", "missing: 2,b"]),
    ],
)
def test_rows_are_compared_as_bags(found: list[tuple[str, ...]], wrong: list[str]) -> None:
    assert checks.compare(Counter([("1", "a"), ("1", "a"), ("2", "b")]), Counter(found)) == wrong


def test_an_empty_answer_proves_nothing() -> None:
    assert checks.compare(Counter(), Counter()) == ["there are no rows to compare"]


def test_parquet_rows_as_simulate_writes_them(tmp_path: Path) -> None:
    catalog = "tick: 1 min\nepoch: 2024-05-01T06:00:00Z\nextents: {power: {declare: 'pushed (watts:float)'}}\n"
    (tmp_path / "catalog.yaml").write_text(catalog, "utf-8")
    columns = {
        "tick": [datetime(2024, 5, 1, 6, 3, tzinfo=UTC), datetime(2024, 5, 1, 6, 1, tzinfo=UTC)],
        "empty": [False, True],
        "speed": [86.1, None],
        "ID": ["van1", None],
    }
    (tmp_path / "answers").mkdir()
    pyarrow.parquet.write_table(pyarrow.table(columns), tmp_path / "answers" / "part-0.parquet")
    with (tmp_path / "answer.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(
            [["tick", "empty", "speed", "R.ID"], [2, "false", 86.1, "van1"], [0, "true", "", ""]]
        )
    found = checks.found_rows(tmp_path / "catalog.yaml", tmp_path / "answers")
    assert found == checks.expected_rows(tmp_path / "answer.csv")
    assert found.total() == 2
