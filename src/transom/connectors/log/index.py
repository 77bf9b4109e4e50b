"""The index of a log on disk: which segments there are, and how many entries each has.

A line is added after its segment is in the log. So a segment that is listed and not there was removed; one that is
there and not listed was written just before a crash. Readers need not open segments to see that all are there.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from transom.connectors.private import FILE

INDEX = "_index"
_LINE = re.compile(r"(\d{16}) (\d{10})")
"""Lines have one length: half a line, after a crash or on a full disk, is never taken for another one."""


def read_index(folder: Path) -> dict[int, int]:
    """The first entry of every segment, and how many it has; a log of an earlier version has no index."""
    try:
        text = (folder / INDEX).read_text("ascii", errors="replace")
    except FileNotFoundError:
        return {}
    found = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {int(line[1]): int(line[2]) for line in found if line is not None}


class IndexWriter:
    """Adds lines; one that cannot be added is left out, as readers can do without it."""

    def __init__(self, folder: Path) -> None:
        self._file = os.open(folder / INDEX, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE)

    def add(self, first: int, count: int) -> None:
        """A segment is in the log."""
        with contextlib.suppress(OSError):
            os.write(self._file, f"{first:016} {count:010}\n".encode("ascii"))

    def close(self) -> None:
        """No more lines."""
        os.close(self._file)
