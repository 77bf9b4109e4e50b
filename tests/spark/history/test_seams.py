"""The seam at twenty random points: `since` and `after` answer as uninterrupted runs do, also around SIGKILL."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from pyspark.sql import SparkSession

from tests.spark.history.changes import TICKS, Story, finished
from tests.spark.history.seams import GROUPS, KINDS, SEAMS, SHAPES, Seam
from tests.spark.history.test_killed import killed_until_done
from transom.runtime.checkpoint.handover import HANDOVER_FILE

NIGHTLY = pytest.mark.nightly
NUMBERS = range(len(GROUPS))


def begin(folder: Path, seam: Seam) -> Story:
    """Write the files of a point."""
    story = Story(seam.change, seam.seed, folder / seam.change.name.replace(", ", "-"), pieces=5)
    story.write()
    return story


def check_since(spark: SparkSession, story: Story, seam: Seam) -> None:
    difference = story.difference(spark, seam.change.new, "since-out", seam.since, TICKS - 1)
    assert difference is None, f"{seam.change.name} since {seam.since}: {difference}"


def check_after(spark: SparkSession, story: Story, seam: Seam) -> int:
    """Compare the answers of both queries; return the tick of the hand-over."""
    closed: int = json.loads((story.folder / "before" / HANDOVER_FILE).read_text())["tick"]
    difference = story.difference(spark, seam.change.old, "old", 0, closed)
    assert difference is None, f"{seam.change.name} until {closed}: {difference}"
    difference = story.difference(spark, seam.change.new, "new", closed + 1, TICKS - 1)
    assert difference is None, f"{seam.change.name} after {closed}: {difference}"
    return closed


def test_the_points_cover_every_shape_and_kind() -> None:
    assert len({seam.change.name for seam in SEAMS}) == 20
    assert {seam.change.name.split(", ")[0] for seam in SEAMS} == set(SHAPES)
    assert {seam.change.name.split(", ")[1] for seam in SEAMS} == set(KINDS)
    assert all(seam.change.old != seam.change.new for seam in SEAMS)


@NIGHTLY
@pytest.mark.parametrize("number", NUMBERS)
def test_since(spark: SparkSession, tmp_path: Path, number: int) -> None:
    """The first part of the files is history, and the others come while the queries run."""
    stories = [(begin(tmp_path, seam), seam) for seam in GROUPS[number]]
    runs = []
    for story, seam in stories:
        story.hide(seam.hidden_from(story))
        runs.append(story.start(spark, seam.change.new, "since-out", "since", since=seam.since))
    for running, (story, _) in zip(runs, stories, strict=True):
        running.stream.processAllAvailable()
        while story.show_next():
            running.stream.processAllAvailable()
    for running, (story, seam) in zip(runs, stories, strict=True):
        finished(running)
        check_since(spark, story, seam)


@NIGHTLY
@pytest.mark.parametrize("number", NUMBERS)
def test_after(spark: SparkSession, tmp_path: Path, number: int) -> None:
    """The old queries stop at the random points, and the new ones go on."""
    stories = [(begin(tmp_path, seam), seam) for seam in GROUPS[number]]
    hand_over(spark, stories)
    runs = [
        story.start(spark, seam.change.new, "new", "checkpoint", after=story.folder / "before")
        for story, seam in stories
    ]
    for running, (story, seam) in zip(runs, stories, strict=True):
        finished(running)
        assert running.job.options.since == check_after(spark, story, seam) + 1


def hand_over(spark: SparkSession, stories: list[tuple[Story, Seam]]) -> None:
    """Run the old queries over the files before their points, stop them, and let the other files come."""
    runs = []
    for story, seam in stories:
        story.hide(seam.hidden_from(story))
        runs.append(story.start(spark, seam.change.old, "old", "before"))
    for running, (story, _) in zip(runs, stories, strict=True):
        finished(running)
        story.show()


@NIGHTLY
@pytest.mark.parametrize("number", NUMBERS)
def test_killed(spark: SparkSession, tmp_path: Path, number: int) -> None:
    """Both runs of each point are killed together around the seam, and started again."""
    stories = [(begin(tmp_path, seam), seam) for seam in GROUPS[number]]
    hand_over(spark, stories)
    words = ["-m", "tests.spark.history.seam_child", str(tmp_path), str(number)]
    assert killed_until_done(words, tmp_path / "child.log", Random(number), kills=1, heard_at_most=8) == 1
    for story, seam in stories:
        check_since(spark, story, seam)
        check_after(spark, story, seam)
