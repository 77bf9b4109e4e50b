"""Every route of a served project, through a real server on loopback."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("pyspark")
pytest.importorskip("uvicorn")

import httpx
import pyarrow as pa
from prometheus_client.parser import text_string_to_metric_families

from tests.serving.recorded import (
    Served,
    SteppingThread,
    tick_end,
    write_answers,
    write_lines,
    write_project,
    write_table,
)
from transom.errors import Unavailable
from transom.model.balance import Balance
from transom.serving.http.app import ProjectServer
from transom.serving.http.server import Listening

ROAD = "RSTREAM(SELECT site FROM road [NOW])"
TOPIC = "SELECT AVG(x) FROM topic [RANGE 10 SECONDS SLIDE 5 SECONDS]"
ARROW = "application/vnd.apache.arrow.stream"
SINKS = {"console": "console", "server": "kafka://host:9092/secret", "away": "parquet:s3a://bucket/x"}


@pytest.fixture
def served(tmp_path: Path) -> Served:
    served = Served(write_project(tmp_path, {"road": ROAD, "topic": TOPIC, "broken": "SELECT y FROM road [NOW]"}))
    served.steps()
    return served


@pytest.fixture
def client(served: Served) -> Iterator[httpx.Client]:
    with (
        ProjectServer(served.supervisor, Listening()) as server,
        httpx.Client(base_url=server.address, trust_env=False, timeout=10) as client,
    ):
        yield client


def test_queries(client: httpx.Client) -> None:
    answer = client.get("/queries")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    listed = {query["name"]: query for query in answer.json()["queries"]}
    assert {name: query["status"] for name, query in listed.items()} == {
        "road": "running",
        "topic": "running",
        "broken": "refused",
    }
    assert "no attribute is called y" in listed["broken"]["error"]
    assert (listed["road"]["batch"], listed["road"]["lag_seconds"], listed["road"]["error"]) == (None, None, None)
    assert (listed["broken"]["rows"], listed["broken"]["watermark_delay_seconds"]) == (None, None)


def test_figures_of_all_queries(served: Served, client: httpx.Client) -> None:
    served.run("topic").batch(3, topic=Balance(11, 7, 2, {"not JSON": 1}, 1))
    listed = {query["name"]: query for query in client.get("/queries").json()["queries"]}
    topic, bound = listed["topic"], served.run("topic").job.bound
    assert topic["rows"] == {"read": 11, "used": 7, "late": 2, "rejected": 1, "outside": 1}
    assert topic["state"] == {"rows": 7, "bound": str(bound), "bound_rows": bound.rows}
    assert (topic["watermark_delay_seconds"], listed["road"]["watermark_delay_seconds"]) == (0.0, 2.0)
    assert datetime.fromisoformat(topic["since"]) == served.supervisor.members["topic"].since.replace(microsecond=0)


def test_a_query(served: Served, client: httpx.Client) -> None:
    served.run("topic").batch(3, topic=Balance(10, 7, 2, {"not JSON": 1}))
    served.steps(1)
    view = client.get("/queries/topic").json()
    assert (view["text"], view["columns"], view["language"], view["batch"]) == (TOPIC, ["AVG(x)"], "cql", 3)
    assert "KeyedWindowAggregate" in view["plan"] or "Aggregate" in view["plan"]
    assert view["plan"] == served.supervisor.members["topic"].last.query.explain("plan")  # type: ignore[union-attr]
    bound = served.run("topic").job.bound
    assert view["state"] == {"rows": 7, "bound": str(bound), "bound_rows": bound.rows}
    assert (view["rows_out"], view["batch_seconds"], view["output"]) == (
        40,
        0.25,
        f"parquet:{served.folder}/answers/topic",
    )
    assert 4 < view["lag_seconds"] < 60
    assert view["sources"]["topic"] == {
        "name": "topic",
        "watermark_delay_seconds": 0.0,
        "read": 10,
        "used": 7,
        "late": 2,
        "rejected": {"not JSON": 1},
        "outside": 0,
        "offsets_behind": 7,
    }


def test_a_query_that_never_ran(client: httpx.Client) -> None:
    view = client.get("/queries/broken").json()
    assert (view["status"], view["text"], view["plan"]) == ("refused", "SELECT y FROM road [NOW]", None)
    assert "broken.cql:1:8" in view["error"]


def test_changed_files_that_are_refused(served: Served, client: httpx.Client) -> None:
    """The old run goes on, with its text and its answers; the error of the change is beside it."""
    write_answers(served.folder / "answers/road", 0, [(0, 1)])
    (served.folder / "road.cql").write_text("SELECT y FROM road [NOW]")
    text = (served.folder / "transom.toml").read_text()
    (served.folder / "transom.toml").write_text(text.replace("answers/road", "elsewhere"))
    served.steps()
    view = client.get("/queries/road").json()
    assert (view["status"], view["text"], view["error"]) == ("running", ROAD, None)
    assert view["change"]["status"] == "refused"
    assert "road.cql:1:8: no attribute is called y" in view["change"]["error"]
    assert datetime.fromisoformat(view["change"]["since"]) >= datetime.fromisoformat(view["since"])
    assert [row["x"] for row in client.get("/queries/road/answers").json()["rows"]] == [1]
    listed = {query["name"]: query["change"] for query in client.get("/queries").json()["queries"]}
    assert listed == {"road": view["change"], "topic": None, "broken": None}
    read = samples(client)
    assert [read["transom_query_change_refused", (name,)] for name in ("road", "topic", "broken")] == [1, 0, 0]


def test_newest_answers(served: Served, client: httpx.Client) -> None:
    assert client.get("/queries/road/answers").json() == {"columns": [], "rows": [], "more": False}
    for batch in range(3):
        write_answers(served.folder / "answers/road", batch, [(batch, float(batch)), (batch, float("nan"))])
    newest = client.get("/queries/road/answers", params={"limit": 3})
    assert newest.headers["transom-more"] == "true"
    assert newest.json() == {
        "columns": ["tick", "x"],
        "rows": [{"tick": tick_end(tick).isoformat(), "x": x} for tick, x in [(1, "NaN"), (2, 2.0), (2, "NaN")]],
        "more": True,
    }
    for since in ("2", "2 s", "2026-01-01T00:00:02Z"):
        rows = client.get("/queries/road/answers", params={"since": since}).json()["rows"]
        assert [row["x"] for row in rows] == [2.0, "NaN"]


def test_newest_answer_of_each_key(served: Served, client: httpx.Client) -> None:
    path, folder = "/queries/road/answers", served.folder / "answers/road"
    for batch in range(3):
        write_table(folder, batch, [{"tick": batch, "site": site} for site in range(3 - batch)])
    newest = client.get(path, params={"newest": "site"})
    assert (newest.status_code, newest.headers["transom-more"]) == (200, "false")
    assert [(row["site"], row["tick"]) for row in newest.json()["rows"]] == [
        (2, tick_end(0).isoformat()),
        (1, tick_end(1).isoformat()),
        (0, tick_end(2).isoformat()),
    ]
    limited = client.get(path, params={"newest": "site", "limit": 2, "format": "csv"})
    assert (limited.text, limited.headers["transom-more"]) == (
        f"tick,site\n{tick_end(1).isoformat()},1\n{tick_end(2).isoformat()},0\n",
        "true",
    )
    arrow = client.get(path, params={"newest": "site,tick", "since": "1"}, headers={"accept": ARROW})
    read = pa.ipc.open_stream(io.BytesIO(arrow.content)).read_all().to_pylist()
    assert read == [{"site": site, "tick": tick_end(tick)} for tick, site in [(1, 0), (1, 1), (2, 0)]]


@pytest.mark.parametrize(
    ("query", "newest", "status", "message", "hint"),
    [
        ("road", "sight", 400, "no column of the answers is called sight", "did you mean site?"),
        ("changes", "site", 400, "newest is not for answers that are changes", "write the query with RSTREAM"),
        ("broken", "site", 409, "the query has never run", "leave out newest"),
    ],
)
def test_columns_whose_newest_answers_are_refused(
    tmp_path: Path, query: str, newest: str, status: int, message: str, hint: str
) -> None:
    texts = {"road": ROAD, "changes": ROAD.replace("RSTREAM", "ISTREAM"), "broken": "SELECT y FROM road [NOW]"}
    served = Served(write_project(tmp_path, texts))
    served.steps()
    with ProjectServer(served.supervisor, Listening()) as server:
        path = f"{server.address}/queries/{query}/answers"
        refused = httpx.get(path, params={"newest": newest}, trust_env=False)
        events = httpx.get(path, params={"newest": newest, "format": "events"}, trust_env=False)
    assert (refused.status_code, events.status_code) == (status, 400)
    assert message in refused.json()["error"]
    assert hint in refused.json()["hint"]


def test_answers_as_csv_and_arrow(served: Served, client: httpx.Client) -> None:
    write_answers(served.folder / "answers/road", 0, [(0, 'a "b", c'), (1, None)])
    path = "/queries/road/answers"
    table = client.get(path, params={"format": "csv"})
    assert table.headers["content-type"] == "text/csv; charset=utf-8"
    assert table.text == (f'tick,x\n{tick_end(0).isoformat()},"a ""b"", c"\n{tick_end(1).isoformat()},\n')
    assert client.get(path, headers={"accept": "text/html, text/csv;q=0.9"}).text == table.text
    arrow = client.get(path, params={"format": "arrow"})
    read = pa.ipc.open_stream(io.BytesIO(arrow.content)).read_all()
    assert read.to_pylist() == [{"tick": tick_end(0), "x": 'a "b", c'}, {"tick": tick_end(1), "x": None}]
    assert str(read.schema.field("tick").type) == "timestamp[us, tz=UTC]"


def test_answers_of_json_lines(tmp_path: Path) -> None:
    folder = write_project(tmp_path, {"road": ROAD})
    text = (folder / "transom.toml").read_text()
    (folder / "transom.toml").write_text(text.replace("parquet:", "jsonl:"))
    served = Served(folder)
    served.steps()
    write_lines(folder / "answers/road", 0, [(0, 1), (1, "NaN")])
    with ProjectServer(served.supervisor, Listening()) as server:
        path = f"{server.address}/queries/road/answers"
        assert [row["x"] for row in httpx.get(path, trust_env=False).json()["rows"]] == [1, "NaN"]
        mixed = httpx.get(path, params={"format": "arrow"}, trust_env=False)
        assert (mixed.status_code, "no types of Arrow" in mixed.json()["error"]) == (409, True)


@pytest.mark.parametrize("sink", SINKS)
def test_sinks_that_cannot_be_read_back(tmp_path: Path, sink: str) -> None:
    folder = write_project(tmp_path, {"road": ROAD})
    text = (folder / "transom.toml").read_text()
    (folder / "transom.toml").write_text(text.replace("parquet:answers/road", SINKS[sink]))
    served = Served(folder)
    served.steps()
    with ProjectServer(served.supervisor, Listening()) as server:
        answer = httpx.get(f"{server.address}/queries/road/answers", trust_env=False)
        view = httpx.get(f"{server.address}/queries/road", trust_env=False)
    assert (answer.status_code, "answers in" in answer.json()["error"]) == (409, True)
    assert "secret" not in view.text + answer.text


def test_health_and_readiness(tmp_path: Path) -> None:
    served = Served(write_project(tmp_path, {"road": ROAD}))
    with ProjectServer(served.supervisor, Listening()) as server:

        def status(path: str) -> int:
            return httpx.get(f"{server.address}{path}", trust_env=False).status_code

        assert (status("/healthz"), status("/readyz")) == (200, 503)
        served.steps()
        ready = httpx.get(f"{server.address}/readyz", trust_env=False)
        assert (ready.status_code, ready.json()) == (200, {"ready": True, "queries": {"running": 1}})
        served.now += 60
        assert (status("/healthz"), status("/readyz")) == (503, 200)
        served.supervisor.stop()
        served.steps()
        assert (status("/healthz"), status("/readyz")) == (200, 503)


def samples(client: httpx.Client) -> dict[tuple[str, tuple[str, ...]], float]:
    """The metrics as the parser of Prometheus' own client reads them: name and values of labels."""
    order = ("query", "source", "status", "outcome")
    read = [s for family in text_string_to_metric_families(client.get("/metrics").text) for s in family.samples]
    return {(s.name, tuple(s.labels[name] for name in order if name in s.labels)): s.value for s in read}


