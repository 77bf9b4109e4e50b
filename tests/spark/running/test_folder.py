"""Folders of answers: every file whole and every row once, for any reader, wherever a run is killed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

import transom
from tests.spark.running.others import found
from tests.spark.running.test_running import GROUPS, ROWS, catalog, cut, expected, finished, read, source, write
from transom.errors import CheckpointError, UsageError
from transom.runtime import start
from transom.runtime.sinks.folder import FolderWriter
from transom.runtime.sinks.sink import Sink

RUN = "0123456789abcdef"
CHANGING = ("mkdirs", "delete", "rename", "createNewFile")


def rows(spark: SparkSession, first: int, last: int, tasks: int) -> DataFrame:
    return spark.range(first, last, 1, tasks).selectExpr("id", "CAST(id AS STRING) AS name")


def whole(first: int, last: int, kind: str = "parquet") -> Counter[tuple[Any, ...]]:
    if kind == "jsonl":
        return Counter((f'{{"id": {n}, "name": "{n}"}}',) for n in range(first, last))
    return Counter((str(n), str(n)) for n in range(first, last))


class Killed(Exception):
    """What happens to a run in these tests."""


class Mortal:
    """A file system that dies before, or right after, one of its changes; nothing works from then on."""

    def __init__(self, files: Any, change: int, after: bool) -> None:
        self.files, self.left, self.after = files, change, after

    def __getattr__(self, name: str) -> Any:
        def asked(*arguments: Any) -> Any:
            if name in CHANGING:
                self.left -= 1
            if self.left < 0 or (self.left == 0 and name in CHANGING and not self.after):
                self.left = -1
                raise Killed
            answer = getattr(self.files, name)(*arguments)
            if self.left == 0 and name in CHANGING:
                raise Killed
            return answer

        return asked


def begun(spark: SparkSession, out: Path, kind: str = "parquet") -> FolderWriter:
    return FolderWriter(spark, Sink(kind, str(out)), RUN)


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
@pytest.mark.parametrize("after", [False, True])
@pytest.mark.covers("sink:parquet", "sink:jsonl")
def test_killed_at_every_step(spark: SparkSession, tmp_path: Path, kind: str, after: bool) -> None:
    """The second micro-batch dies at one step after the other, and is repeated in other tasks."""
    steps = 0
    for step in range(1, 99):
        out = tmp_path / str(step) / "out"
        begun(spark, out, kind)(rows(spark, 0, 5, 2), 0)
        one = begun(spark, out, kind)
        one.output.file_system = Mortal(one.output.file_system, step, after)
        try:
            one(rows(spark, 5, 14, 3), 1)
            break
        except Killed:
            steps += 1
        seen = found(out, kind)
        assert whole(0, 5, kind) <= seen <= whole(0, 14, kind), step
        again = begun(spark, out, kind)
        again(rows(spark, 5, 14, 2), 1)
        assert found(out, kind) == whole(0, 14, kind), step
        again(rows(spark, 14, 16, 1), 2)
        assert found(out, kind) == whole(0, 16, kind), step
        assert [p.name for p in (tmp_path / str(step) / "_out.staging").iterdir()] == ["0123456789ab-000000002.whole"]
    assert steps >= 6  # two folders, the mark of the whole, three renames, what goes in the end
    assert found(out, kind) == whole(0, 14, kind)


def test_a_repeated_micro_batch_is_computed_and_not_shown_again(spark: SparkSession, tmp_path: Path) -> None:
    """Spark keeps state of what was computed only, so a micro-batch that is there already is computed as well."""
    seen = spark.sparkContext.accumulator(0)

    def look(part: Iterator[Any]) -> Iterator[Any]:
        for row in part:
            seen.add(1)
            yield row

    for _ in range(2):
        frame = rows(spark, 0, 6, 2)
        begun(spark, tmp_path / "out")(spark.createDataFrame(frame.rdd.mapPartitions(look), frame.schema), 0)
    assert seen.value == 12
    assert found(tmp_path / "out") == whole(0, 6)


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_nothing_is_written_of_nothing(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    one = begun(spark, tmp_path / "out", kind)
    one(rows(spark, 0, 0, 2), 0)
    assert list((tmp_path / "out").iterdir()) == list((tmp_path / "_out.staging").iterdir()) == []
    one(rows(spark, 0, 4, 4).where("id = 2"), 1)
    assert [p.name.partition(".")[0] for p in (tmp_path / "out").iterdir()] == ["part-0123456789ab-000000001-00002"]
    one(rows(spark, 0, 0, 2), 2)
    begun(spark, tmp_path / "out", kind)(rows(spark, 3, 4, 2), 3)
    assert found(tmp_path / "out", kind) == whole(2, 4, kind)


def test_files_of_a_size(spark: SparkSession, tmp_path: Path) -> None:
    """A task may write several files."""
    spark.conf.set("spark.sql.files.maxRecordsPerFile", "3")
    try:
        begun(spark, tmp_path / "out")(rows(spark, 0, 10, 1), 0)
    finally:
        spark.conf.unset("spark.sql.files.maxRecordsPerFile")
    assert len(list((tmp_path / "out").iterdir())) == 4
    assert found(tmp_path / "out") == whole(0, 10)


def test_a_folder_ahead_of_its_checkpoint_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    one = begun(spark, tmp_path / "out")
    for batch in range(3):
        one(rows(spark, batch, batch + 1, 1), batch)
    for batch in (0, 1):
        with pytest.raises(CheckpointError, match="ahead of its checkpoint"):
            begun(spark, tmp_path / "out")(rows(spark, 0, 1, 1), batch)
    FolderWriter(spark, Sink("parquet", str(tmp_path / "out")), "another run")(rows(spark, 7, 8, 1), 0)
    assert found(tmp_path / "out") == whole(0, 3) + whole(7, 8)


def test_a_root_is_refused(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match="is no folder in another one"):
        begun(spark, Path("/"))


def test_a_folder_of_sparks_own_sink(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Earlier versions had no other: their checkpoints go on in their folders, and no other run begins there."""
    query = transom.compile(GROUPS, catalog())
    sink, batches = f"parquet:{tmp_path / 'out'}", cut(ROWS, 7, end=20)

    def go(part: slice, checkpoint: str) -> None:
        folder = write(tmp_path / "in", batches[part], first=part.start)
        frames = {"traffic": source(spark, folder)}
        finished(query.start(spark, sink, tmp_path / checkpoint, sources=frames, until=19))

    with monkeypatch.context() as before:
        before.setattr(start, "uses_spark_sink", lambda *_: True)
        go(slice(0, 2), "checkpoint")
    assert (tmp_path / "out" / "_spark_metadata").exists()
    for _ in range(2):  # what is refused leaves nothing that would be taken for a run the next time
        with pytest.raises(UsageError, match="was begun by another run"):
            go(slice(0, 2), "other")
    elsewhere = tmp_path / "elsewhere"  # Spark would pass over micro-batches whose numbers the folder has
    elsewhere.mkdir()
    for name in ("plan.json", "id"):
        (elsewhere / name).write_text("{}")
    with pytest.raises(UsageError, match="was begun by another run"):
        go(slice(0, 2), "elsewhere")
    go(slice(2, None), "checkpoint")
    assert read(spark, query, tmp_path / "out") == expected(query, ROWS, 19)
    assert not (tmp_path / "_out.staging").exists()
