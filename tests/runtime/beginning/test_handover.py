"""The hand-over of a checkpoint: where its query stood, who goes on from it, and a rebuild that is killed anywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import pytest

pytest.importorskip("pyspark")

from tests.runtime.beginning.folders import CALENDAR, SESSION, begun, write
from transom.errors import CheckpointError, Fenced, Unavailable, UsageError
from transom.model.time import Calendar
from transom.runtime.checkpoint import handover
from transom.runtime.checkpoint.checkpoint import EPOCH_FOLDER, Checkpoint
from transom.runtime.checkpoint.handover import (
    HANDOVER_FILE,
    WITHHELD_FILE,
    Handover,
    clear_withheld,
    finish_rebuild,
    mark_withheld,
    read_handover,
    rebuild,
    refuse_handed_over,
    take_over,
)
from transom.runtime.checkpoint.lock import LOCK_FILE, CheckpointLock
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.checkpoint.notes import ANSWERS_CLOSED_TICKS
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.running import BatchGate


def test_the_closed_tick_is_that_of_the_last_committed_batch(tmp_path: Path) -> None:
    """Micro-batch 2 is committed, and had a watermark of 20 s: tick 19 ends then, since tick 0 ends at 1 s."""
    assert read_handover(SESSION, begun(tmp_path / "k"), CALENDAR) == Handover(19, 0)
    assert read_handover(SESSION, begun(tmp_path / "until", until=12), CALENDAR) == Handover(12, 0)
    assert read_handover(SESSION, begun(tmp_path / "start", start=5), CALENDAR) == Handover(19, 5)
    assert read_handover(SESSION, begun(tmp_path / "since", start=5, since=7), CALENDAR) == Handover(19, 0)


def test_a_batch_that_may_be_in_the_sink_is_refused_and_a_withheld_one_is_not(tmp_path: Path) -> None:
    folder = begun(tmp_path / "k", planned=4)
    with pytest.raises(CheckpointError, match=r"micro-batch 3 of .* was begun and not finished"):
        read_handover(SESSION, folder, CALENDAR)
    mark_withheld(folder, 2)
    with pytest.raises(CheckpointError, match="was begun and not finished"):
        read_handover(SESSION, folder, CALENDAR)
    mark_withheld(folder, 3)
    assert read_handover(SESSION, folder, CALENDAR).tick == 19
    clear_withheld(folder)
    with pytest.raises(CheckpointError, match="was begun and not finished"):
        read_handover(SESSION, folder, CALENDAR)


CANNOT: dict[str, tuple[Callable[[Path], Path], str]] = {
    "no state": (lambda folder: begun(folder, state=False), "the query of .* keeps no state"),
    "answers ahead": (
        lambda folder: begun(folder, about={ANSWERS_CLOSED_TICKS: False}),
        "also answers ticks that are not closed",
    ),
    "not recorded": (lambda folder: begun(folder, about={}), "also answers ticks that are not closed"),
    "no watermark": (lambda folder: begun(folder, seconds=0), "no tick of .* is closed"),
    "not committed": (lambda folder: begun(folder, planned=0), "no tick of .* is closed"),
    "other ticks": (lambda folder: begun(folder, calendar=Calendar(length=500_000)), "the length of a tick was 500000"),
    "nothing": (lambda folder: folder, "is not a checkpoint"),
}


@pytest.mark.parametrize("name", CANNOT)
def test_a_checkpoint_without_a_closed_tick_is_refused(tmp_path: Path, name: str) -> None:
    made, words = CANNOT[name]
    folder = made(tmp_path / "k")
    with pytest.raises(CheckpointError, match=words):
        take_over(SESSION, folder, tmp_path / "new", CALENDAR)
    assert not (folder / HANDOVER_FILE).exists()


def test_one_query_goes_on_from_a_checkpoint(tmp_path: Path) -> None:
    folder = begun(tmp_path / "k")
    refuse_handed_over(folder)
    lock = CheckpointLock(folder).acquire()
    lock.in_use = lambda: True
    with pytest.raises(Unavailable, match="is in use by another run"):
        take_over(SESSION, folder, tmp_path / "new", CALENDAR)
    lock.release()
    for _ in range(2):  # a kill may come before the newer query has begun its own checkpoint
        assert take_over(SESSION, folder, tmp_path / "new", CALENDAR) == Handover(19, 0)
    with pytest.raises(CheckpointError, match=r"was handed over to .*new after tick 19"):
        take_over(SESSION, folder, tmp_path / "other", CALENDAR)
    with pytest.raises(CheckpointError, match=r"was handed over to .*new after tick 19"):
        refuse_handed_over(folder)
    with pytest.raises(UsageError, match="cannot go on after itself"):
        take_over(SESSION, folder, folder, CALENDAR)
    (folder / HANDOVER_FILE).write_text("{")
    with pytest.raises(CheckpointError, match="is damaged"):
        refuse_handed_over(folder)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()} - {LOCK_FILE, EPOCH_FOLDER}


@pytest.mark.parametrize("moves", range(1, 6))
def test_a_rebuild_that_is_killed_anywhere_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moves: int
) -> None:
    folder = begun(tmp_path / "k")
    content, replace, done = names(folder), os.replace, []

    def killed(*paths: Any) -> None:
        if EPOCH_FOLDER not in Path(paths[1]).parts:
            if len(done) == moves:
                raise KeyboardInterrupt
            done.append(paths)
        replace(*paths)

    monkeypatch.setattr(handover.os, "replace", killed)
    if moves <= len(content):  # the first one is the journal's
        with pytest.raises(KeyboardInterrupt):
            rebuild(SESSION, folder, CALENDAR)
    else:
        assert rebuild(SESSION, folder, CALENDAR) == Handover(19, 0)
    monkeypatch.setattr(handover.os, "replace", replace)
    for _ in range(2):
        assert finish_rebuild(folder) == Handover(19, 0)
        assert names(folder) == {"before", "rebuilt.json"}
        assert names(folder / "before" / "1") == content


def test_a_second_rebuild_keeps_the_first(tmp_path: Path) -> None:
    folder = begun(tmp_path / "k")
    assert finish_rebuild(folder) is None
    rebuild(SESSION, folder, CALENDAR)
    begun(folder, start=3, since=20, seconds=15)
    assert rebuild(SESSION, folder, CALENDAR) == Handover(29, 0)
    assert finish_rebuild(folder) == Handover(29, 0)
    assert names(folder / "before") == {"1", "2"}
    assert json.loads((folder / "before" / "2" / PLAN_FILE).read_text())["since"] == 20


def test_a_checkpoint_that_was_handed_over_is_not_rebuilt(tmp_path: Path) -> None:
    """Its later ticks are answered by the checkpoint that continues it."""
    folder = begun(tmp_path / "k")
    take_over(SESSION, folder, tmp_path / "new", CALENDAR)
    with pytest.raises(CheckpointError, match="was handed over to"):
        rebuild(SESSION, folder, CALENDAR)
    assert not (folder / "before").exists()
    assert (folder / HANDOVER_FILE).exists()


@pytest.mark.parametrize("in_place", [True, False], ids=["rebuild", "after"])
def test_a_run_of_the_older_query_is_fenced(tmp_path: Path, in_place: bool) -> None:
    """A run on another host does not hold the lock of this one."""
    folder = begun(tmp_path / "k")
    older = Checkpoint.open(SESSION, folder)
    older.take_over()
    older.verify_epoch()
    if in_place:
        rebuild(SESSION, folder, CALENDAR)
    else:
        take_over(SESSION, folder, tmp_path / "new", CALENDAR)
    with pytest.raises(Fenced):
        older.verify_epoch()


def test_a_damaged_log_is_no_place_to_go_on_from(tmp_path: Path) -> None:
    folder = begun(tmp_path / "k")
    write(folder / "spark" / "offsets" / "2", "v1", '{"batchWatermarkMs": 9')
    with pytest.raises(CheckpointError, match="is damaged"):
        rebuild(SESSION, folder, CALENDAR)
    assert not (folder / "before").exists()


def test_a_closed_gate_records_the_batch_that_it_withholds(tmp_path: Path) -> None:
    """The mark is there before anybody is told that the micro-batch waits, and only for a closed gate."""
    folder = begun(tmp_path / "k", planned=4)
    gate = BatchGate(Checkpoint(folder, LocalFolder(folder / "spark")), MagicMock())
    delivered: list[int] = []
    deliver = gate.wrap(lambda frame, batch: delivered.append(batch))
    deliver(MagicMock(), 2)
    assert not (folder / WITHHELD_FILE).exists()
    frame = MagicMock()
    frame.sparkSession._jvm.java.lang.Thread.sleep.side_effect = InterruptedError
    gate.close()
    with pytest.raises(InterruptedError):
        deliver(frame, 3)
    assert delivered == [2]
    assert gate.batch_waiting.is_set()
    assert read_handover(SESSION, folder, CALENDAR).tick == 19
