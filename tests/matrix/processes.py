"""Faults of processes: kills, a stopped run that wakes up, jumps of the clock, a lost worker, a full local disk."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import pyspark

from examples.plant.servers import free_port, listens, wait_for
from tests.matrix import damage
from tests.matrix.bench import FILES, SEED, Bench, Place, printed
from tests.matrix.faults import FAULTS, SAME, refused
from tests.matrix.ledger import Record
from tests.matrix.plans import PLANS, Plan
from tests.matrix.remedies import Remedy, remedy_of
from tests.spark.kills.chaos import ROOT, Outcome, is_inside, last_entry, torment, write_inputs
from transom.errors import Fenced, TransomError
from transom.runtime.checkpoint.balances import BalanceRecord

TOGETHER = 4
"""Plans that run in one process."""
KILLS = 2
PATIENCE = 90.0
"""Seconds without progress after which a process is taken for hung."""
CLOCK = Path(__file__).with_name("clock.c")
"""The library that is preloaded so that a process has a clock of its own."""
LOCAL_ROOM = 300_000
"""Bytes of room in the local folder of a session that is too small for its state."""

Ends = dict[str, dict[str, Any] | None]
"""By plan, the error with which its run has ended, or None."""


def groups(cells: Sequence[tuple[str, str]]) -> Iterator[tuple[str, list[str]]]:
    """Put cells of one fault together, with and without the kernel apart, as many as run in one process."""
    for fault in dict.fromkeys(fault for _, fault in cells):
        for kernel in ("on", "off"):
            plans = [plan for plan, other in cells if other == fault and PLANS[plan].kernel == kernel]
            yield from ((fault, plans[first : first + TOGETHER]) for first in range(0, len(plans), TOGETHER))


def run_group(bench: Bench, fault: str, names: Sequence[str], kills: int = KILLS) -> list[Record]:
    """Run some plans through a fault, all in one process, and judge each."""
    plans = [PLANS[name] for name in names]
    places = bench.fresh(plans)
    began = time.monotonic()
    counted: dict[str, int] = {}
    if fault == "kill":
        places, counted = _killed(bench, plans, kills)
        said = dict.fromkeys(names, (SAME, ""))
    else:
        said = INFLICTED[fault](bench, places)
    seconds = (time.monotonic() - began) / len(plans)
    return [_judged(bench, place, fault, *said[place.plan.shape], seconds, counted) for place in places]


def _judged(
    bench: Bench, place: Place, fault: str, outcome: str, message: str, seconds: float, kills: dict[str, int]
) -> Record:
    began, name = time.monotonic(), place.plan.shape
    record = BalanceRecord(place.checkpoint, lambda file, text: None, last_entry(place.spark_logs / "commits"))
    place.balances = record.earlier.sources
    rows, wrong = bench.wrong(place)
    return Record(
        name,
        fault,
        FAULTS[fault].expected_of(name),
        outcome,
        wrong,
        rows,
        printed(place.balances),
        round(seconds + time.monotonic() - began, 1),
        kills.get(name, 0),
        message.replace(str(bench.folder), "..."),
    )


def _killed(bench: Bench, plans: Sequence[Plan], kills: int) -> tuple[list[Place], dict[str, int]]:
    """Kill the plans together, with enough files that there is work left for each kill."""
    root = bench.folder.with_name("kills")
    shutil.rmtree(root, ignore_errors=True)
    files = max(8, 3 * kills)
    outcomes = [Outcome(plan.shape, plan.kernel) for plan in plans]
    for plan in plans:
        write_inputs(plan.shape, SEED, root, files)
        shutil.copytree(bench.folder / "calm" / plan.shape / "out", root / "calm" / plan.shape / "out")
    torment(outcomes, SEED, kills, root / "killed", files)
    return [Place(plan, root) for plan in plans], {outcome.shape: outcome.kills for outcome in outcomes}


class Process:
    """Plans in a process group of their own: Python and its JVM."""

    def __init__(self, places: Sequence[Place], settings: Sequence[str] = (), **environment: str) -> None:
        folder, names = places[0].folder.parent, ",".join(place.plan.shape for place in places)
        self.log = folder / "process.log"
        inherited = {name: value for name, value in os.environ.items() if name != "PYSPARK_GATEWAY_PORT"}
        with self.log.open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.matrix.child", str(folder), names, *settings],
                cwd=ROOT,
                env=inherited | environment,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,
            )
        self.words: list[list[Any]] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        pipe: IO[bytes] | None = self.process.stdout
        assert pipe is not None
        self.words.extend(json.loads(line) for line in iter(pipe.readline, b"") if line.startswith(b"["))

    def until(self, reached: Callable[[], bool]) -> None:
        """Wait until something is so while the process runs."""
        end = time.monotonic() + PATIENCE
        while not reached():
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"{self.words}: {self.log.read_text()[-2000:]}")
            time.sleep(0.005)

    def ends(self) -> Ends:
        """Wait for the end of all plans, and return how each has ended."""
        self.process.wait(PATIENCE)
        self._listener.join(5)
        if ["done"] not in self.words:
            raise AssertionError(f"{self.words}: {self.log.read_text()[-2000:]}")
        return {word[1]: word[2] for word in self.words if word[0] == "ended"}

    def send(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def __enter__(self) -> Process:
        return self

    def __exit__(self, *_: object) -> None:
        self.send(signal.SIGKILL)
        self.process.wait()
        self._listener.join()
        assert self.process.stdout is not None
        self.process.stdout.close()


Said = dict[str, tuple[str, str]]
"""By plan, the outcome and the message."""


def _outcomes(ends: Ends) -> Said:
    """The outcomes of runs that should not notice the fault."""
    return {
        name: (SAME, "") if error is None else (f"ended with {error['kind']}", error["all"])
        for name, error in ends.items()
    }


def _has_begun(places: Sequence[Place]) -> bool:
    """Whether every plan has committed a micro-batch."""
    return all(last_entry(place.spark_logs / "commits") >= 0 for place in places)


def _unfinished(places: Sequence[Place]) -> list[str]:
    """The plans with files that they have not read yet."""
    return [place.plan.shape for place in places if last_entry(place.spark_logs / "commits") < FILES - 1]


def _woken(bench: Bench, places: Sequence[Place]) -> Said:
    """Stop the runs, let other runs finish, and wake the first ones, which must be fenced."""
    with Process(places) as first:
        first.until(lambda: ["started"] in first.words)
        first.until(lambda: any(is_inside(place.checkpoint) for place in places))
        first.send(signal.SIGSTOP)
        unfinished = _unfinished(places)
        with Process(places) as second:
            said = _outcomes(second.ends())
        first.send(signal.SIGCONT)
        ends = first.ends()
    for name in said:
        error = ends[name]
        if name not in unfinished:
            said[name] = ("the run was done before it was stopped", "")
        elif error is None or error["kind"] != Fenced.__name__:
            said[name] = (f"the woken run ended with {error and error['all']}", "")
    return said


def _jumped(seconds: int) -> Callable[[Bench, Sequence[Place]], Said]:
    """The wall clock of the runs jumps by so many seconds, for Python and for the JVM."""

    def inflict(bench: Bench, places: Sequence[Place]) -> Said:
        folder = places[0].folder.parent
        library, offset = folder / "clock.so", folder / "clock"
        compiler = ["cc", "-shared", "-fPIC", "-O1", "-o", str(library), str(CLOCK), "-ldl"]
        subprocess.run(compiler, check=True, capture_output=True)
        offset.write_bytes(struct.pack("q", 0))
        with Process(places, LD_PRELOAD=str(library), TRANSOM_CLOCK=str(offset)) as process:
            process.until(lambda: ["started"] in process.words and _has_begun(places))
            unfinished = _unfinished(places)
            with offset.open("r+b") as file:
                file.write(struct.pack("q", seconds))
            said = _outcomes(process.ends())
            clocks = next(word[1:] for word in process.words if word[0] == "clocks")
        now = time.time()
        if any(abs(told - now - seconds) > 60 for told in clocks):
            raise AssertionError(f"the clocks say {clocks}, and should differ from {now} by {seconds} s")
        for name in said:
            if name not in unfinished:
                said[name] = ("the run was done before the clock jumped", "")
        return said

    return inflict


def _worker(bench: Bench, places: Sequence[Place]) -> Said:
    """Kill one of two workers of a cluster, with its executor, while all plans run."""
    with _cluster(places[0].folder.parent) as (master, workers):
        settings = [f"spark.master={master}", "spark.executor.memory=700m", "spark.executor.cores=2"]
        with Process(places, [*settings, "spark.task.maxFailures=8"]) as process:
            process.until(lambda: ["started"] in process.words and _has_begun(places))
            unfinished = _unfinished(places)
            os.killpg(workers[0].pid, signal.SIGKILL)
            said = _outcomes(process.ends())
    for name in said:
        if name not in unfinished:
            said[name] = ("the run was done before the worker was killed", "")
    return said


@contextlib.contextmanager
def _cluster(folder: Path) -> Iterator[tuple[str, list[subprocess.Popen[bytes]]]]:
    """A standalone master and two workers, each in a process group of its own with its executors."""
    home = Path(pyspark.__file__).parent
    port = free_port()
    environment = os.environ | {"SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_NO_DAEMONIZE": "1"}
    environment |= {"SPARK_WORKER_DIR": str(folder / "work"), "PYSPARK_PYTHON": sys.executable}
    environment |= {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}

    def start(name: str, *words: str) -> subprocess.Popen[bytes]:
        command = [str(home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *words]
        with (folder / "cluster.log").open("ab") as log:
            return subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)

    processes = [start("master.Master", "--host", "127.0.0.1", "--port", str(port), "--webui-port", str(free_port()))]
    try:
        wait_for(lambda: listens(port), 60, "the master")
        master = f"spark://127.0.0.1:{port}"
        more = ("--host", "127.0.0.1", "--cores", "2", "--memory", "1g", "--webui-port")
        processes += [start("worker.Worker", *more, str(free_port()), master) for _ in range(2)]
        yield master, processes[1:]
    finally:
        for process in processes:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def _disk_local(bench: Bench, places: Sequence[Place]) -> Said:
    """Run with a local folder without room, make room, and run again."""
    local = places[0].folder.parent / "local"
    shutil.rmtree(local, ignore_errors=True)
    with damage.small_disk(local, LOCAL_ROOM) as filler:
        with Process(places, [f"spark.local.dir={local}"], SPARK_LOCAL_DIRS=str(local)) as process:
            first = process.ends()
        filler.unlink()
        with Process(places, [f"spark.local.dir={local}"], SPARK_LOCAL_DIRS=str(local)) as process:
            then = _outcomes(process.ends())
    said: Said = {}
    for name, error in first.items():
        remedy = error and remedy_of(TransomError(error["text"], hint=error["hint"]))
        if error is None:
            said[name] = then[name]
        elif remedy is not Remedy.ROOM or "/local" not in error["all"]:
            said[name] = ("refused without the name of the folder, or without a remedy", error["all"])
        else:
            said[name] = (
                refused(Remedy.ROOM) if then[name][0] == SAME else f"refused, then {then[name][0]}",
                error["all"],
            )
    return said


INFLICTED: dict[str, Callable[[Bench, Sequence[Place]], Said]] = {
    "woken": _woken,
    "clock_ahead": _jumped(3600),
    "clock_back": _jumped(-3600),
    "worker": _worker,
    "disk_local": _disk_local,
}
