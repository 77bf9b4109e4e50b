"""A checkpoint keeps the settings of Spark with which it was made, whatever the session has later."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import transom
from tests.spark.running.checkpoints.test_checkpoints import begin
from tests.spark.running.test_running import BY_ROW, GROUPS, ROWS, catalog, cut, expected, finished, read, write
from transom.runtime.checkpoint.settings import SOURCE_NAMES, STATE_FORMAT


def newest_commit(checkpoint: Path) -> Path:
    return max((checkpoint / "spark" / "commits").glob("[0-9]*"), key=lambda file: int(file.name))


def names_its_state(checkpoint: Path) -> bool:
    """Whether the newest commit names the files of state that belong to it, as in format 2."""
    return bool(json.loads(newest_commit(checkpoint).read_text().partition("\n")[2]).get("stateUniqueIds"))


def forget(checkpoint: Path) -> None:
    """Leave of Transom's files what an earlier version of the same format has written."""
    for name in ("plan.json", "logs.json"):
        kept = json.loads((checkpoint / name).read_text())
        (checkpoint / name).write_text(json.dumps({k: v for k, v in kept.items() if k not in ADDED}))


ADDED = ("settings", "about", "digest")


@pytest.mark.parametrize(
    "text", [pytest.param(GROUPS, id="native", marks=pytest.mark.nightly), pytest.param(BY_ROW, id="machine")]
)
@pytest.mark.parametrize(
    ("formats", "earlier"),
    [
        pytest.param("21", False, marks=pytest.mark.nightly),
        ("12", False),
        pytest.param("12", True, marks=pytest.mark.nightly),
    ],
    ids=["2 in 1", "1 in 2", "earlier in 2"],
)
def test_checkpoint_keeps_its_settings(
    spark: SparkSession, tmp_path: Path, formats: str, earlier: bool, text: str
) -> None:
    """The newest commit is removed between two runs, as the remedy for a torn one says: its micro-batch is repeated."""
    query, batches = transom.compile(text, catalog()), cut(ROWS, 7, end=20)
    own = spark.conf.get(STATE_FORMAT, None)
    assert own is None
    try:
        for part, state_format in zip((batches[:2], batches[2:]), formats):
            spark.conf.set(STATE_FORMAT, state_format)
            write(tmp_path / "in", part, first=batches.index(part[0]))
            finished(begin(query, spark, tmp_path))
            assert spark.conf.get(STATE_FORMAT) == state_format
            assert names_its_state(tmp_path / "checkpoint") is (formats[0] == "2")
            newest_commit(tmp_path / "checkpoint").unlink()
            if earlier:
                forget(tmp_path / "checkpoint")
        finished(begin(query, spark, tmp_path))
    finally:
        spark.conf.unset(STATE_FORMAT)
    assert read(spark, query, tmp_path / "out") == expected(query, ROWS, 19)


def test_named_sources_go_on(spark: SparkSession, tmp_path: Path) -> None:
    """The caller names the source, and the session does not have the setting when the query starts again."""
    query, batches = transom.compile(GROUPS, catalog()), cut(ROWS, 7, end=20)
    schema = "tick long, position long, site long, weight long"
    for part, first in ((batches[:2], 0), (batches[2:], 2)):
        write(tmp_path / "in", part, first=first)
        spark.conf.set(SOURCE_NAMES, "true")
        try:
            reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1).name("road")
            frames = {"traffic": reader.parquet(str(tmp_path / "in"))}
            if first:
                spark.conf.unset(SOURCE_NAMES)
            sink = f"parquet:{tmp_path / 'out'}"
            finished(query.start(spark, sink, tmp_path / "checkpoint", sources=frames, until=19))
        finally:
            spark.conf.unset(SOURCE_NAMES)
        assert [file.name for file in (tmp_path / "checkpoint/spark/sources").iterdir()] == ["road"]
    assert read(spark, query, tmp_path / "out") == expected(query, ROWS, 19)
