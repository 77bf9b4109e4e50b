"""Checkpoints that no run may go on from: in use, damaged, without the name of the run, older than the sink."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming import DataStreamWriter, StreamingQuery

import transom
from tests.spark.running.test_running import GROUPS, ROWS, catalog, cut, expected, finished, read, source, write
from transom import Query
from transom.errors import CheckpointError, RunWarning, Unavailable
from transom.runtime.checkpoint.local_files import FILE_MANAGER, LOCAL_FILE_MANAGER
from transom.runtime.start import Running

CHECKPOINTING = "org.apache.spark.sql.execution.streaming.checkpointing"


def begin(query: Query, spark: SparkSession, folder: Path) -> Running:
    frames = {"traffic": source(spark, folder / "in")}
    return query.start(spark, f"parquet:{folder / 'out'}", folder / "checkpoint", sources=frames, until=19)


def test_local_file_manager_continues_a_checkpoint_of_spark_and_the_reverse(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session's own manager is unset, so that a query gets the one that it gets in a user's session."""
    query = transom.compile(GROUPS, catalog())
    batches, managers = cut(ROWS, 4, end=20), []
    own = spark.conf.get(FILE_MANAGER)
    start = DataStreamWriter.start

    def record(writer: DataStreamWriter) -> StreamingQuery:
        managers.append(spark.conf.get(FILE_MANAGER, None))
        return start(writer)

    monkeypatch.setattr(DataStreamWriter, "start", record)
    spark.conf.unset(FILE_MANAGER)
    try:
        for first in range(0, len(batches), 3):
            if first % 2:
                spark.conf.set(FILE_MANAGER, f"{CHECKPOINTING}.FileContextBasedCheckpointFileManager")
            write(tmp_path / "in", batches[first : first + 3], first=first)
            finished(begin(query, spark, tmp_path))
            if first % 2:
                spark.conf.unset(FILE_MANAGER)
            assert spark.conf.get(FILE_MANAGER, None) is None
    finally:
        spark.conf.set(FILE_MANAGER, own or "")
    assert read(spark, query, tmp_path / "out") == expected(query, ROWS, 19)
    assert managers[0] == managers[2] == LOCAL_FILE_MANAGER
    assert managers[1] == f"{CHECKPOINTING}.FileContextBasedCheckpointFileManager"
    assert not [*(tmp_path / "checkpoint").rglob("*.tmp")]


def test_a_checkpoint_that_is_not_fit_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    """One query, and after each refusal what was wrong is put right: in the end every answer is there once."""
    query = transom.compile(GROUPS, catalog())
    batches, checkpoint = cut(ROWS, 7, end=20), tmp_path / "checkpoint"
    write(tmp_path / "in", batches[:2])
    running = begin(query, spark, tmp_path)
    assert checkpoint.stat().st_mode & 0o777 == 0o700
    with pytest.raises(Unavailable, match="is in use by another run"):
        begin(query, spark, tmp_path)
    finished(running)
    finished(begin(transom.compile(GROUPS, catalog(rate="7 per s", keys=3)), spark, tmp_path))  # hints do not count

    name = (checkpoint / "id").read_text()
    for change in ("removed", "emptied"):
        if change == "removed":
            (checkpoint / "id").unlink()
        else:
            (checkpoint / "id").write_text("")
        with pytest.raises(CheckpointError, match="id was changed or removed"):
            begin(query, spark, tmp_path)
        (checkpoint / "id").write_text(name)

    newest = max((checkpoint / "spark" / "commits").glob("[0-9]*"), key=lambda file: int(file.name))
    text = newest.read_text()
    for damage in (text.replace('Ms":1', 'Ms":2'), text[:-4], ""):
        assert damage != text
        newest.write_text(damage)
        with pytest.raises(CheckpointError, match=f"commits/{newest.name} ") as caught:
            begin(query, spark, tmp_path)
        assert f"delete {newest}" in (caught.value.hint or "")
    newest.unlink()  # as the hint says: the micro-batch is done again

    shutil.copytree(checkpoint, tmp_path / "copy")
    write(tmp_path / "in", batches[2:3], first=2)
    finished(begin(query, spark, tmp_path))
    done = read(spark, query, tmp_path / "out")
    shutil.move(checkpoint, tmp_path / "newer")
    shutil.move(tmp_path / "copy", checkpoint)
    write(tmp_path / "in", batches[3:], first=3)
    with pytest.raises(CheckpointError, match="is ahead of its checkpoint"):
        begin(query, spark, tmp_path)
    assert read(spark, query, tmp_path / "out") == done
    shutil.rmtree(checkpoint)
    shutil.move(tmp_path / "newer", checkpoint)

    gone = next((tmp_path / "out").glob("part-*"))
    gone.rename(tmp_path / gone.name)
    with pytest.warns(RunWarning, match=r"files that this run has written to .* are gone: 1;"):
        running = begin(query, spark, tmp_path)
    (tmp_path / gone.name).rename(gone)
    finished(running)
    assert read(spark, query, tmp_path / "out") == expected(query, ROWS, 19)
