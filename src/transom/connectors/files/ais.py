"""Read AIS position reports from NMEA sentences, decoded with pyais if it is installed.

A sentence carries no time, so its line must: in a tag block (`\\c:1717221600*5D\\!AIVDM,...`), before the sentence
(`2024-06-01T06:00:00Z !AIVDM,...`, or seconds since 1970) or after it (`!AIVDM,...*5C,1717221600`). The codes for
"not available" become NULL. Messages without a position and other sentences are skipped; a damaged sentence is an
error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from transom.connectors.files.records import FileRecord
from transom.errors import DataError, UsageError, install_hint

COLUMNS = ("time", "mmsi", "type", "lon", "lat", "sog", "cog", "heading", "status", "second")
"""The columns of a position report."""

POSITION_REPORTS = (1, 2, 3, 9, 18, 19, 27)
"""The AIS message types that report the position of a ship or aircraft."""

_LINE = re.compile(
    r"""(?:\\(?P<tags>[^\\]*)\\)?                          # tag block
        (?P<leading>[^!$\\]*)                              # a time before the sentence
        (?P<sentence>!(?P<body>[^*!]*)\*(?P<sum>[0-9A-Fa-f]{2}))
        (?P<trailing>[\s,0-9.]*)\Z""",
    re.VERBOSE,
)
"""A stripped line. The parts cannot overlap, so matching takes linear time."""
_TRAILING_TIME = re.compile(r"(?:,?\s*([0-9.]+))?")
_TAG_TIME = re.compile(r"(?:^|,)c:([0-9.]+)")
_NUMBER = re.compile(r"[0-9]{1,13}(?:\.[0-9]+)?\Z")
_UNKNOWN = {"lon": 181.0, "lat": 91.0, "sog": 102.3, "cog": 360.0, "heading": 511, "second": 60}
_LONG_RANGE = {"sog": 63.0, "cog": 511.0}
"""The "not available" codes of message 27, which has shorter fields."""


def read_ais(text: str, path: str) -> Iterator[FileRecord]:
    """Yield the column names of an AIS file, and then a record for each position report in its text.

    DataError if a line is not an AIS sentence, is damaged, or is part of an incomplete message.
    The number of a record is that of the line in which the report ends.
    """
    yield FileRecord(0, list[object](COLUMNS))
    waiting: dict[tuple[str, str], list[str]] = {}
    stamps: dict[tuple[str, str], str | None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        sentence = "!" in line
        if not line.strip() or line.startswith("#") or (not sentence and "$" in line):
            continue
        match = _LINE.match(line.strip()) if sentence else None
        leading_text = match["leading"].strip() if match else ""
        trailing_time = _TRAILING_TIME.fullmatch(match["trailing"].strip()) if match else None
        if match is None or trailing_time is None or (leading_text.startswith(",") and leading_text.strip(", \t")):
            raise _problem("no AIS sentence", number, path, "a line is such as !AIVDM,1,1,,B,15M67F...,0*5C")
        fields = match["body"].split(",")
        if fields[0][2:] not in ("VDM", "VDO"):
            continue
        if len(fields) != 7 or _checksum(match["body"]) != int(match["sum"], 16):
            raise _problem("a damaged sentence", number, path, "leave it out")
        stamp = _stamp(match["tags"] or "", leading_text.rstrip(", \t"), trailing_time[1] or "", number, path)
        count, part, key = fields[1], fields[2], (fields[3], fields[4])
        parts = [match["sentence"]]
        if count != "1":
            earlier_parts = waiting.setdefault(key, [])
            if part == "1":
                earlier_parts.clear()
                stamps[key] = stamp
            if part != str(len(earlier_parts) + 1):
                raise _problem(f"part {part} of a message whose other parts are missing", number, path, "leave it out")
            earlier_parts += parts
            if part != count:
                continue
            parts, stamp = waiting.pop(key), stamps.pop(key) or stamp
        row = _report(parts, stamp, number, path)
        if row is not None:
            yield FileRecord(number, row)


def _report(sentences: list[str], sent_at: str | None, line_number: int, path: str) -> list[object] | None:
    """Decode an AIS message's NMEA sentences to COLUMNS, the first of which is `sent_at`; None if no position report.

    `sent_at` is the time at which the message was sent.
    """
    try:
        from pyais import decode
        from pyais.exceptions import AISBaseException
    except ImportError as error:
        raise UsageError(f"reading {path} needs pyais", hint=install_hint("ais")) from error
    try:
        decoded = decode(*sentences).asdict(enum_as_int=True)
    except (AISBaseException, ValueError, IndexError, KeyError) as error:
        raise _problem("a message that cannot be decoded", line_number, path, "leave it out", str(error)) from error
    kind = decoded["msg_type"]
    if kind not in POSITION_REPORTS:
        return None
    unknown = _UNKNOWN | (_LONG_RANGE if kind == 27 else {})
    values = decoded | {"type": kind, "sog": decoded.get("speed"), "cog": decoded.get("course")}
    row: list[object] = [sent_at]
    for name in COLUMNS[1:]:
        value, limit = values.get(name), unknown.get(name)
        is_available = limit is None or (isinstance(value, int | float) and value < limit)
        row.append(value if is_available else None)
    return row


def _checksum(body: str) -> int:
    """Compute the NMEA checksum of an AIS sentence's body: the exclusive or of its bytes."""
    checksum = 0
    for byte in body.encode("utf-8", "replace"):
        checksum ^= byte
    return checksum


def _stamp(tags: str, leading_text: str, trailing_text: str, line_number: int, path: str) -> str | None:
    """Return an AIS line's time, from `tags` or the text around the sentence, as ISO 8601 if a number; None if absent.

    It may be in the tag block, or be the text before or after the sentence.
    """
    tag_time = _TAG_TIME.search(tags.partition("*")[0])
    text = (tag_time[1] if tag_time else leading_text or trailing_text).strip()
    if not text:
        return None
    if not _NUMBER.match(text):
        return text
    try:
        seconds = float(text)
        instant = datetime.fromtimestamp(seconds / 1000 if seconds >= 1e11 else seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise _problem(f"{text} is no time", line_number, path, "write seconds since 1970") from error
    return instant.isoformat()


def _problem(message: str, line_number: int, path: str, hint: str, detail: str | None = None) -> DataError:
    """Build a DataError about a line of an AIS file, with a hint and an optional detail."""
    return DataError(f"line {line_number}: {message}", detail=detail, hint=hint, source=path)
