"""A checkpoint that a newer run has taken over: the older one writes nothing into it any more."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from transom.errors import Fenced, Unavailable
from transom.runtime.checkpoint.balances import BALANCE_FILE
from transom.runtime.checkpoint.checkpoint import LOST_ROWS_FILE, RECORD_FILE, Checkpoint
from transom.runtime.checkpoint.fingerprint import PLAN_FILE
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.failures import translate_error


def begun(folder: Path) -> Checkpoint:
    one = Checkpoint(folder, LocalFolder(folder / "spark"))
    one.take_over()
    return one


def test_older_run_writes_nothing(tmp_path: Path) -> None:
    (tmp_path / PLAN_FILE).write_text("{}")
    older = begun(tmp_path)
    name = older.run_id()
    older.record_digests()
    (tmp_path / "spark").mkdir()
    (tmp_path / "spark/metadata").write_text('{"id":"330d8449-c6e9-4f21-87e0-37000c7d620c"}')
    newer = begun(tmp_path)
    assert newer.run_id() == name
    writes: list[Callable[[], object]] = [
        older.verify_epoch,
        older.record_digests,
        lambda: older.mark_lost_rows("some"),
        lambda: older.write(tmp_path / BALANCE_FILE, "{}"),
    ]
    before = (tmp_path / RECORD_FILE).read_bytes()
    for write in writes:
        with pytest.raises(Fenced, match=f"the checkpoint {tmp_path} was taken over by a newer writer") as caught:
            write()
        assert caught.value.exit_code == 4
    assert (tmp_path / RECORD_FILE).read_bytes() == before
    assert not (tmp_path / LOST_ROWS_FILE).exists()
    assert not (tmp_path / BALANCE_FILE).exists()
    newer.verify_epoch()
    newer.record_digests()
    assert (tmp_path / RECORD_FILE).read_bytes() != before


def test_run_that_finds_a_last_file_of_the_older_one_may_begin_again() -> None:
    error = RuntimeError("[CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log. SQLSTATE: 40000")
    assert isinstance(translate_error(error), Unavailable)


def test_fenced_inside_spark_keeps_its_name() -> None:
    text = "py4j.Py4JException: transom.errors.Fenced: the table was taken over by a newer run\n  detail: epoch 2\n"
    translated = translate_error(RuntimeError(text))
    assert isinstance(translated, Fenced)
    assert translated.detail == "epoch 2"
