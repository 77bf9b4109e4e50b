"""`transom status` of a project that a real server answers for: what it prints, and its exit codes."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

from tests.cli.test_app import Result, transom
from tests.docs.pages import text_of
from tests.serving.http.certificate import make_certificate
from tests.serving.recorded import Served, write_project
from transom.cli.live import serve
from transom.cli.printing.queries import HEADER, duration_text
from transom.errors import DataError, Unavailable
from transom.model.balance import Balance
from transom.serving.address import ADDRESS_FILE
from transom.serving.http.server import Listening

ROAD = "RSTREAM(SELECT site FROM road [NOW])"
TOPIC = "SELECT AVG(x) FROM topic [RANGE 10 SECONDS SLIDE 5 SECONDS]"
TOKEN = "0123456789abcdef"


@pytest.fixture
def served(tmp_path: Path) -> Served:
    return Served(write_project(tmp_path, {"road": ROAD, "topic": TOPIC}))


@contextmanager
def listening(served: Served, at: Listening | None = None) -> Iterator[str]:
    """Serve the project as the command `serve` does."""
    with serve.http_server(served.supervisor, at or Listening()) as address:
        assert address is not None
        yield address


def status(served: Served, *options: str | Path) -> Result:
    return transom("status", served.folder, *options)


def table(result: Result) -> dict[str, dict[str, str]]:
    """The printed table, by query and column; columns are where the header has them."""
    lines = result.stdout.splitlines()
    header = next(line for line in lines if line.startswith("query"))
    starts = [header.index(name) for name in HEADER]
    ends = [*starts[1:], None]
    rows = [line for line in lines[lines.index(header) + 2 :] if line.strip()]
    cells = [[line[start:end].strip() for start, end in zip(starts, ends)] for line in rows]
    return {row[0]: dict(zip(HEADER, row)) for row in cells if len(row) == len(HEADER) and row[1]}


def test_queries_that_run(served: Served) -> None:
    served.steps()
    served.run("topic").batch(3, topic=Balance(12_010, 12_007, 2, {"not JSON": 1}))
    served.run("road").end()
    served.steps()
    with listening(served) as address:
        result = status(served)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0] == f"{address}: ready, 1 ended, 1 running"
    rows = table(result)
    topic = rows["topic"]
    lag = float(topic.pop("lag").removesuffix(" s"))
    assert 4 < lag < 60
    assert topic == {
        "query": "topic",
        "status": "running",
        "since (UTC)": f"{served.supervisor.members['topic'].since:%Y-%m-%d %H:%M:%S}",
        "restarts": "0",
        "used": "12,007",
        "late": "2",
        "rejected": "1",
        "delay": "0 s",
        "state": "7",
        "of at most": f"{served.run('topic').job.bound.rows:,}",
    }
    assert (rows["road"]["status"], rows["road"]["delay"], rows["road"]["lag"]) == ("ended", "2 s", "")


def test_a_refused_query(served: Served) -> None:
    (served.folder / "road.cql").write_text("SELECT y\nFROM road [NOW]")
    served.steps(9)
    with listening(served):
        result = status(served)
    assert result.returncode == 1
    row = table(result)["road"]
    assert (row["status"], row["used"], row["state"], row["of at most"]) == ("refused", "", "", "")
    errors = [line for line in result.stdout.splitlines() if line.startswith("road: ")]
    assert errors == [f"road: {served.folder}/road.cql:1:8: no attribute is called y"]


def test_a_query_that_waits_after_a_failure(served: Served) -> None:
    served.steps()
    served.run("road").end(Unavailable("the broker is away", detail="connection refused"))
    served.steps(2)
    with listening(served):
        result = status(served)
        assert (result.returncode, table(result)["road"]["status"]) == (1, "waiting")
        assert result.stdout.endswith("\nroad: the broker is away\n")
        served.now += 2
        served.steps(2)
        again = status(served)
    assert (again.returncode, table(again)["road"]["status"], table(again)["road"]["restarts"]) == (0, "running", "1")
    assert "road: the broker is away" in again.stdout, "the error is shown until a micro-batch succeeds"


def test_changed_files_while_the_old_query_runs(served: Served) -> None:
    served.steps()
    (served.folder / "road.cql").write_text("SELECT y FROM road [NOW]")
    served.starter.check_errors["topic"] = [Unavailable("the registry is away")]
    (served.folder / "topic.cql").write_text(TOPIC.replace("AVG", "MAX"))
    served.steps()
    with listening(served):
        refused = status(served)
        (served.folder / "road.cql").write_text(ROAD)
        (served.folder / "topic.cql").write_text(TOPIC)
        served.steps()
        withdrawn = status(served)
    assert (refused.returncode, [table(refused)[name]["status"] for name in ("road", "topic")]) == (1, ["running"] * 2)
    assert refused.stdout.splitlines()[-2:] == [
        f"road: its changed files are refused, and the old query goes on: {served.folder}/road.cql:1:8: "
        "no attribute is called y",
        "topic: its changed files are being checked: the registry is away",
    ]
    assert (withdrawn.returncode, "changed files" in withdrawn.stdout) == (0, False)


def test_queries_that_start_or_stop(served: Served) -> None:
    with listening(served) as address:
        result = status(served)
        assert (result.returncode, result.stdout.splitlines()[0]) == (75, f"{address}: not ready, 2 waiting")
        served.steps()
        assert status(served).returncode == 0
        served.supervisor.stop()
        served.steps()
        assert status(served).returncode == 75


def test_a_failure_counts_more_than_a_start(served: Served) -> None:
    served.starter.errors["road"] = [DataError("row 7")]
    served.supervisor.members["road"].step(served.now)
    served.supervisor.members["road"].step(served.now)
    with listening(served):
        result = status(served)
    assert result.returncode == 1
    assert result.stdout.splitlines()[0].endswith(": not ready, 1 refused, 1 waiting")


@pytest.mark.parametrize("text", ["[queries", "x = 1"])
def test_an_invalid_project_file(served: Served, text: str) -> None:
    served.steps()
    (served.folder / "transom.toml").write_text(text)
    served.steps(4)
    with listening(served):
        result = status(served)
    assert (result.returncode, table(result)["road"]["status"]) == (1, "running")
    assert re.search(r"\nproject: \S+transom\.toml:1:\d: ", result.stdout)
    gone = status(served)
    assert (gone.returncode, "transom.toml:1:" in gone.stderr) == (1, True)


def test_json(served: Served) -> None:
    served.steps()
    served.run("topic").batch(0, topic=Balance(3, 3))
    served.steps(1)
    with listening(served) as address:
        result = status(served, "--format", "json")
    view = json.loads(result.stdout)
    assert (view["address"], view["ready"], view["error"], result.returncode) == (address, True, None, 0)
    assert {query["name"]: query["batch"] for query in view["queries"]} == {"road": None, "topic": 0}
    assert view["queries"][1]["rows"]["used"] == 3


def test_no_queries(tmp_path: Path) -> None:
    served = Served(write_project(tmp_path, {}))
    served.steps()
    with listening(served) as address:
        result = status(served)
    assert (result.returncode, result.stdout) == (0, f"{address}: ready\n")


def test_the_project_of_this_folder_and_its_file(served: Served) -> None:
    served.steps()
    with listening(served) as address:
        here = transom("status", cwd=served.folder)
        file = transom("status", served.folder / "transom.toml")
        url = transom("status", f"{address}/", cwd=served.folder.parent)
    assert [result.returncode for result in (here, file, url)] == [0, 0, 0]
    assert [result.stdout.splitlines()[0] for result in (here, file, url)] == [f"{address}: ready, 2 running"] * 3


def test_the_state_folder_of_the_project(tmp_path: Path) -> None:
    folder = write_project(tmp_path, {"road": ROAD})
    (folder / "transom.toml").write_text('state = "kept/here"\n' + (folder / "transom.toml").read_text())
    served = Served(folder)
    served.steps()
    with listening(served):
        assert (folder / "kept/here" / ADDRESS_FILE).exists()
        assert status(served).returncode == 0
    assert not (folder / "kept/here" / ADDRESS_FILE).exists()


def test_nothing_runs(served: Served) -> None:
    result = status(served)
    assert (result.returncode, result.stdout) == (75, "")
    assert f"no `transom serve` answers for {served.folder}/transom.toml" in result.stderr
    assert f"transom serve {served.folder}" in result.stderr
    none = transom("status", served.folder / "nowhere")
    assert (none.returncode, "no project" in none.stderr) == (2, True)


def test_a_stale_file(served: Served) -> None:
    (served.folder / "state").mkdir()
    (served.folder / "state" / ADDRESS_FILE).write_text("http://127.0.0.1:8470\n")
    result = status(served)
    assert (result.returncode, "it was killed" in result.stderr) == (75, True), result.stderr


def test_nothing_answers_at_a_url() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
    result = transom("status", url)
    assert (result.returncode, f"nothing answers at {url}" in result.stderr) == (75, True)


def test_a_token_and_tls(served: Served, tmp_path: Path) -> None:
    served.steps()
    certificate, key = make_certificate(tmp_path)
    token, wrong = tmp_path / "token.txt", tmp_path / "wrong.txt"
    token.write_text(f"{TOKEN}\n")
    wrong.write_text(f"{TOKEN[::-1]}\n")
    with listening(served, Listening(token=TOKEN, certificate=certificate, key=key)) as address:
        assert address.startswith("https://")
        right = status(served, "--token-file", token, "--tls-ca", certificate)
        untrusted = status(served, "--token-file", token)
        missing = status(served, "--tls-ca", certificate)
        refused = status(served, "--tls-ca", certificate, "--token-file", wrong)
    assert (right.returncode, right.stderr) == (0, "")
    assert (untrusted.returncode, "is not trusted" in untrusted.stderr) == (2, True)
    assert (missing.returncode, "it needs a token" in missing.stderr) == (2, True)
    assert (refused.returncode, "the token is wrong" in refused.stderr) == (2, True)
    assert TOKEN not in right.stdout + refused.stderr + missing.stderr


def test_a_state_folder_that_cannot_be_written(served: Served, capsys: pytest.CaptureFixture[str]) -> None:
    (served.folder / "state").write_text("no folder")
    with listening(served) as address:
        assert transom("status", address).returncode == 75
    assert "so `transom status` needs the URL" in capsys.readouterr().err


def test_control_characters_of_a_server_are_escaped(served: Served) -> None:
    served.steps()
    served.run("road").end(Unavailable("\x1b[31mred"))
    served.steps(2)
    with listening(served):
        assert "\x1b" not in status(served).stdout + status(served, "--format", "json").stdout


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, ""),
        (0.0, "0 s"),
        (2.0, "2 s"),
        (5.26, "5.3 s"),
        (119.0, "119 s"),
        (120.0, "2 min"),
        (7200.0, "2 h"),
        (-3.0, "-3 s"),
        (200_000.0, "2 d"),
    ],
)
def test_durations(seconds: float | None, text: str) -> None:
    assert duration_text(seconds) == text


def test_the_pages_show_the_table_as_it_is_printed() -> None:
    for page in ("docs/commands.md", "docs/how-to/serve-a-project.md"):
        shown = [line for line in text_of(page).splitlines() if line.startswith("query ") and "since" in line]
        assert [tuple(re.split(r"  +", line.strip())) for line in shown] == [HEADER], page
