"""Read and check Spark's logs in a checkpoint before a start: Spark silently continues from damaged ones.

`offsets/N` says what micro-batch N reads and is written before it runs, `commits/N` after it. `sources/I/K` lists the
files that source I has found. Each is text: a line with the version, then JSON. Spark writes each file once. If the
sources have names, I is a name, offsets have version 2, and each line of theirs begins with the name and a colon.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote, urlsplit

from transom.errors import CheckpointError
from transom.runtime.checkpoint.logs.spark_files import SparkFolder

BATCHES_KEPT = 100
"""How many micro-batches Spark's logs keep by default; a kill while Spark deletes older ones may leave gaps."""
NAMED_OFFSETS = "v2"
"""The version of offsets whose sources have names."""
_VERSION_LINE = re.compile(r"\0?v\d+")
_RESTORE_HINT = (
    "put back a copy of the whole checkpoint, and of its sink from the same time, or start with a new checkpoint and "
    "a new sink"
)


@dataclass(frozen=True)
class BatchOffsets:
    """The content of `offsets/N`: the watermark of the micro-batch and, per source, its end offset.

    `names` are the names of the sources, empty if they have none.
    """

    watermark: int
    ends: tuple[Any, ...]
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class SparkLogs:
    """The last planned and the last committed micro-batch of checked logs; -1 if there is none."""

    planned: int = -1
    committed: int = -1
    ends: tuple[Any, ...] = ()
    """Per source, the end offset of the last committed micro-batch."""


def digest(content: bytes) -> str:
    """Return the SHA-256 digest of a file's content, in hex."""
    return hashlib.sha256(content).hexdigest()


def log_files(files: SparkFolder) -> Iterator[str]:
    """Yield the names of all log files in Spark's checkpoint, which Spark writes once and never changes."""
    for name in files.entries(""):
        if name == "metadata":
            yield name
    for log in ("offsets", "commits"):
        yield from (f"{log}/{number}" for number in _log_numbers(files, log))
    for source in files.entries("sources"):
        if not source.startswith("."):
            yield from (f"sources/{source}/{name}" for name in files.entries(f"sources/{source}") if _is_log(name))


def check_logs(files: SparkFolder, digests: Mapping[str, str]) -> SparkLogs:
    """Read all of Spark's logs and compare them with their digests; raise CheckpointError for a damaged file."""
    _check_digests(files, digests)
    offsets, commits = _log_numbers(files, "offsets"), _log_numbers(files, "commits")
    planned, committed = max(offsets, default=-1), max(commits, default=-1)
    _check_numbers(files, offsets, commits)
    _check_metadata(files, bool(offsets))
    batches = {number: _batch_offsets(files, number) for number in offsets}
    watermarks = {number: _committed_watermark(files, number) for number in commits}
    _check_watermarks(files, batches, watermarks)
    width = max((len(batch.ends) for batch in batches.values()), default=0)
    for number, batch in batches.items():
        if len(batch.ends) != width and not batch.names:
            raise _damage_error(files, f"offsets/{number}", "is cut off: it lacks a source")
    _check_sources(files, digests, batches.get(planned), batches.get(committed))
    ends = batches[committed].ends if committed in batches else ()
    return SparkLogs(planned, committed, ends)


def _check_digests(files: SparkFolder, digests: Mapping[str, str]) -> None:
    """Raise CheckpointError if a log file differs from its recorded digest; files that Spark deleted are skipped.

    This comes before all other checks, so that they do not blame a file whose neighbour was changed.
    """
    present = set(log_files(files))
    for name, recorded in digests.items():
        if name in present and digest(files.read(name)) != recorded:
            raise _damage_error(files, name, "was changed after it was written")


def answered_watermark(files: SparkFolder) -> int | None:
    """Return the watermark, in ms, of the last committed micro-batch; None if no micro-batch is committed.

    The sink has all answers up to this watermark.
    """
    committed = last_committed(files)
    return None if committed < 0 else batch_watermark(files, committed)


def last_committed(files: SparkFolder) -> int:
    """Return the number of the last committed micro-batch; -1 if there is none."""
    return max(_log_numbers(files, "commits"), default=-1)


