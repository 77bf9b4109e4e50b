"""Two collectors on one log: the older one cannot write once the newer one has begun."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from transom.catalog.catalog import Catalog
from transom.connectors.log import segments
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.segments import SegmentLog, check_segments, open_segments
from transom.errors import Fenced, UsageError

CAR = Catalog.read("car: pushed (plate:string)").extents["car"]
SENSED = """
epoch: '2026-01-01T00:00:00Z'
extents:
  power:
    declare: sensed (temp:float) RATE 1 S
    source: {http: {server: 'http://127.0.0.1:1/', deadline: 300 ms}}
"""


def row(tick: int, plate: str) -> LogRecord:
    return LogRecord(LogRecordKind.ROW, tick, datetime(2026, 1, 1, tzinfo=UTC), (plate,))


def plates(folder: Path) -> list[str]:
    return [plate for _, file in open_segments(folder) for plate in file.read().column("plate").to_pylist()]


def test_writer_of_another_host_is_fenced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A lock holds on one host; on another the newer writer begins at once."""
    old = SegmentLog(tmp_path, CAR, segment_interval_seconds=0)
    old.append([row(1, "a")])
    with pytest.raises(UsageError, match="is locked by another writer"):
        SegmentLog(tmp_path, CAR)
    monkeypatch.setattr(segments, "acquire_lock", lambda file: os.open(file, os.O_RDWR))
    new = SegmentLog(tmp_path, CAR, segment_interval_seconds=0)
    for entries in ([row(2, "lost")], []):
        with pytest.raises(Fenced, match=rf"the log {tmp_path} was taken over by a newer writer"):
            old.append(entries)
    new.append([row(2, "b"), row(2, "c")])
    assert plates(tmp_path) == ["a", "b", "c"]


@pytest.mark.parametrize("shown", [False, True])
def test_writer_that_wakes_up_inside_an_append(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shown: bool) -> None:
    """It was stopped right before or right after its segment appeared: the newer writer has it, or never gets it."""
    old = SegmentLog(tmp_path, CAR, segment_interval_seconds=0)
    monkeypatch.setattr(segments, "acquire_lock", lambda file: os.open(file, os.O_RDWR))
    real = os.replace

    def stopped(source: Path, target: Path) -> None:
        if shown:
            real(source, target)
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", real)
            SegmentLog(tmp_path, CAR, segment_interval_seconds=0).append([row(2, "new")])
        if not shown:
            real(source, target)

    with monkeypatch.context() as patched:
        patched.setattr(os, "replace", stopped)
        if shown:
            old.append([row(1, "old")])
        else:
            with pytest.raises(Fenced):
                old.append([row(1, "old")])
    with pytest.raises(Fenced):
        old.append([row(3, "late")])
    check_segments(tmp_path)
    assert plates(tmp_path) == (["old", "new"] if shown else ["new"])


def ticks(folder: Path) -> list[int]:
    return [
        tick
        for _, file in open_segments(folder)
        for kind, tick in zip(*map(file.read().column, ("_kind", "_tick")))
        if kind.as_py() == "beat"
        for tick in [tick.as_py()]
    ]


def until(folder: Path, count: int) -> None:
    end = time.monotonic() + 60
    while len(segments.segments(folder)) < count:
        assert time.monotonic() < end
        time.sleep(0.05)


def test_stopped_collector_ends_when_it_wakes_up(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text(SENSED)
    log = tmp_path / "log" / "power"
    command = [sys.executable, "-m", "transom", "collect", "--catalog", str(tmp_path / "catalog.yaml")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as old:
        try:
            until(log, 1)
            old.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, old.pid, os.WSTOPPED)
            with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as new:
                try:
                    until(log, len(segments.segments(log)) + 2)
                    old.send_signal(signal.SIGCONT)
                    _, said = old.communicate(timeout=30)
                    until(log, len(segments.segments(log)) + 2)
                finally:
                    new.terminate()
                    new.communicate(timeout=30)
                assert new.returncode == 0
        finally:
            old.kill()
    assert old.returncode == 4, said
    assert f"error: the log {log} was taken over by a newer writer" in said
    assert "Traceback" not in said
    assert len(ticks(log)) == len({*ticks(log)})
