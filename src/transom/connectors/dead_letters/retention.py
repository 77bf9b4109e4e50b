"""Delete old dead letters: only those of micro-batches that are committed, as no run writes their files again.

A run writes the dead letters of a micro-batch before it commits the micro-batch, and writes them again if the
micro-batch is repeated. A micro-batch is committed if the same query has written dead letters of a later one, or if the
checkpoint says so.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from transom.connectors.dead_letters.files import LetterFile, letter_files
from transom.connectors.dead_letters.letters import topic_letters
from transom.connectors.dead_letters.record import LOCK, RECORD, ResendRecord, targets_by_letter
from transom.errors import UsageError

SINK_FOLDER = "dead_letters"
"""The folder in a checkpoint for the rows that a sink refused."""
_SINK_NAME = re.compile(r"batch-(\d{9,})\.jsonl")
_SPARK_FOLDERS = ("spark", "before/*/spark")
"""Where Spark's files of a checkpoint are, and those of the queries from which `--on-change rebuild` went on."""


@dataclass(frozen=True)
class OldFile:
    """A file of dead letters that is old enough: its query (empty for a sink), micro-batch and number of letters."""

    path: Path
    query: str
    batch: int
    count: int


@dataclass
class CleanPlan:
    """What `clean` deletes from a folder, and which old files it keeps, by the reason why."""

    folder: Path
    delete: list[OldFile] = field(default_factory=list)
    keep: dict[str, list[OldFile]] = field(default_factory=dict)
    younger: int = 0
    """How many files are not old enough."""
    never_sent: int = 0
    """How many of the dead letters to delete were never sent again."""


def plan_topic_folder(folder: Path, oldest: float, checkpoints: Sequence[Path]) -> CleanPlan:
    """Plan the deletion of a topic's dead letters in files from before `oldest`, a time as of `time.time`.

    `checkpoints` are looked at in addition to those that the files name.
    """
    plan = CleanPlan(folder)
    files = letter_files(folder)
    newest = _newest_batches((file.query, file.batch) for file in files)
    committed: dict[tuple[str, Path | None], int] = {}
    for file in files:
        if file.path.stat().st_mtime >= oldest:
            plan.younger += 1
            continue
        with file.open() as opened:
            old = OldFile(file.path, file.query, file.batch, opened.metadata.num_rows)
        if file.batch < newest[file.query]:
            plan.delete.append(old)
            continue
        named = file.checkpoint
        if (file.query, named) not in committed:
            candidates = [*checkpoints, *([named] if named is not None else [])]
            committed[file.query, named] = _committed_batch(candidates, file.query)
        if file.batch <= committed[file.query, named]:
            plan.delete.append(old)
        else:
            plan.keep.setdefault(_why_kept(named, [*checkpoints, named], file.query), []).append(old)
    paths = {old.path for old in plan.delete}
    targets = targets_by_letter(folder)
    plan.never_sent = sum(letter not in targets for letter in _ids([file for file in files if file.path in paths]))
    return plan


def plan_sink_folder(folder: Path, oldest: float) -> CleanPlan:
    """Plan the deletion of the rows that a sink refused, in files of a checkpoint from before `oldest`."""
    plan = CleanPlan(folder)
    names = sorted(path.name for path in folder.iterdir())
    batches = {name: int(match[1]) for name in names if (match := _SINK_NAME.fullmatch(name))}
    newest = max(batches.values(), default=-1)
    committed = _committed_batch([folder.parent], "")
    for name, batch in batches.items():
        path = folder / name
        if path.stat().st_mtime >= oldest:
            plan.younger += 1
            continue
        with path.open("rb") as stream:
            old = OldFile(path, "", batch, sum(1 for _ in stream))
        if batch < newest or batch <= committed:
            plan.delete.append(old)
        else:
            plan.keep.setdefault(_why_kept(folder.parent, [folder.parent], ""), []).append(old)
    plan.never_sent = sum(old.count for old in plan.delete)
    return plan