def batch_watermark(files: SparkFolder, batch: int) -> int:
    """Return the watermark, in ms, that a micro-batch uses; afterwards the sink has all answers up to it."""
    return _batch_offsets(files, batch).watermark


def batch_partitions(files: SparkFolder, batch: int) -> int | None:
    """Return the number of partitions of state that a micro-batch has used; None if its log does not say."""
    header = _log_lines(files, f"offsets/{batch}")[0]
    settings = {} if header == "-" else _parse_json(files, f"offsets/{batch}", header).get("conf", {})
    recorded = str(settings.get("spark.sql.shuffle.partitions", ""))
    return int(recorded) if recorded.isdecimal() else None


def _log_numbers(files: SparkFolder, log: str) -> list[int]:
    """Return the micro-batch numbers in a log folder such as `offsets`, which are its file names, in order."""
    return sorted(int(name) for name in files.entries(log) if name.isdecimal())


def _is_log(name: str) -> bool:
    """Whether a file name is that of one of Spark's logs: a number, with or without `.compact`."""
    return name.removesuffix(".compact").isdecimal()


def _check_numbers(files: SparkFolder, offsets: Sequence[int], commits: Sequence[int]) -> None:
    """Raise CheckpointError if micro-batch numbers are missing or the last commit does not fit the last offsets."""
    for log, numbers in (("offsets", offsets), ("commits", commits)):
        recent = [number for number in numbers if number > numbers[-1] - BATCHES_KEPT]
        missing = sorted({*range(recent[0], recent[-1])} - {*recent}) if recent else []
        if missing:
            raise CheckpointError(f"{files.path(f'{log}/{missing[0]}')} is missing", hint=_RESTORE_HINT)
    planned, committed = max(offsets, default=-1), max(commits, default=-1)
    if committed > planned:
        raise CheckpointError(
            f"{files.path(f'offsets/{committed}')} is missing",
            detail=f"micro-batch {committed} was committed, and the newest offsets are {planned}",
            hint=_RESTORE_HINT,
        )
    if planned > committed + 1:
        raise CheckpointError(
            f"{files.path(f'commits/{planned - 1}')} is missing",
            detail=f"micro-batch {planned} was begun, and the newest commit is {committed}",
            hint=_RESTORE_HINT,
        )


def _check_metadata(files: SparkFolder, started: bool) -> None:
    """Raise CheckpointError if Spark's file `metadata` is damaged or, once micro-batches `started`, missing."""
    if "metadata" not in files.entries(""):
        if started:
            raise CheckpointError(f"{files.path('metadata')} is missing", hint=_RESTORE_HINT)
        return
    try:
        query_id = json.loads(files.read("metadata"))["id"]
    except (ValueError, KeyError, TypeError):
        query_id = None
    if not isinstance(query_id, str):
        raise _damage_error(files, "metadata", "does not hold the id of the query")


def _log_lines(files: SparkFolder, name: str) -> list[str]:
    """Return the non-empty lines of a Spark log after its version line; raise CheckpointError if it has none."""
    return _versioned_lines(files, name)[1]


def _versioned_lines(files: SparkFolder, name: str) -> tuple[str, list[str]]:
    """Return the version of a Spark log and its other non-empty lines; raise CheckpointError if it has no version."""
    try:
        version, *lines = files.read(name).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise _damage_error(files, name, "is not text") from None
    if not _VERSION_LINE.fullmatch(version):
        raise _damage_error(files, name, "does not begin with a version" if version else "is empty")
    return version, [line for line in lines if line]


def _parse_json(files: SparkFolder, name: str, line: str) -> Any:
    """Parse one line of a log; raise CheckpointError if it is not JSON."""
    try:
        return json.loads(line)
    except ValueError:
        raise _damage_error(files, name, "is cut off or is not JSON") from None


