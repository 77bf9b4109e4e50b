"""Lock files: one holder on this host. The operating system releases the lock when the process ends.

A stopped process (SIGSTOP) keeps its lock. Its lock file is replaced by a new one, so that another process can go on.
"""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from uuid import uuid4

from transom.connectors.private_files import FILE

_STATE, _START = 0, 19
"""Fields of `/proc/PID/stat` after the name of the process: its state, and when it began."""


class LockHeld(Exception):
    """Another process holds the lock; `process` is its number, empty if unknown."""

    def __init__(self, process_id: str) -> None:
        """Create the error with the id of the process that holds the lock; an empty text if it is unknown."""
        super().__init__(process_id)
        self.process = process_id


def acquire_lock(file: Path) -> int:
    """Lock a file, which is created if missing, and return its open handle; raise LockHeld if a process holds it."""
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, FILE)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 60, 0).decode("ascii", "replace").strip()
            os.close(handle)
            if not _is_stopped(holder):
                raise LockHeld(holder.partition(" ")[0]) from None
            handle = _replace(file)
        except BaseException:
            os.close(handle)
            raise
        if _is_current(handle, file):
            os.truncate(handle, 0)
            os.pwrite(handle, _this_process().encode(), 0)
            return handle
        os.close(handle)  # another process has replaced the file meanwhile


def _replace(file: Path) -> int:
    """Replace a stopped process's lock file by a new one that this process holds; return its file descriptor."""
    temporary = file.with_name(f"{file.name}.{uuid4().hex}")
    handle = os.open(temporary, os.O_RDWR | os.O_CREAT, FILE)
    fcntl.flock(handle, fcntl.LOCK_EX)
    os.replace(temporary, file)
    return handle


def _is_current(handle: int, file: Path) -> bool:
    """Whether the open file `handle` is still the file at this path, not one that was replaced or deleted."""
    try:
        return os.path.samestat(os.fstat(handle), os.stat(file))
    except FileNotFoundError:
        return False


def _this_process() -> str:
    """Return a lock file's text on its holder: the process id and, if the system tells it, its start time."""
    fields = _process_fields(str(os.getpid()))
    return f"{os.getpid()} {fields[_START]}" if fields else str(os.getpid())


def _is_stopped(holder: str) -> bool:
    """Whether the process that a lock file's text `holder` names is stopped by a signal; False if unknown."""
    process, _, start = holder.partition(" ")
    fields = _process_fields(process)
    return bool(fields) and fields[_START] == start and fields[_STATE] in ("T", "t")


def _process_fields(process_id: str) -> list[str]:
    """Return the fields of `/proc/PID/stat` after the process's name; empty if there is no such process."""
    if not process_id.isdecimal():
        return []
    try:
        return Path(f"/proc/{process_id}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return []
