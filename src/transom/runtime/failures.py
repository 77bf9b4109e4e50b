"""Errors of a query that Spark reports in its own words, in ours where the cause is known."""

from __future__ import annotations

import re

from transom import errors
from transom.errors import CheckpointError, DataError, EngineError, TransomError, Unavailable

_OWN = re.compile(r"transom\.errors\.(\w+): (.+)")
_RAISED = re.compile(r"\[USER_RAISED_EXCEPTION\] (.+?)(?: SQLSTATE: \w+)?$", re.MULTILINE)
_LOSS = re.compile(r"KAFKA_DATA_LOSS|Some data may have been lost")
_STATE = re.compile(r"CANNOT_LOAD_STATE_STORE|CHECKSUM|StateStoreSnapshot|STATE_STORE_\w+")
_FULL = re.compile(r"No space left on device|Disk quota exceeded")
_AWAY = re.compile(
    r"Connection refused|Connection reset|UnknownHostException|NoRouteToHost|kafka\.common\.errors\.TimeoutException"
    r"|Failed to construct kafka consumer|Timeout of \d+ms expired|Broken pipe"
)
_PLAN = re.compile(r"=== Streaming Query ===.*?(?=JVM stacktrace|\Z)", re.DOTALL)
"""The offsets and the plan of a query in its error, which may hold any words."""
_TRACE = re.compile(r"^\s*(at [\w.$]+\(|Traceback|File \"|\.\.\. \d+ more)")


def in_words(error: BaseException) -> TransomError | None:
    """The error of Transom that an error of Spark stands for; None if the cause is not known."""
    if isinstance(error, TransomError):
        return error
    text = _PLAN.sub("", str(error))
    own = _own(text)
    if own is not None:
        return own
    if found := _RAISED.search(text):
        return DataError(found[1])
    if _LOSS.search(text):
        return CheckpointError(
            "messages of a topic were deleted before the query had read them",
            detail=first_line(text),
            hint="go on without them with --on-data-loss continue, or start with a new checkpoint",
        )
    if _FULL.search(text):
        return Unavailable("a disk is full", detail=first_line(text), hint="make room and start the query again")
    if _STATE.search(text):
        return CheckpointError(
            "the state in the checkpoint is damaged",
            detail=first_line(text),
            hint="put back a copy of the whole checkpoint, and of its sink from the same time, or start with a new one",
        )
    if _AWAY.search(text):
        return Unavailable("a server is not available", detail=first_line(text))
    return None


def _own(text: str) -> TransomError | None:
    """An error of ours that Spark has wrapped, as it was."""
    found = list(_OWN.finditer(text))
    if not found:
        return None
    kind = getattr(errors, found[-1][1], DataError)
    if not (isinstance(kind, type) and issubclass(kind, TransomError)) or kind is errors.Unsupported:
        kind = TransomError
    more = text[found[-1].end() :].lstrip("\r\n").splitlines()[:4]
    parts = {name: words for name, _, words in (line.strip().partition(": ") for line in more if line.startswith("  "))}
    return kind(found[-1][2].strip(), detail=parts.get("detail"), hint=parts.get("hint"))


def unknown(error: BaseException) -> EngineError:
    """An error of Spark whose cause is not known, as one line and where to find more."""
    return EngineError(
        "Spark stopped the query",
        detail=first_line(str(error)) or type(error).__name__,
        hint="set TRANSOM_SPARK_LOG=ERROR for the traces of Spark, and start the query again",
    )


def first_line(text: str, longest: int = 600) -> str:
    """What an error of Spark says before its traces: the last cause that is named, else the first line."""
    lines = [line.strip() for line in text.splitlines() if line.strip() and not _TRACE.match(line)]
    named = [line for line in lines if re.match(r"(Caused by: )?[\w.$]+(Exception|Error): ", line)]
    line = named[-1] if named else (lines[0] if lines else "")
    return line if len(line) <= longest else f"{line[:longest]}..."