def test_metrics(served: Served, client: httpx.Client) -> None:
    served.run("topic").batch(0, topic=Balance(10, 7, 2, {"not JSON": 1}))
    served.run("topic").sink_retries = 3
    served.run("road").end(Unavailable("away"))
    served.steps(2)
    served.now += 2
    served.steps(2)
    read = samples(client)
    assert read["transom_query_status", ("topic", "running")] == 1
    assert read["transom_query_status", ("broken", "refused")] == 1
    assert read["transom_query_status", ("broken", "running")] == 0
    assert read["transom_query_restarts_total", ("road",)] == 1
    assert read["transom_query_batch_seconds", ("topic",)] == 0.25
    assert read["transom_query_state_rows", ("topic",)] == 7
    assert read["transom_query_state_bound_rows", ("topic",)] == served.run("topic").job.bound.rows
    assert read["transom_query_rows_out_total", ("topic",)] == 10
    assert 4 < read["transom_query_watermark_lag_seconds", ("topic",)] < 60
    assert read["transom_source_rows_total", ("topic", "topic", "used")] == 7
    assert read["transom_source_rows_total", ("topic", "topic", "late")] == 2
    assert read["transom_source_rows_total", ("topic", "topic", "rejected")] == 1
    assert read["transom_source_offsets_behind", ("topic", "topic")] == 7
    assert read["transom_source_watermark_delay_seconds", ("road", "road")] == 2
    assert read["transom_query_sink_retries", ("topic",)] == 3
    assert read["transom_project_valid", ()] == 1


