"""A query takes over a table from one that still runs: no answer is missing at the hand-over, and none is double."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import psycopg
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from tests.spark.history.changes import CHANGES, TICKS, Story, finished
from transom.errors import CheckpointError, Fenced
from transom.runtime.checkpoint.handover import HANDOVER_FILE, PREDECESSOR_FILE, refuse_handed_over
from transom.runtime.running import Running
from transom.runtime.upgrade.takeover import takeover_line

pytestmark = pytest.mark.spark
NAMES = ["range", *(pytest.param(name, marks=pytest.mark.nightly) for name in ("predicate", "slide", "scan", "cql"))]
ORIGIN = 1767225600
"""The epoch of the stories, in seconds since 1970."""


def place(port: int) -> str:
    return f"postgresql://test@127.0.0.1:{port}/postgres"


def written(port: int, table: str) -> Counter[tuple[Any, ...]]:
    """The rows of a table, each after its tick."""
    with psycopg.connect(place(port)) as connection:
        rows = connection.execute(f"SELECT * FROM {table}").fetchall()
        names = [column.name for column in connection.execute(f"SELECT * FROM {table} LIMIT 0").description or ()]
    tick = names.index("tick")
    return Counter((int(row[tick].timestamp()) - 1 - ORIGIN, *row[:tick], *row[tick + 1 :]) for row in rows)


def expected(story: Story, text: str, first: int, last: int) -> Counter[tuple[Any, ...]]:
    whole = story.change.query(text).simulate(story.change.inputs(story.seed), until=TICKS - 1)
    return Counter((e.tick, *e.row) for e in whole.elements if first <= e.tick <= last)


def check(story: Story, port: int, table: str) -> int:
    """Compare a table with one uninterrupted run of each query; return the tick of the hand-over."""
    tick: int = json.loads((story.folder / "checkpoint" / PREDECESSOR_FILE).read_text())["tick"]
    mark = json.loads((story.folder / "before" / HANDOVER_FILE).read_text())
    assert (mark["to"], mark["tick"], "announced" in mark) == (str(story.folder / "checkpoint"), tick, False)
    assert takeover_line(story.folder / "checkpoint") == f"took over from {story.folder / 'before'} after tick {tick}"
    both = expected(story, story.change.old, 0, tick) + expected(story, story.change.new, tick + 1, TICKS - 1)
    assert written(port, table) == both
    return tick


@pytest.mark.parametrize("name", NAMES)
def test_the_older_query_runs_until_it_is_taken_over(
    database: int, spark: SparkSession, tmp_path: Path, name: str
) -> None:
    story = Story(CHANGES[name], 4, tmp_path, pieces=5)
    story.write()
    story.hide(story.files // 3)
    table = f"seam_{name}"
    older = story.start(spark, story.change.old, f"{place(database)}/{table}", "before")
    older.stream.processAllAvailable()
    newer = story.start(spark, story.change.new, f"{place(database)}/{table}", "checkpoint", after=tmp_path / "before")
    began = newer.job.options.since
    assert began is not None
    while story.show_next():
        with contextlib.suppress(StreamingQueryException):  # it is fenced at some point
            older.stream.processAllAvailable()
        newer.stream.processAllAvailable()
    newer.stop()
    drain(older)
    with pytest.raises(CheckpointError, match=r"was handed over to .*checkpoint after tick"):
        story.start(spark, story.change.old, f"{place(database)}/{table}", "before")
    assert began - 1 <= check(story, database, table) < TICKS - 1, "both queries have answered"
    assert finished(story.start(spark, story.change.new, f"{place(database)}/{table}", "checkpoint")).resumed
    check(story, database, table)


def drain(running: Running) -> None:
    """Let the older query read the rest, of which it may write nothing: it is fenced, or has nothing more to read."""
    with contextlib.suppress(Exception):
        running.stream.processAllAvailable()
    if running.is_active:
        running.stop()
        return
    with pytest.raises(Fenced, match=r"was handed over to .*checkpoint after tick"):
        running.wait()


@pytest.mark.nightly
def test_a_query_that_was_killed_is_taken_over(database: int, spark: SparkSession, tmp_path: Path) -> None:
    """The ledger says what the older query has delivered, although its checkpoint has a micro-batch in the middle."""
    story = Story(CHANGES["slide"], 6, tmp_path)
    story.write()
    story.hide(story.files // 2)
    sink = f"{place(database)}/seam_killed"
    finished(story.start(spark, story.change.old, sink, "before"))
    commits = tmp_path / "before" / "spark" / "commits"
    last = max(int(file.name) for file in commits.iterdir() if file.name.isdecimal())
    (commits / str(last)).unlink()  # as if it had been killed after it delivered the micro-batch
    (commits / f".{last}.crc").unlink()
    story.show()
    finished(story.start(spark, story.change.new, sink, "checkpoint", after=tmp_path / "before"))
    check(story, database, "seam_killed")


class Child:
    """One of the queries of a story in a process that is killed."""

    def __init__(self, story: Story, sink: str, which: str) -> None:
        words = [story.change.name, str(story.seed), str(story.folder), sink, which]
        environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_GATEWAY_PORT"}
        with (story.folder / f"{which}.log").open("ab") as errors:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.servers.takeover_child", *words],
                cwd=Path(__file__).parents[2], env=environment, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True, text=True,
            )  # fmt: skip

    def lines(self, count: int) -> str:
        """Read so many lines of what it says, or all; return the last one."""
        assert self.process.stdout is not None
        line = ""
        for _ in range(count):
            line = self.process.stdout.readline() or line
        return line

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["predicate", "function", "range", "slide"])
def test_both_queries_are_killed_around_the_hand_over(database: int, tmp_path: Path, name: str) -> None:
    """Each is killed twice at random, while the other one runs, and started again."""
    rng = Random(name)
    story = Story(CHANGES[name], 8, tmp_path)
    story.write()
    story.hide(story.files // 3)
    sink = f"{place(database)}/seam_chaos_{name}"
    older = Child(story, sink, "old")
    assert older.lines(3).startswith("batch")
    for kill in range(2):
        newer = Child(story, sink, "new")
        newer.lines(rng.randrange(1, 4))
        if kill == 0:
            older.kill()
            older = Child(story, sink, "old")
            older.lines(1)
            while story.show_next():
                time.sleep(0.5)
        newer.lines(rng.randrange(1, 4))
        newer.kill()
    newer = Child(story, sink, "new")
    assert newer.lines(100) == "done\n", (tmp_path / "new.log").read_text()[-3000:]
    newer.kill()
    older.kill()
    with pytest.raises(CheckpointError, match=r"was handed over to .*checkpoint after tick"):
        refuse_handed_over(tmp_path / "before")
    check(story, database, f"seam_chaos_{name}")
