"""Files and folders that only their owner can read: logs, checkpoints and dead letters contain user data."""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO

FOLDER, FILE = 0o700, 0o600


def make_folder(folder: Path) -> None:
    """Create a folder and its parents so that only the owner can read them; an existing folder stays as it is."""
    if folder.is_dir():
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=FOLDER, exist_ok=True)


def open_private(path: Path) -> BinaryIO:
    """Open a file for writing bytes: an existing file is emptied, a new one is readable only by its owner."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, FILE), "wb")
