"""AIS: the position reports in NMEA sentences, decoded with pyais if it is installed.

A sentence does not say when it was sent, so its line has to: in a tag block (`\\c:1717221600*5D\\!AIVDM,...`), in front
(`2024-06-01T06:00:00Z !AIVDM,...`, seconds since 1970 as well) or behind (`!AIVDM,...*5C,1717221600`). What a
transponder sends for "not known" is NULL. Messages without a position and other sentences are passed over; one that is
damaged is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from transom.connectors.files.records import Record
from transom.errors import DataError, UsageError

COLUMNS = ("time", "mmsi", "type", "lon", "lat", "sog", "cog", "heading", "status", "second")
"""What a position report is told as."""

POSITIONS = (1, 2, 3, 9, 18, 19, 27)
"""The messages that ships and aircraft send to say where they are."""

_LINE = re.compile(
    r"""(?:\\(?P<tags>[^\\]*)\\)?                          # tag block
        (?P<front>[^!$\\]*)                              # a time in front
        (?P<sentence>!(?P<body>[^*!]*)\*(?P<sum>[0-9A-Fa-f]{2}))
        (?P<behind>[\s,0-9.]*)\Z""",
    re.VERBOSE,
)
"""A line without white space around it; each part ends where the next begins, so that no line takes long."""
_BEHIND = re.compile(r"(?:,?\s*([0-9.]+))?")
_TAGGED = re.compile(r"(?:^|,)c:([0-9.]+)")
_NUMBER = re.compile(r"[0-9]{1,13}(?:\.[0-9]+)?\Z")
_UNKNOWN = {"lon": 181.0, "lat": 91.0, "sog": 102.3, "cog": 360.0, "heading": 511, "second": 60}
_LONG_RANGE = {"sog": 63.0, "cog": 511.0}
"""What message 27, which is shorter, sends instead."""


def read_ais(text: str, path: str) -> Iterator[Record]:
    """The columns of a position report, and then the reports of some sentences, each with the line it ends in."""
    yield Record(0, list[object](COLUMNS))
    waiting: dict[tuple[str, str], list[str]] = {}
    stamps: dict[tuple[str, str], str | None] = {}
    for number, line in enumerate(text.splitlines(), 1):
        sentence = "!" in line
        if not line.strip() or line.startswith("#") or (not sentence and "$" in line):
            continue
        found = _LINE.match(line.strip()) if sentence else None
        front = found["front"].strip() if found else ""
        behind = _BEHIND.fullmatch(found["behind"].strip()) if found else None
        if found is None or behind is None or (front.startswith(",") and front.strip(", \t")):
            raise _problem("no AIS sentence", number, path, "a line is such as !AIVDM,1,1,,B,15M67F...,0*5C")
        fields = found["body"].split(",")
        if fields[0][2:] not in ("VDM", "VDO"):
            continue
        if len(fields) != 7 or _checksum(found["body"]) != int(found["sum"], 16):
            raise _problem("a damaged sentence", number, path, "leave it out")
        stamp = _stamp(found["tags"] or "", front.rstrip(", \t"), behind[1] or "", number, path)
        count, part, key = fields[1], fields[2], (fields[3], fields[4])
        parts = [found["sentence"]]
        if count != "1":
            before = waiting.setdefault(key, [])
            if part == "1":
                before.clear()
                stamps[key] = stamp
            if part != str(len(before) + 1):
                raise _problem(f"part {part} of a message whose other parts are missing", number, path, "leave it out")
            before += parts
            if part != count:
                continue
            parts, stamp = waiting.pop(key), stamps.pop(key) or stamp
        row = _report(parts, stamp, number, path)
        if row is not None:
            yield Record(number, row)


def _report(parts: list[str], stamp: str | None, number: int, path: str) -> list[object] | None:
    """A position report as a row; None for another message."""
    try:
        from pyais import decode
        from pyais.exceptions import AISBaseException
    except ImportError as error:
        raise UsageError(
            f"reading {path} needs pyais", hint="in a checkout of Transom: pip install '.[ais]'"
        ) from error
    try:
        told = decode(*parts).asdict(enum_as_int=True)
    except (AISBaseException, ValueError, IndexError, KeyError) as error:
        raise _problem("a message that cannot be decoded", number, path, "leave it out", str(error)) from error
    kind = told["msg_type"]
    if kind not in POSITIONS:
        return None
    unknown = _UNKNOWN | (_LONG_RANGE if kind == 27 else {})
    given = told | {"type": kind, "sog": told.get("speed"), "cog": told.get("course")}
    row: list[object] = [stamp]
    for name in COLUMNS[1:]:
        value, limit = given.get(name), unknown.get(name)
        known = limit is None or (isinstance(value, int | float) and value < limit)
        row.append(value if known else None)
    return row


def _checksum(body: str) -> int:
    total = 0
    for sign in body.encode("utf-8", "replace"):
        total ^= sign
    return total


def _stamp(tags: str, front: str, behind: str, number: int, path: str) -> str | None:
    """The time that a line gives, in ISO 8601."""
    tagged = _TAGGED.search(tags.partition("*")[0])
    words = (tagged[1] if tagged else front or behind).strip()
    if not words:
        return None
    if not _NUMBER.match(words):
        return words
    try:
        seconds = float(words)
        instant = datetime.fromtimestamp(seconds / 1000 if seconds >= 1e11 else seconds, UTC)
    except (ValueError, OverflowError, OSError) as error:
        raise _problem(f"{words} is no time", number, path, "write seconds since 1970") from error
    return instant.isoformat()


def _problem(message: str, number: int, path: str, hint: str, detail: str | None = None) -> DataError:
    return DataError(f"line {number}: {message}", detail=detail, hint=hint, source=path)
