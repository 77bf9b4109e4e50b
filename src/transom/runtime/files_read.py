"""The files that a run has read, as Spark has written them down in the checkpoint, against those that are there now.

Spark reads a file once. A file that is changed afterwards is not read again, without a word. `replay` and `simulate`
read what is there, so their answers then differ from those of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

SPARK = "spark"


@dataclass(frozen=True, slots=True)
class ReadFile:
    """A file of a source, the time of its last change when Spark saw it, and its number in the source's log."""

    source: int
    path: Path
    modified: int
    number: int


def files_read(checkpoint: Path) -> Iterator[ReadFile]:
    """The local files that the logs of a checkpoint name."""
    for folder in sorted((checkpoint / SPARK / "sources").glob("[0-9]*")):
        for log in _logs(folder):
            yield from _entries(int(folder.name), log)


def changed_files(checkpoint: Path) -> list[Path]:
    """The files that were changed after Spark saw them, in the order of their names."""
    found: set[Path] = set()
    for one in files_read(checkpoint):
        modified = _modified(one.path)
        if modified is not None and modified > one.modified:
            found.add(one.path)
    return sorted(found)


def changed_line(path: Path) -> str:
    """The words for a file that was changed."""
    return (
        f"{path} was changed after it was read; a run reads a file once, so what was added to it is not in the answers"
    )


def _logs(folder: Path) -> Sequence[Path]:
    """The newest compacted log of a source and those after it, or all."""
    numbered = {
        int(file.name.partition(".")[0]): file
        for file in folder.iterdir()
        if file.name.removesuffix(".compact").isdigit()
    }
    whole = max((number for number, file in numbered.items() if file.name.endswith(".compact")), default=-1)
    return [numbered[number] for number in sorted(numbered) if number >= whole]


def _entries(source: int, log: Path) -> Iterator[ReadFile]:
    for line in log.read_text("utf-8", errors="replace").splitlines()[1:]:
        try:
            entry = json.loads(line)
            path, modified, number = str(entry["path"]), int(entry["timestamp"]), int(entry["batchId"])
        except (ValueError, KeyError, TypeError):
            return  # the log of another kind of source
        if path.startswith("file:"):
            yield ReadFile(source, Path(unquote("/" + path.removeprefix("file:").lstrip("/"))), modified, number)


def _modified(path: Path) -> int | None:
    """When a file was changed last, in milliseconds; None if it is not there."""
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return None
