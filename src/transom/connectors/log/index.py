"""The index of a log on disk: its segments, and how many entries each has.

A line is added after its segment is in the log. So a listed segment without a file was deleted, and a file that is not
listed was written just before a crash. Readers can check for missing segments without opening any.
"""

from __future__ import annotations

import contextlib
import os
import re
from pathlib import Path

from transom.connectors.private_files import FILE

INDEX = "_index"
_LINE = re.compile(r"(\d{16}) (\d{10})")
"""All lines have the same length, so a truncated line, after a crash or on a full disk, never matches."""


def read_index(folder: Path) -> dict[int, int]:
    """Read a log's index file; return the entry count of each segment by the number of its first entry.

    Without the file, the result is empty.
    """
    try:
        text = (folder / INDEX).read_text("ascii", errors="replace")
    except FileNotFoundError:
        return {}
    matches = (_LINE.fullmatch(line) for line in text.split("\n"))
    return {int(match[1]): int(match[2]) for match in matches if match is not None}


class IndexWriter:
    """Appends lines to the index; write errors are ignored, because readers do not need every line."""

    def __init__(self, folder: Path) -> None:
        """Open the file that lists a log's segments for appending; create it if it is missing."""
        self._file = os.open(folder / INDEX, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE)

    def add(self, first: int, count: int) -> None:
        """Append a segment to the log's index file: the number of its first entry, and how many entries it has."""
        with contextlib.suppress(OSError):
            os.write(self._file, f"{first:016} {count:010}\n".encode("ascii"))

    def close(self) -> None:
        """Close the index file of the log."""
        os.close(self._file)
