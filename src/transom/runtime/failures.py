"""Translate Spark's errors into Transom's where the cause is known."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from transom import errors
from transom.connectors.files.read import REJECT_HINT
from transom.errors import CheckpointError, DataError, EngineError, TransomError, Unavailable
from transom.runtime.checkpoint.state_files import find_damaged_changelog

_WRAPPED_ERROR = re.compile(r"transom\.errors\.(\w+): (.+)")
_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.+?)(?: SQLSTATE: \w+)?$", re.MULTILINE)
_REJECTED_MESSAGE = re.compile(r": offset \d+ of partition \d+")
_DEAD_LETTERS_HINT = (
    "give the source a folder under the key dead, and start the query again: rejected messages then become dead letters"
)
_NO_JVM_HINT = (
    "read what spark-submit printed above. If it names an unresolved dependency, Spark could not download the packages "
    "in spark.jars.packages: give it jar files in spark.jars. Else check that `java -version` prints 17 or later"
)
_DATA_LOSS = re.compile(r"KAFKA_DATA_LOSS|Some data may have been lost")
_STATE_FILE_CONDITION = re.compile(
    r"CANNOT_LOAD_STATE_STORE\.(?:AUTO_SNAPSHOT_REPAIR_FAILED|CANNOT_FIND_BASE_SNAPSHOT_CHECKPOINT|CANNOT_READ_\w+"
    r"|INVALID_CHANGE_LOG_READER_VERSION|INVALID_CHECKPOINT_LINEAGE|SNAPSHOT_PARTITION_ID_NOT_FOUND"
    r"|UNEXPECTED_FILE_SIZE|\w+_ROW_FORMAT_VALIDATION_FAILURE)"
    r"|CHECKPOINT_FILE_CHECKSUM_VERIFICATION_FAILED"
    r"|STATE_STORE_(?:BASE_CHECKPOINT_ID_MISMATCH|ROW_CHECKSUM_VERIFICATION_FAILED"
    r"|\w+_ROW_FORMAT_VALIDATION_FAILURE|(?:KEY|VALUE)_SCHEMA_NOT_COMPATIBLE)"
)
"""Spark's error conditions that concern a file of the state."""
_STATE_NOT_LOADED = re.compile(r"CANNOT_LOAD_STATE_STORE\b")
_FILE_EXCEPTION = re.compile(
    r"\b\w*(?:IO|EOF|File\w*|Checksum|Zip|Corrupt\w*|RocksDB|Json\w*|Malformed\w*|Pars(?:e|ing))Exception\b"
)
"""The exceptions of reading a file. A state that Spark could not load is damaged only if one of them is the cause:
CANNOT_LOAD_STATE_STORE.UNCATEGORIZED has causes of every kind."""
_STATE_PATH = re.compile(r"(?:file:)?(/[^\s,'\"\]]+/state/\d+/\d+[^\s,'\"\]:;]*)")
_STATE_ID = re.compile(r"op(?:erator)?Id=(\d+), ?part(?:ition)?Id=(\d+)")
_OTHER_WRITER = re.compile(r"CONCURRENT_STREAM_LOG_UPDATE|Concurrent update to the log")
_DISK_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_SERVER_UNAVAILABLE = re.compile(
    r"Connection refused|Connection reset|UnknownHostException|NoRouteToHost|kafka\.common\.errors\.TimeoutException"
    r"|Failed to construct kafka consumer|Timeout of \d+ms expired|Broken pipe"
)
NEARLY_FULL = 16 << 20
"""A disk with fewer free bytes is named when a run has stopped for want of room."""
_QUERY_DUMP = re.compile(r"=== Streaming Query ===.*?(?=JVM stacktrace|\Z)", re.DOTALL)
"""The part of Spark's error with the offsets and the plan of the query; it can contain any text."""
_TRACE_LINE = re.compile(r"^\s*(at [\w.$]+\(|Traceback|File \"|\.\.\. \d+ more)")


