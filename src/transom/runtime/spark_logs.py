"""The logs of Spark in a checkpoint, read and checked before a start: Spark goes on from damaged ones without a word.

`offsets/N` says what micro-batch N reads and is written before it runs, `commits/N` after it. `sources/I/K` lists the
files that source I has found. Each is text: a line with the version, then JSON. Spark writes each file once.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from transom.errors import CheckpointError
from transom.runtime.spark_files import SparkFolder

KEPT = 100
"""How many micro-batches Spark keeps in its logs, by default; a kill while it deletes older ones may leave gaps."""
_VERSION = re.compile(r"\0?v\d+")
_COPY = (
    "put back a copy of the whole checkpoint, and of its sink from the same time, or start with a new checkpoint and "
    "a new sink"
)


@dataclass(frozen=True)
class Batch:
    """What `offsets/N` says: the watermark of the micro-batch, and per source the offset at which it ends."""

    watermark: int
    ends: tuple[Any, ...]


@dataclass(frozen=True)
class SparkLogs:
    """What the logs of a checkpoint say, once they are checked; -1 is no micro-batch."""

    planned: int = -1
    committed: int = -1
    ends: tuple[Any, ...] = ()
    """Per source the offset at which the last committed micro-batch ended."""


def digest(content: bytes) -> str:
    """The digest by which a file is recognised."""
    return hashlib.sha256(content).hexdigest()


def log_files(files: SparkFolder) -> Iterator[str]:
    """The names of all files that are written once and never changed."""
    for name in files.entries(""):
        if name == "metadata":
            yield name
    for log in ("offsets", "commits"):
        yield from (f"{log}/{number}" for number in _numbers(files, log))
    for source in files.entries("sources"):
        if source.isdecimal():
            yield from (f"sources/{source}/{name}" for name in files.entries(f"sources/{source}") if _is_log(name))


def check_logs(files: SparkFolder, digests: Mapping[str, str]) -> SparkLogs:
    """Read all logs and compare them with the digests; CheckpointError names the first file that is damaged."""
    offsets, commits = _numbers(files, "offsets"), _numbers(files, "commits")
    planned, committed = max(offsets, default=-1), max(commits, default=-1)
    _check_numbers(files, offsets, commits)
    _check_id(files, bool(offsets))
    batches = {number: _batch(files, number) for number in offsets}
    marks = {number: _watermark(files, number) for number in commits}
    _check_watermarks(files, batches, marks)
    width = max((len(batch.ends) for batch in batches.values()), default=0)
    for number, batch in batches.items():
        if len(batch.ends) != width:
            raise _damaged(files, f"offsets/{number}", "is cut off: it lacks a source")
    _check_sources(files, digests, batches.get(planned), batches.get(committed))
    there = set(log_files(files))  # Spark deletes what is old; what must not be missing is checked above
    for name, known in digests.items():
        if name in there and digest(files.read(name)) != known:
            raise _damaged(files, name, "was changed after it was written")
    ends = batches[committed].ends if committed in batches else ()
    return SparkLogs(planned, committed, ends)


def _numbers(files: SparkFolder, log: str) -> list[int]:
    return sorted(int(name) for name in files.entries(log) if name.isdecimal())


def _is_log(name: str) -> bool:
    return name.removesuffix(".compact").isdecimal()


def _check_numbers(files: SparkFolder, offsets: Sequence[int], commits: Sequence[int]) -> None:
    """Numbers without gaps, and commits up to the newest offsets or the one before it."""
    for log, numbers in (("offsets", offsets), ("commits", commits)):
        recent = [number for number in numbers if number > numbers[-1] - KEPT]
        missing = sorted({*range(recent[0], recent[-1])} - {*recent}) if recent else []
        if missing:
            raise CheckpointError(f"{files.path(f'{log}/{missing[0]}')} is missing", hint=_COPY)
    planned, committed = max(offsets, default=-1), max(commits, default=-1)
    if committed > planned:
        raise CheckpointError(
            f"{files.path(f'offsets/{committed}')} is missing",
            detail=f"micro-batch {committed} was committed, and the newest offsets are {planned}",
            hint=_COPY,
        )
    if planned > committed + 1:
        raise CheckpointError(
            f"{files.path(f'commits/{planned - 1}')} is missing",
            detail=f"micro-batch {planned} was begun, and the newest commit is {committed}",
            hint=_COPY,
        )


def _check_id(files: SparkFolder, begun: bool) -> None:
    if "metadata" not in files.entries(""):
        if begun:
            raise CheckpointError(f"{files.path('metadata')} is missing", hint=_COPY)
        return
    try:
        found = json.loads(files.read("metadata"))["id"]
    except (ValueError, KeyError, TypeError):
        found = None
    if not isinstance(found, str):
        raise _damaged(files, "metadata", "does not hold the id of the query")


def _lines(files: SparkFolder, name: str) -> list[str]:
    """The lines after the version."""
    try:
        version, *lines = files.read(name).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise _damaged(files, name, "is not text") from None
    if not _VERSION.fullmatch(version):
        raise _damaged(files, name, "does not begin with a version" if version else "is empty")
    return [line for line in lines if line]


def _json(files: SparkFolder, name: str, line: str) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        raise _damaged(files, name, "is cut off or is not JSON") from None


def _batch(files: SparkFolder, number: int) -> Batch:
    name = f"offsets/{number}"
    about, *ends = _lines(files, name) or [""]
    found = {} if about == "-" else _json(files, name, about)
    mark = found.get("batchWatermarkMs", 0) if isinstance(found, dict) else None
    if not isinstance(mark, int) or not ends:
        raise _damaged(files, name, "is cut off")
    # A source that Spark did not write may have offsets in words of its own.
    return Batch(mark, tuple(_json(files, name, end) if end[0] in '{["' else end for end in ends))


def _watermark(files: SparkFolder, number: int) -> int:
    name = f"commits/{number}"
    lines = _lines(files, name)
    found = _json(files, name, lines[0]) if lines else None
    mark = found.get("nextBatchWatermarkMs", 0) if isinstance(found, dict) else None
    if not isinstance(mark, int):
        raise _damaged(files, name, "is cut off")
    return mark


def _check_watermarks(files: SparkFolder, batches: Mapping[int, Batch], marks: Mapping[int, int]) -> None:
    """A watermark never goes backwards."""
    for number, mark in marks.items():
        before, after = batches.get(number), batches.get(number + 1)
        if before is not None and mark < before.watermark:
            raise _damaged(files, f"commits/{number}", "has a watermark before that of its micro-batch")
        if after is not None and after.watermark < mark:
            raise _damaged(files, f"commits/{number}", "has a watermark after that of the next micro-batch")


def _check_sources(files: SparkFolder, known: Collection[str], planned: Batch | None, committed: Batch | None) -> None:
    """The lists of files that sources have found, and that the files of an unfinished micro-batch are still there.

    A source that a plan reads twice has one list and two offsets, so that the n-th offset may not belong to list n.
    """
    lists: dict[str, list[int]] = {}
    for place in sorted(int(name) for name in files.entries("sources") if name.isdecimal()):
        folder = f"sources/{place}"
        names = [name for name in files.entries(folder) if _is_log(name)]
        found = [entry for name in names for entry in _entries(files, f"{folder}/{name}")]
        numbers = {int(name.removesuffix(".compact")) for name in names}
        numbers |= {int(n) for log, _, n in (name.rpartition("/") for name in known) if log == folder and n.isdecimal()}
        first = max((int(name.removesuffix(".compact")) for name in names if not name.isdecimal()), default=0)
        for number in range(first, max(numbers, default=-1) + 1):
            if not {str(number), f"{number}.compact"} & {*names}:
                raise CheckpointError(f"{files.path(f'{folder}/{number}')} is missing", hint=_COPY)
        if found and all(isinstance(entry, dict) and "path" in entry for entry in found):
            lists[folder] = sorted(numbers)
    if planned is None:
        return
    before = committed.ends if committed is not None else ("-",) * len(planned.ends)
    spans = [
        (_log_offset(one), _log_offset(other)) for one, other in zip(before, planned.ends) if _log_offset(other) >= 0
    ]
    if len(spans) == len(lists):
        for folder, (done, last) in zip(lists, spans):
            _check_present(files, folder, range(done + 1, last + 1))


def _log_offset(end: Any) -> int:
    """The number of the last entry of a list of files that an offset stands for; -1 for none, or another source."""
    found = end.get("logOffset") if isinstance(end, dict) else None
    return found if isinstance(found, int) else -1


def _entries(files: SparkFolder, name: str) -> list[Any]:
    return [_json(files, name, line) for line in _lines(files, name)]


def _check_present(files: SparkFolder, folder: str, numbers: range) -> None:
    """Refuse to repeat a micro-batch without the files that it had: Spark would read the rest and say nothing."""
    there = set(files.entries(folder))
    for number in numbers:
        name = str(number) if str(number) in there else f"{number}.compact"
        for entry in _entries(files, f"{folder}/{name}"):
            if isinstance(entry, dict) and entry.get("batchId") == number:
                place = urlsplit(str(entry.get("path")))
                if place.scheme == "file" and not os.path.exists(unquote(place.path)):
                    raise CheckpointError(
                        f"{unquote(place.path)} was to be read, and is gone",
                        detail=f"{files.path(f'{folder}/{name}')} lists it for a micro-batch that is not finished",
                        hint="put the file back, or start with a new checkpoint",
                    )


def _damaged(files: SparkFolder, name: str, what: str) -> CheckpointError:
    """An error with the remedy: the newest commit and offsets can be deleted, and their micro-batch is repeated."""
    planned, committed = (max(_numbers(files, log), default=-1) for log in ("offsets", "commits"))
    hint = _COPY
    if name == f"commits/{committed}":
        after = f" and {files.path(f'offsets/{planned}')}" if planned > committed else ""
        hint = f"delete {files.path(name)}{after}: its micro-batch is then done again"
    elif name == f"offsets/{planned}":
        after = f" and {files.path(f'commits/{planned}')}" if planned == committed else ""
        hint = f"delete {files.path(name)}{after}: the micro-batch is then planned again"
    return CheckpointError(f"the checkpoint is damaged: {files.path(name)} {what}", hint=hint)