def read_frames(
    client: httpx.Client, path: str, count: int, start: Any = None, **options: Any
) -> list[tuple[str, Any]]:
    """The first server-sent events of a path, after `start` was called once the stream is open."""
    frames: list[tuple[str, Any]] = []
    with client.stream("GET", path, **options) as response:
        assert response.headers["content-type"].startswith("text/event-stream")
        kind = ""
        for line in response.iter_lines():
            if line.startswith(": transom") and start is not None:
                start()
            elif line.startswith("event: "):
                kind = line.removeprefix("event: ")
            elif line.startswith("data: "):
                frames.append((kind, json.loads(line.removeprefix("data: "))))
                if len(frames) == count:
                    break
    return frames


def test_events_of_the_project(served: Served, client: httpx.Client) -> None:
    def fail() -> None:
        served.run("topic").batch(0)
        served.run("road").end(Unavailable("away"))

    with SteppingThread(served.supervisor):
        frames = read_frames(client, "/events?query=road", 1, fail)
        assert [(kind, data["query"], data["status"]) for kind, data in frames] == [("status", "road", "waiting")]
        frames = read_frames(client, "/events", 2, headers={"last-event-id": "0"})
        assert [data["status"] for _, data in frames] == ["starting", "starting"]


def test_a_slow_reader_of_events_is_told_what_it_missed(served: Served, client: httpx.Client) -> None:
    for number in range(1500):
        served.supervisor.events.add("batch", "road", batch=number)
    first, second = read_frames(client, "/events", 2, headers={"last-event-id": "1"})
    last = served.supervisor.events.last
    assert (first, second[1]["batch"]) == (("missed", {"events": last - 1 - 1000}), 500)


