"""Runs that begin in history or after another query, killed with SIGKILL around the seam and started again."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.spark.history.changes import CHANGES, TICKS, Story, finished
from transom.runtime.checkpoint.handover import HANDOVER_FILE

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[3]
AT_MOST = 12
"""Starts within which a run is done, although each of the first ones is killed."""


def killed_until_done(words: list[str], log: Path, rng: Random, kills: int, heard_at_most: int = 4) -> int:
    """Run a Python module in a process that is killed and started again, until it is done; return the kills.

    It is killed after at most so many lines of its output, one for each micro-batch.
    """
    environment = {name: value for name, value in os.environ.items() if name != "PYSPARK_GATEWAY_PORT"}
    done = 0
    for _ in range(AT_MOST):
        with log.open("ab") as errors:
            child = subprocess.Popen(
                [sys.executable, *words], cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=errors,
                start_new_session=True, text=True,
            )  # fmt: skip
            assert child.stdout is not None
            line, patience = "", rng.randrange(1, heard_at_most + 1)
            for heard, line in enumerate(child.stdout, start=1):
                if line == "done\n":
                    break
                if done < kills and heard >= patience:
                    os.killpg(child.pid, signal.SIGKILL)
                    done += 1
                    break
            ended = line == "done\n"
            child.stdout.close()
            child.wait()
        if ended:
            return done
    raise AssertionError(log.read_text()[-3000:])


def killed(story: Story, how: str) -> int:
    """Run the new query of a story so; return how often it was killed."""
    words = ["-m", "tests.spark.history.child", story.change.name, str(story.seed), str(story.folder), how]
    rng = Random(f"{story.change.name} {story.seed} {how}")
    return killed_until_done(words, story.folder / "child.log", rng, kills=2)


@pytest.mark.parametrize("name", CHANGES)
def test_since(spark: SparkSession, tmp_path: Path, name: str) -> None:
    story = Story(CHANGES[name], 5, tmp_path)
    story.write()
    since = Random(name).randrange(8, TICKS - 8)
    assert killed(story, str(since)) >= 1
    assert story.difference(spark, story.change.new, "new", since, TICKS - 1) is None


@pytest.mark.parametrize("name", CHANGES)
def test_after(spark: SparkSession, tmp_path: Path, name: str) -> None:
    story = Story(CHANGES[name], 5, tmp_path)
    story.write()
    story.hide(Random(name).randrange(story.files // 3, story.files - 2))
    finished(story.start(spark, story.change.old, "old", "before"))
    story.show()
    assert killed(story, "before") >= 1
    closed = json.loads((tmp_path / "before" / HANDOVER_FILE).read_text())["tick"]
    assert story.difference(spark, story.change.old, "old", 0, closed) is None
    assert story.difference(spark, story.change.new, "new", closed + 1, TICKS - 1) is None
