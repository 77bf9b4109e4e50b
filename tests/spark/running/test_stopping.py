"""Stopping: between two micro-batches, by `stop` and by signals."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import transom
from tests.cli.test_app import ROOT
from tests.spark.running.test_running import GROUPS, catalog, read, source, until_true, write
from transom.runtime.sinks.folder import FolderWriter


def test_stop_waits_for_the_micro_batch(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A delivery that has begun is finished and committed, and the next one does not begin."""
    begun: list[int] = []
    done: list[int] = []
    real = FolderWriter.__call__

    def slow(self: FolderWriter, frame: DataFrame, batch: int) -> None:
        begun.append(batch)
        time.sleep(2)  # somebody stops the query now
        real(self, frame, batch)
        done.append(batch)

    monkeypatch.setattr(FolderWriter, "__call__", slow)
    write(tmp_path / "in", [[(tick, 0, 1)] for tick in range(12)])
    query = transom.compile(GROUPS, catalog())
    frames = {"traffic": source(spark, tmp_path / "in")}
    running = query.start(spark, f"parquet:{tmp_path / 'out'}", tmp_path / "checkpoint", sources=frames, until=99)
    assert until_true(lambda: len(begun) > 2, 60)
    running.stop()
    assert begun == done
    assert running.stream.exception() is None
    commits = sorted(int(file.name) for file in (tmp_path / "checkpoint/spark/commits").glob("[0-9]*"))
    assert commits == done
    assert len(commits) < 12
    assert not running.is_active
    assert read(spark, query, tmp_path / "out").total() >= 0


@pytest.mark.parametrize(
    ("number", "group"),
    [
        pytest.param(signal.SIGTERM, False, id="SIGTERM", marks=pytest.mark.nightly),
        pytest.param(signal.SIGTERM, True, id="SIGTERM-group"),
        pytest.param(signal.SIGINT, False, id="SIGINT", marks=pytest.mark.nightly),
    ],
)
def test_a_signal_ends_a_process_without_a_trace(tmp_path: Path, number: int, group: bool) -> None:
    """A signal to the process group also reaches the JVM, which ignores it: Python stops the query between two
    micro-batches. The totals include the micro-batch that was committed just before.
    """
    roads = shutil.copytree(ROOT / "examples" / "roads", tmp_path / "roads")
    words = ["run", "roads/q1.sneeql", "--checkpoint", "k", "--output", "jsonl:out", "--start", "now"]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    process = subprocess.Popen(
        [sys.executable, "-m", "transom", *words],
        cwd=roads.parent,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        commits = tmp_path / "k" / "spark" / "commits"
        assert until_true(lambda: process.poll() is not None or any(commits.glob("[0-9]*")), 120)
        os.killpg(process.pid, number) if group else process.send_signal(number)
        out, err = process.communicate(timeout=60)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    assert process.returncode == 0, err
    assert "Traceback" not in out + err
    assert "\tat " not in err
    lines: list[dict[str, Any]] = [json.loads(line) for line in err.splitlines() if line.startswith("{")]
    said = [line.get("message", "") for line in lines]
    assert any("stopped; start it again" in message for message in said)
    counted = json.loads((tmp_path / "k" / "balance.json").read_bytes())["batches"].values()
    assert f"{sum(one['sources']['road']['read'] for one in counted):,} rows in, " in " ".join(said)
    assert [line["event"] for line in lines if line["event"] == "batch"]
