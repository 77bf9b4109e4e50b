"""One run per checkpoint: a lock on a file in it, which the running process holds and the system frees with it."""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from transom.connectors.private import make_folder
from transom.errors import Unavailable

LOCK = "lock"


class Lock:
    """The lock of a checkpoint; another process, or another run of this one, is refused.

    The lock is advisory and of this host: a second host with the same folder mounted may not see it.
    """

    _held: ClassVar[dict[Path, Lock]] = {}

    def __init__(self, checkpoint: Path) -> None:
        self.folder = checkpoint.resolve()
        self.in_use: Callable[[], bool] = lambda: True
        self._handle: int | None = None
        self._writing = threading.RLock()

    def take(self) -> Lock:
        """Take the lock, or raise Unavailable; a run of this process that has ended gives it up."""
        earlier = self._held.get(self.folder)
        if earlier is not None and not earlier.in_use():
            earlier.free()
        make_folder(self.folder)
        handle = os.open(self.folder / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(handle, 20, 0).decode("ascii", "replace").strip()
            os.close(handle)
            raise Unavailable(
                f"the checkpoint {self.folder} is in use by another run" + (f" (process {holder})" if holder else ""),
                hint="stop that run first, or give this one its own checkpoint",
            ) from None
        except BaseException:
            os.close(handle)
            raise
        os.truncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        self._handle = handle
        self._held[self.folder] = self
        return self

    def while_held(self, action: Callable[[], None]) -> None:
        """Run an action while this run holds the lock, and skip it otherwise; nobody can take the lock meanwhile."""
        with self._writing:
            if self._handle is not None:
                action()

    def free(self) -> None:
        """Give the lock up; a second time does nothing."""
        with self._writing:
            handle, self._handle = self._handle, None
            if handle is not None:
                os.close(handle)
                if self._held.get(self.folder) is self:
                    del self._held[self.folder]
