"""A live run over rows that were recorded hours ago: the wall clock is thousands of windows ahead of the rows."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import transom
from tests.spark.running.test_running import catalog, expected, read, source, until_true, write
from transom.physical.nodes.windows import KernelMode
from transom.physical.show import total_state

OLD = timedelta(hours=10)
TICKS = 120
SPAN = TICKS // 2
"""The ticks of a micro-batch."""
ROWS = "SELECT weight FROM traffic [FROM NOW-9 TO NOW SLIDE 1 SEC]"
EACH_SECOND = "SELECT MAX(weight), COUNT(*) FROM traffic [FROM NOW-9 TO NOW SLIDE 1 SEC]"
NEW_MAXIMA = "ISTREAM(SELECT MAX(weight) FROM traffic [FROM NOW-9 TO NOW SLIDE 1 SEC])"


@pytest.mark.parametrize(
    ("text", "kernel"),
    [
        (ROWS, "on"),
        pytest.param(ROWS, "off", marks=pytest.mark.nightly),
        pytest.param(EACH_SECOND, "on", marks=pytest.mark.nightly),
        pytest.param(EACH_SECOND, "off", marks=pytest.mark.nightly),
        pytest.param(NEW_MAXIMA, "on", marks=pytest.mark.nightly),
        pytest.param(NEW_MAXIMA, "off", marks=pytest.mark.nightly),
    ],
)
def test_windows_up_to_the_wall_clock_do_not_wait_in_state(
    spark: SparkSession, tmp_path: Path, text: str, kernel: KernelMode
) -> None:
    """The rows in state never exceed the bound, and the answers are those of the reference engine.

    `explain` prints the bound of micro-batches of one tick. For the query without aggregates, it is larger than all
    rows. The other queries are compared with the bound of micro-batches of `SPAN` ticks.
    """
    epoch = (datetime.now(UTC) - OLD).replace(microsecond=0)
    declared = catalog(epoch=epoch.isoformat(), rate=f"{TICKS} per {TICKS} s")
    query = transom.compile(text, declared)
    of_span = query.state_of(total_state(query.physical(slack=SPAN, kernel=kernel == "on"))).rows
    bound = query.spark_state(kernel).rows if text == ROWS else of_span
    assert bound is not None
    assert bound < 1_000 < OLD.total_seconds() / 30
    rows = [(tick, tick % 3, tick * 7 % 31) for tick in range(TICKS)]
    frames = {"traffic": source(spark, write(tmp_path / "in", [rows[:SPAN], rows[SPAN:]]))}
    running = query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", sources=frames, kernel=kernel)
    held: list[int] = []

    def has_caught_up() -> bool:
        running.progress()
        while running.reports:
            held.append(sum(operator["numRowsTotal"] for operator in running.reports.popleft()["stateOperators"]))
        return running.closed_tick() == TICKS - 2 and running.last_progress.rows_out >= len(answers)

    answers = list(expected(query, rows, TICKS - 2).elements())
    assert until_true(has_caught_up, 180), (running.last_progress, held)
    reports = len(held)
    time.sleep(2)  # the wall clock goes on
    assert has_caught_up()
    running.stop()
    assert max(held) <= bound, (held, bound)
    print(f"{text}, kernel {kernel}: at most {max(held):,} of {bound:,} in state, {len(held)} micro-batches")
    assert len(held) >= reports > 2
    assert read(spark, query, tmp_path / "out") == expected(query, rows, TICKS - 2)
