"""`since` and `after`: the answers around the seam are those of one uninterrupted run of the respective query."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.spark.history.changes import CHANGES, HISTORY, TICKS, Story, finished, stopped_between_two
from transom.errors import CheckpointError, Unavailable, UsageError
from transom.runtime.checkpoint.handover import HANDOVER_FILE

SINCE = [("range", 1), *(pytest.param(name, seed, marks=pytest.mark.nightly) for name in HISTORY for seed in (2, 3))]
AFTER = [("slide", 1), *(pytest.param(name, seed, marks=pytest.mark.nightly) for name in CHANGES for seed in (2, 3))]


@pytest.mark.parametrize(("name", "seed"), SINCE)
def test_since_answers_as_an_uninterrupted_run_from_there_on(
    spark: SparkSession, tmp_path: Path, name: str, seed: int
) -> None:
    """The first part of the files is history; the run stops, more files come, and it goes on."""
    rng = Random(f"{name} {seed}")
    story = Story(HISTORY[name], seed, tmp_path)
    story.write()
    since = rng.randrange(8, TICKS - 8)
    story.hide(rng.randrange(1, story.files))
    for _ in range(2):
        running = finished(story.start(spark, story.change.new, "out", "checkpoint", since=since))
        story.show()
    assert running.resumed
    reach = story.change.query(story.change.new).reach.ticks
    assert reach is not None
    assert (running.job.options.since, running.job.options.start) == (since, max(0, since - reach))
    assert story.difference(spark, story.change.new, "out", since, TICKS - 1) is None
    resumed = finished(story.start(spark, story.change.new, "out", "checkpoint"))
    assert resumed.resumed, "a run without the option keeps the beginning of its checkpoint"


@pytest.mark.parametrize(("name", "seed"), AFTER)
def test_a_changed_query_goes_on_where_the_old_one_stood(
    spark: SparkSession, tmp_path: Path, name: str, seed: int
) -> None:
    rng = Random(f"{name} {seed}")
    story = Story(CHANGES[name], seed, tmp_path)
    story.write()
    old, new = story.change.old, story.change.new
    busy, last = seed % 2 == 1, rng.randrange(story.files // 3, story.files - 2)
    if not busy:
        story.hide(last)
    running = story.start(spark, old, "old", "before")
    with pytest.raises(Unavailable, match="is in use by another run") as running_still:
        story.start(spark, new, "new", "checkpoint", after=tmp_path / "before")
    assert "the same PostgreSQL database" in (running_still.value.detail or "")
    if busy:
        stopped_between_two(running, last)
    else:
        finished(running)
        story.show()
    running = finished(story.start(spark, new, "new", "checkpoint", after=tmp_path / "before"))
    mark = json.loads((tmp_path / "before" / HANDOVER_FILE).read_text())
    closed = mark["tick"]
    assert 0 < closed < TICKS - 1
    assert running.job.options.since == closed + 1
    assert story.difference(spark, old, "old", 0, closed) is None
    assert story.difference(spark, new, "new", closed + 1, TICKS - 1) is None
    again = finished(story.start(spark, new, "new", "checkpoint", after=tmp_path / "before"))
    assert again.resumed
    assert story.difference(spark, new, "new", closed + 1, TICKS - 1) is None
    with pytest.raises(CheckpointError, match=f"was handed over to .*checkpoint after tick {closed}"):
        story.start(spark, old, "old", "before")
    with pytest.raises(CheckpointError, match=r"was handed over to .*checkpoint"):
        story.start(spark, new, "other", "third", after=tmp_path / "before")


def test_what_cannot_begin_later_is_refused_by_name(spark: SparkSession, tmp_path: Path) -> None:
    story = Story(CHANGES["predicate"], 1, tmp_path)
    story.write()
    text = "RSTREAM(SELECT weight FROM traffic [FROM NOW-1 TO NOW SLIDE 2 ROWS])"
    with pytest.raises(UsageError, match="matter: windows are created by counting all rows") as caught:
        story.start(spark, text, "out", "checkpoint", since=5)
    assert caught.value.span is not None
    with pytest.raises(UsageError, match="since and --index exclude each other"):
        story.start(spark, story.change.new, "out", "checkpoint", since=5, index=True)
    with pytest.raises(UsageError, match="both say where the answer begins"):
        story.start(spark, story.change.new, "out", "checkpoint", since=5, after=tmp_path / "before")
    with pytest.raises(CheckpointError, match="is not a checkpoint"):
        story.start(spark, story.change.new, "out", "checkpoint", after=tmp_path / "before")
    changes = story.change.new.replace("RSTREAM", "ISTREAM")
    with pytest.raises(UsageError, match="the rows of the query are changes"):
        story.start(spark, changes, "out", "checkpoint", after=tmp_path / "before")
    stateless = "SELECT weight FROM traffic WHERE weight > 3"
    finished(story.start(spark, stateless, "passed", "stateless"))
    with pytest.raises(CheckpointError, match=r"the query of .*stateless keeps no state"):
        story.start(spark, story.change.new, "out", "checkpoint", after=tmp_path / "stateless")
    assert not (tmp_path / "checkpoint" / "plan.json").exists()
