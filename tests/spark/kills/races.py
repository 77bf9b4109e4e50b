"""Runs on one checkpoint that are stopped with SIGSTOP, replaced by a second run, and woken up with SIGCONT.

The first run must end with `Fenced`, and every answer must be in the sink once. `python -m tests.spark.kills.races
--races 10 --seed 1` does so for folders.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from random import Random
from typing import IO, Any

from tests.spark.kills.chaos import ROOT, is_inside, last_entry
from tests.spark.kills.race_child import query
from tests.spark.running import others
from transom.errors import Fenced, Unavailable

PATIENCE = 240.0
"""Seconds without progress after which a run is taken for hung."""
PLATES = 3
Rows = Counter[tuple[int, str, int]]
ReadRows = Callable[[], Rows]


@dataclass
class Races:
    """What happened: the exit codes of the runs that were woken up, and how often a second run had to begin again."""

    codes: list[int] = field(default_factory=list)
    inside: int = 0
    again: int = 0
    answers: int = 0
    read: int = 0
    wrong: str | None = None

    def __str__(self) -> str:
        fenced = sum(code == Fenced.exit_code for code in self.codes)
        return (
            f"{len(self.codes)} races, {fenced} fenced, {self.inside} stopped inside a micro-batch, {self.again} times "
            f"begun again, {self.answers} answers: {self.wrong or 'each once'}"
        )


class Run:
    """A run in a process group of its own, with its JVM; it begins when it is told to."""

    def __init__(self, folder: Path, sink: str, manner: str = "live") -> None:
        self.log = (folder / "runs.log").open("ab")
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.kills.race_child", str(folder), sink, manner],
            cwd=ROOT,
            env={name: value for name, value in os.environ.items() if name != "PYSPARK_GATEWAY_PORT"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.log,
            text=True,
            start_new_session=True,
        )
        self.words: list[str] = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()

    def _listen(self) -> None:
        pipe: IO[str] | None = self.process.stdout
        assert pipe is not None
        self.words.extend(line.rstrip() for line in iter(pipe.readline, ""))

    def begin(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def send(self, number: int) -> None:
        os.killpg(self.process.pid, number)

    def code(self) -> int:
        code = self.process.wait(PATIENCE)
        time.sleep(0.2)  # until its last words are read
        return code

    def end(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self.send(signal.SIGKILL)
        self.process.wait()
        self._listener.join()
        for pipe in (self.process.stdin, self.process.stdout, self.log):
            assert pipe is not None
            pipe.close()


class Feeder:
    """Writes a file of two ticks every now and then, whole at once."""

    def __init__(self, folder: Path, pause: float) -> None:
        self.folder, self.pause, self.files = folder / "in", pause, 0
        self.folder.mkdir(parents=True)
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._feed, daemon=True)
        self.write()

    def write(self) -> None:
        first = 2 * self.files
        lines = [f"{tick},p{plate},{tick}" for tick in (first, first + 1) for plate in range(PLATES)]
        name = f"cars-{self.files:06}.csv"
        hidden = self.folder / f".{name}"
        hidden.write_text("\n".join(["tick,plate,speed", *lines, ""]))
        hidden.rename(self.folder / name)
        self.files += 1

    def _feed(self) -> None:
        while not self._stop.wait(self.pause):
            self.write()

    def __enter__(self) -> Feeder:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()


class Course:
    """The runs of one checkpoint, one after the other."""

    def __init__(self, folder: Path, sink: str, seed: int) -> None:
        self.folder, self.sink, self.rng = folder, sink, Random(seed)
        self.result = Races()
        self.run = Run(folder, sink)
        self.next = Run(folder, sink)
        self.run.begin()

    def committed(self) -> int:
        return last_entry(self.folder / "checkpoint" / "spark" / "commits")

    def until(self, reached: Callable[[], bool], running: bool = True) -> None:
        """Wait; a run that ends because the one before it wrote a last micro-batch begins again, as a service does."""
        end = time.monotonic() + PATIENCE
        while not reached():
            if running and self.run.process.poll() is not None:
                code = self.run.code()
                if code != Unavailable.exit_code:
                    raise AssertionError(f"the run ended with {code}: {self.run.words}")
                self.result.again += 1
                self.run.end()
                self.run, self.next = self.next, Run(self.folder, self.sink)
                self.run.begin()
            if time.monotonic() > end:
                raise TimeoutError(f"no progress: {self.run.words}")
            time.sleep(0.005)

    def advance(self, batches: int) -> None:
        goal = self.committed() + batches
        self.until(lambda: self.committed() >= goal)

    def race(self) -> None:
        """Stop the run at some moment, let the next one begin, and wake the first one up early or late."""
        self.until(lambda: "ready" in self.next.words)
        self.advance(2)
        if self.rng.random() < 0.7:
            self.until(lambda: is_inside(self.folder / "checkpoint"))
            time.sleep(self.rng.uniform(0.0, 0.4))
        else:
            time.sleep(self.rng.uniform(0.0, 1.0))
        old = self.run
        old.send(signal.SIGSTOP)
        self.result.inside += is_inside(self.folder / "checkpoint")
        epochs = self.folder / "checkpoint" / "epochs"
        before = last_entry(epochs)
        self.run, self.next = self.next, Run(self.folder, self.sink)
        self.run.begin()
        self.until(lambda: last_entry(epochs) > before)
        if self.rng.random() < 0.6:
            self.advance(2)
        else:
            time.sleep(self.rng.uniform(0.0, 2.0))
        old.send(signal.SIGCONT)
        code = old.code()
        self.result.codes.append(code)
        if code != Fenced.exit_code:
            self.result.wrong = f"the first run ended with {code}: {old.words}"
        old.end()
        self.advance(1)

    def close(self) -> None:
        self.run.end()
        self.next.end()


def race(folder: Path, sink: str, read: ReadRows, races: int, seed: int = 1, pause: float = 0.5) -> Races:
    """Let runs race for a sink, finish with a last run, and compare what `read` finds with the reference."""
    with Feeder(folder, pause) as feeder:
        course = Course(folder, sink, seed)
        try:
            for _ in range(races):
                course.race()
        finally:
            course.close()
    last = Run(folder, sink, "once")
    try:
        last.begin()
        code = last.code()
    finally:
        last.end()
    result = course.result
    if code != 0:
        result.wrong = f"the last run ended with {code}: {last.words}"
        return result
    said = dict(word.split(maxsplit=1) for word in last.words if " " in word)
    result.read = int(said["read"])
    expected = Counter(
        (element.tick, str(element.row[0]), int(element.row[1]))
        for element in query(folder).simulate(until=int(said["closed"])).elements
    )
    found = read()
    result.answers = found.total()
    if found != expected:
        lost, more = list((expected - found).items())[:3], list((found - expected).items())[:3]
        result.wrong = result.wrong or f"missing are {lost}, too many are {more}"
    if result.read != 2 * PLATES * feeder.files:
        result.wrong = result.wrong or f"{result.read} rows were counted, of {2 * PLATES * feeder.files}"
    return result


def folder_rows(out: Path) -> Rows:
    """The answers in a folder of Parquet files, as readers see them that know nothing of Spark."""
    return Counter(dict(_rows(others.found(out))))


def _rows(found: Counter[tuple[Any, ...]]) -> Iterator[tuple[tuple[int, str, int], int]]:
    for (tick, plate, count), times in found.items():
        yield (int(datetime.fromisoformat(tick).timestamp()) - 1, plate, int(count)), times


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--races", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="transom-races-") as place:
        folder = Path(place)
        out = folder / "out"
        result = race(folder, f"parquet:{out}", lambda: folder_rows(out), options.races, options.seed)
    print(result)
    return int(result.wrong is not None)


if __name__ == "__main__":
    sys.exit(main())
