"""Timing contestants against each other, interleaved; an answer is checked before its time counts."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.spark.session import SETTINGS

STATE = "spark.sql.streaming.stateStore.rocksdb."
WEIGHING = {
    f"{STATE}changelogCheckpointing.enabled": "false",
    f"{STATE}compactOnCommit": "true",
    f"{STATE}compression": "none",
}
"""With these the files of the state store hold what the state holds, and nothing that is gone."""

SOURCES = ("FileStreamSource", "KafkaV2")
"""How Spark's descriptions of sources begin whose rows count; a clock is no such source."""


@dataclass(frozen=True)
class Report:
    """What a streaming query said of itself: rows, the time of each batch with data in ms, the most that it kept."""

    rows_in: int
    rows_out: int
    batches: tuple[int, ...]
    state_rows: int
    state_bytes: int

    @staticmethod
    def read(reports: Iterable[Mapping[str, Any]]) -> Report:
        """From the progress of a query: the bytes are those of the state store's files."""
        rows_in = rows_out = state_rows = state_bytes = 0
        batches: list[int] = []
        for report in reports:
            if "addBatch" not in report["durationMs"]:
                continue
            files = [s["numInputRows"] for s in report["sources"] if s["description"].startswith(SOURCES)]
            rows_in += sum(files)
            rows_out += max(report["sink"]["numOutputRows"], 0)
            if any(files):
                batches.append(report["durationMs"]["triggerExecution"])
            operators = report["stateOperators"]
            state_rows = max(state_rows, sum(o["numRowsTotal"] for o in operators))
            held = sum(o["customMetrics"].get("rocksdbSstFileSize", 0) for o in operators)
            state_bytes = max(state_bytes, held)
        return Report(rows_in, rows_out, tuple(batches), state_rows, state_bytes)


@dataclass(frozen=True)
class Spent:
    """One run: wall time, CPU seconds of all its processes, and a report if it has one; cut off if not finished."""

    seconds: float
    cpu: float | None = None
    report: Report | None = None
    finished: bool = True