def translate_error(error: BaseException, run_folders: Sequence[Path] = ()) -> TransomError | None:
    """Translate a Spark error to a TransomError, None if unknown; it may name one of `run_folders` (checkpoint first).

    `run_folders` are those that the run writes, its checkpoint first; messages name the folder at fault.
    """
    if isinstance(error, TransomError):
        return error
    if "JAVA_GATEWAY_EXITED" in str(error):
        return EngineError("the JVM of Spark ended while it started", detail=first_cause(str(error)), hint=_NO_JVM_HINT)
    text = _QUERY_DUMP.sub("", str(error))
    wrapped = _wrapped_error(text)
    if wrapped is not None:
        return wrapped
    if raised := _RAISED.search(text):
        hint = _DEAD_LETTERS_HINT if _REJECTED_MESSAGE.search(raised[1]) else None
        if raised[1].endswith(REJECT_HINT):
            hint = REJECT_HINT.removeprefix("; or ")
        return DataError(raised[1].removesuffix(REJECT_HINT), hint=hint)
    if _DATA_LOSS.search(text):
        return CheckpointError(
            "messages of a topic were deleted before the query had read them",
            detail=first_cause(text),
            hint="go on without them with --on-data-loss continue, or start with a new checkpoint",
        )
    if _OTHER_WRITER.search(text):
        return Unavailable(
            "an earlier run of the checkpoint wrote a last micro-batch after this one had begun",
            detail=first_cause(text),
            hint="start the query again: no row is lost or repeated",
        )
    if _DISK_FULL.search(text):
        full = "; ".join(_full_disks(run_folders))
        return Unavailable(
            f"a disk is full: {full}" if full else "a disk is full",
            detail=first_cause(text),
            hint="make room and start the query again",
        )
    if _is_state_damaged(text):
        damaged = _damaged_state(text, run_folders)
        return CheckpointError(
            "the state in the checkpoint is damaged" + (f": {damaged}" if damaged else ""),
            detail=first_cause(text),
            hint="put back a copy of the whole checkpoint, and of its sink from the same time, or start with a new one",
        )
    if _SERVER_UNAVAILABLE.search(text):
        return Unavailable("a server is not available", detail=first_cause(text))
    return None


def _full_disks(folders: Sequence[Path]) -> Iterator[str]:
    """Yield the folders whose disks have hardly any room, with their free bytes."""
    for folder in folders:
        existing = next((path for path in (folder, *folder.parents) if path.exists()), None)
        if existing is not None:
            free = shutil.disk_usage(existing).free
            if free < NEARLY_FULL:
                yield f"{folder} has {free:,} bytes left"


def _is_state_damaged(text: str) -> bool:
    """Whether the text of a Spark error says that a file of the state is missing or cannot be read."""
    if _STATE_FILE_CONDITION.search(text):
        return True
    if _STATE_NOT_LOADED.search(text) is None or _SERVER_UNAVAILABLE.search(text):
        return False
    return _FILE_EXCEPTION.search(text) is not None


def _damaged_state(text: str, run_folders: Sequence[Path]) -> str | None:
    """Return the state file or folder that a Spark error is about, in `run_folders` (checkpoint first); else None."""
    if path := _STATE_PATH.search(text):
        return path[1]
    if (store := _STATE_ID.search(text)) and run_folders:
        return str(run_folders[0] / "spark" / "state" / store[1] / store[2])
    state = run_folders[0] / "spark" / "state" if run_folders else None
    return str(find_damaged_changelog(state) or state) if state is not None else None


def _wrapped_error(text: str) -> TransomError | None:
    """Restore the Transom error that is wrapped in the text of a Spark error; None if it wraps none."""
    matches = list(_WRAPPED_ERROR.finditer(text))
    if not matches:
        return None
    kind = getattr(errors, matches[-1][1], DataError)
    if not (isinstance(kind, type) and issubclass(kind, TransomError)) or kind is errors.Unsupported:
        kind = TransomError
    following = text[matches[-1].end() :].lstrip("\r\n").splitlines()[:4]
    fields = {
        name: value for name, _, value in (line.strip().partition(": ") for line in following if line.startswith("  "))
    }
    return kind(matches[-1][2].strip(), detail=fields.get("detail"), hint=fields.get("hint"))


def unknown_error(error: BaseException) -> EngineError:
    """Build the EngineError for a Spark error of unknown cause, with the first cause in one line."""
    return EngineError(
        "Spark stopped the query",
        detail=first_cause(str(error)) or type(error).__name__,
        hint="set TRANSOM_SPARK_LOG=ERROR for the traces of Spark, and start the query again",
    )


def first_cause(text: str, longest: int = 600) -> str:
    """Return the last exception named in a Spark error's text, else its first line, cut to `longest` characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _TRACE_LINE.match(line)]
    named = [line for line in lines if re.match(r"(Caused by: )?[\w.$]+(Exception|Error): ", line)]
    line = named[-1] if named else (lines[0] if lines else "")
    return line if len(line) <= longest else f"{line[:longest]}..."
