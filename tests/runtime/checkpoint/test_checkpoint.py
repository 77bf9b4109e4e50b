"""Checkpoints before a start: damaged logs, a missing name, an earlier copy, a second run. Nothing here needs Spark."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from transom.errors import CheckpointError, RunWarning, Unavailable
from transom.runtime.checkpoint.checkpoint import RECORD_FILE, Checkpoint
from transom.runtime.checkpoint.fingerprint import RUN_ID_FILE
from transom.runtime.checkpoint.lock import LOCK_FILE, CheckpointLock
from transom.runtime.checkpoint.logs.spark_files import LocalFolder
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.checkpoint.sealed import write_sealed

BATCHES = 4
"""Micro-batches 0 to 3 are planned, and all but the last are committed."""


def opened(folder: Path) -> Checkpoint:
    return Checkpoint(folder, LocalFolder(folder / "spark"))


def write(file: Path, *lines: str) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(lines))


def flip(file: Path, at: int) -> None:
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """A checkpoint as a run over files leaves it behind when it is killed in micro-batch 3."""
    folder, spark = tmp_path / "k", tmp_path / "k" / "spark"
    write_sealed(folder / PLAN_FILE, {"query": "q", "made by": {"transom": "0.3"}, "format": 4, "settings": {}})
    write(spark / "metadata", '{"id":"330d8449-c6e9-4f21-87e0-37000c7d620c"}')
    begun = Checkpoint(folder, LocalFolder(tmp_path / "nothing"))
    begun.run_id()
    begun.record_digests()
    for number in range(BATCHES):
        about = json.dumps({"batchWatermarkMs": 1000 * number, "batchTimestampMs": 1, "conf": {}})
        write(spark / "offsets" / str(number), "v1", about, json.dumps({"logOffset": number}), "-")
        source = tmp_path / f"part {number}.csv"
        source.write_text("tick\n")
        entry = {"path": source.as_uri(), "timestamp": 1, "batchId": number}
        write(spark / "sources" / "0" / str(number), "v1", json.dumps(entry))
        if number < BATCHES - 1:
            write(spark / "commits" / str(number), "v1", json.dumps({"nextBatchWatermarkMs": 1000 * (number + 1)}))
    whole = opened(folder)
    whole.check()
    assert (whole.logs.planned, whole.logs.committed) == (3, 2)
    assert whole.logs.ends == ({"logOffset": 2}, "-")
    whole.record_digests()
    return folder


def cut(name: str, length: int = -5) -> Callable[[Path], object]:
    return lambda spark: (spark / name).write_bytes((spark / name).read_bytes()[:length])


def removed(name: str) -> Callable[[Path], object]:
    return lambda spark: (spark / name).unlink()


def changed(name: str, before: str, after: str) -> Callable[[Path], object]:
    def change(spark: Path) -> None:
        text = (spark / name).read_text()
        assert before in text
        (spark / name).write_text(text.replace(before, after, 1))

    return change


NEW = "start with a new checkpoint"
DAMAGES = [
    ("a digit of a commit", changed("commits/2", "3000", "3001"), "commits/2", "delete "),
    ("a digit of an older commit", changed("commits/1", "2000", "2001"), "commits/1", NEW),
    ("a digit of offsets", changed("offsets/3", '"logOffset": 3', '"logOffset": 2'), "offsets/3", "delete "),
    ("a path in a source", changed("sources/0/1", "part", "Part"), "sources/0/1", NEW),
    ("the id of the query", changed("metadata", "330d", "330e"), "metadata", NEW),
    ("a torn commit", cut("commits/2"), "commits/2", "delete "),
    ("an empty commit", cut("commits/2", 0), "commits/2", "delete "),
    ("a commit without its line", cut("commits/2", 3), "commits/2", "delete "),
    ("torn offsets", cut("offsets/3", -20), "offsets/3", "delete "),
    ("offsets without a source", cut("offsets/3", -2), "offsets/3", "delete "),
    ("torn older offsets", cut("offsets/1", -20), "offsets/1", NEW),
    ("a torn source", cut("sources/0/3"), "sources/0/3", NEW),
    ("torn metadata", cut("metadata"), "metadata", NEW),
    ("no metadata", removed("metadata"), "metadata", NEW),
    ("no newest commit, and offsets after it", removed("commits/2"), "commits/2", NEW),
    ("a hole in offsets", removed("offsets/1"), "offsets/1", NEW),
    ("a hole in commits", removed("commits/1"), "commits/1", NEW),
    ("no newest source", removed("sources/0/3"), "sources/0/3", NEW),
    ("not text", lambda spark: (spark / "commits/2").write_bytes(b"v1\n\xff"), "commits/2", "delete "),
]


@pytest.mark.parametrize(("damage", "file", "remedy"), [d[1:] for d in DAMAGES], ids=[d[0] for d in DAMAGES])
def test_a_damaged_log_is_named_with_what_to_do(
    checkpoint: Path, damage: Callable[[Path], object], file: str, remedy: str
) -> None:
    damage(checkpoint / "spark")
    with pytest.raises(CheckpointError) as caught:
        opened(checkpoint).check()
    assert str(checkpoint / "spark" / file) in caught.value.message
    assert remedy in (caught.value.hint or "")
    assert caught.value.exit_code == 3


def test_offsets_of_a_committed_micro_batch_are_not_planned_again(checkpoint: Path) -> None:
    """Planned again, it may get other rows than the sink has of it."""
    (checkpoint / "spark/offsets/3").unlink()
    cut("offsets/2", -20)(checkpoint / "spark")
    with pytest.raises(CheckpointError, match="offsets/2 was changed") as caught:
        opened(checkpoint).check()
    assert (caught.value.hint or "").startswith("put back a copy of the whole checkpoint")


@pytest.mark.parametrize("damaged", ["commits/2", "offsets/3"])
def test_the_remedy_is_accepted(checkpoint: Path, damaged: str) -> None:
    """What the hint says is deleted; the micro-batches are done again, and their new logs are the ones that count."""
    cut(damaged)(checkpoint / "spark")
    with pytest.raises(CheckpointError) as caught:
        opened(checkpoint).check()
    named = re.findall(r"/spark/(\w+/\d+)", caught.value.hint or "")
    assert named == {"commits/2": ["commits/2", "offsets/3"], "offsets/3": ["offsets/3"]}[damaged]
    for name in named:
        (checkpoint / "spark" / name).unlink()
    going_on = opened(checkpoint)
    going_on.check()
    if "commits/2" in named:
        write(checkpoint / "spark/commits/2", "v1", '{"nextBatchWatermarkMs":3000,"again":true}')
    write(checkpoint / "spark/offsets/3", "v1", '{"batchWatermarkMs":3000,"again":true}', '{"logOffset":3}', "-")
    going_on.record_digests()
    opened(checkpoint).check()


def test_without_digests_a_watermark_still_must_not_jump(checkpoint: Path) -> None:
    """A checkpoint of an earlier version."""
    (checkpoint / RECORD_FILE).unlink()
    write(checkpoint / PLAN_FILE, '{"query": "q"}')
    opened(checkpoint).check()
    for mark, word in (("900", "before"), ("2001", "after")):
        changed("commits/1", "2000", mark)(checkpoint / "spark")
        with pytest.raises(CheckpointError, match=f"commits/1 has a watermark {word} that"):
            opened(checkpoint).check()
        changed("commits/1", mark, "2000")(checkpoint / "spark")


def test_old_entries_may_go(checkpoint: Path) -> None:
    """Spark keeps a hundred micro-batches, and compacts the lists of files."""
    spark = checkpoint / "spark"
    (spark / "offsets/0").unlink()
    (spark / "commits/0").unlink()
    (spark / "sources/0/1").rename(spark / "sources/0/1.compact")
    (spark / "sources/0/0").unlink()
    opened(checkpoint).check()


def test_a_source_that_is_read_twice_has_one_list(checkpoint: Path) -> None:
    """Its offset comes twice: the second of three offsets belongs to the first of two lists."""
    for number in range(BATCHES):
        own = json.dumps({"logOffset": number})
        about = json.dumps({"batchWatermarkMs": 1000 * number})
        write(checkpoint / "spark" / "offsets" / str(number), "v1", about, own, own, '{"logOffset":0}')
    write(checkpoint / "spark/sources/1/0", "v1", json.dumps({"path": "file:///gone", "batchId": 0}))
    (checkpoint / RECORD_FILE).unlink()
    write(checkpoint / PLAN_FILE, '{"query": "q"}')
    opened(checkpoint).check()


def with_named_sources(folder: Path) -> None:
    """The same checkpoint as a run with named sources leaves it behind, and a source without files before them."""
    spark = folder / "spark"
    for number in range(BATCHES):
        about = json.dumps({"batchWatermarkMs": 1000 * number})
        named = ["clock:{}", f"road:{json.dumps({'logOffset': number})}"]
        write(spark / "offsets" / str(number), "v2", about, *named[1 if number == 0 else 0 :])
    (spark / "sources" / "0").rename(spark / "sources" / "road")
    (folder / RECORD_FILE).unlink()
    write(folder / PLAN_FILE, '{"query": "q"}')
    again = opened(folder)
    again.check()
    assert again.logs.ends == ({}, {"logOffset": 2})
    again.run_id()
    again.record_digests()
    write_sealed(folder / PLAN_FILE, {"query": "q", "made by": {"transom": "0.3"}, "settings": {}})
    opened(folder).check()


@pytest.mark.parametrize("file", ["offsets/3", "sources/road/3", "sources/road/1"])
def test_no_byte_of_named_sources_changes_unnoticed(checkpoint: Path, file: str) -> None:
    with_named_sources(checkpoint)
    whole = (checkpoint / "spark" / file).read_bytes()
    for at in range(len(whole)):
        flip(checkpoint / "spark" / file, at)
        with pytest.raises(CheckpointError, match=f"spark/{file} "):
            opened(checkpoint).check()
        (checkpoint / "spark" / file).write_bytes(whole)


def test_file_of_a_named_source_that_was_to_be_read_must_be_there(checkpoint: Path) -> None:
    with_named_sources(checkpoint)
    (checkpoint.parent / "part 2.csv").unlink()
    opened(checkpoint).check()  # it was read
    (checkpoint.parent / "part 3.csv").unlink()
    with pytest.raises(CheckpointError, match=r"part 3\.csv was to be read, and is gone"):
        opened(checkpoint).check()


def test_torn_offsets_of_named_sources(checkpoint: Path) -> None:
    with_named_sources(checkpoint)
    (checkpoint / RECORD_FILE).unlink()
    write(checkpoint / PLAN_FILE, '{"query": "q"}')
    cut("offsets/3", -16)(checkpoint / "spark")
    with pytest.raises(CheckpointError, match="offsets/3 is cut off"):
        opened(checkpoint).check()


def test_a_file_that_was_to_be_read_must_be_there(checkpoint: Path) -> None:
    (checkpoint.parent / "part 2.csv").unlink()
    opened(checkpoint).check()  # it was read
    (checkpoint.parent / "part 3.csv").unlink()
    with pytest.raises(CheckpointError, match=r"part 3\.csv was to be read, and is gone"):
        opened(checkpoint).check()


@pytest.mark.parametrize("change", ["removed", "emptied", "other"])
def test_the_name_of_the_run_must_be_there(checkpoint: Path, change: str) -> None:
    file = checkpoint / RUN_ID_FILE
    name = file.read_text()
    if change == "removed":
        file.unlink()
    else:
        file.write_text("" if change == "emptied" else "0" * 32)
    with pytest.raises(CheckpointError, match="id was changed or removed") as caught:
        opened(checkpoint).check()
    assert name in (caught.value.hint or "")
    file.write_text(name)
    again = opened(checkpoint)
    again.check()
    assert again.run_id() == name


def test_an_empty_name_without_a_record(checkpoint: Path) -> None:
    write(checkpoint / PLAN_FILE, '{"query": "q"}')
    (checkpoint / RECORD_FILE).unlink()
    (checkpoint / RUN_ID_FILE).write_text("")
    again = opened(checkpoint)
    again.check()
    with pytest.raises(CheckpointError, match="id is empty"):
        again.run_id()


@pytest.mark.parametrize("name", [RECORD_FILE, PLAN_FILE])
def test_our_own_files_must_be_there(checkpoint: Path, name: str) -> None:
    (checkpoint / name).unlink()
    with pytest.raises(CheckpointError, match=f"{name} is missing"):
        opened(checkpoint).check()


@pytest.mark.parametrize("name", [RECORD_FILE, PLAN_FILE])
def test_no_byte_of_our_own_files_changes_unnoticed(checkpoint: Path, name: str) -> None:
    """A changed digit of a digest must not blame the log that it belongs to."""
    whole = (checkpoint / name).read_bytes()
    kept = json.loads(whole)
    for at in range(len(whole)):
        flip(checkpoint / name, at)
        try:
            same = json.loads((checkpoint / name).read_bytes()) == kept  # white space
        except ValueError:
            same = False
        if not same:
            with pytest.raises(CheckpointError, match=f"{name} is not what Transom wrote"):
                opened(checkpoint).check()
        (checkpoint / name).write_bytes(whole)
    opened(checkpoint).check()


def test_no_byte_of_a_log_changes_unnoticed(checkpoint: Path) -> None:
    spark = checkpoint / "spark"
    files = [file for file in spark.rglob("*") if file.is_file()]
    assert len(files) == 1 + BATCHES + BATCHES - 1 + BATCHES
    for file in files:
        whole = file.read_bytes()
        for at in range(len(whole)):
            flip(file, at)
            with pytest.raises(CheckpointError, match=re.escape(f"{file.relative_to(checkpoint)} ")):
                opened(checkpoint).check()
            file.write_bytes(whole)
    opened(checkpoint).check()


def test_a_torn_record(checkpoint: Path) -> None:
    (checkpoint / RECORD_FILE).write_text('{"run"')
    with pytest.raises(CheckpointError, match="is not what Transom wrote"):
        opened(checkpoint).check()


@pytest.mark.parametrize(
    ("version", "later"), [("99.0.0", True), ("4.99.1", True), ("4.0.1", False), ("", False), ("?", False)]
)
def test_checkpoint_of_a_later_spark(checkpoint: Path, version: str, later: bool) -> None:
    kept = json.loads((checkpoint / RECORD_FILE).read_text())
    assert kept.pop("digest")
    assert kept["run by"].keys() == {"transom", "spark"}
    write_sealed(checkpoint / RECORD_FILE, {**kept, "run by": {"transom": "9", "spark": version}})
    if not later:
        opened(checkpoint).check()
        return
    with pytest.raises(CheckpointError, match=rf"was last run on Spark {version}, and this is Spark 4\.") as caught:
        opened(checkpoint).check()
    assert f"continue with Spark {version} or later" in (caught.value.hint or "")


def test_files_of_a_sink_that_are_gone_are_noticed_once(checkpoint: Path) -> None:
    first = opened(checkpoint)
    first.check()
    first.file_counter("out", 0)(3)
    first.record_digests()
    second = opened(checkpoint)
    second.check()
    with pytest.warns(RunWarning, match=r"written to out are gone: 1; .* put them back"):
        second.file_counter("out", 2)
    second.record_digests()
    third = opened(checkpoint)
    third.check()
    third.file_counter("out", 2)
    third.file_counter("elsewhere", 0)


def test_two_runs_of_one_process(tmp_path: Path) -> None:
    first = CheckpointLock(tmp_path / "k").acquire()
    assert (tmp_path / "k").stat().st_mode & 0o777 == 0o700
    with pytest.raises(Unavailable, match="is in use by another run") as caught:
        CheckpointLock(tmp_path / "k").acquire()
    assert caught.value.exit_code == 75
    first.in_use = lambda: False  # it has ended, and nobody asked it
    second = CheckpointLock(tmp_path / "k").acquire()
    first.release()
    with pytest.raises(Unavailable):
        CheckpointLock(tmp_path / "k").acquire()
    second.release()
    CheckpointLock(tmp_path / "k").acquire().release()


def test_ended_run_writes_nothing_into_a_checkpoint_that_another_has_taken(tmp_path: Path) -> None:
    """Its last record may be written late, and would replace that of the run which goes on."""
    first = CheckpointLock(tmp_path).acquire()
    first.in_use = lambda: False
    writes, goes_on = threading.Event(), threading.Event()
    written: list[str] = []

    def record() -> None:
        writes.set()
        goes_on.wait(10)
        written.append("first")

    late = threading.Thread(target=first.while_held, args=(record,))
    late.start()
    assert writes.wait(10)
    threading.Timer(0.2, goes_on.set).start()
    second = CheckpointLock(tmp_path).acquire()  # waits for the record that is being written
    assert written == ["first"]
    first.while_held(record)
    second.while_held(lambda: written.append("second"))
    late.join()
    assert written == ["first", "second"]
    second.release()


def test_two_processes(tmp_path: Path) -> None:
    code = f"""
import sys, time
from pathlib import Path
from transom.runtime.checkpoint.lock import CheckpointLock
lock = CheckpointLock(Path({str(tmp_path)!r})).acquire()
print("taken", flush=True)
sys.stdin.read()
"""
    other = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdout.readline() == "taken\n"
    with pytest.raises(Unavailable, match=rf"in use by another run \(process {other.pid}\)"):
        CheckpointLock(tmp_path).acquire()
    other.kill()
    other.communicate()
    CheckpointLock(tmp_path).acquire().release()
    assert (tmp_path / LOCK_FILE).exists()
