"""Projects on disk, and runs without Spark: real queries, jobs and progress; a run ends when a test says so."""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from transom.model.balance import Balance
from transom.project.project import ProjectQuery
from transom.query import Query
from transom.runtime.progress import Progress
from transom.serving.starting import StartedQuery
from transom.serving.supervisor import Supervisor
from transom.serving.watch import ProjectWatch
from transom.spark.input.balance import RowCounts

CATALOG = """\
epoch: 2026-01-01T00:00:00Z
extents:
  road: {declare: "pushed (site:integer, temp:integer)", rate: 9 per s, lateness: 2 s}
  topic:
    declare: "pushed (x:integer)"
    rate: 1 per s
    source: {kafka: {servers: "127.0.0.1:9", topic: xs, time: tick}}
"""
RUN = "0123456789ab"


def write_project(folder: Path, queries: Mapping[str, str], limits: str = "") -> Path:
    """Write a project with CQL queries, whose sinks are folders, and return its folder."""
    (folder / "catalog.yaml").write_text(CATALOG)
    entries = [f"[limits]\n{limits}\n"]
    for name, text in queries.items():
        (folder / f"{name}.cql").write_text(text)
        entries.append(f'[queries.{name}]\nfile = "{name}.cql"\noutput = "parquet:answers/{name}"\n')
    (folder / "transom.toml").write_text("".join(entries))
    return folder


class RecordedRun:
    """The run of a query without Spark. It is active until a test lets it end, or fail."""

    def __init__(self, declared: ProjectQuery, query: Query[Any] | None = None) -> None:
        self.query = query or declared.compile()
        self.job = self.query.job(None, declared.settings.options(self.query, declared.checkpoint))
        self.counts = RowCounts()
        self.reports: deque[Mapping[str, Any]] = deque()
        self.last_progress = Progress()
        self.error: BaseException | None = None
        self.is_active = True
        self.stops = 0
        self.sink_retries = 0

    def batch(self, number: int, **sources: Balance) -> None:
        """Report a micro-batch of 250 ms."""
        watermark = datetime.now(UTC) - timedelta(seconds=5)
        self.last_progress = Progress(number, sources, 10 * (number + 1), watermark=watermark, state_rows=7)
        self.reports.append(
            {
                "batchId": number,
                "timestamp": "2026-01-01T00:00:00.000Z",
                "batchDuration": 250,
                "durationMs": {"addBatch": 200},
                "stateOperators": [],
                "sources": [{"numInputRows": 1, "endOffset": {"xs": {"0": 5}}, "latestOffset": {"xs": {"0": 12}}}],
            }
        )

    def end(self, error: BaseException | None = None) -> None:
        self.error = error
        self.is_active = False

    def wait(self, seconds: float | None = None) -> bool:
        if self.error is not None:
            raise self.error
        return True

    def stop(self) -> None:
        self.stops += 1
        self.is_active = False

    def final_progress(self) -> Progress:
        return self.last_progress


class RecordedStarter:
    """Starts recorded runs. `errors` are those of the next starts, and `check_errors` of the next checks, by query."""

    def __init__(self) -> None:
        self.runs: dict[str, list[RecordedRun]] = {}
        self.errors: dict[str, list[BaseException]] = {}
        self.check_errors: dict[str, list[BaseException]] = {}
        self.alive = True

    def check(self, declared: ProjectQuery) -> Query[Any]:
        query = declared.compile()
        if errors := self.check_errors.get(declared.name):
            raise errors.pop(0)
        return query

    def start(self, declared: ProjectQuery, query: Query[Any] | None = None) -> StartedQuery:
        if errors := self.errors.get(declared.name):
            raise errors.pop(0)
        run = RecordedRun(declared, query)
        self.runs.setdefault(declared.name, []).append(run)
        return StartedQuery(run.query, run, ("a note",))

    def is_alive(self) -> bool:
        return self.alive

    def run(self, name: str) -> RecordedRun:
        """The newest run of a query."""
        return self.runs[name][-1]


class AtOnce(Executor):
    """Runs everything at once, in the thread that submits it."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


class Served:
    """A project under a supervisor, with a clock that a test moves."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.now = 100.0
        self.starter = RecordedStarter()
        self.supervisor = Supervisor(ProjectWatch(folder), self.starter, AtOnce(), AtOnce(), clock=lambda: self.now)

    def steps(self, count: int = 3, seconds: float = 0.0) -> None:
        for _ in range(count):
            self.supervisor.step()
            self.now += seconds

    def statuses(self) -> dict[str, str]:
        return {name: member.status.value for name, member in self.supervisor.members.items()}

    def run(self, name: str) -> RecordedRun:
        return self.starter.run(name)


class SteppingThread:
    """Steps a supervisor in the background, as `serve` does."""

    def __init__(self, supervisor: Supervisor) -> None:
        self._supervisor = supervisor
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> SteppingThread:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._end.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._end.wait(0.05):
            self._supervisor.step()


def tick_end(tick: int) -> datetime:
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=tick + 1)


def write_answers(folder: Path, batch: int, rows: list[tuple[int, Any]], task: int = 0, run: str = RUN) -> Path:
    """Write a file as Spark does for the folder sink: columns tick, of the type INT96, and x."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"part-{run}-{batch:09}-{task:05}.snappy.parquet"
    ticks = pa.array([tick_end(tick) for tick, _ in rows], pa.timestamp("us", "UTC"))
    pq.write_table(pa.table({"tick": ticks, "x": [x for _, x in rows]}), path, use_deprecated_int96_timestamps=True)
    return path


def write_table(folder: Path, batch: int, rows: list[dict[str, Any]], run: str = RUN) -> Path:
    """Write a Parquet file whose rows have any columns, and in the column tick the number of a tick."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"part-{run}-{batch:09}-00000.snappy.parquet"
    pq.write_table(pa.Table.from_pylist([{**row, "tick": tick_end(row["tick"])} for row in rows]), path)
    return path


def write_lines(folder: Path, batch: int, rows: list[tuple[int, Any]], run: str = RUN) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"part-{run}-{batch:09}-00000.json"
    lines = [json.dumps({"tick": tick_end(tick).isoformat(), "x": x}) for tick, x in rows]
    path.write_text("".join(f"{line}\n" for line in lines))
    return path
