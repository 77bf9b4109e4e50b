"""Epochs of a folder's writers: a new writer takes the next one, and earlier writers can write no more.

An epoch is a folder, named by its number, in a folder of epochs. A writer prepares every file in the folder of its
epoch, and then renames the file to its place. A new writer creates the next folder, and removes those before it. From
then on an earlier writer, on this host or another one, has nothing to rename: it is fenced. The file system must
create and rename folders atomically, as local file systems and NFS do.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from uuid import uuid4

from transom.connectors.private_files import make_folder, open_private
from transom.errors import Fenced

_OWNER = "owner"
_REMOVED = "."
"""Prefix of the folders of earlier epochs while they are deleted."""
_ATTEMPTS = 100
"""How often a folder is deleted in which an earlier writer still creates files."""


class Epoch:
    """An epoch that this process has taken; `number` is higher than that of all writers before."""

    def __init__(self, folder: Path, number: int, subject: str) -> None:
        """Create epoch `number` (a writer's fencing token) of a folder; messages name the data as `subject`."""
        self.number = number
        self._folder = folder
        self._own = folder / str(number)
        self._subject = subject

    @staticmethod
    def claim(folder: Path, subject: str) -> Epoch:
        """Take a folder's next epoch (fencing number), which stops earlier writers; errors call it `subject`."""
        make_folder(folder)
        while True:
            number = max(_numbers(folder), default=0) + 1
            try:
                (folder / str(number)).mkdir(mode=0o700)
            except FileExistsError:
                continue
            if max(_numbers(folder), default=number) == number:
                break
            with suppress(OSError):
                (folder / str(number)).rmdir()  # others have gone ahead meanwhile
        epoch = Epoch(folder, number, subject)
        epoch.write(epoch._own / _OWNER, json.dumps(_this_process()).encode())
        _remove_before(folder, number)
        return epoch

    def verify(self) -> None:
        """Raise Fenced if a newer writer has taken a higher epoch (number of a writer) in the folder."""
        newest = max(_numbers(self._folder), default=self.number)
        if newest > self.number:
            raise Fenced(
                f"{self._subject} was taken over by a newer writer",
                detail=f"epoch {newest}{_owner(self._folder / str(newest))}; this process has epoch {self.number}",
                hint="leave one of the two stopped: whichever is started again takes over",
            )

    def prepare(self, name: str) -> Path:
        """Return the path in the epoch's own folder at which to write file `name` before `publish` moves it."""
        return self._own / name

    def publish(self, prepared: Path, file: Path) -> None:
        """Rename a prepared file to its final path `file`; raise Fenced if a newer writer has taken over."""
        self.verify()
        try:
            os.replace(prepared, file)
        except FileNotFoundError:
            self.verify()
            raise

    def write(self, file: Path, content: bytes) -> None:
        """Write a file as a whole, private to its owner; raise Fenced if a newer writer has taken over."""
        self.verify()
        prepared = self.prepare(f"{file.name}.{uuid4().hex}")
        try:
            with open_private(prepared) as stream:
                stream.write(content)
        except FileNotFoundError:
            self.verify()
            raise
        self.publish(prepared, file)


def _numbers(folder: Path) -> Iterator[int]:
    """Yield the numbers of the epochs (fencing tokens of writers) in a folder, which are subfolder names."""
    with suppress(FileNotFoundError):
        yield from (int(name) for name in os.listdir(folder) if name.isdecimal())


def _remove_before(folder: Path, number: int) -> None:
    """Delete the folders of epochs (fencing tokens of writers) below `number`, with the files prepared in them."""
    for earlier in [epoch for epoch in _numbers(folder) if epoch < number]:
        with suppress(FileNotFoundError):
            os.rename(folder / str(earlier), folder / f"{_REMOVED}{earlier}.{uuid4().hex}")
    for name in os.listdir(folder):
        if name.startswith(_REMOVED):
            for _ in range(_ATTEMPTS):
                shutil.rmtree(folder / name, ignore_errors=True)
                if not (folder / name).exists():
                    break


def _this_process() -> dict[str, object]:
    """Return host, process id and current time, which the error of an earlier, locked-out writer names."""
    return {"host": socket.gethostname(), "process": os.getpid(), "since": datetime.now(UTC).isoformat("T", "seconds")}


def _owner(epoch_folder: Path) -> str:
    """Describe the process that owns an epoch (a writer's fencing token), for messages; empty if unknown."""
    try:
        owner = json.loads((epoch_folder / _OWNER).read_bytes())
        return f" of process {owner['process']} on {owner['host']} since {owner['since']}"
    except (OSError, ValueError, KeyError, TypeError):
        return ""
