"""A hand-over that is announced and has not happened: the older query goes on, and nothing else begins after it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pyspark")

from tests.runtime.beginning.folders import CALENDAR, SESSION, begun
from transom.errors import CheckpointError
from transom.runtime.checkpoint.checkpoint import Checkpoint
from transom.runtime.checkpoint.handover import (
    PREDECESSOR_FILE,
    Handover,
    Predecessor,
    is_handed_over,
    mark_handed_over,
    read_handover,
    read_predecessor,
    rebuild,
    refuse_handed_over,
    take_over,
    write_predecessor,
)
from transom.runtime.checkpoint.lock import CheckpointLock
from transom.runtime.upgrade.takeover import table_takeover, takeover_line


def test_an_older_query_goes_on_until_it_is_taken_over(tmp_path: Path) -> None:
    older, newer = begun(tmp_path / "older"), tmp_path / "newer"
    mark_handed_over(older, newer, Handover(12, 3), announced=True)
    refuse_handed_over(older)
    assert not is_handed_over(older)
    with pytest.raises(CheckpointError, match=r"newer is about to take over from .*older"):
        rebuild(SESSION, older, CALENDAR)
    with pytest.raises(CheckpointError, match=r"newer is about to take over from .*older"):
        take_over(SESSION, older, tmp_path / "third", CALENDAR)
    write_predecessor(newer, Predecessor("a1", older, None))
    assert take_over(SESSION, older, newer, CALENDAR) == Handover(19, 0), "it was stopped, and its checkpoint is read"
    assert read_predecessor(newer) is None
    assert is_handed_over(older)
    with pytest.raises(CheckpointError, match=r"was handed over to .*newer after tick 19"):
        refuse_handed_over(older)


def test_a_query_that_is_fenced_and_still_runs_was_handed_over(tmp_path: Path) -> None:
    """It holds the lock of its checkpoint; to stop it would not help."""
    older = begun(tmp_path / "older")
    mark_handed_over(older, tmp_path / "newer", Handover(12))
    lock = CheckpointLock(older).acquire()
    try:
        with pytest.raises(CheckpointError, match=r"was handed over to .*newer after tick 12"):
            take_over(SESSION, older, tmp_path / "third", CALENDAR)
    finally:
        lock.release()


def test_nothing_goes_on_after_a_query_that_has_not_taken_over(tmp_path: Path) -> None:
    newer = begun(tmp_path / "newer")
    assert read_predecessor(newer) is None
    assert takeover_line(newer) is None
    write_predecessor(newer, Predecessor("a1", tmp_path / "older", None, 3))
    assert read_predecessor(newer) == Predecessor("a1", tmp_path / "older", None, 3)
    assert (
        takeover_line(newer) == f"the query of {tmp_path}/older still answers: this one has not caught up with it yet"
    )
    with pytest.raises(CheckpointError, match=r"newer has not taken over from .*older yet"):
        read_handover(SESSION, newer, CALENDAR)
    write_predecessor(newer, Predecessor("a1", tmp_path / "older", 0, 3))
    assert read_predecessor(newer) == Predecessor("a1", tmp_path / "older", 0, 3)
    assert takeover_line(newer) == f"took over from {tmp_path}/older after tick 0"
    assert read_handover(SESSION, newer, CALENDAR).tick == 19


@pytest.mark.parametrize("sink", ["parquet:answers", "kafka://localhost:1/answers", "postgresql://u@localhost/d/t"])
def test_the_sink_stays_until_the_hand_over(tmp_path: Path, sink: str) -> None:
    """A session without a JVM is one of Spark Connect."""
    newer = begun(tmp_path / "newer")
    job: Any = SimpleNamespace(
        options=SimpleNamespace(sink=sink, until=None), catalog=SimpleNamespace(calendar=CALENDAR)
    )
    checkpoint = Checkpoint.open(SESSION, newer)
    assert table_takeover(SESSION, job, checkpoint) is None
    write_predecessor(newer, Predecessor("a1", tmp_path / "older", None))
    with pytest.raises(CheckpointError, match=r"newer has not taken over from .*older yet"):
        table_takeover(SESSION, job, checkpoint)
    write_predecessor(newer, Predecessor("a1", tmp_path / "older", 12))
    assert table_takeover(SESSION, job, checkpoint) is None


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / PREDECESSOR_FILE).write_text('{"run": "a1"')
    with pytest.raises(CheckpointError, match=r"predecessor.json is not what Transom wrote"):
        read_predecessor(tmp_path)
