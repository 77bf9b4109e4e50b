"""The files that a run has read, as Spark has written them down in the checkpoint, against those that are there now.

Spark reads a file once. A file that is changed afterwards is not read again, and a file that was chosen for a
micro-batch and is removed before it is read is passed over, both without a word. `replay` and `simulate` read what is
there, so their answers then differ from those of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

from transom.errors import DataError

SPARK = "spark"
_SHOWN = 3


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


def check_unread_files(checkpoint: Path) -> None:
    """Refuse to go on if a file is gone that was chosen for a micro-batch and not read yet."""
    last = _last(checkpoint / SPARK / "commits")
    done = _positions(checkpoint, last)
    unread = [
        one.path
        for one in files_read(checkpoint)
        if last < 0 or one.number > done.get(one.source, one.number)  # of other sources nothing is known
    ]
    gone = sorted({path for path in unread if _modified(path) is None})
    if not gone:
        return
    more = f" and {len(gone) - _SHOWN} more" if len(gone) > _SHOWN else ""
    raise DataError(
        f"removed before it was read: {', '.join(map(str, gone[:_SHOWN]))}{more}",
        detail="the last micro-batch was to read it and was not finished",
        hint="put the file back, or start with a new checkpoint and a new sink",
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


def _positions(checkpoint: Path, batch: int) -> dict[int, int]:
    """How far each source of files had come with a micro-batch."""
    try:
        lines = (checkpoint / SPARK / "offsets" / str(batch)).read_text("utf-8").splitlines()[2:]
    except OSError:
        return {}
    found: dict[int, int] = {}
    for source, line in enumerate(lines):
        try:
            found[source] = int(json.loads(line)["logOffset"])
        except (ValueError, KeyError, TypeError):
            continue
    return found


def _last(folder: Path) -> int:
    """The number of the last micro-batch in a log of Spark's, -1 if there is none."""
    if not folder.is_dir():
        return -1
    return max((int(file.name) for file in folder.iterdir() if file.name.isdigit()), default=-1)


def _modified(path: Path) -> int | None:
    """When a file was changed last, in milliseconds; None if it is not there."""
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return None
