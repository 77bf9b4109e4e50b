"""Queries killed with SIGKILL at random moments and started again, until they are done: nothing lost, nothing twice.

`python -m tests.spark.kills.chaos --kills 10 --seed 1 [--shape NAME] [--kernel on|off] [--together 4]`
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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

from pyspark.sql import SparkSession

from tests.spark.kills.chaos_child import begin, session
from tests.spark.kills.shapes_composed import KILLABLE
from tests.spark.kills.shapes_rdf import Linked
from tests.spark.running import others
from transom.physical.nodes.windows import KernelMode
from transom.runtime.results.results import plain_frame
from transom.runtime.results.rows import answer_from_rows, row_difference
from transom.runtime.verify.micro_batches import Split, write_streams

ROOT = Path(__file__).parents[3]
TICKS = 40
PATIENCE = 300.0
"""Seconds without a word after which a child is taken for hung."""


@dataclass
class Outcome:
    """What happened to one shape, and what was wrong with its output, if anything."""

    shape: str
    kernel: KernelMode = "auto"
    kills: int = 0
    inside: int = 0
    batches: int = 0
    tuples: int = 0
    wrong: str | None = None
    seen: list[Counter[tuple[Any, ...]]] = field(default_factory=list)
    """What DuckDB and PyArrow found in the folder after each kill."""

    def __str__(self) -> str:
        said = f"{self.shape}, kernel {self.kernel}: {self.kills} kills, {self.inside} of them inside a micro-batch"
        said = f"{said}, {self.batches} in all"
        return f"{said}, {self.tuples} rows: {self.wrong or 'as without a kill, and as the reference'}"


class Child:
    """The queries in a process group of their own: Python and its JVM."""

    def __init__(self, shapes: Sequence[str], kernel: KernelMode, seed: int, folder: Path) -> None:
        words = [",".join(shapes), kernel, str(seed), str(TICKS), str(folder)]
        command = [sys.executable, "-m", "tests.spark.kills.chaos_child", *words]
        log = folder / "child.log"
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


def _errors(log: Path) -> str:
    """The lines of a log that speak of errors, without the plans that Spark prints with them."""
    said = [line[:300] for line in log.read_text().splitlines() if "Error" in line or "Exception" in line]
    return "\n".join(said[-20:]) or "without an error: give more files, or kill fewer together"


def _choose_a_moment(rng: Random, checkpoint: Path, child: Child) -> None:
    """Wait: four times out of five for a micro-batch that has begun, then some part of its time; else for anything."""
    if rng.random() < 0.8:
        end = time.monotonic() + PATIENCE
        while not is_inside(checkpoint) and child.process.poll() is None and time.monotonic() < end:
            time.sleep(0.005)
        time.sleep(rng.uniform(0.0, 0.3))
    else:
        time.sleep(rng.uniform(0.0, 2.0))


def torment(outcomes: Sequence[Outcome], seed: int, kills: int, folder: Path, files: int) -> None:
    """Run queries to their ends through so many kills, which hit all of them at once.

    A kill comes when the first of them has committed so many micro-batches, all kills within two thirds of the way;
    each in turn is the one whose micro-batch is waited for, or the last of all where it is done. A kill after the last
    micro-batch of a query is none.
    """
    shapes, kernel = [outcome.shape for outcome in outcomes], outcomes[0].kernel
    rng = Random(f"{' '.join(shapes)} {seed}")
    checkpoints = {shape: folder / shape / "checkpoint" for shape in shapes}
    killed: dict[str, list[int]] = {shape: [] for shape in shapes}

    def committed(shape: str) -> int:
        return last_entry(checkpoints[shape] / "spark" / "commits")

    for number in range(kills):
        begun = max(map(committed, shapes)) + 1
        place = begun + rng.randrange(max(1, (2 * files // 3 - begun) // (kills - number)))
        child = Child(shapes, kernel, seed, folder)
        try:
            for word in child.words():
                if word == "done" or max(map(committed, shapes)) >= place:
                    break
            turn = shapes[number % len(shapes)]
            waited = turn if committed(turn) < files else min(shapes, key=committed)
            _choose_a_moment(rng, checkpoints[waited], child)
            if child.process.poll() is not None:
                raise RuntimeError(f"{shapes} ended before they were killed: {_errors(child.log)}")
        finally:
            child.end()  # all at once, without a chance to tidy up
        for outcome in outcomes:
            killed[outcome.shape].append(committed(outcome.shape))
            outcome.inside += is_inside(checkpoints[outcome.shape])
            outcome.seen.append(others.found(folder / outcome.shape / "out"))
    child = Child(shapes, kernel, seed, folder)
    try:
        if "done" not in list(child.words()):
            raise RuntimeError(f"{shapes} did not end: {_errors(child.log)}")
    finally:
        child.end()
    for outcome in outcomes:
        last = committed(outcome.shape)
        outcome.kills = sum(at < last for at in killed[outcome.shape])
        outcome.batches = last + 1


def try_shapes(
    spark: SparkSession, shapes: Sequence[str], seed: int, kills: int, files: int = 16, kernel: KernelMode = "auto"
) -> list[Outcome]:
    """Kill queries together, run each without kills, and compare both with each other and with the reference."""
    folder = Path(tempfile.mkdtemp(prefix="transom-chaos-"))
    outcomes = [Outcome(shape, kernel) for shape in shapes]
    try:
        for shape in shapes:
            write_inputs(shape, seed, folder, files)
        torment(outcomes, seed, kills, folder / "killed", files)
        for outcome in outcomes:
            begin(spark, outcome.shape, kernel, seed, TICKS, folder / "calm" / outcome.shape).wait()
            judge(spark, outcome, seed, folder)
            outcome.wrong = outcome.wrong or _for_others(outcome, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return outcomes


def write_inputs(shape: str, seed: int, folder: Path, files: int) -> None:
    """What a shape reads, for the run with kills and for the one without."""
    asked = KILLABLE[shape]
    if isinstance(asked, Linked):
        for way in ("killed", "calm"):
            asked.write(seed, TICKS, files, folder / way / shape / "in")
        return
    query = asked.query()
    given = query.inputs(asked.inputs(seed, TICKS), TICKS - 1)
    rows = sum(len(elements) for elements in given.streams.values())
    for way in ("killed", "calm"):
        write_streams(folder / way / shape / "in", query.sources, given, Split(-(-rows // files)))


def judge(spark: SparkSession, outcome: Outcome, seed: int, folder: Path) -> None:
    """What was written through the kills, against the run without them and against the reference."""
    asked = KILLABLE[outcome.shape]
    written = {way: spark.read.parquet(str(folder / way / outcome.shape / "out")) for way in ("killed", "calm")}
    if isinstance(asked, Linked):
        found = {way: asked.rows(frame) for way, frame in written.items()}
        outcome.tuples = len(found["killed"])
        outcome.wrong = _unlike(found) or asked.wrong(seed, TICKS, found["killed"])
        return
    query = asked.query()
    expected = query.simulate(asked.inputs(seed, TICKS), until=TICKS - 1)
    schema, calendar = query.optimized.schema, query.catalog.calendar
    found = {way: plain_frame(frame, schema, calendar).collect() for way, frame in written.items()}
    outcome.tuples = len(found["killed"])
    made = answer_from_rows(found["killed"], query.optimized.schema, query.columns, query.result_kind)
    outcome.wrong = _unlike(found) or row_difference(expected, made, index=False)
    if not len(expected):
        outcome.wrong = "nothing was expected, so nothing is shown"


def _for_others(outcome: Outcome, folder: Path) -> str | None:
    """What readers that know nothing of Spark see: never half a file or a row too many, and in the end all of them."""
    killed, calm = (others.found(folder / way / outcome.shape / "out") for way in ("killed", "calm"))
    for number, seen in enumerate(outcome.seen, 1):
        if not seen <= killed:
            return f"after kill {number} others saw rows that are not there in the end: {list(seen - killed)[:3]}"
    if killed.total() != outcome.tuples:
        return f"others see {killed.total()} rows, and Spark {outcome.tuples}"
    return None if killed == calm else f"others see rows that are not there without a kill: {list(killed - calm)[:3]}"


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
    parser.add_argument("--shape", choices=KILLABLE, action="append", help="only these (default: all)")
    parser.add_argument("--kernel", choices=("on", "off"), action="append", help="only this way (default: both)")
    parser.add_argument("--files", type=int, default=20, help="files of each stream, one per micro-batch")
    parser.add_argument("--together", type=int, default=1, help="shapes that are killed at once")
    options = parser.parse_args()
    spark = session()
    wrong = 0
    shapes = list(options.shape or KILLABLE)
    groups = [shapes[first : first + options.together] for first in range(0, len(shapes), options.together)]
    for kernel, group in product(options.kernel or ("on", "off"), groups):
        began = time.monotonic()
        for outcome in try_shapes(spark, group, options.seed, options.kills, options.files, kernel):
            wrong += outcome.wrong is not None or outcome.kills < options.kills
            print(f"{outcome} (of {time.monotonic() - began:.0f} s)", flush=True)
    spark.stop()
    return min(wrong, 1)


if __name__ == "__main__":
    sys.exit(main())
