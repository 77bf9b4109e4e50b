"""Files against what a checkpoint says was read of them: changed ones are told, removed ones are refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import ClassVar

import pytest

from transom.cli.run import SourceFileWatch, warn_of_late_rows
from transom.model.balance import Balance
from transom.runtime.checkpoint.logs.source_files import changed_files, read_source_files
from transom.runtime.progress import Progress
from transom.spark.input.file_order import count_shared_mtimes


def log(checkpoint: Path, name: str, files: list[Path], source: int = 0) -> None:
    """An entry of a source's log, as Spark writes it."""
    folder = checkpoint / "spark" / "sources" / str(source)
    folder.mkdir(parents=True, exist_ok=True)
    number = int(name.partition(".")[0])
    entries = [
        {"path": f"file://{path}".replace(" ", "%20"), "timestamp": path.stat().st_mtime_ns // 10**6, "batchId": number}
        for path in files
    ]
    (folder / name).write_text("\n".join(["v1", *map(json.dumps, entries)]))


def batch(checkpoint: Path, number: int, offset: int, *, done: bool) -> None:
    """A micro-batch in Spark's logs."""
    for kind in ("offsets", "commits"):
        (checkpoint / "spark" / kind).mkdir(parents=True, exist_ok=True)
    lines = ["v1", "{}", json.dumps({"logOffset": offset})]
    (checkpoint / "spark" / "offsets" / str(number)).write_text("\n".join(lines))
    if done:
        (checkpoint / "spark" / "commits" / str(number)).write_text("v1\n{}")


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    found = [tmp_path / f"a {number}.csv" for number in range(4)]
    for path in found:
        path.write_text("tick,x\n0,1\n")
        os.utime(path, (1_000, 1_000))
    return found


def test_changed_file_is_found(files, tmp_path):
    log(tmp_path, "0", files[:1])
    log(tmp_path, "1.compact", files[:2])
    log(tmp_path, "2", files[2:3])
    (tmp_path / "spark" / "sources" / "1").mkdir()
    (tmp_path / "spark" / "sources" / "1" / "0").write_text('v1\n{"cars":{"0":5}}')
    assert [one.path for one in read_source_files(tmp_path)] == files[:3]
    assert changed_files(tmp_path) == []
    with files[1].open("a") as file:
        file.write("1,2\n")
    files[3].write_text("not read yet")
    files[0].unlink()  # one that was read may go
    assert changed_files(tmp_path) == [files[1]]
    assert changed_files(tmp_path / "none") == []


def test_shared_instants(files, tmp_path):
    assert count_shared_mtimes(f"file:{tmp_path}/a*.csv") == count_shared_mtimes(str(tmp_path)) == 4
    for number, path in enumerate(files[1:]):
        os.utime(path, (2_000 + number, 2_000 + number))
    assert count_shared_mtimes(str(tmp_path)) == 0
    assert count_shared_mtimes("s3://bucket/a") == 0


def test_run_warns_once_of_each_changed_file(files, capsys):
    class Run:
        changed: ClassVar[list[Path]] = []

        def changed_files(self) -> list[Path]:
            return self.changed

    watch = SourceFileWatch(Run())
    Run.changed = files[:1]
    watch.check_files()
    assert capsys.readouterr().err == ""  # too soon after the last look
    watch.check_files(now=True)
    Run.changed = files[:2]
    watch.check_files(now=True)
    told = capsys.readouterr().err
    assert [told.count(file.name) for file in files] == [1, 1, 0, 0]
    assert "was changed after it was read" in told


def test_run_warns_of_late_rows(capsys):
    warn_of_late_rows(Progress())
    assert capsys.readouterr().err == ""
    warn_of_late_rows(Progress(sources={"s": Balance(read=3, late=3)}))
    assert "late rows are not in the answers" in capsys.readouterr().err
