"""A folder in memory for what tests throw away: checkpoints, state, shuffles, input files.

A micro-batch writes dozens of small files and waits for the disk. Tests that look at files, or kill what writes them,
use `tmp_path`, which stays on disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory, where the machine has one
LEAST_FREE = 2 << 30
"""Bytes that must be free there."""


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder, in memory where that is possible; `tempfile` makes all others in it."""
    usable = MEMORY.is_dir() and os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free >= LEAST_FREE
    folder = Path(tempfile.mkdtemp(prefix="transom-tests-", dir=MEMORY if usable else None))
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder, ignore_errors=True)