def carry_out(plan: CleanPlan) -> None:
    """Delete the files of a plan, and the entries of the resend record whose dead letters are gone."""
    if not (plan.folder / RECORD).exists():
        _unlink(plan.delete)
        return
    with ResendRecord(plan.folder) as record:
        _unlink(plan.delete)
        record.keep_only(set(_ids(letter_files(plan.folder))))


def _unlink(files: Iterable[OldFile]) -> None:
    """Delete files of dead letters; a file that is gone already is no error."""
    for old in files:
        old.path.unlink(missing_ok=True)


def _ids(files: Sequence[LetterFile]) -> Iterator[str]:
    """Yield the ids of the dead letters in files of a topic, each once for each extent."""
    for extent in sorted({file.extent for file in files}):
        yield from (letter.id for letter in topic_letters(files, extent, with_content=False))


def _newest_batches(batches: Iterable[tuple[str, int]]) -> Mapping[str, int]:
    """Return the highest micro-batch of each query, from pairs of query and micro-batch."""
    newest: dict[str, int] = {}
    for query, batch in batches:
        newest[query] = max(batch, newest.get(query, -1))
    return newest


def _committed_batch(checkpoints: Iterable[Path], query: str) -> int:
    """Return the last committed micro-batch of a query, from checkpoints that may be its own; -1 if none is known."""
    batches = [-1]
    for spark_folder in _spark_folders(checkpoints, query):
        commits = spark_folder / "commits"
        names = [path.name for path in commits.iterdir()] if commits.is_dir() else []
        batches += [int(name) for name in names if name.isdecimal()]
    return max(batches)


def _spark_folders(checkpoints: Iterable[Path], query: str) -> Iterator[Path]:
    """Yield the folders of Spark's files, in checkpoints, that belong to a query (empty: to any query)."""
    for checkpoint in checkpoints:
        for pattern in _SPARK_FOLDERS if query else _SPARK_FOLDERS[:1]:
            for spark_folder in sorted(checkpoint.glob(pattern)):
                if _query_id(spark_folder / "metadata").startswith(query):
                    yield spark_folder


def _query_id(file: Path) -> str:
    """Return the id of the streaming query in Spark's file `metadata`; empty if the file cannot be read."""
    try:
        return str(json.loads(file.read_text("utf-8"))["id"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _why_kept(named: Path | None, checkpoints: Iterable[Path | None], query: str) -> str:
    """Return why the newest dead letters of a query are kept, and what the user can do."""
    if any(True for _ in _spark_folders([folder for folder in checkpoints if folder is not None], query)):
        return "their micro-batch is not committed yet"
    if named is None:
        return "an earlier version wrote them; name their checkpoint with --checkpoint"
    return f"their checkpoint {named} is not there; name it with --checkpoint if it was moved"


def is_emptied(folder: Path) -> bool:
    """Whether a folder has nothing, or nothing but the record of dead letters that were deleted since."""
    return folder.is_dir() and all(path.name in (RECORD, LOCK) for path in folder.iterdir())


def refuse_other_folder(folder: Path) -> NoReturn:
    """Raise UsageError for a folder that holds no dead letters, saying what it is."""
    if not folder.is_dir():
        raise UsageError(f"no folder {folder}", hint="name the folder under `dead`, or dead_letters of a checkpoint")
    if (folder / "plan.json").exists() or (folder / "spark").is_dir():
        sink = folder / SINK_FOLDER
        hint = f"Spark deletes old files of a checkpoint itself; for rows that the sink refused: {sink}"
        raise UsageError(f"{folder} is a checkpoint", hint=hint)
    if folder.with_name(f"_{folder.name}.staging").exists() or (folder / "_spark_metadata").exists():
        hint = "delete old answers yourself, but leave the folder beside it whose name ends with .staging"
        raise UsageError(f"{folder} is the output of a query", hint=hint)
    raise UsageError(
        f"{folder} has no dead letters", hint="name the folder under `dead`, or dead_letters of a checkpoint"
    )