@dataclass(frozen=True)
class Result:
    """The runs of one contestant that count."""

    runs: tuple[Spent, ...]

    @property
    def finished(self) -> bool:
        """Whether no run was cut off."""
        return all(run.finished for run in self.runs)

    @property
    def seconds(self) -> float:
        """The median of the wall times."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def cpu(self) -> float | None:
        """The median of the CPU seconds."""
        known = [run.cpu for run in self.runs if run.cpu is not None]
        return statistics.median(known) if known else None

    @property
    def report(self) -> Report:
        """What the last run said of itself."""
        last = self.runs[-1].report
        assert last is not None
        return last

    def rate(self, rows: int) -> float:
        """Rows per second; of a run that was cut off, the rows of the batches that it had finished."""
        return (rows if self.finished else self.report.rows_in) / self.seconds

    def per_cpu(self, rows: int) -> float | None:
        """Rows per CPU second."""
        return (rows if self.finished else self.report.rows_in) / self.cpu if self.cpu else None


Plan = Callable[[], DataFrame]
Contestant = Callable[[], "Spent | float"]
"""Anything that can be run and tells how long it took, in this process or in another."""


def session(more: Mapping[str, str] | None = None) -> SparkSession:
    """A session as a careful user would set it, the same for all sides."""
    builder = SparkSession.builder.master("local[2]").appName("benchmarks")
    settings = {
        **SETTINGS,
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.streaming.numRecentProgressUpdates": "1000",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": "6g",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        **(more or {}),
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def family(root: int) -> dict[int, float]:
    """A process and all below it, each with its CPU seconds and those of its children that ended; Linux alone tells."""
    used: dict[int, float] = {}
    below: dict[int, list[int]] = {}
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = place.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        pid = int(place.parent.name)
        used[pid] = sum(map(int, words[11:15])) / os.sysconf("SC_CLK_TCK")
        below.setdefault(int(words[1]), []).append(pid)
    found = [root]
    for pid in found:
        found += below.get(pid, [])
    return {pid: used[pid] for pid in found if pid in used}


def cpu_seconds(root: int | None = None) -> float | None:
    """CPU seconds that a process and all below it have used so far."""
    return sum(family(root or os.getpid()).values()) or None


def stream(frame: DataFrame, sink: str = "noop", limit: float | None = None) -> Spent:
    """Run a streaming query over all that its sources hold, to the last micro-batch, or for so many seconds."""
    folder = Path(tempfile.mkdtemp())
    cut = threading.Event()
    before, began = cpu_seconds(), time.perf_counter()
    running = frame.writeStream.format("parquet" if sink != "noop" else sink)
    running = running.option("checkpointLocation", str(folder)).start(*([sink] if sink != "noop" else []))

    def stop() -> None:
        cut.set()
        running.stop()

    timer = threading.Timer(limit, stop) if limit else None
    try:
        if timer:
            timer.start()
        try:
            running.processAllAvailable()
        except Exception:
            if not cut.is_set():
                raise
        taken, after = time.perf_counter() - began, cpu_seconds()
        cpu = after - before if after is not None and before is not None else None
        return Spent(taken, cpu, Report.read(running.recentProgress), not cut.is_set())
    finally:
        if timer:
            timer.cancel()
        running.stop()
        shutil.rmtree(folder, ignore_errors=True)


def streamed(plan: Plan, limit: float | None = None) -> Contestant:
    """A contestant that is a plan in this session."""
    return lambda: stream(plan(), limit=limit)


@dataclass(frozen=True)
class Answer:
    """How many rows a query gives, and a number that depends on all of them but not on their order."""

    rows: int
    digest: int


def answer(spark: SparkSession, frame: DataFrame, columns: list[str]) -> tuple[Answer, Report]:
    """What a streaming query answers, and what it said of itself."""
    folder = Path(tempfile.mkdtemp())
    spent = stream(frame.select(F.xxhash64(*columns).alias("h")), str(folder / "out"))
    assert spent.report is not None
    out = spark.read.schema("h bigint").parquet(str(folder / "out"))
    first = out.agg(F.count("h"), F.sum(F.col("h").cast("decimal(38,0)"))).first()
    shutil.rmtree(folder, ignore_errors=True)
    return Answer(int(first[0]), int(first[1] or 0)), spent.report


def agreed(
    spark: SparkSession, plans: Mapping[str, Plan], columns: list[str], *, weigh: bool = False
) -> tuple[int, dict[str, Report]]:
    """How many rows all plans give, and the report of each; they give the same rows, or that is the end.

    With `weigh` the bytes of the reports are those of the state alone.
    """
    with settings(spark, WEIGHING if weigh else {}):
        found = {name: answer(spark, plan(), columns) for name, plan in plans.items()}
    if len({given for given, _ in found.values()}) > 1:
        raise SystemExit(f"the answers differ: { {name: given for name, (given, _) in found.items()} }")
    rows = next(iter(found.values()))[0].rows
    if not rows:
        raise SystemExit("the answers are empty")
    return rows, {name: report for name, (_, report) in found.items()}


@contextmanager
def settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Settings of the session for the queries that start inside."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def compare(contestants: Mapping[str, Contestant], times: int) -> dict[str, Result]:
    """The runs of each: interleaved; the first round warms up and does not count. Who is cut off runs no more."""
    taken: dict[str, list[Spent]] = {name: [] for name in contestants}
    for number in range(times + 1):
        for name, run in contestants.items():
            if taken[name] and not taken[name][-1].finished:
                continue
            spent = run()
            spent = spent if isinstance(spent, Spent) else Spent(spent)
            if not spent.finished:
                taken[name] = [spent]
            elif number:
                taken[name].append(spent)
    return {name: Result(tuple(runs)) for name, runs in taken.items()}


def figures(results: Mapping[str, Result], rows: int) -> dict[str, Any]:
    """Rows per second and per CPU second of each, and who was cut off."""
    cut = [name for name, result in results.items() if not result.finished]
    per_cpu = {name: result.per_cpu(rows) for name, result in results.items()}
    return {
        "rows/s": {name: round(result.rate(rows)) for name, result in results.items()},
        "rows/cpu s": {name: round(rate) for name, rate in per_cpu.items() if rate is not None},
        **({"cut off": cut} if cut else {}),
    }


def ratio(results: Mapping[str, Result], ours: str, theirs: str, rows: int) -> float | None:
    """How many times as fast ours is, if the other had anything done."""
    rate = results[theirs].rate(rows)
    return round(results[ours].rate(rows) / rate, 2) if rate else None


def options(about: str | None, rows: int | None, times: int = 3) -> argparse.ArgumentParser:
    """What every benchmark takes."""
    found = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--rows", type=int, default=rows)
    found.add_argument("--times", type=int, default=times, help="runs that count, after one that does not")
    found.add_argument("--results", type=Path, help="a file to which the lines of JSON are added")
    return found


def say(entry: Mapping[str, Any], results: Path | None = None) -> None:
    """One line of JSON, with the load of the machine: a figure from a busy one says little."""
    line = json.dumps({**entry, "cores": os.cpu_count(), "load": round(os.getloadavg()[0], 1)})
    print(line, flush=True)
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        with results.open("a") as file:
            file.write(line + "\n")
