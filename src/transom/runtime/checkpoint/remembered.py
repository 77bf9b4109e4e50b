"""Read what a checkpoint remembers of the run that made it: query, catalog, options, plan, settings and versions.

The file `plan.json` has two parts. The fingerprint must not change between two starts; the other entries are for
readers, and are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from transom.errors import CheckpointError
from transom.runtime.checkpoint.sealed import DIGEST, damaged_file, read_sealed

PLAN_FILE = "plan.json"
QUERY, VERSIONS, SETTINGS, ABOUT = "query", "made by", "settings", "about"
NOT_COMPARED = (QUERY, VERSIONS, SETTINGS, ABOUT, DIGEST)
"""The entries of `plan.json` that are no part of the fingerprint."""


@dataclass(frozen=True)
class Remembered:
    """What a checkpoint remembers; parts that its version of Transom did not record yet are empty.

    `fingerprint` holds all entries that a restart compares, the plan in JSON values among them. `explained` is the plan
    as `explain` shows it, and `operators` are its nodes, each one before its inputs. `options` are those of the run,
    `catalog` the entries of the extents that the query reads.
    """

    query: str
    fingerprint: Mapping[str, Any]
    language: str = ""
    explained: str = ""
    operators: Sequence[Mapping[str, Any]] = ()
    options: Mapping[str, Any] | None = None
    catalog: Mapping[str, Mapping[str, Any]] | None = None
    settings: Mapping[str, str] | None = None
    versions: Mapping[str, str] | None = None

    @property
    def made_by(self) -> str:
        """The versions of Transom and Spark that made the checkpoint, for messages."""
        if not self.versions:
            return "an earlier version"
        return f"Transom {self.versions.get('transom')} on Spark {self.versions.get('spark')}"


def read_remembered(checkpoint: Path) -> Remembered:
    """Read the recorded query, plan and options of a checkpoint; raise CheckpointError if missing or damaged."""
    file = checkpoint / PLAN_FILE
    try:
        record = read_sealed(file)
    except FileNotFoundError:
        raise CheckpointError(
            f"{file} is missing, which says what query the checkpoint belongs to",
            hint="put it back from a copy, or start with a new checkpoint",
        ) from None
    return remembered_from(file, record)


def remembered_from(file: Path, record: Mapping[str, Any]) -> Remembered:
    """Convert the content of `plan.json` to query, plan and options; raise CheckpointError if it is malformed."""
    about, query = record.get(ABOUT, {}), record.get(QUERY, "")
    parts = (about, record.get(SETTINGS) or {}, about.get("catalog") or {}) if isinstance(about, dict) else (about,)
    if not all(isinstance(part, dict) for part in parts) or not isinstance(query, str):
        raise damaged_file(file, f"{QUERY}, {SETTINGS} or {ABOUT} is malformed")
    if DIGEST not in record and (about or SETTINGS in record):
        raise damaged_file(file, "its digest is missing")
    versions = record.get(VERSIONS)
    return Remembered(
        query,
        {name: value for name, value in record.items() if name not in NOT_COMPARED},
        str(about.get("language", "")),
        "\n".join(about.get("plan", ())),
        tuple(about.get("operators", ())),
        about.get("options"),
        about.get("catalog"),
        record.get(SETTINGS),
        versions if isinstance(versions, dict) else None,
    )


def recorded_start(checkpoint: Path) -> int | None:
    """Return the start tick that a checkpoint records; None if it has no readable fingerprint."""
    try:
        start = read_sealed(checkpoint / PLAN_FILE).get("start")
    except (OSError, CheckpointError):
        return None
    return start if isinstance(start, int) else None


def recorded_settings(checkpoint: Path) -> Mapping[str, str] | None:
    """Return a checkpoint's recorded Spark settings, {} if an earlier version made it; None if it is new."""
    try:
        record = read_sealed(checkpoint / PLAN_FILE)
    except FileNotFoundError:
        return None
    return remembered_from(checkpoint / PLAN_FILE, record).settings or {}
