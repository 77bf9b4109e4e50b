"""`transom clean` deletes old dead letters of committed micro-batches, and refuses other folders by name."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest

from tests.cli.test_app import Result, transom
from tests.connectors.dead_letters.written import OTHER, QUERY, letter, write_file, write_log
from transom.connectors.dead_letters.record import RECORD, ResendRecord, targets_by_letter

DAY = 86_400


def age(path: Path, days: int) -> Path:
    moment = time.time() - days * DAY
    os.utime(path, (moment, moment))
    return path


def checkpoint(folder: Path, committed: int | None, query: str = QUERY) -> Path:
    """What Spark writes into a checkpoint: the id of the query, and a file for each committed micro-batch."""
    commits = folder / "spark" / "commits"
    commits.mkdir(parents=True)
    (folder / "spark" / "metadata").write_text(json.dumps({"id": query}))
    if committed is not None:
        for name in (str(committed), f".{committed + 5}.crc"):
            (commits / name).write_text("v1\n{}")
    return folder


def clean(folder: Path, *words: str | Path, age: str = "30 d") -> Result:
    return transom("clean", folder, "--older-than", age, *words)


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_old_files_of_committed_micro_batches(tmp_path: Path) -> None:
    dead, state = tmp_path / "dead", checkpoint(tmp_path / "state", 7)
    old = age(write_file(dead, [letter(1), letter(2, "late")], batch=6, checkpoint=state), 31)
    last = age(write_file(dead, [letter(3)], batch=7, checkpoint=state), 31)
    young = age(write_file(dead, [letter(4)], batch=5, checkpoint=state), 29)
    with ResendRecord(dead) as record:
        record.add(["power-0@1 2024-06-01T06:00:01.000+00:00", "power-0@4 2024-06-01T06:00:04.000+00:00"], "power")
    dry = clean(dead, "--dry-run")
    counted = "3 dead letters in 2 files {}, 2 of them never sent again; 1 files are younger\n"
    assert (dry.returncode, dry.stdout, dry.stderr) == (0, f"{dead}: {counted.format('would be deleted')}", "")
    assert names(dead) >= {old.name, last.name, young.name}
    assert clean(dead).stdout == f"{dead}: {counted.format('deleted')}"
    assert names(dead) == {young.name, RECORD, "_resent.lock"}
    assert targets_by_letter(dead) == {"power-0@4 2024-06-01T06:00:04.000+00:00": {"power"}}
    age(young, 40)
    assert clean(dead).returncode == 0
    assert clean(dead).stdout == f"{dead}: 0 dead letters in 0 files deleted; 0 files are younger\n"


@pytest.mark.parametrize("committed", [6, None])
def test_a_micro_batch_that_is_not_committed_is_kept(tmp_path: Path, committed: int | None) -> None:
    """The run would write the file again, so its dead letters would come back, or count as never sent."""
    dead, state = tmp_path / "dead", checkpoint(tmp_path / "state", committed)
    last = age(write_file(dead, [letter(3)], batch=7, checkpoint=state), 31)
    result = clean(dead)
    assert last.exists()
    assert result.stdout == f"{dead}: 0 dead letters in 0 files deleted; 0 files are younger\n"
    kept = "warning: 1 older dead letters in 1 files are kept: their micro-batch is not committed yet\n"
    assert (result.returncode, result.stderr) == (0, kept)
    later = write_file(dead, [letter(9)], batch=8, checkpoint=state)
    clean(dead)
    assert names(dead) == {later.name}


def test_a_checkpoint_of_another_query_says_nothing(tmp_path: Path) -> None:
    dead, state = tmp_path / "dead", checkpoint(tmp_path / "state", 100, OTHER)
    last = age(write_file(dead, [letter(3)], batch=7, checkpoint=state), 31)
    result = clean(dead)
    assert last.exists()
    assert f"their checkpoint {state} is not there; name it with --checkpoint" in result.stderr
    moved = checkpoint(tmp_path / "moved", 7)
    assert "1 dead letters in 1 files deleted" in clean(dead, "--checkpoint", state, "--checkpoint", moved).stdout
    assert not last.exists()


def test_a_rebuilt_checkpoint_keeps_the_commits_of_the_query_before(tmp_path: Path) -> None:
    dead, state = tmp_path / "dead", checkpoint(tmp_path / "state", 2, OTHER)
    checkpoint(state / "before" / "1", 7)
    old = age(write_file(dead, [letter(3)], batch=7, checkpoint=state), 31)
    ahead = age(write_file(dead, [letter(3)], batch=3, checkpoint=state, query=OTHER), 31)
    clean(dead)
    assert names(dead) == {ahead.name}
    assert not old.exists()


def test_files_of_an_earlier_version(tmp_path: Path) -> None:
    dead = tmp_path / "dead"
    older = age(write_file(dead, [letter(1)], batch=1, headers=False), 31)
    last = age(write_file(dead, [letter(2)], batch=2, headers=False), 31)
    result = clean(dead)
    assert not older.exists()
    assert last.exists()
    assert "an earlier version wrote them; name their checkpoint with --checkpoint" in result.stderr


def test_rows_that_a_sink_refused(tmp_path: Path) -> None:
    state = checkpoint(tmp_path / "state", 3)
    refused = state / "dead_letters"
    refused.mkdir()
    for batch in (2, 3, 4):
        file = refused / f"batch-{batch:09}.jsonl"
        file.write_text("{}\n{}\n")
        age(file, 40)
    result = clean(refused)
    assert result.stdout.startswith(f"{refused}: 4 dead letters in 2 files deleted")
    assert "2 older dead letters in 1 files are kept: their micro-batch is not committed yet" in result.stderr
    assert names(refused) == {"batch-000000004.jsonl"}


def test_a_log_is_never_deleted(tmp_path: Path) -> None:
    write_log(tmp_path, [b"{"])
    log = tmp_path / "log" / "car"
    for path in log.glob("*.parquet"):
        age(path, 400)
    before = sorted(tmp_path.rglob("*"))
    result = clean(log)
    assert (result.returncode, result.stdout) == (2, "")
    assert f"{log} is a log, of which clean deletes nothing" in result.stderr
    assert "1 of 1 segments (0.0 MB) are older than 30 d." in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


def test_other_folders_are_refused_before_anything_is_deleted(tmp_path: Path) -> None:
    dead, state = tmp_path / "dead", checkpoint(tmp_path / "state", 7)
    old = age(write_file(dead, [letter(1)], batch=6, checkpoint=state), 31)
    output = tmp_path / "out"
    (tmp_path / "_out.staging").mkdir()
    output.mkdir()
    (output / "part-0.parquet").write_text("")
    (tmp_path / "else").mkdir()
    (tmp_path / "else" / "file").write_text("")
    for folder, message in (
        (state, f"{state} is a checkpoint"),
        (output, f"{output} is the output of a query"),
        (tmp_path / "else", "else has no dead letters"),
        (tmp_path / "nowhere", "no folder"),
    ):
        result = transom("clean", dead, folder, "--older-than", "1 d")
        assert (result.returncode, result.stdout) == (2, "")
        assert message in result.stderr
    assert old.exists()
    for wrong in ("30", "-1 d", "soon"):
        assert clean(dead, age=wrong).returncode == 2
