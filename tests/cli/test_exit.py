"""How `transom run` ends: exit codes, signals, errors of Spark in words, lines of JSON. No Spark is started."""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import signal
import sys
import warnings
from collections import deque
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.cli.test_app import ROOT, Result, transom
from transom.cli import run
from transom.cli.errors import report_errors
from transom.cli.output import use_json_lines
from transom.cli.signals import stop_on_signal
from transom.errors import (
    EXIT_CODES,
    CheckpointError,
    DataError,
    EngineError,
    RunWarning,
    TransomError,
    Unavailable,
    UsageError,
)
from transom.model.balance import Balance
from transom.runtime import start as start_module
from transom.runtime.failures import translate_error, unknown_error
from transom.runtime.options import RunOptions
from transom.runtime.progress import Progress, batch_record, find_lost_rows
from transom.runtime.session import silence_py4j
from transom.spark.input.balance import CountingPoint, Metric, RowCounts

QUERY = ROOT / "examples" / "roads" / "q1.sneeql"


def subclasses(kind: type[TransomError]) -> set[type[TransomError]]:
    return {kind}.union(*map(subclasses, kind.__subclasses__()))


def test_every_error_has_an_exit_code_that_is_listed() -> None:
    assert {kind.exit_code for kind in subclasses(TransomError)} == {*EXIT_CODES} - {0}
    restart = {code for code, (_, again) in EXIT_CODES.items() if again != "no"}
    assert {CheckpointError.exit_code, UsageError.exit_code, DataError.exit_code}.isdisjoint(restart)
    assert {Unavailable.exit_code, EngineError.exit_code} == restart


def test_the_documentation_has_the_exit_codes() -> None:
    page = (ROOT / "docs" / "commands.md").read_text("utf-8")
    rows = dict(re.findall(r"^\| (\d+) \|.*\| ([^|]+) \|$", page, re.MULTILINE))
    assert {int(code) for code in rows} == {*EXIT_CODES}
    assert {int(code) for code, again in rows.items() if again == "no restart"} == {
        code for code, (_, again) in EXIT_CODES.items() if again == "no"
    }


