"""Files and folders that only their owner can read: logs, checkpoints and dead letters hold what was sent."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

FOLDER, FILE = 0o700, 0o600


def make_folder(folder: Path) -> None:
    """A folder, closed to others; one that is there keeps its mode."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=FOLDER, exist_ok=True)


def open_private(path: Path) -> BinaryIO:
    """A new or emptied file to write to."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE), "wb")
