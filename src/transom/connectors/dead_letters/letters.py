"""Read dead letters: from the files that a run writes for a topic, and from the log of a collected extent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from transom.catalog.extent import Extent
from transom.catalog.servers import LogLocation
from transom.connectors.dead_letters.files import SCHEMA, LetterFile
from transom.connectors.log.read import log_entries
from transom.connectors.payloads import MAX_MESSAGE_BYTES

_PORTION = 1000
"""Dead letters of a file that are in memory at once."""
_CONTENT = ("key", "value", "headers")
_POSITION = ("topic", "partition", "offset", "timestamp", "reason")
_LOG_COLUMNS = ("_seq", "_kind", "_tick", "_at", "_origin", "_reason")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that could not be used: its position as `id`, its reason, and its content.

    `at` is the broker's timestamp of a message in a topic, else the time at which the collector received the message.
    `origin` is the topic, or `POST`. `is_part` says that a row of the message was rejected, and that other rows of the
    same message may be in the log. `is_truncated` says that `value` is only the beginning of the message.
    """

    id: str
    reason: str
    at: datetime
    origin: str
    value: bytes | None = None
    key: bytes | None = None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    partition: int | None = None
    is_part: bool = False
    is_truncated: bool = False


def topic_letters(files: Sequence[LetterFile], extent: str, *, with_content: bool = True) -> Iterator[DeadLetter]:
    """Yield the dead letters of an extent in `files`, each message once; without content if not `with_content`.

    Several queries that read a topic write a dead letter each for the same message.
    """
    seen: set[str] = set()
    for file in files:
        if file.extent != extent:
            continue
        with file.open() as opened:
            names = [name for name in SCHEMA.names if name in opened.schema_arrow.names]
            columns = [name for name in names if name in _POSITION or (with_content and name in _CONTENT)]
            for portion in opened.iter_batches(_PORTION, columns=columns):
                for entry in portion.to_pylist():
                    letter = _topic_letter(entry)
                    if letter.id not in seen:
                        seen.add(letter.id)
                        yield letter


def _topic_letter(entry: dict[str, Any]) -> DeadLetter:
    """Build the dead letter of a message in a topic from its columns; its id has topic, partition, offset and time.

    A topic that was deleted and created again has other messages at the same offsets, but not of the same time.
    """
    at: datetime = entry["timestamp"]
    position = f"{entry['topic']}-{entry['partition']}@{entry['offset']}"
    headers = tuple((header["key"], header["value"]) for header in entry.get("headers") or ())
    letter_id = f"{position} {at.isoformat(timespec='milliseconds')}"
    value, key = entry.get("value"), entry.get("key")
    return DeadLetter(letter_id, entry["reason"], at, entry["topic"], value, key, headers, entry["partition"])


def log_letters(
    extent: Extent, log: LogLocation, catalog_folder: Path | None, *, with_content: bool = True
) -> Iterator[DeadLetter]:
    """Yield the dead letters in the log of a collected extent, in its order; without content if not `with_content`."""
    columns = [*_LOG_COLUMNS, *(["_raw"] if with_content else [])]
    for _, number, entry in log_entries(extent, log, catalog_folder, columns):
        if entry["_kind"] != "dead":
            continue
        at, raw = entry["_at"], entry.get("_raw")
        assert isinstance(at, datetime)  # noqa: S101 - the column's type
        value = raw if isinstance(raw, bytes) else None
        is_part = entry["_tick"] is not None and (value or b"").lstrip().startswith(b"[")  # a row of a SenML pack
        is_truncated = len(value or b"") >= MAX_MESSAGE_BYTES
        letter_id = f"entry {number} {at.isoformat(timespec='milliseconds')}"
        reason, origin = str(entry["_reason"]), str(entry["_origin"])
        yield DeadLetter(letter_id, reason, at, origin, value, is_part=is_part, is_truncated=is_truncated)
