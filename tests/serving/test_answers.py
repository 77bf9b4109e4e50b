"""Answers that are read back from a folder: newest rows, those since a tick, and what a slow reader missed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from tests.serving.recorded import tick_end, write_answers, write_lines
from transom.errors import DataError, UsageError
from transom.serving import answers
from transom.serving.answers import AnswerFolder, Cursor


def values(read: answers.AnswerRows) -> list[object]:
    return [row["x"] for row in read.rows]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_newest_rows_in_order(tmp_path: Path, kind: str) -> None:
    write = write_answers if kind == "parquet" else write_lines
    folder = AnswerFolder(f"{kind}:{tmp_path / 'out'}")
    assert folder.newest(5) == answers.AnswerRows([])
    for batch in (0, 1, 10):
        write(tmp_path / "out", batch, [(batch, 100 * batch + n) for n in range(3)])
    assert values(folder.newest(4)) == [102, 1000, 1001, 1002]
    assert folder.newest(4).more
    whole = folder.newest(9)
    assert (values(whole), whole.more, whole.columns) == (
        [0, 1, 2, 100, 101, 102, 1000, 1001, 1002],
        False,
        ["tick", "x"],
    )
    since = folder.newest(9, tick_end(1))
    assert (values(since), since.more) == ([100, 101, 102, 1000, 1001, 1002], False)
    assert values(folder.newest(2, tick_end(1))) == [1001, 1002]


def test_tasks_of_a_micro_batch_are_put_in_order(tmp_path: Path) -> None:
    """Each task writes a file of its own, with any ticks of the micro-batch."""
    write_answers(tmp_path, 0, [(0, "a")])
    write_answers(tmp_path, 1, [(2, "c"), (5, "f")], task=0)
    write_answers(tmp_path, 1, [(1, "b"), (4, "e"), (3, "d")], task=1)
    folder = AnswerFolder(f"parquet:{tmp_path}")
    assert values(folder.newest(9)) == list("abcdef")
    assert values(folder.newest(2)) == ["e", "f"]


def test_other_files_are_no_answers(tmp_path: Path) -> None:
    write_answers(tmp_path, 0, [(0, 1)])
    for name in ("_SUCCESS", "part-0123456789ab-000000001-00000.json", ".part-0123456789ab-000000001-0.parquet", "x"):
        (tmp_path / name).write_text("{")
    assert values(AnswerFolder(f"parquet:{tmp_path}").newest(9)) == [1]


def test_a_later_run_comes_after_an_earlier_one(tmp_path: Path) -> None:
    """After a rebuild, micro-batches count from 0 again."""
    old = write_answers(tmp_path, 7, [(7, "old")], run="ffffffffffff")
    os.utime(old, (1_000_000_000, 1_000_000_000))
    write_answers(tmp_path, 0, [(8, "new")], run="000000000000")
    assert values(AnswerFolder(f"parquet:{tmp_path}").newest(9)) == ["old", "new"]


@pytest.mark.parametrize(
    ("sink", "message"),
    [
        ("console", "console cannot be read back"),
        ("kafka://host:9092/topic", "kafka cannot be read back"),
        ("parquet:s3a://bucket/out", "not on this computer's disk"),
    ],
)
def test_sinks_that_cannot_be_read_back(sink: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        AnswerFolder(sink)


def test_a_folder_of_sparks_own_sink_is_refused(tmp_path: Path) -> None:
    (tmp_path / "_spark_metadata").mkdir()
    with pytest.raises(UsageError, match=r"before 0\.3"):
        AnswerFolder(f"parquet:{tmp_path}").newest(1)


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_answers(tmp_path, 0, [(0, 1)])
    monkeypatch.setattr(answers, "LARGEST_FILE", 10)
    with pytest.raises(DataError, match="too many to read"):
        AnswerFolder(f"parquet:{tmp_path}").newest(1)


def test_since_needs_a_tick(tmp_path: Path) -> None:
    (tmp_path / "part-0123456789ab-000000000-00000.json").write_text('{"x": 1}\n')
    with pytest.raises(UsageError, match="no column tick"):
        AnswerFolder(f"jsonl:{tmp_path}").newest(1, tick_end(0))


def test_a_cursor_sees_each_file_once(tmp_path: Path) -> None:
    """The files of a micro-batch appear one by one, so a reader may see a part of it."""
    folder = AnswerFolder(f"parquet:{tmp_path}")
    write_answers(tmp_path, 0, [(0, 1)])
    cursor = Cursor().after(folder.files())
    assert not [file for file in folder.files() if cursor.is_before(file)]
    seen = []
    for batch, task in ((1, 1), (1, 0), (2, 0)):
        write_answers(tmp_path, batch, [(batch, 10 * batch + task)], task=task)
        new = [file for file in folder.files() if cursor.is_before(file)]
        seen += values(folder.rows(new, 9))
        cursor = cursor.after(new)
    assert seen == [11, 10, 20]


def test_counting_needs_no_values(tmp_path: Path) -> None:
    write_answers(tmp_path / "p", 0, [(0, 1), (0, 2)])
    write_lines(tmp_path / "j", 0, [(0, 1), (0, 2), (0, 3)])
    for sink, count in ((f"parquet:{tmp_path}/p", 2), (f"jsonl:{tmp_path}/j", 3)):
        folder = AnswerFolder(sink)
        assert folder.count(folder.files()) == count
