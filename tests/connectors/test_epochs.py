"""Epochs and lock files: of several writers of a folder only the newest can write, and a stopped one is replaced."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from transom.connectors.epochs import Epoch
from transom.connectors.lock_file import LockHeld, acquire_lock
from transom.errors import Fenced

HOLD = """
import sys
from pathlib import Path
from transom.connectors.lock_file import acquire_lock
acquire_lock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def claim(folder: Path) -> Epoch:
    return Epoch.claim(folder / "epochs", "the log x")


def test_a_newer_writer_fences_the_older_one(tmp_path: Path) -> None:
    old = claim(tmp_path)
    old.write(tmp_path / "file", b"old")
    prepared = old.prepare("half")
    prepared.write_bytes(b"prepared before")
    new = claim(tmp_path)
    new.write(tmp_path / "file", b"new")
    for attempt in (
        lambda: old.write(tmp_path / "file", b"late"),
        lambda: old.publish(prepared, tmp_path / "file"),
        old.verify,
    ):
        with pytest.raises(Fenced, match="the log x was taken over by a newer writer") as caught:
            attempt()
        assert f"epoch 2 of process {os.getpid()} on " in (caught.value.detail or "")
        assert caught.value.exit_code == 4
    new.verify()
    assert (tmp_path / "file").read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path / "epochs")) == ["2"]


@pytest.mark.parametrize("moment", ["before", "after"])
def test_stopped_between_look_and_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    """The older writer has looked already, and goes on when the newer one has begun: there is nothing to rename."""
    old, real = claim(tmp_path), os.replace

    def late(source: Path, target: Path) -> None:
        if moment == "after":
            real(source, target)
        with monkeypatch.context() as patched:
            patched.setattr(os, "replace", real)
            claim(tmp_path).write(tmp_path / "file", b"new")
        if moment == "before":
            real(source, target)

    monkeypatch.setattr(os, "replace", late)
    if moment == "before":
        with pytest.raises(Fenced):
            old.write(tmp_path / "file", b"old")
    else:
        old.write(tmp_path / "file", b"old")  # in place before the newer writer began
    assert (tmp_path / "file").read_bytes() == b"new"


def test_many_writers_at_once_get_different_epochs(tmp_path: Path) -> None:
    claimed: list[Epoch] = []

    def one() -> None:
        for _ in range(20):
            with suppress(Fenced):  # overtaken while it began
                claimed.append(claim(tmp_path))

    threads = [threading.Thread(target=one) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = [epoch.number for epoch in claimed]
    assert len({*numbers}) == len(numbers)
    unfenced = []
    for epoch in claimed:
        try:
            epoch.verify()
        except Fenced:
            continue
        unfenced.append(epoch.number)
    assert unfenced == [max(numbers)]


def test_the_lock_of_a_stopped_process_is_replaced(tmp_path: Path) -> None:
    file = tmp_path / "lock"
    command = [sys.executable, "-c", HOLD, str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        try:
            assert other.stdout is not None
            assert other.stdout.readline() == b"held\n"
            with pytest.raises(LockHeld, match=f"^{other.pid}$"):
                acquire_lock(file)
            other.send_signal(signal.SIGSTOP)
            os.waitid(os.P_PID, other.pid, os.WSTOPPED)
            handle = acquire_lock(file)
            with pytest.raises(LockHeld, match=f"^{os.getpid()}$"):
                acquire_lock(file)  # the new file is locked, whatever the stopped process holds
            other.send_signal(signal.SIGCONT)
            with pytest.raises(LockHeld, match=f"^{os.getpid()}$"):
                acquire_lock(file)
            os.close(handle)
            os.close(acquire_lock(file))
            assert [path.name for path in tmp_path.iterdir()] == ["lock"]
        finally:
            other.kill()
