"""The record of dead letters that were sent again: lines of JSON in the folder of the dead letters.

A line is added after the receiver has acknowledged its dead letter, and flushed to disk. So a dead letter in the record
was sent. A dead letter that was sent just before the command was killed may be missing in the record, and is then sent
once more: at least once.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType

from transom.connectors.lock_file import LockHeld, acquire_lock
from transom.connectors.private_files import FILE, open_private
from transom.errors import DataError, Unavailable, UsageError

RECORD = "_resent.jsonl"
"""Names that begin with `_` are skipped by programs that read folders of Parquet files."""
LOCK = "_resent.lock"


def targets_by_letter(folder: Path) -> dict[str, set[str]]:
    """Read which dead letters of a folder were sent again: the targets by the id of the dead letter."""
    try:
        lines = (folder / RECORD).read_bytes().split(b"\n")
    except FileNotFoundError:
        return {}
    targets: dict[str, set[str]] = defaultdict(set)
    for number, line in enumerate(lines[:-1], 1):  # what follows the last line break was cut off by a crash
        try:
            entry = json.loads(line)
            targets[str(entry["letter"])].add(str(entry["to"]))
        except (ValueError, KeyError, TypeError) as error:
            problem, hint = f"line {number} is damaged", "restore the file, or all dead letters are sent again"
            raise DataError(problem, detail=str(error), hint=hint, source=str(folder / RECORD)) from None
    return dict(targets)


class ResendRecord:
    """The record of a folder, locked: only one command at a time sends its dead letters again or deletes them."""

    def __init__(self, folder: Path) -> None:
        """Lock the record of a folder and check it; raise Unavailable if another command on this host has locked it."""
        self._folder = folder
        try:
            self._lock = acquire_lock(folder / LOCK)
        except LockHeld as held:
            message = f"process {held.process} sends or deletes the dead letters in {folder}"
            raise Unavailable(message, hint="wait until it ends") from None
        except OSError as error:
            raise UsageError(f"cannot write into {folder}", detail=error.strerror or str(error)) from None
        try:
            targets_by_letter(folder)  # raises DataError if the record is damaged
            self._file = os.open(folder / RECORD, os.O_RDWR | os.O_CREAT | os.O_APPEND, FILE)
            os.truncate(self._file, _end_of_lines((folder / RECORD).read_bytes()))
        except BaseException:
            os.close(self._lock)
            raise

    def add(self, letters: Iterable[str], target: str) -> None:
        """Record durably that the dead letters with these ids were sent to a target."""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        lines = [json.dumps({"letter": letter, "to": target, "at": at}) + "\n" for letter in letters]
        os.write(self._file, "".join(lines).encode())
        os.fsync(self._file)

    def keep_only(self, letters: Collection[str]) -> None:
        """Remove the entries of dead letters that are not among `letters`, because their files were deleted."""
        file = self._folder / RECORD
        if not file.exists():
            return
        lines = file.read_bytes().split(b"\n")[:-1]
        kept = [line for line in lines if str(json.loads(line)["letter"]) in letters]
        temporary = file.with_name(f"{RECORD}.{os.getpid()}")
        with open_private(temporary) as stream:
            stream.write(b"".join(line + b"\n" for line in kept))
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, file)

    def __enter__(self) -> ResendRecord:
        """Return the record itself; the end of the `with` block unlocks it."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close and unlock the record."""
        os.close(self._file)
        os.close(self._lock)


def _end_of_lines(content: bytes) -> int:
    """Return the position after the last line break; a crash may have cut off what follows."""
    return content.rfind(b"\n") + 1