def _batch_offsets(files: SparkFolder, batch: int) -> BatchOffsets:
    """Read from `offsets/N` what micro-batch N reads; raise CheckpointError if the file is cut off."""
    name = f"offsets/{batch}"
    version, lines = _versioned_lines(files, name)
    header, *ends = lines or [""]
    metadata = {} if header == "-" else _parse_json(files, name, header)
    watermark = metadata.get("batchWatermarkMs", 0) if isinstance(metadata, dict) else None
    if not isinstance(watermark, int) or not ends:
        raise _damage_error(files, name, "is cut off")
    names: list[str] = []
    if version == NAMED_OFFSETS:
        parts = [end.partition(":") for end in ends]
        if not all(colon and offset for _, colon, offset in parts):
            raise _damage_error(files, name, "is cut off")
        names, ends = [source for source, _, _ in parts], [offset for _, _, offset in parts]
    # The offsets of a third-party source need not be JSON.
    offsets = tuple(_parse_json(files, name, end) if end[0] in '{["' else end for end in ends)
    return BatchOffsets(watermark, offsets, tuple(names))


def _committed_watermark(files: SparkFolder, batch: int) -> int:
    """Read the next micro-batch's watermark from `commits/N`; raise CheckpointError if the file is cut off."""
    name = f"commits/{batch}"
    lines = _log_lines(files, name)
    metadata = _parse_json(files, name, lines[0]) if lines else None
    watermark = metadata.get("nextBatchWatermarkMs", 0) if isinstance(metadata, dict) else None
    if not isinstance(watermark, int):
        raise _damage_error(files, name, "is cut off")
    return watermark


def _check_watermarks(files: SparkFolder, batches: Mapping[int, BatchOffsets], watermarks: Mapping[int, int]) -> None:
    """Raise CheckpointError if the watermark goes backwards from one micro-batch to the next."""
    for number, watermark in watermarks.items():
        before, after = batches.get(number), batches.get(number + 1)
        if before is not None and watermark < before.watermark:
            raise _damage_error(files, f"commits/{number}", "has a watermark before that of its micro-batch")
        if after is not None and after.watermark < watermark:
            raise _damage_error(files, f"commits/{number}", "has a watermark after that of the next micro-batch")


def _check_sources(
    files: SparkFolder, log_names: Collection[str], next_batch: BatchOffsets | None, last_batch: BatchOffsets | None
) -> None:
    """Raise CheckpointError if a file source's log, or a file that `next_batch` reads after `last_batch`, is missing.

    A source that a plan reads twice has one list and two offsets. The n-th offset then need not belong to list n, and
    the existence of the files is not checked.
    """
    lists: dict[str, list[int]] = {}
    for source in sorted((name for name in files.entries("sources") if not name.startswith(".")), key=_source_order):
        folder = f"sources/{source}"
        names = [name for name in files.entries(folder) if _is_log(name)]
        entries = [entry for name in names for entry in _file_entries(files, f"{folder}/{name}")]
        numbers = {int(name.removesuffix(".compact")) for name in names}
        numbers |= {
            int(number)
            for log, _, number in (name.rpartition("/") for name in log_names)
            if log == folder and number.isdecimal()
        }
        first = max((int(name.removesuffix(".compact")) for name in names if not name.isdecimal()), default=0)
        for log_number in range(first, max(numbers, default=-1) + 1):
            if not {str(log_number), f"{log_number}.compact"} & {*names}:
                raise CheckpointError(f"{files.path(f'{folder}/{log_number}')} is missing", hint=_RESTORE_HINT)
        if entries and all(isinstance(entry, dict) and "path" in entry for entry in entries):
            lists[folder] = sorted(numbers)
    if next_batch is None:
        return
    for folder, unread in _unread_lists(next_batch, last_batch, [*lists]):
        _check_files_exist(files, folder, unread)


def _source_order(name: str) -> tuple[int, str]:
    """Return the key by which the folders of sources are sorted: numbers by value, then names."""
    return (int(name), "") if name.isdecimal() else (sys.maxsize, name)


