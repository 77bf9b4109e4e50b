"""Find source files that were modified after a run had read them, from Spark's logs in the checkpoint.

Spark reads a file once and silently ignores later changes. `replay` and `simulate` read the present files, so their
answers then differ from those of the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

SPARK_FOLDER = "spark"


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file of a source, its modification time in ms when Spark listed it, and its number in the source's log.

    `source` is the source's name or, if it has none, its number.
    """

    source: str
    path: Path
    modified: int
    number: int


def read_source_files(checkpoint: Path) -> Iterator[SourceFile]:
    """Yield the local source files that Spark has recorded in the source logs of a checkpoint."""
    for folder in sorted((checkpoint / SPARK_FOLDER / "sources").glob("[!.]*")):
        for log in _source_logs(folder):
            yield from _log_entries(folder.name, log)


def changed_files(checkpoint: Path) -> list[Path]:
    """List the source files that were modified after Spark had recorded them, sorted by name."""
    changed: set[Path] = set()
    for file in read_source_files(checkpoint):
        modified = _modified_ms(file.path)
        if modified is not None and modified > file.modified:
            changed.add(file.path)
    return sorted(changed)


def changed_file_message(path: Path) -> str:
    """Return the warning for a file that was modified after it was read."""
    return (
        f"{path} was changed after it was read; a run reads a file once, so what was added to it is not in the answers"
    )


def _source_logs(folder: Path) -> Sequence[Path]:
    """List the log files that together record all files of a source.

    These are the newest compacted log file and those after it, or all if none is compacted.
    """
    numbered = {
        int(file.name.partition(".")[0]): file
        for file in folder.iterdir()
        if file.name.removesuffix(".compact").isdigit()
    }
    compacted = max((number for number, file in numbered.items() if file.name.endswith(".compact")), default=-1)
    return [numbered[number] for number in sorted(numbered) if number >= compacted]


def _log_entries(source: str, log: Path) -> Iterator[SourceFile]:
    """Yield the files that one of Spark's logs records for source number `source`; none if it does not read files."""
    for line in log.read_text("utf-8", errors="replace").splitlines()[1:]:
        try:
            entry = json.loads(line)
            path, modified, number = str(entry["path"]), int(entry["timestamp"]), int(entry["batchId"])
        except (ValueError, KeyError, TypeError):
            return  # the log of another kind of source
        if path.startswith("file:"):
            yield SourceFile(source, Path(unquote("/" + path.removeprefix("file:").lstrip("/"))), modified, number)


def _modified_ms(path: Path) -> int | None:
    """Return the modification time of a file in milliseconds; None if it cannot be read."""
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return None
