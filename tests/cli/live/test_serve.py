"""`transom serve`: its options, what it prints, and how it ends. No Spark is started."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

import httpx

from tests.cli.test_app import transom
from tests.serving.recorded import RecordedStarter, write_project
from transom.cli.live import serve
from transom.cli.live.listening import read_listening
from transom.cli.output import set_verbosity, use_json_lines
from transom.cli.signals import StopRequest
from transom.errors import EngineError
from transom.serving.supervisor import Supervisor
from transom.serving.watch import ProjectWatch

ROAD = "RSTREAM(SELECT site FROM road [NOW])"
TOKEN = "0123456789abcdef"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--listen", "0.0.0.0:0"], "a token is needed"),
        (["--listen", "nowhere"], "is no address with a port"),
        (["--listen", "127.0.0.1:70000"], "is no address with a port"),
        (["--listen", "localhost:1"], "no IP address"),
        (["--token-file", "no.txt"], "cannot read a token"),
        (["--token-file", "short.txt"], "the token is not 16"),
        (["--listen", "0.0.0.0:0", "--token-file", "token.txt"], "must be encrypted"),
        (["--tls-key", "x"], "belong together"),
    ],
)
def test_options_that_are_refused_before_spark_starts(tmp_path: Path, options: list[str], message: str) -> None:
    write_project(tmp_path, {"road": ROAD})
    (tmp_path / "short.txt").write_text("short")
    (tmp_path / "token.txt").write_text(f"{TOKEN}\n")
    refused = transom("serve", "--log-format", "text", *options, cwd=tmp_path)
    assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr


def test_an_invalid_project_does_not_start_spark(tmp_path: Path) -> None:
    refused = transom("serve", tmp_path, "--no-http", "--log-format", "text")
    assert (refused.returncode, "no project" in refused.stderr) == (2, True)
    (tmp_path / "transom.toml").write_text("x = 1")
    wrong = transom("serve", tmp_path, "--no-http", "--log-format", "json")
    assert wrong.returncode == 1
    assert json.loads(wrong.stderr)["message"].endswith("transom.toml:1:1: unknown entry 'x'")


def supervisor_of(folder: Path, executor: ThreadPoolExecutor) -> tuple[Supervisor, RecordedStarter]:
    starter = RecordedStarter()
    write_project(folder, {"road": ROAD, "wrong": "SELECT y FROM road [NOW]"})
    return Supervisor(ProjectWatch(folder), starter, executor, executor, on_event=serve.print_event), starter


class StopLater(StopRequest):
    """A stop request that comes after some looks at it."""

    def __init__(self, looks: int) -> None:
        self._looks = looks
        super().__init__()

    @property
    def requested(self) -> bool:
        self._looks -= 1
        return self._looks < 0

    @requested.setter
    def requested(self, value: bool) -> None: ...


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serve, "STEP_SECONDS", 0.05)


def test_a_signal_stops_all_queries(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_verbosity()
    with ThreadPoolExecutor() as executor:
        supervisor, starter = supervisor_of(tmp_path, executor)
        stop = StopLater(20)
        serve.supervise(supervisor, stop)
    assert stop.polled
    assert supervisor.has_stopped
    assert [run.stops for run in starter.runs["road"]] == [1]
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == ["road: starting", "wrong: starting"]
    assert {"road: running", "  a note", "road: stopping", "road: stopped", "wrong: stopped"} < set(lines)
    assert any(line.startswith("wrong: refused: ") and "wrong.cql:1:8" in line for line in lines)


def test_changed_files_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    set_verbosity()
    with ThreadPoolExecutor() as executor:
        supervisor, _ = supervisor_of(tmp_path, executor)
        seen = ""
        until = ["road: running", "the old query goes on", "again those that run", "take over"]
        for text, phrase in zip([ROAD, "SELECT y FROM road [NOW]", ROAD, ROAD.replace("site", "temp")], until):
            (tmp_path / "road.cql").write_text(text)
            while phrase not in seen:
                supervisor.step()
                seen += capsys.readouterr().err
    lines = [line for line in seen.splitlines() if line.startswith("road: its ")]
    assert lines == [
        "road: its changed files are refused, and the old query goes on: "
        f"{tmp_path}/road.cql:1:8: no attribute is called y",
        "road: its files are again those that run",
        "road: its changed files take over",
    ]


def test_the_end_of_spark_ends_the_command(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as executor:
        supervisor, starter = supervisor_of(tmp_path, executor)
        starter.alive = False
        with pytest.raises(EngineError, match="Spark has ended") as raised:
            serve.supervise(supervisor, StopLater(1000))
    assert (raised.value.exit_code, supervisor.has_stopped) == (70, True)


def test_a_signal_that_also_ends_spark_is_no_error(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as executor:
        supervisor, starter = supervisor_of(tmp_path, executor)
        starter.alive = False
        serve.supervise(supervisor, StopLater(1))
    assert supervisor.has_stopped


@pytest.mark.parametrize("quiet", [False, True])
def test_events_as_lines_of_json(tmp_path: Path, capsys: pytest.CaptureFixture[str], quiet: bool) -> None:
    set_verbosity(quiet=quiet)
    with ThreadPoolExecutor() as executor, use_json_lines(True):
        supervisor, starter = supervisor_of(tmp_path, executor)
        while supervisor.members["road"].status != "running":
            supervisor.step()
        starter.run("road").batch(0)
        supervisor.step()
    events = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert {("status", "road", "starting"), ("status", "road", "running")} <= {
        (event["event"], event["query"], event.get("status")) for event in events
    }
    batches = [event for event in events if event["event"] == "batch"]
    shown = [(event["query"], event["batch"], event["seconds"]) for event in batches]
    assert shown == ([] if quiet else [("road", 0, 0.25)])


def test_the_address_of_the_server(tmp_path: Path) -> None:
    token = tmp_path / "token.txt"
    token.write_text(f"{TOKEN}\n")
    with ThreadPoolExecutor() as executor:
        supervisor, _ = supervisor_of(tmp_path, executor)
        listening = read_listening("127.0.0.1:0", token, None, None, None, "")
        with serve.http_server(supervisor, listening) as address:
            assert address is not None
            assert address.startswith("http://127.0.0.1:")
            headers = {"authorization": f"Bearer {TOKEN}"}
            assert httpx.get(f"{address}/queries", headers=headers, trust_env=False).status_code == 200
            assert httpx.get(f"{address}/queries", trust_env=False).status_code == 401
        with serve.http_server(supervisor, None) as none:
            assert none is None
