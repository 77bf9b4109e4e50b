"""JSON files of a checkpoint that carry a digest of their own content, by which a changed byte is detected."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from transom.connectors.private_files import make_folder
from transom.errors import CheckpointError

DIGEST = "digest"
"""The key of the digest; files of earlier versions do not have it."""


def write_sealed(file: Path, record: Mapping[str, Any]) -> None:
    """Write a record, a JSON object, to a file together with its SHA-256 digest."""
    write_atomically(file, sealed_text(record))


def sealed_text(record: Mapping[str, Any]) -> str:
    """Return a record as the text of a JSON object that includes its SHA-256 digest."""
    return json.dumps({**record, DIGEST: _digest(record)}, indent=1, ensure_ascii=False)


def read_sealed(file: Path) -> dict[str, Any]:
    """Read a record with its digest; raise CheckpointError if it is damaged, and FileNotFoundError if it is missing."""
    content = file.read_bytes()
    try:
        record = json.loads(content)
    except ValueError as error:
        raise damaged_file(file, str(error)) from error
    if not isinstance(record, dict):
        raise damaged_file(file, "it is not a JSON object")
    content_digest = _digest({name: value for name, value in record.items() if name != DIGEST})
    if record.get(DIGEST, content_digest) != content_digest:
        raise damaged_file(file, "it was changed after it was written")
    return record


def damaged_file(file: Path, detail: str) -> CheckpointError:
    """Build the CheckpointError for a file of Transom that was cut off or changed."""
    return CheckpointError(
        f"the checkpoint is damaged: {file} is not what Transom wrote",
        detail=detail,
        hint="put it back from a copy, or start with a new checkpoint",
    )


def write_atomically(file: Path, text: str) -> None:
    """Write a text file by renaming a temporary file, so that a kill never leaves half of it."""
    make_folder(file.parent)
    temporary = file.with_name(f"{file.name}.{os.getpid()}")
    temporary.write_text(text, "utf-8")
    temporary.replace(file)


def _digest(record: Mapping[str, Any]) -> str:
    """Return the SHA-256 digest of a record, in hex, which does not depend on white space."""
    return hashlib.sha256(json.dumps(record, separators=(",", ":")).encode("ascii")).hexdigest()
