"""File lock that allows one run per checkpoint; the operating system releases it when the process ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

from transom.connectors.lock_file import LockHeld, acquire_lock
from transom.connectors.private_files import make_folder
from transom.errors import Unavailable

LOCK_FILE = "lock"


class CheckpointLock:
    """The lock of a checkpoint; it excludes other processes and other runs of this process.

    The lock is local to this host, and a stopped process loses it. The epoch of the checkpoint excludes all others.
    """

    _held: ClassVar[dict[Path, CheckpointLock]] = {}

    def __init__(self, checkpoint: Path) -> None:
        """Create the lock that protects a checkpoint folder from a second run, without acquiring it."""
        self.folder = checkpoint.resolve()
        self.in_use: Callable[[], bool] = lambda: True
        self._handle: int | None = None
        self._writing = threading.RLock()

    def acquire(self) -> CheckpointLock:
        """Acquire the lock of the checkpoint; raise Unavailable if another run holds it.

        The lock of a finished run of this process is released first.
        """
        earlier = self._held.get(self.folder)
        if earlier is not None and not earlier.in_use():
            earlier.release()
        make_folder(self.folder)
        try:
            handle = acquire_lock(self.folder / LOCK_FILE)
        except LockHeld as held:
            raise Unavailable(
                f"the checkpoint {self.folder} is in use by another run"
                + (f" (process {held.process})" if held.process else ""),
                hint="stop that run first, or give this one its own checkpoint",
            ) from None
        self._handle = handle
        self._held[self.folder] = self
        return self

    def while_held(self, action: Callable[[], None]) -> None:
        """Run `action` while this run holds the lock and cannot release it; do nothing if it does not hold the lock."""
        with self._writing:
            if self._handle is not None:
                action()

    def release(self) -> None:
        """Release the lock; does nothing if it is not held."""
        with self._writing:
            handle, self._handle = self._handle, None
            if handle is not None:
                os.close(handle)
                if self._held.get(self.folder) is self:
                    del self._held[self.folder]
