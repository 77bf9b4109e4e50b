"""Queries killed with SIGKILL at random moments and started again, until they are done: nothing lost, nothing twice.

`python -m tests.spark.chaos --kills 10 --seed 1 [--shape NAME] [--kernel on|off]`
"""

from __future__ import annotations

import argparse
import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from tests.spark.chaos_child import begin, session
from tests.spark.shapes import KILLED
from transom.physical.plan import Kernel
from transom.runtime.answers import answers, difference, plain
from transom.runtime.recut import Split, write_streams

ROOT = Path(__file__).parents[2]
TICKS = 40
PATIENCE = 120.0
"""Seconds without a word after which a child is taken for hung."""


@dataclass
class Outcome:
    """What happened to one shape, and what was wrong with its output, if anything."""

    shape: str
    kernel: Kernel = "auto"
    kills: int = 0
    inside: int = 0
    batches: int = 0
    tuples: int = 0
    wrong: str | None = None

    def __str__(self) -> str:
        said = f"{self.shape}, kernel {self.kernel}: {self.kills} kills, {self.inside} of them inside a micro-batch"
        said = f"{said}, {self.batches} in all"
        return f"{said}, {self.tuples} rows: {self.wrong or 'as without a kill, and as the reference'}"


class Child:
    """The query in a process group of its own: Python and its JVM."""

    def __init__(self, shape: str, kernel: Kernel, seed: int, folder: Path, log: Path) -> None:
        command = [sys.executable, "-m", "tests.spark.chaos_child", shape, kernel, str(seed), str(TICKS), str(folder)]
        environment = dict(os.environ)
        environment.pop("PYSPARK_GATEWAY_PORT", None)
        self.log = log
        with log.open("ab") as errors:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors, start_new_session=True
            )

    def words(self) -> Iterator[str]:
        """What it says, line by line, until it ends."""
        assert self.process.stdout is not None
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.stdout, selectors.EVENT_READ)
            while True:
                if not selector.select(PATIENCE):
                    raise TimeoutError(f"no word for {PATIENCE} s; see {self.log}")
                read = os.read(self.process.stdout.fileno(), 4096)
                if not read:
                    return
                *lines, rest = (rest + read).split(b"\n")
                yield from (line.decode() for line in lines)

    def end(self) -> None:
        """Whatever is left of its group goes."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


def last_entry(folder: Path) -> int:
    """The last batch in a log of Spark's."""
    return max((int(p.name) for p in folder.glob("*") if p.name.isdigit()), default=-1)


def is_inside(checkpoint: Path) -> bool:
    """Whether a micro-batch was begun and not committed."""
    log = checkpoint / "spark"
    return last_entry(log / "offsets") > last_entry(log / "commits")


def _choose_a_moment(rng: Random, checkpoint: Path, child: Child) -> None:
    """Wait: four times out of five for a micro-batch that has begun, then some part of its time; else for anything."""
    if rng.random() < 0.8:
        end = time.monotonic() + PATIENCE
        while not is_inside(checkpoint) and child.process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.3))
    else:
        time.sleep(rng.uniform(0.0, 2.0))


def torment(shape: str, seed: int, kills: int, folder: Path, outcome: Outcome, files: int) -> None:
    """Run a query to its end through so many kills."""
    rng = Random(f"{shape} {seed}")
    checkpoint = folder / "checkpoint"
    for place in sorted(rng.randrange(max(1, files - 4)) for _ in range(kills)):
        child = Child(shape, outcome.kernel, seed, folder, folder / "child.log")
        try:
            for word in child.words():
                committed = last_entry(checkpoint / "spark" / "commits")
                if word == "done" or (word == "started" and committed >= place):
                    break
                if word.startswith("batch") and int(word[6:]) >= place:
                    break
            _choose_a_moment(rng, checkpoint, child)
            if child.process.poll() is not None:
                raise RuntimeError(f"{shape} ended before it was killed: {(folder / 'child.log').read_text()[-2000:]}")
        finally:
            child.end()  # all at once, without a chance to tidy up
        outcome.kills += 1
        outcome.inside += is_inside(checkpoint)
    child = Child(shape, outcome.kernel, seed, folder, folder / "child.log")
    try:
        if "done" not in list(child.words()):
            raise RuntimeError(f"{shape} did not end: {(folder / 'child.log').read_text()[-3000:]}")
    finally:
        child.end()
    outcome.batches = last_entry(checkpoint / "spark" / "commits") + 1


def try_shape(
    spark: SparkSession, shape: str, seed: int, kills: int, files: int = 16, kernel: Kernel = "auto"
) -> Outcome:
    """Kill a query, run it without kills, and compare both with each other and with the reference."""
    query, inputs = KILLED[shape].query(), KILLED[shape].inputs(seed, TICKS)
    given = query.inputs(inputs, TICKS - 1)
    expected = query.simulate(inputs, until=TICKS - 1)
    rows = sum(len(elements) for elements in given.streams.values())
    folder = Path(tempfile.mkdtemp(prefix="transom-chaos-"))
    outcome = Outcome(shape, kernel)
    try:
        found: dict[str, list[Any]] = {}
        for way in ("killed", "calm"):
            write_streams(folder / way / "in", query.reads, {0: given}, Split(-(-rows // files)), False)
            if way == "killed":
                torment(shape, seed, kills, folder / way, outcome, files)
            else:
                begin(spark, shape, kernel, seed, TICKS, folder / way).wait()
            frame = spark.read.parquet(str(folder / way / "out"))
            found[way] = plain(frame, query.plan.schema, query.catalog.calendar).collect()
        outcome.tuples = len(found["killed"])
        answer = answers(found["killed"], query.plan.schema, query.columns, query.gives, [0])[0]
        outcome.wrong = _unlike(found) or difference(expected, answer, index=False)
        if not len(expected):
            outcome.wrong = "nothing was expected, so nothing is shown"
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return outcome


def _unlike(found: dict[str, list[Any]]) -> str | None:
    killed, calm = (Counter(tuple(row) for row in found[way]) for way in ("killed", "calm"))
    if killed == calm:
        return None
    lost, more = list((calm - killed).items())[:3], list((killed - calm).items())[:3]
    return f"without a kill there are also {lost}, and not {more}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kills", type=int, default=10, help="kills per shape")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--shape", choices=KILLED, action="append", help="only these (default: all)")
    parser.add_argument("--kernel", choices=("on", "off"), action="append", help="only this way (default: both)")
    options = parser.parse_args()
    spark = session()
    wrong = 0
    for kernel, shape in product(options.kernel or ("on", "off"), options.shape or KILLED):
        began = time.monotonic()
        outcome = try_shape(spark, shape, options.seed, options.kills, kernel=kernel)
        wrong += outcome.wrong is not None
        print(f"{outcome} ({time.monotonic() - began:.0f} s)", flush=True)
    spark.stop()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
