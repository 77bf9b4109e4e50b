"""Read JSON lines: one object per line."""

from __future__ import annotations

import json
from collections.abc import Iterator

from transom.connectors.files.records import MISSING, FileRecord
from transom.errors import DataError


def read_json_lines(path: str) -> Iterator[FileRecord]:
    """Read a file of JSON lines: yield the member names of the first object, and then the values of each object.

    A key that an object lacks has the value MISSING; keys that the first object lacks are ignored.
    Empty lines are skipped.
    """
    columns: list[str] | None = None
    try:
        with open(path, encoding="utf-8-sig") as file:
            for number, line in enumerate(file, 1):
                if not line.strip():
                    continue
                entries = _object(line, number, path)
                if columns is None:
                    columns = list(entries)
                    yield FileRecord(number, list[object](columns))
                yield FileRecord(number, [entries.get(name, MISSING) for name in columns])
    except UnicodeDecodeError as error:
        raise DataError("the file is not UTF-8 text", hint="save it as UTF-8", source=path) from error


def _object(line: str, number: int, path: str) -> dict[str, object]:
    """Parse line `number` of a JSON lines file; raise DataError if it is not a JSON object."""
    try:
        entries: object = json.loads(line)
    except (ValueError, RecursionError) as error:
        hint = 'each line is one object such as {"tick": 0, "site": 1}'
        raise DataError(f"line {number} is not JSON", detail=str(error), hint=hint, source=path) from error
    if not isinstance(entries, dict):
        raise DataError(f"line {number} is not a JSON object", hint='write {"tick": 0, "site": 1}', source=path)
    return entries
