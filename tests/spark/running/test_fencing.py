"""Two starts of a run on one folder: whenever the newer one overtakes, every row is there once, for any reader."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from tests.spark.running.others import found
from tests.spark.running.test_folder import CHANGING, begun, rows, whole
from transom.errors import Fenced
from transom.runtime.sinks.folder import FolderWriter


class Overtaken:
    """A file system that lets a newer run begin before, or right after, one of its changes."""

    def __init__(self, files: Any, change: int, after: bool, newer: Callable[[], None]) -> None:
        self.files, self.left, self.after, self.newer = files, change, after, newer

    def __getattr__(self, name: str) -> Any:
        def asked(*arguments: Any) -> Any:
            if name not in CHANGING:
                return getattr(self.files, name)(*arguments)
            self.left -= 1
            if self.left == 0 and not self.after:
                self.newer()
            answer = getattr(self.files, name)(*arguments)
            if self.left == 0 and self.after:
                self.newer()
            return answer

        return asked


def taken(spark: SparkSession, out: Path) -> FolderWriter:
    writer = begun(spark, out)
    writer.take_over()
    return writer


@pytest.mark.parametrize("goes_on", [pytest.param(False, marks=pytest.mark.nightly), True], ids=["repeats", "goes on"])
@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
def test_overtaken_at_every_step(spark: SparkSession, tmp_path: Path, after: bool, goes_on: bool) -> None:
    """The older run is stopped at a change of a file, and continues when the newer run has repeated the micro-batch.

    The newer run splits the rows into other tasks, and may be a micro-batch further on already.
    """
    fenced, step = 0, 0
    while True:
        step += 1
        out = tmp_path / str(step) / "out"
        older = taken(spark, out)
        older(rows(spark, 0, 5, 2), 0)
        newer: list[FolderWriter] = []

        def overtake(out: Path = out, newer: list[FolderWriter] = newer) -> None:
            newer.append(taken(spark, out))
            newer[0](rows(spark, 5, 14, 3), 1)
            if goes_on:
                newer[0](rows(spark, 14, 16, 1), 2)

        older.output.file_system = Overtaken(older.output.file_system, step, after, overtake)
        try:
            older(rows(spark, 5, 14, 2), 1)
        except Fenced:
            fenced += 1
        if not newer:
            break
        if not goes_on:
            newer[0](rows(spark, 14, 16, 1), 2)
        assert found(out) == whole(0, 16), step
        with pytest.raises(Fenced, match="was taken over by a newer run"):
            older(rows(spark, 20, 30, 2), 2)
        assert found(out) == whole(0, 16), step
    assert step > 5
    assert fenced >= 2


def test_a_run_that_was_killed_is_continued(spark: SparkSession, tmp_path: Path) -> None:
    """Files that an earlier start has marked as whole are shown, although the newer one computes others."""
    out = tmp_path / "out"
    older = taken(spark, out)
    older(rows(spark, 0, 5, 2), 0)
    older._publish = lambda staged, batch: None  # type: ignore[method-assign] # killed right before
    older(rows(spark, 5, 14, 2), 1)
    assert found(out) == whole(0, 5)
    taken(spark, out)(rows(spark, 5, 14, 3), 1)
    assert found(out) == whole(0, 14)
    assert sorted(path.name for path in out.glob("part-*-000000001-*")) == [
        "part-0123456789ab-000000001-00000.snappy.parquet",
        "part-0123456789ab-000000001-00001.snappy.parquet",
    ]
