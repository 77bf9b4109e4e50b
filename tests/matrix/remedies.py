"""What an error message tells its reader to do, and how the matrix does it."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path

from transom.errors import TransomError


class Remedy(Enum):
    """What a hint asks for. The matrix follows the first of these that a hint names."""

    DELETE = "delete the files that the message names"
    WAIT = "start the query again"
    ROOM = "make room and start the query again"
    COPY = "put back a copy of the checkpoint and of the sink"
    REPLACE = "put the file back from a copy"
    DEAD = "give the source a folder for dead letters"
    CONTINUE = "go on with --on-data-loss continue"
    NEW = "start with a new checkpoint and a new sink"


_PHRASES = (
    (Remedy.DELETE, r"^delete /"),
    (Remedy.DEAD, r"give the source a folder under the key dead"),
    (Remedy.ROOM, r"make room and start the query again"),
    (Remedy.WAIT, r"start the query again"),
    (Remedy.COPY, r"put back a copy of the whole checkpoint, and of its sink"),
    (Remedy.REPLACE, r"put (it|them|the files?) back"),
    (Remedy.CONTINUE, r"--on-data-loss continue"),
    (Remedy.NEW, r"new folder and a new checkpoint|new checkpoint"),
)


def remedy_of(error: TransomError) -> Remedy | None:
    """The remedy that the hint of an error names first; None if it names none."""
    for remedy, phrase in _PHRASES:
        if re.search(phrase, error.hint or ""):
            return remedy
    return None


def files_to_delete(error: TransomError) -> list[Path]:
    """The files that a hint of the form `delete A and B: ...` names."""
    named = (error.hint or "").partition(": ")[0].removeprefix("delete ")
    return [Path(name) for name in named.split(" and ")]
