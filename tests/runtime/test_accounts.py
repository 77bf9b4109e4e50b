"""The rows of committed micro-batches that Spark has not reported, because the query was stopped after the commit."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from transom.model.balance import Balance
from transom.runtime.accounts import RowAccounts
from transom.runtime.checkpoint.checkpoint import Checkpoint
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.progress import Progress
from transom.spark.input.balance import CountingPoint, Metric, RowCounts

COUNTS = RowCounts(
    {place.value: Metric("s", place, 0) for place in (CountingPoint.SCAN, CountingPoint.WATERMARK, CountingPoint.ENTRY)}
)


def report(batch: int, rows: int) -> dict[str, Any]:
    observed = {
        "scan": {"read": rows},
        "watermark": {"latest": None, "late": 0, "outside": 0},
        "entry": {"used": rows},
        "transom_answer": {"rows": 10 * rows},
    }
    return {
        "batchId": batch,
        "durationMs": {"addBatch": 1},
        "observedMetrics": observed,
        "sources": [],
        "stateOperators": [],
    }


@pytest.mark.parametrize(
    ("reported", "committed", "batch", "rows"),
    [(2, 2, 2, 7), (1, 2, 2, 7), (-1, 2, 2, 7), (-1, 1, 1, 3), (0, 1, 1, 3), (1, 1, 1, 3), (-1, -1, -1, 0)],
)
def test_committed_micro_batches_count(tmp_path: Path, reported: int, committed: int, batch: int, rows: int) -> None:
    """Micro-batches 0, 1 and 2 read 1, 2 and 4 rows; the last one may be computed and not committed."""
    accounts = RowAccounts(Checkpoint(tmp_path, LocalFolder(tmp_path / "spark")), COUNTS, [])
    progress = accounts.progress()
    for number, count in enumerate((1, 2, 4)):
        if number <= reported:
            progress = progress.with_report(report(number, count), COUNTS)
        accounts.count_reported(report(number, count))
    commits = tmp_path / "spark" / "commits"
    commits.mkdir(parents=True)
    for number in range(committed + 1):
        (commits / str(number)).touch()
    final = accounts.with_unreported(progress)
    assert (final.batch, final.rows_in, final.rows_out) == (batch, rows, 10 * rows)
    assert final.sources == ({"s": Balance(rows, rows)} if rows else {})
    assert accounts.with_unreported(final) == final


def test_a_file_system_that_is_gone(tmp_path: Path) -> None:
    def gone(name: str) -> None:
        raise ConnectionError(name)

    checkpoint = Checkpoint(tmp_path, LocalFolder(tmp_path / "spark"))
    accounts = RowAccounts(checkpoint, COUNTS, [])
    accounts.count_reported(report(0, 1))
    files: Any = SimpleNamespace(entries=gone)
    checkpoint.files = files
    assert accounts.with_unreported(Progress()) == Progress()
