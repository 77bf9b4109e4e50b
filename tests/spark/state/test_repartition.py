"""`transom repartition`: the query goes on with the answers of an uninterrupted run, for every kind of operator."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from tests.spark.state.stories import QUERIES, half_run, partitions, rest
from transom.errors import CheckpointError, Unavailable, UsageError
from transom.physical.nodes.windows import KernelMode
from transom.runtime.checkpoint.lock import CheckpointLock
from transom.runtime.state.repartition import MANAGER, repartition

pytestmark = pytest.mark.skipif(not hasattr(SparkSession, MANAGER), reason="Spark divides state since 4.2")
WAYS = [(1, 2), (2, 3), (3, 1)]
CASES = [
    (name, kernel, way)
    if (name, kernel, way) == ("sliding", "on", (2, 3))
    else pytest.param(name, kernel, way, marks=pytest.mark.nightly)
    for name in QUERIES
    for kernel in ("on", "off")
    for way in WAYS
]


@pytest.mark.parametrize(("name", "kernel", "way"), CASES)
def test_answers_are_those_of_an_uninterrupted_run(
    spark: SparkSession, tmp_path: Path, name: str, kernel: KernelMode, way: tuple[int, int]
) -> None:
    before, after = way
    with partitions(spark, before):
        story = half_run(spark, tmp_path, name, kernel, seed=before)
    done = repartition(spark, tmp_path / "checkpoint", after)
    assert (done.before, done.after) == way
    with pytest.raises(UsageError, match=f"has {after} partitions already"):
        repartition(spark, tmp_path / "checkpoint", after)
    assert rest(spark, story, kernel) is None


def test_refusals(spark: SparkSession, tmp_path: Path) -> None:
    """A checkpoint in use, none at all, and a number that is none are refused before anything is written."""
    with pytest.raises(UsageError, match="at least one partition"):
        repartition(spark, tmp_path, 0)
    with pytest.raises(CheckpointError, match=r"plan.json is missing"):
        repartition(spark, tmp_path, 2)
    half_run(spark, tmp_path, "sliding", "on")
    checkpoint = tmp_path / "checkpoint"
    lock = CheckpointLock(checkpoint).acquire()
    try:
        with pytest.raises(Unavailable, match="is in use by another run"):
            repartition(spark, checkpoint, 2)
    finally:
        lock.release()
    commits = checkpoint / "spark" / "commits"
    last = max(int(path.name) for path in commits.iterdir() if path.name.isdecimal())
    (commits / str(last)).unlink()
    with pytest.raises(CheckpointError, match=f"micro-batch {last} .* was begun and not finished"):
        repartition(spark, checkpoint, 2)