def test_new_answers(served: Served, client: httpx.Client) -> None:
    folder = served.folder / "answers/road"
    write_answers(folder, 0, [(0, "old")])
    frames = read_frames(
        client, "/queries/road/answers?format=events", 1, lambda: write_answers(folder, 1, [(1, "new")])
    )
    assert frames == [("answers", {"rows": [{"tick": tick_end(1).isoformat(), "x": "new"}]})]


def test_a_slow_reader_of_answers_is_told_what_it_missed(tmp_path: Path) -> None:
    served = Served(write_project(tmp_path, {"road": ROAD}, "answer_rows = 3"))
    served.steps()
    folder = served.folder / "answers/road"

    def write() -> None:
        for batch in (0, 1):
            (half := tmp_path / "half").mkdir(exist_ok=True)
            write_answers(half, batch, [(batch, 10 * batch + n) for n in range(4)])
        folder.mkdir(parents=True)
        for path in sorted(half.iterdir()):
            path.rename(folder / path.name)

    with (
        ProjectServer(served.supervisor, Listening()) as server,
        httpx.Client(base_url=server.address, trust_env=False, timeout=10) as client,
    ):
        frames = read_frames(client, "/queries/road/answers", 2, write, headers={"accept": "text/event-stream"})
    rows = [data["rows"] for kind, data in frames if kind == "answers"]
    missed = [data["rows"] for kind, data in frames if kind == "missed"]
    if rows and len(rows[0]) == 3 and missed == [5]:
        assert [row["x"] for row in rows[0]] == [11, 12, 13]
    else:  # the reader has looked between the two renames
        assert missed == [1]
