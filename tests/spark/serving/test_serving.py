"""A project under `serve`, on Spark: three languages over growing folders, while others fail, come and go."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyspark.sql import SparkSession

from tests.cli.test_app import ROOT
from tests.serving.recorded import SteppingThread
from tests.spark.running.test_running import read
from transom.model.rdf.formats import rows as rdf_rows
from transom.project.project import read_project
from transom.runtime.results.rdf import rdf_answer_from_rows
from transom.serving.answers import AnswerFolder
from transom.serving.http.app import ProjectServer
from transom.serving.http.server import Listening
from transom.serving.starting import SparkStarter
from transom.serving.supervisor import Supervisor
from transom.serving.watch import ProjectWatch

CATALOG = """\
epoch: 2026-01-01T00:00:00Z
extents:
  road: {declare: "pushed (site:integer, temp:integer)", rate: 9 per s, source: {files: rows/*.csv}}
  odd: {declare: "pushed (x:integer)", rate: 9 per s, source: {files: odd/*.jsonl}}
rdf:
  told: {stream: "http://ex/told", files: told/*.csv, rate: 9 per s}
"""
TEXTS = {
    "counts.sneeql": "SELECT COUNT(temp), SUM(temp) FROM road [FROM NOW-2 TO NOW SLIDE 2 SEC]",
    "hot.cql": "RSTREAM(SELECT site, temp FROM road [NOW] WHERE temp > 50)",
    "names.rq": "SELECT ?s ?o FROM STREAM <http://ex/told> WINDOW RANGE 5 S SLIDE WHERE { ?s <http://ex/name> ?o }",
    "broken.cql": "SELECT nothing FROM road [NOW]",
    "odd.cql": "RSTREAM(SELECT x FROM odd [NOW])",
}
LIMITS = "[limits]\nrestart_first = 0.5\nrestart_longest = 2\n"
LAST = 19


def entry(file: str) -> str:
    name = file.partition(".")[0]
    return f'[queries.{name}]\nfile = "{file}"\noutput = "parquet:answers/{name}"\nuntil = {LAST}\n'


def declare(folder: Path, *files: str) -> None:
    """Write the project file as an editor does: a new file takes the place of the old one."""
    (folder / ".new").write_text(LIMITS + "".join(map(entry, files)))
    (folder / ".new").rename(folder / "transom.toml")


def add_rows(folder: Path, ticks: range) -> None:
    """Add a file of rows and one of statements, each as a whole."""
    rows = [f"{tick},{tick % 3},{tick * 37 % 100}" for tick in ticks]
    said = [f'{tick},<http://ex/{tick % 3}>,<http://ex/name>,"""n{tick % 4}"""' for tick in ticks]
    for kind, header, lines in (("rows", "tick,site,temp", rows), ("told", "t,s,p,o", said)):
        (folder / kind).mkdir(exist_ok=True)
        (folder / ".half").write_text("\n".join([header, *lines]) + "\n")
        (folder / ".half").rename(folder / kind / f"{ticks.start:03}.csv")


def new_project(folder: Path, *files: str) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "catalog.yaml").write_text(CATALOG)
    for name, text in TEXTS.items():
        (folder / name).write_text(text)
    (folder / "odd").mkdir()
    (folder / "odd" / "0.jsonl").write_text('{"tick": 0, "x": "no number"}\n')
    add_rows(folder, range(10))
    declare(folder, *files)
    return folder


def until_true(condition: Callable[[], Any], seconds: float = 60) -> Any:
    end = time.monotonic() + seconds
    while not (result := condition()):
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.1)
    return result


def simulated(folder: Path, name: str) -> Counter[Any]:
    """The answer of a query of the project by the reference engine."""
    query = read_project(folder).query(name).compile()
    answer = query.simulate(until=LAST)
    if query.language == "sparql":
        return Counter(rdf_rows(query.simulate().up_to(LAST)))
    if answer.kind == "windows":
        return Counter((window.tick, 1, False, *row) for window in answer.windows for row in window.rows)
    return Counter((element.tick, *element.row) for element in answer.elements)


def answered(spark: SparkSession, folder: Path, name: str) -> Counter[Any]:
    """The answer of a query of the project in its sink; over RDF, its changes put together."""
    query, out = read_project(folder).query(name).compile(), folder / "answers" / name
    if query.language != "sparql":
        return read(spark, query, out)
    columns = [f"`{column}` AS c{number}" for number, column in enumerate(query.columns)]
    epoch = int(query.catalog.calendar.epoch.timestamp())
    told = spark.read.parquet(str(out)).selectExpr(
        f"unix_seconds(tick) - {epoch + 1} AS tick_number", "change", *columns
    )
    return Counter(rdf_rows(rdf_answer_from_rows(told.collect(), query.physical(), query.result_kind, query.columns)))


@contextmanager
def serving(spark: SparkSession, folder: Path) -> Iterator[httpx.Client]:
    """Serve a project on a session, and stop it at the end."""
    with ThreadPoolExecutor(1) as starts, ThreadPoolExecutor() as stops:
        supervisor = Supervisor(ProjectWatch(folder), SparkStarter(spark), starts, stops)
        try:
            with (
                SteppingThread(supervisor),
                ProjectServer(supervisor, Listening()) as server,
                httpx.Client(base_url=server.address, trust_env=False, timeout=30) as client,
            ):
                yield client
        finally:
            supervisor.stop()
            until_true(lambda: supervisor.step() or supervisor.has_stopped)


def statuses(client: httpx.Client) -> dict[str, Any]:
    return {query["name"]: query for query in client.get("/queries").json()["queries"]}


@pytest.mark.covers("serve")
def test_queries_fail_come_and_go(spark: SparkSession, tmp_path: Path) -> None:
    folder = new_project(tmp_path / "plant", "counts.sneeql", "hot.cql", "broken.cql", "odd.cql")
    with serving(spark, folder) as client:

        def has_answered(name: str, batch: int = 0) -> bool:
            answer = statuses(client).get(name, {})
            return answer.get("status") == "running" and (answer["batch"] or 0) >= batch and answer["batch"] is not None

        until_true(lambda: has_answered("counts") and has_answered("hot"))
        assert statuses(client)["broken"]["status"] == "refused"
        assert "no attribute is called nothing" in statuses(client)["broken"]["error"]
        until_true(lambda: statuses(client)["odd"]["restarts"] >= 1)
        assert "x" in statuses(client)["odd"]["error"]
        rows = client.get("/queries/hot/answers").json()["rows"]
        assert [row["temp"] for row in rows] == [tick * 37 % 100 for tick in range(10) if tick * 37 % 100 > 50]

        (folder / "odd" / "0.jsonl").write_text('{"tick": 0, "x": 5}\n')
        declare(folder, "counts.sneeql", "names.rq", "odd.cql")
        until_true(lambda: set(statuses(client)) == {"counts", "names", "odd"})
        add_rows(folder, range(10, 20))
        until_true(lambda: has_answered("names") and has_answered("odd"))
        declare(folder, "counts.sneeql", "names.rq", "odd.cql", "hot.cql")
        add_rows(folder, range(30, 31))
        for name in ("counts", "names", "hot"):
            expected = simulated(folder, name)
            until_true(lambda name=name, expected=expected: answered(spark, folder, name) == expected)  # type: ignore[misc]
            assert sum(expected.values()) > 5
        assert answered(spark, folder, "odd") == Counter([(0, 5)])
        until_true(lambda: client.get("/queries/counts").json()["sources"]["road"]["read"] == 21)  # after the report
        view = client.get("/queries/counts").json()
        balance = view["sources"]["road"]
        assert (balance["used"], balance["late"], balance["outside"], balance["rejected"]) == (20, 0, 1, {})
        assert 0 <= view["state"]["rows"] <= view["state"]["bound_rows"]


def test_a_change_that_the_checkpoint_refuses_keeps_the_run(spark: SparkSession, tmp_path: Path) -> None:
    """The checkpoint is that of the old query, which goes on and answers new rows; other spaces need no new one."""
    folder = new_project(tmp_path / "plant", "counts.sneeql")
    text = TEXTS["counts.sneeql"]
    changes = {
        text.replace("SUM(temp)", "MAX(temp)"): "belongs to another query",
        text.replace("road", "street"): "street",
    }
    with serving(spark, folder) as client:

        def view() -> Any:
            return statuses(client)["counts"]

        until_true(lambda: view()["batch"] is not None)
        since = view()["since"]
        for change, message in changes.items():
            (folder / "counts.sneeql").write_text(change)
            until_true(lambda message=message: message in str((view()["change"] or {}).get("error")))  # type: ignore[misc]
            assert (view()["status"], view()["since"], view()["error"]) == ("running", since, None)
        add_rows(folder, range(10, 20))
        add_rows(folder, range(30, 31))
        (folder / "counts.sneeql").write_text(text)
        expected = simulated(folder, "counts")
        until_true(lambda: list((folder / "answers/counts").glob("*.parquet")))
        until_true(lambda: answered(spark, folder, "counts") == expected)
        until_true(lambda: view()["change"] is None)
        assert view()["since"] == since
        (folder / "counts.sneeql").write_text(f"  {text}\n")
        until_true(lambda: view()["since"] != since and view()["status"] == "running")
        assert (view()["change"], view()["error"], answered(spark, folder, "counts")) == (None, None, expected)


CHILD = """
import json, threading, time
from pyspark import SparkContext
from transom.cli.app import main

def write_pools():
    while True:
        time.sleep(0.5)
        context = SparkContext._active_spark_context
        if getattr(context, "_jsc", None) is not None:
            pools = context._jsc.sc().getAllPools()
            names = [pools.apply(index).name() for index in range(pools.size())]
            open("pools.json", "w").write(json.dumps(names))

threading.Thread(target=write_pools, daemon=True).start()
main()
"""


def pools_of(folder: Path) -> set[str]:
    """The pools that the child has written last; none while it writes."""
    try:
        return set(json.loads((folder / "pools.json").read_text()))
    except (OSError, ValueError):
        return set()


@pytest.mark.nightly
def test_serve_as_a_process(tmp_path: Path) -> None:
    """Each query has a pool of the fair scheduler. SIGTERM ends all queries, and the next start goes on."""
    folder = new_project(tmp_path / "plant", "counts.sneeql", "hot.cql", "broken.cql")
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    for ticks in (range(10, 20), range(30, 31)):
        add_rows(folder, ticks)
        words = ["serve", str(folder), "--listen", "127.0.0.1:0", "--log-format", "json"]
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD, *words], cwd=tmp_path, env=environ, stderr=subprocess.PIPE, text=True
        )
        try:
            assert process.stderr is not None
            events: list[dict[str, Any]] = []
            for line in process.stderr:
                if line.startswith("{"):
                    events.append(json.loads(line))
                if {event["query"] for event in events if event["event"] == "batch"} >= {"counts", "hot"}:
                    break
            (message,) = (event["message"] for event in events if "listening on" in event.get("message", ""))
            address = message.removeprefix("listening on ")

            def ready(address: str = address) -> Any:
                return httpx.get(f"{address}/readyz", trust_env=False).json()

            until_true(lambda ready=ready: ready()["ready"])  # type: ignore[misc]
            assert ready()["queries"] == {"running": 2, "refused": 1}
            until_true(lambda: {"counts", "hot"} <= pools_of(tmp_path))
            if ticks.start == 30:
                found = f"{address}/queries/hot/answers?limit=100"
                until_true(lambda found=found: len(httpx.get(found, trust_env=False).json()["rows"]) > 8)  # type: ignore[misc]
            process.send_signal(signal.SIGTERM)
            _, rest = process.communicate(timeout=90)
        finally:
            process.kill()
        assert (process.returncode, "Traceback" in rest) == (0, False), rest
    epoch = datetime(2026, 1, 1, tzinfo=UTC)
    rows = AnswerFolder(f"parquet:{folder}/answers/hot").newest(100).rows
    written = Counter(((row["tick"] - epoch).seconds - 1, row["site"], row["temp"]) for row in rows)
    assert written == simulated(folder, "hot")
    assert sum(written.values()) == 9
