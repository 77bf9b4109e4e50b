"""`transom run` with --since, --after and --on-change over files, which come while the queries change."""

from __future__ import annotations

import json
import os
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import transom as package
from tests.cli.test_app import Result, transom

CATALOG = """\
tick: 1 s
epoch: 2026-01-01T00:00:00Z
extents:
  road: {declare: "pushed (site:integer, temp:integer)", source: {files: "data/*.csv"}}
"""
OLD = "RSTREAM(SELECT site, MAX(temp) AS top FROM road [FROM NOW-9 TO NOW SLIDE 5 SEC] GROUP BY site)\n"
NEW = "RSTREAM(SELECT site, MIN(temp) AS top FROM road [FROM NOW-14 TO NOW SLIDE 5 SEC] WHERE temp > 3 GROUP BY site)\n"
ROWS = [(tick, Random(f"site {tick}").randrange(3), Random(f"temp {tick}").randrange(20)) for tick in range(120)]


@pytest.fixture
def road(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "catalog.yaml").write_text(CATALOG)
    (tmp_path / "old.sneeql").write_text(OLD)
    (tmp_path / "new.sneeql").write_text(NEW)
    add_rows(tmp_path, 0, 60)
    return tmp_path


def add_rows(folder: Path, first: int, last: int) -> None:
    """Add a file with the rows of some ticks; its modification time is after that of the others."""
    file = folder / "data" / f"{first:03}.csv"
    lines = ["tick,site,temp", *(",".join(map(str, row)) for row in ROWS[first:last])]
    half = folder / f"{first}.half"
    half.write_text("\n".join(lines) + "\n")
    os.utime(half, (1_700_000_000 + first, 1_700_000_000 + first))
    half.rename(file)


def run(folder: Path, name: str, checkpoint: str, *more: str) -> Result:
    words = ["run", folder / name, "--once", "--checkpoint", folder / checkpoint, "--output", f"jsonl:{folder / 'out'}"]
    done = transom(*words, *more)
    assert done.returncode == (0 if "refuse" not in more else 3), done.stderr
    return done


def written(folder: Path) -> Counter[tuple[Any, ...]]:
    """The rows of the folder that all runs share."""
    lines = [json.loads(line) for file in (folder / "out").glob("*.json") for line in file.read_text().splitlines()]
    return Counter((_time_of_day(line["tick"]), line["site"], line["top"]) for line in lines)


def _time_of_day(instant: str) -> str:
    """An instant with any offset as hours, minutes and seconds in UTC."""
    return datetime.fromisoformat(instant).astimezone(UTC).strftime("%H:%M:%S")


def expected(text: str, first: int, last: int) -> Counter[tuple[Any, ...]]:
    """One uninterrupted run of a query, cut to some ticks; the event time of a tick is its end."""
    query = package.compile(text, {"extents": {"road": "pushed (site:integer, temp:integer)"}})
    rows = query.simulate({"road": ROWS}, until=119).elements
    return Counter(
        (f"00:{(e.tick + 1) // 60:02}:{(e.tick + 1) % 60:02}", *e.row) for e in rows if first <= e.tick <= last
    )


@pytest.mark.nightly
def test_a_deployment_changes_its_query_in_place(spark: SparkSession, road: Path) -> None:
    """Rows up to tick 59 close tick 58; the changed query answers from 59 on, over rows from tick 45 on."""
    assert "last closed tick: 58" in run(road, "old.sneeql", "k", "--on-change", "rebuild").stderr
    assert written(road) == expected(OLD, 0, 58)
    shown = run(road, "new.sneeql", "k", "--on-change", "show").stdout
    assert "belongs to another query: changed is the plan" in shown
    assert "with --on-change rebuild, answers begin at tick 59, and rows at tick 45, 14 s earlier" in shown
    assert "which resumes from it" in run(road, "old.sneeql", "k", "--on-change", "show").stdout
    refused = run(road, "new.sneeql", "k", "--on-change", "refuse")
    assert "belongs to another query" in refused.stderr
    add_rows(road, 60, 90)
    rebuilt = run(road, "new.sneeql", "k", "--on-change", "rebuild")
    assert "answers begin at tick 59, and rows at tick 45, 14 s earlier" in rebuilt.stderr
    add_rows(road, 90, 120)
    assert "going on from" in run(road, "new.sneeql", "k", "--on-change", "rebuild").stderr
    assert "going on from" in run(road, "new.sneeql", "k").stderr
    assert written(road) == expected(OLD, 0, 58) + expected(NEW, 59, 118)
    assert {"id", "logs.json", "plan.json", "spark"} <= {path.name for path in (road / "k" / "before" / "1").iterdir()}


def test_a_query_begins_in_history_and_another_goes_on_after_it(spark: SparkSession, road: Path) -> None:
    since = run(road, "old.sneeql", "k", "--since", "2026-01-01T00:00:30Z")
    assert "answers begin at tick 30, and rows at tick 21, 9 s earlier" in since.stderr
    assert written(road) == expected(OLD, 30, 58)
    add_rows(road, 60, 120)
    after = run(road, "new.sneeql", "later", "--after", str(road / "k"))
    assert "answers begin at tick 59, and rows at tick 45" in after.stderr
    assert written(road) == expected(OLD, 30, 58) + expected(NEW, 59, 118)
    refused = run(road, "old.sneeql", "k", "--on-change", "refuse")
    assert "was handed over to" in refused.stderr
