"""The benchmark of statements at a small size: all contestants give the same, and the contest says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from benchmarks.terms import checked, tasks, write
from benchmarks.triples import EACH, snapshots, star

pytestmark = pytest.mark.soak


def test_a_star(spark: Any, tmp_path: Path) -> None:
    found = star(spark, tmp_path, 600, 1)
    assert found["answers"] == 2 * (600 // EACH - 10)
    assert set(found["rows/s"]) >= {"local", "not local", "by hand, pivoted"}


def test_snapshots(spark: Any, tmp_path: Path) -> None:
    found = snapshots(spark, tmp_path, 3000, 1, 2)
    assert found["snapshots"] == 2
    assert found["of"] == 3
    assert found["whole windows"] is False
    assert found["answers"] > 500


def test_encodings_agree(spark: Any, tmp_path: Path) -> None:
    for task, plans in tasks(*write(spark, 1000, tmp_path)).items():
        assert checked(task, plans) > 0
    join = tasks(*write(spark, 1000, tmp_path / "again"))["join"]
    with pytest.raises(SystemExit, match="do not agree"):
        checked("join", {**join, "hash": lambda: join["hash"]().limit(5)})