def ended(error: BaseException, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    with pytest.raises(SystemExit) as stop, report_errors():
        raise error
    return int(str(stop.value.code)), capsys.readouterr().err


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, 75), (errno.EADDRINUSE, 75), (errno.ECONNREFUSED, 75), (errno.EACCES, 2)]
)
def test_errors_of_the_system(number: int, code: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert ended(OSError(number, os.strerror(number)), capsys)[0] == code


WRAPPED = """[STREAM_FAILED] Query [id = 5d, runId = 7e] terminated with exception: An exception was raised by the \
Python Proxy. Return Message: Traceback (most recent call last):
  File "py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
  File "transom/runtime/sinks/delivery.py", line 97, in patiently
    raise Unavailable(
transom.errors.Unavailable: PostgreSQL at db does not take the answers
  detail: OSError: connection refused
  hint: look at it

\tat py4j.Protocol.getReturnValue(Protocol.java:476)
"""
SPARKS = {
    "our own": (WRAPPED, Unavailable, "PostgreSQL at db does not take the answers"),
    "a message": (
        "Job aborted\n[USER_RAISED_EXCEPTION] power: offset 150 of partition 0: not JSON SQLSTATE: P0001\n\tat x.Y(Z)",
        DataError,
        "power: offset 150 of partition 0: not JSON",
    ),
    "retention": (
        "[STREAM_FAILED] terminated: [KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE] Some data may have been lost",
        CheckpointError,
        "messages of a topic were deleted before the query had read them",
    ),
    "a full disk": (
        "Job aborted\njava.io.IOException: No space left on device\n\tat a.b(C.java:1)",
        Unavailable,
        "full",
    ),
    "state": (
        "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error occurred\nCaused by: java.io.EOFException: at byte 7",
        CheckpointError,
        "state in the checkpoint",
    ),
    "a file system without its server": (
        "[CANNOT_LOAD_STATE_STORE.UNCATEGORIZED] An error\nCaused by: java.io.IOException: Connection refused",
        Unavailable,
        "a server is not available",
    ),
    "no JVM": (
        "[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.",
        EngineError,
        "the JVM of Spark ended while it started",
    ),
    "a broker": ("java.net.ConnectException: Connection refused", Unavailable, "a server is not available"),
}


@pytest.mark.parametrize(("text", "kind", "words"), SPARKS.values(), ids=SPARKS)
def test_errors_of_spark_in_words(text: str, kind: type[TransomError], words: str) -> None:
    found = translate_error(RuntimeError(text))
    assert type(found) is kind
    assert words in found.message
    assert "\tat " not in str(found)
    if "offset 150" in words:
        assert "a folder under the key dead" in (found.hint or "")
    if kind is Unavailable and "PostgreSQL" in words:
        assert (found.detail, found.hint) == ("OSError: connection refused", "look at it")


def test_the_plan_in_an_error_is_no_cause() -> None:
    text = "Failed\n=== Streaming Query ===\nLogical Plan: KAFKA_DATA_LOSS, No space left on device\nJVM stacktrace:\n"
    assert translate_error(RuntimeError(text)) is None
    assert isinstance(translate_error(RuntimeError(text + "java.io.IOException: No space left on device")), Unavailable)


def test_an_unknown_error_of_spark_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    from pyspark.errors import StreamingQueryException

    text = "[STREAM_FAILED] Query [id = 1] terminated with exception: Task failed\n\tat a.b.C.d(C.java:5)\n" * 9
    assert translate_error(RuntimeError(text)) is None
    assert "\n" not in (unknown_error(RuntimeError(text)).detail or "")
    code, said = ended(StreamingQueryException(text), capsys)
    assert code == 70
    assert said.startswith("error: Spark stopped the query\n")
    assert "C.java" not in said
    with pytest.raises(ZeroDivisionError), report_errors():
        raise ZeroDivisionError


class Fake:
    """A query that runs until it is stopped."""

    def __init__(self, folder: Path, signals: list[int], error: Exception | None = None) -> None:
        self.job = SimpleNamespace(name="q", options=RunOptions(checkpoint=folder), bound=None)
        self.resumed, self.last_progress = False, Progress(sources={"s": Balance(7, 7)})
        self.counts = RowCounts()
        self.signals, self.error, self.stopped = signals, error, False
        self.reports: deque[dict[str, Any]] = deque()

    def wait(self, seconds: float) -> bool:
        if self.signals:
            os.kill(os.getpid(), self.signals.pop(0))
        if self.error is not None:
            raise self.error
        return False

    def progress(self) -> Progress:
        return self.last_progress

    def final_progress(self) -> Progress:
        return self.last_progress

    def changed_files(self) -> list[Path]:
        return []

    def stop(self) -> None:
        self.stopped = True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_run(number: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running: Any = Fake(tmp_path, [number])
    before = signal.getsignal(number)
    with stop_on_signal() as stop:
        run.watch_and_report(running, stop)
    assert running.stopped
    assert signal.getsignal(number) is before
    said = capsys.readouterr().err.splitlines()
    assert said == [
        f"stopped; start it again with --checkpoint {tmp_path} and it goes on",
        "7 rows in, 0 out, 0 late",
        "s: 7 read = 7 used + 0 late + 0 rejected",
    ]


def test_a_signal_that_ends_spark_as_well(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running: Any = Fake(tmp_path, [signal.SIGTERM], ConnectionError("no answer from Java side"))
    with stop_on_signal() as stop:
        run.watch_and_report(running, stop)
    assert "stopped; start it again" in capsys.readouterr().err
    broken: Any = Fake(tmp_path, [], ConnectionError("no answer from Java side"))
    with pytest.raises(ConnectionError), stop_on_signal() as stop:
        run.watch_and_report(broken, stop)


def test_a_signal_before_the_query_runs(capsys: pytest.CaptureFixture[str]) -> None:
    with stop_on_signal():
        os.kill(os.getpid(), signal.SIGTERM)
        pytest.fail("the signal is taken at once")
    assert capsys.readouterr().err == "stopped\n"


def test_py4j_logs_no_trace(capsys: pytest.CaptureFixture[str]) -> None:
    """It logs one to the root logger for a signal that comes while Spark starts, and for a JVM that is gone."""
    from py4j.java_gateway import GatewayClient
    from py4j.protocol import Py4JNetworkError

    client = GatewayClient()
    root = logging.getLogger()
    before, root.handlers = root.handlers, [logging.StreamHandler(sys.stderr)]
    client._get_connection = lambda: SimpleNamespace(send_command=stopped, socket=None, close=lambda reset: None)
    error: BaseException = KeyboardInterrupt()

    def stopped(command: str) -> str:
        raise error

    silence_py4j()
    try:
        with pytest.raises(KeyboardInterrupt):
            client.send_command("c")
        error = Py4JNetworkError("no answer from the Java side")
        client.send_command("c", retry=False)
        logging.getLogger("py4j.clientserver").error("the callback of a micro-batch was interrupted")
        assert capsys.readouterr().err == ""
        logging.error("another library")
        assert "another library" in capsys.readouterr().err
    finally:
        root.handlers = before
        logging.getLogger("py4j").setLevel(logging.NOTSET)


REPORT = {
    "batchId": 4,
    "timestamp": "2026-01-01T00:00:00.000Z",
    "batchDuration": 1500,
    "durationMs": {"addBatch": 7},
    "eventTime": {"watermark": "2026-01-01T00:00:09.999Z"},
    "sources": [
        {"description": "FileStreamSource[file:/data/road-*.csv]", "numInputRows": 3},
        {
            "description": "KafkaV2[Subscribe[power]]",
            "numInputRows": 40,
            "startOffset": {"power": {"0": 10, "1": 0}},
            "endOffset": {"power": {"0": 50, "1": 10}},
        },
        {"description": "transom_clock", "numInputRows": 99},
        {"description": "MemoryStream[x]", "numInputRows": 1},
    ],
    "stateOperators": [{"numRowsTotal": 5, "numRowsDroppedByWatermark": 2}],
    "observedMetrics": {
        "transom_answer": {"rows": 6},
        "road scan": {"read": 3},
        "road watermark": {"latest": "2026-01-01T00:00:10.000Z", "late": 2, "outside": None},
        "road entry": {"used": 1},
        "power scan": {"read": 40},
        "power decoded": {"TEXT": 5, "LATE": 2, "TYPE": 0},
        "power watermark": {"latest": None, "late": None, "outside": 0},
        "power entry": {"used": 33},
    },
}
METRICS = {
    f"{source} {place.value}": Metric(source, place, reader)
    for source, reader in {"road": 3, "power": 7}.items()
    for place in (CountingPoint.SCAN, CountingPoint.DECODED, CountingPoint.WATERMARK, CountingPoint.ENTRY)
}


def test_a_line_of_json_for_each_micro_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running: Any = Fake(tmp_path, [signal.SIGTERM])
    running.counts.metrics = METRICS
    running.reports.append(REPORT)
    with use_json_lines(True), stop_on_signal() as stop:
        run.watch_and_report(running, stop)
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in lines] == ["batch", "message", "message", "message"]
    batch = lines[0]
    assert (batch["query"], batch["batch"], batch["watermark"]) == ("q", 4, "2026-01-01T00:00:09.999000+00:00")
    road = {"read": 3, "used": 1, "late": 2, "rejected": {}, "outside": 0}
    assert batch["sources"] == {"road": road, "power": {**road, "read": 40, "used": 33, "rejected": {"not JSON": 5}}}
    assert (batch["rows_out"], batch["late_rows"], batch["state_rows"], batch["seconds"]) == (6, 4, 5, 1.5)
    assert batch["unread"] == {"power": 10}


def test_balance_that_does_not_close_is_an_error() -> None:
    counts = RowCounts(METRICS)
    fine = {**REPORT, "stateOperators": []}
    assert find_lost_rows(fine, counts) is None
    for name, metric in (
        ("road entry", {"used": 0}),
        ("power decoded", {"TEXT": 4, "LATE": 2}),
        ("road scan", {"read": 4}),
    ):
        lost = find_lost_rows({**fine, "observedMetrics": {**REPORT["observedMetrics"], name: metric}}, counts)  # type: ignore[dict-item]
        assert lost is not None
        assert str(lost).startswith(f"the rows of {name.split()[0]} in micro-batch 4 do not add up: ")
        assert lost.detail == "rows missing: 1"
    for gone in ("road entry", "road watermark"):
        rest = {name: metric for name, metric in REPORT["observedMetrics"].items() if name != gone}  # type: ignore[attr-defined]
        assert find_lost_rows({**fine, "observedMetrics": rest}, counts) is not None, "what nobody counted is missing"
    dropped = find_lost_rows(REPORT, counts)
    assert dropped is not None
    assert str(dropped).startswith("Spark dropped 2 rows in micro-batch 4 that were not late")


def test_offsets_without_messages_are_counted() -> None:
    assert batch_record(REPORT, RowCounts())["unread"] == {"power": 10}
    known = {**REPORT["sources"][1], "startOffset": None}  # type: ignore[index]
    assert batch_record({**REPORT, "sources": [known]}, RowCounts())["unread"] == {}


def test_what_is_lost_is_said(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "start_session", lambda master: None)

    def start(*given: Any) -> str:
        warnings.warn("15 offsets of power are lost", RunWarning, stacklevel=1)
        return "running"

    monkeypatch.setattr(start_module, "start_query", start)
    query: Any = SimpleNamespace(job=lambda *given: SimpleNamespace(kernel=SimpleNamespace(line="kernel: off")))
    running: Any = run.start_run(query, None, RunOptions())
    assert running == "running"
    assert capsys.readouterr().err.splitlines() == ["warning: 15 offsets of power are lost", "kernel: off"]


def refused(*words: str) -> Result:
    return transom("run", QUERY, "--checkpoint", "k", "--output", "nowhere", "--catalog", "no.yaml", *words)


def test_an_error_is_json_where_lines_are(tmp_path: Path) -> None:
    """Without a terminal a live run writes JSON, and a run with --once text."""
    for words in (["--once"], ["--log-format", "text"]):
        text = refused(*words)
        assert (text.returncode, text.stderr.splitlines()[0]) == (2, "error: no catalog file no.yaml")
    for words in ([], ["--once", "--log-format", "json"]):
        found = refused(*words)
        line = json.loads(found.stderr)
        assert found.returncode == 2
        assert (line["event"], line["message"], line["exit_code"]) == ("error", "no catalog file no.yaml", 2)
    assert refused("--once").stderr.startswith("error: "), "text again"