def _unread_lists(
    planned: BatchOffsets, committed: BatchOffsets | None, lists: Sequence[str]
) -> Iterator[tuple[str, range]]:
    """Yield (log folder, range of file lists) that `planned` reads after `committed` (None: all), per file source.

    Without names, the n-th offset of a source of files belongs to the n-th folder; nothing is known if their numbers
    differ.
    """
    if planned.names:
        done = dict(zip(committed.names, committed.ends)) if committed is not None else {}
        for name, end in zip(planned.names, planned.ends):
            if f"sources/{name}" in lists and _log_offset(end) >= 0:
                yield f"sources/{name}", range(_log_offset(done.get(name)) + 1, _log_offset(end) + 1)
        return
    before = committed.ends if committed is not None else ("-",) * len(planned.ends)
    spans = [
        (_log_offset(start), _log_offset(end)) for start, end in zip(before, planned.ends) if _log_offset(end) >= 0
    ]
    if len(spans) == len(lists):
        yield from ((folder, range(start + 1, end + 1)) for folder, (start, end) in zip(lists, spans))


def topic_positions(files: SparkFolder, batch: int) -> dict[str, dict[str, int]]:
    """Return the Kafka offsets at which a micro-batch ends, by topic and partition; for -1 the run's first.

    A topic that a plan reads twice is left out, because the two readers may have different offsets.
    """
    if batch >= 0:
        ends: Sequence[Any] = _batch_offsets(files, batch).ends
    else:
        ends = [
            entry
            for source in files.entries("sources")
            if not source.startswith(".") and "0" in files.entries(f"sources/{source}")
            for entry in _file_entries(files, f"sources/{source}/0")
        ]
    positions = [(topic, offsets) for end in ends if _is_topics(end) for topic, offsets in end.items()]
    times = Counter(topic for topic, _ in positions)
    return {topic: offsets for topic, offsets in positions if times[topic] == 1}


def _is_topics(end: Any) -> bool:
    """Whether an offset has the form of a Kafka offset: numbers by topic and partition."""
    return isinstance(end, dict) and all(
        isinstance(offsets, dict) and all(isinstance(offset, int) for offset in offsets.values())
        for offsets in end.values()
    )


def _log_offset(end: Any) -> int:
    """Return the number of a file source's last read file list from its end offset; -1 for other sources."""
    offset = end.get("logOffset") if isinstance(end, dict) else None
    return offset if isinstance(offset, int) else -1


def _file_entries(files: SparkFolder, name: str) -> list[Any]:
    """Return the parsed JSON lines of a Spark source's log file, such as one that lists its input files."""
    return [_parse_json(files, name, line) for line in _log_lines(files, name)]


def _check_files_exist(files: SparkFolder, folder: str, numbers: range) -> None:
    """Raise CheckpointError if files in lists `numbers` of log `folder` are gone, which Spark would just skip."""
    present = set(files.entries(folder))
    for number in numbers:
        name = str(number) if str(number) in present else f"{number}.compact"
        for entry in _file_entries(files, f"{folder}/{name}"):
            if isinstance(entry, dict) and entry.get("batchId") == number:
                location = urlsplit(str(entry.get("path")))
                if location.scheme == "file" and not os.path.exists(unquote(location.path)):
                    raise CheckpointError(
                        f"{unquote(location.path)} was to be read, and is gone",
                        detail=f"{files.path(f'{folder}/{name}')} lists it for a micro-batch that is not finished",
                        hint="put the file back, or start with a new checkpoint",
                    )


def _damage_error(files: SparkFolder, name: str, problem: str) -> CheckpointError:
    """Build the CheckpointError for a damaged log file, with its problem and a remedy.

    The newest commit can be deleted, and the newest offsets if their micro-batch is not committed; the micro-batch is
    then repeated. A committed micro-batch must not be planned again: it may get other rows than the sink has.
    """
    planned, committed = (max(_log_numbers(files, log), default=-1) for log in ("offsets", "commits"))
    hint = _RESTORE_HINT
    if name == f"commits/{committed}":
        after = f" and {files.path(f'offsets/{planned}')}" if planned > committed else ""
        hint = f"delete {files.path(name)}{after}: its micro-batch is then done again"
    elif name == f"offsets/{planned}" and planned > committed:
        hint = f"delete {files.path(name)}: the micro-batch is then planned again"
    return CheckpointError(f"the checkpoint is damaged: {files.path(name)} {problem}", hint=hint)
