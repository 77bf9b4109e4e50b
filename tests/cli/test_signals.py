"""A signal stops a run with `--once`, which should have ended by itself. No Spark is started."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.cli.test_exit import Fake
from transom.cli import run
from transom.cli.errors import report_errors
from transom.cli.signals import Interrupted, StopRequest, stop_on_signal


def watch_run_once(running: Any) -> StopRequest:
    with stop_on_signal() as stop:
        stop.must_finish = True
        run.watch_and_report(running, stop)
    return stop


def test_a_run_that_must_finish_is_interrupted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A supervisor must start a run with --once again if a signal stopped it, whether or not Spark has stopped, too."""
    for error in (None, ConnectionError("no answer from Java side")):
        running: Any = Fake(tmp_path, [signal.SIGTERM], error)
        with pytest.raises(SystemExit) as code, report_errors():
            watch_run_once(running)
        assert code.value.code == 75
        assert capsys.readouterr().err.splitlines() == [
            "7 rows in, 0 out, 0 late",
            "s: 7 read = 7 used + 0 late + 0 rejected",
            "error: a signal stopped the run before it had processed all available rows",
            "  hint: start it again with the same arguments, and it goes on",
        ]


def test_a_run_that_has_finished_is_not_interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    running: Any = Fake(tmp_path, [signal.SIGTERM])
    monkeypatch.setattr(running, "wait", lambda seconds: Fake.wait(running, seconds) or True)
    assert watch_run_once(running).requested
    assert not running.stopped


def test_a_signal_before_a_run_that_must_finish() -> None:
    def start() -> None:
        with stop_on_signal() as stop:
            stop.must_finish = True
            os.kill(os.getpid(), signal.SIGTERM)
            pytest.fail("the signal is taken at once")

    with pytest.raises(Interrupted):
        start()
