"""Timing of competing plans in interleaved runs; answers are compared before times count."""

from __future__ import annotations

import argparse
import json
import os
import platform
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)

import pyspark
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from transom.spark.session import SETTINGS

STATE = "spark.sql.streaming.stateStore.rocksdb."
WEIGHING = {
    f"{STATE}changelogCheckpointing.enabled": "false",
    f"{STATE}compactOnCommit": "true",
    f"{STATE}compression": "none",
}
"""Settings under which the state store's files hold exactly the live state, so that their size can be measured."""

SOURCES = ("FileStreamSource", "KafkaV2")
"""Prefixes of Spark's descriptions of the sources whose rows count; rows of a clock do not."""


@dataclass(frozen=True)
class Report:
    """Progress of a streaming query: rows, milliseconds of each batch with data, and the largest state."""

    rows_in: int
    rows_out: int
    batches: tuple[int, ...]
    state_rows: int
    state_bytes: int

    @staticmethod
    def read(reports: Iterable[Mapping[str, Any]]) -> Report:
        """Summarize the progress reports of a query; state bytes are the size of the state store's files."""
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
    """One run: wall time, CPU seconds of all its processes, and its report; `finished` is False if it was stopped."""

    seconds: float
    cpu: float | None = None
    report: Report | None = None
    finished: bool = True


@dataclass(frozen=True)
class Result:
    """The runs of one contestant, without the warm-up."""

    runs: tuple[Spent, ...]

    @property
    def finished(self) -> bool:
        """Whether no run was stopped at the limit."""
        return all(run.finished for run in self.runs)

    @property
    def seconds(self) -> float:
        """The median wall time."""
        return statistics.median(run.seconds for run in self.runs)

    @property
    def cpu(self) -> float | None:
        """The median CPU seconds; None if unknown."""
        known = [run.cpu for run in self.runs if run.cpu is not None]
        return statistics.median(known) if known else None

    @property
    def report(self) -> Report:
        """The report of the last run."""
        last = self.runs[-1].report
        assert last is not None
        return last

    def rate(self, rows: int) -> float:
        """Rows per second; if a run was stopped, only rows of finished batches count."""
        return (rows if self.finished else self.report.rows_in) / self.seconds

    def per_cpu(self, rows: int) -> float | None:
        """Rows per CPU second; None if the CPU time is unknown."""
        return (rows if self.finished else self.report.rows_in) / self.cpu if self.cpu else None


Plan = Callable[[], DataFrame]
Contestant = Callable[[], "Spent | float"]
"""Something that can be run, in this process or another, and returns the time that it took."""


def session(more: Mapping[str, str] | None = None) -> SparkSession:
    """A Spark session with the same careful settings for all contestants."""
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
    """CPU seconds, ended children included, of a process and all its descendants by pid; empty except on Linux."""
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
    """CPU seconds used so far by a process, by default this one, and its descendants; None if unknown."""
    return sum(family(root or os.getpid()).values()) or None


def stream(frame: DataFrame, sink: str = "noop", limit: float | None = None) -> Spent:
    """Run a streaming query over all available data, and stop it after `limit` seconds if it has not finished."""
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
    """A contestant that runs a plan as a streaming query in this session."""
    return lambda: stream(plan(), limit=limit)


@dataclass(frozen=True)
class Answer:
    """The number of rows of an answer, and a digest of them that ignores their order."""

    rows: int
    digest: int


def answer(spark: SparkSession, frame: DataFrame, columns: list[str]) -> tuple[Answer, Report]:
    """The answer of a streaming query, and its report."""
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
    """The number of rows of the common answer, and the report of each plan; SystemExit if answers differ or are empty.

    With `weigh`, the state bytes of the reports are those of the live state alone (WEIGHING).
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
    """Set session settings for queries that start inside the block, and restore them after it."""
    before = {name: spark.conf.get(name, None) for name in values}
    for name, value in values.items():
        spark.conf.set(name, value)
    yield
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def compare(contestants: Mapping[str, Contestant], times: int) -> dict[str, Result]:
    """Run contestants interleaved, after one round of warm-up; one that was stopped at its limit is not run again."""
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
    """Rows per second and per CPU second of each contestant, and the names of those that were stopped."""
    cut = [name for name, result in results.items() if not result.finished]
    per_cpu = {name: result.per_cpu(rows) for name, result in results.items()}
    return {
        "rows/s": {name: round(result.rate(rows)) for name, result in results.items()},
        "rows/cpu s": {name: round(rate) for name, rate in per_cpu.items() if rate is not None},
        **({"cut off": cut} if cut else {}),
    }


def ratio(results: Mapping[str, Result], ours: str, theirs: str, rows: int) -> float | None:
    """How many times as fast `ours` is as `theirs`; None if theirs processed nothing."""
    rate = results[theirs].rate(rows)
    return round(results[ours].rate(rows) / rate, 2) if rate else None


def options(about: str | None, rows: int | None, times: int = 3) -> argparse.ArgumentParser:
    """An argument parser with the options of every benchmark."""
    found = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--rows", type=int, default=rows)
    found.add_argument("--times", type=int, default=times, help="runs that count, after one that does not")
    found.add_argument("--results", type=Path, help="a file to which the lines of JSON are added")
    return found


@cache
def machine() -> str:
    """The machine and the versions that a measurement is about, in one line."""
    cpu, memory = platform.machine(), ""
    with suppress(OSError):
        names = [line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")]
        cpu = names[0].partition(":")[2].strip() if names else cpu
        memory = f", {os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.0f} GiB"
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr  # noqa: S607
    version = java.split('"')[1] if '"' in java else "unknown"
    python = platform.python_version()
    return f"{os.cpu_count()} cores of {cpu}{memory}; Spark {pyspark.__version__}, Java {version}, Python {python}"


def say(entry: Mapping[str, Any], results: Path | None = None) -> None:
    """Print an entry as a line of JSON with the machine, its load, the date and the command; append it to `results`."""
    command = f"python -m benchmarks.{Path(sys.argv[0]).stem} {shlex.join(_without_results(sys.argv[1:]))}".strip()
    circumstances = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "load": round(os.getloadavg()[0], 1),
        "command": command,
    }
    line = json.dumps({**entry, **circumstances})
    print(line, flush=True)
    if results is not None:
        results.parent.mkdir(parents=True, exist_ok=True)
        with results.open("a") as file:
            file.write(line + "\n")


def _without_results(arguments: Sequence[str]) -> list[str]:
    """Command line arguments without `--results FILE`, which does not change a measurement."""
    kept = list(arguments)
    if "--results" in kept:
        position = kept.index("--results")
        del kept[position : position + 2]
    return [argument for argument in kept if not argument.startswith("--results=")]
