"""Read TOML text into plain data, with the location of every key and value that is a statement of its own.

`tomllib` gives no positions. So this module cuts the text into statements, and lets `tomllib` read each of them.
Entries of an inline table have the location of the whole statement.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from typing import Any

from transom.catalog.reading.locations import KeyPath, Location, SourceMap, ValueLocation
from transom.errors import ProjectError, Span

_POSITION = re.compile(r"(.*) \(at (?:line (\d+), column (\d+)|end of document)\)\Z", re.DOTALL)
_NAME = r"""(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[A-Za-z0-9_-]+)"""
_KEY = re.compile(rf"[ \t]*({_NAME}(?:[ \t]*\.[ \t]*{_NAME})*)[ \t]*=[ \t]*")
_HEADER = re.compile(rf"[ \t]*\[[ \t]*({_NAME}(?:[ \t]*\.[ \t]*{_NAME})*)[ \t]*\]")


def read_toml(text: str, name: str) -> tuple[dict[str, Any], SourceMap]:
    """Parse TOML text into plain data and the locations of its statements; raise ProjectError if it is invalid.

    Messages call the text `name`.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _toml_error(error, text, name) from None
    except RecursionError:
        raise ProjectError("the entries are nested too deeply", hint="write fewer levels", source=name) from None
    return data, _locate(text)


def _toml_error(error: tomllib.TOMLDecodeError, text: str, name: str) -> ProjectError:
    """Convert an error of `tomllib` to a ProjectError that points into the text."""
    match = _POSITION.match(str(error))
    message, offset = str(error), len(text)
    if match:
        message = match[1]
        if match[2]:
            lines = text.split("\n")
            offset = sum(len(line) + 1 for line in lines[: int(match[2]) - 1]) + int(match[3]) - 1
    offset = min(offset, max(len(text) - 1, 0))
    message = message[:1].lower() + message[1:]
    return ProjectError(
        f"not TOML: {message}",
        span=Span(offset, offset + 1),
        text=text or " ",
        source=name,
        hint='texts are in quotes: file = "busy.cql"',
    )


def _locate(text: str) -> SourceMap:
    """Find the spans of the tables and statements of a valid TOML text."""
    source_map, table, offset = SourceMap(text), KeyPath(), 0
    source_map.values[()] = ValueLocation(Span(0, len(text)), entries=True)
    while offset < len(text):
        end_of_line = text.find("\n", offset)
        end = len(text) if end_of_line < 0 else end_of_line
        if header := _HEADER.match(text, offset):
            table = _path(header[1])
            _add(source_map, table, Span(*header.span(1)), Span(offset, end), entries=True)
        elif key := _KEY.match(text, offset):
            value_end = _end_of_value(text, key.end())
            _add(source_map, (*table, *_path(key[1])), Span(*key.span(1)), Span(key.end(), value_end), entries=False)
            end = text.find("\n", value_end)
            end = len(text) if end < 0 else end
        offset = end + 1
    return source_map


def _add(source_map: SourceMap, path: KeyPath, key: Span, value: Span, *, entries: bool) -> None:
    """Add a statement to the map, and the tables above it that have no statement of their own."""
    for length in range(1, len(path)):
        source_map.keys.setdefault(path[:length], key)
        source_map.values.setdefault(path[:length], ValueLocation(key, entries=True))
    source_map.keys[path] = key
    source_map.values[path] = ValueLocation(value, entries=entries)


def _path(key: str) -> KeyPath:
    """Return the parts of a TOML key, such as `queries."a b"`."""

    def parts(table: Any) -> Iterator[str]:
        """Yield the only key of each nested table."""
        while isinstance(table, dict):
            ((name, table),) = table.items()
            yield name

    return tuple(parts(tomllib.loads(f"{key} = 0")))


def _end_of_value(text: str, begin: int) -> int:
    """Return the offset after the value that begins at `begin`, which may extend over several lines."""
    end = begin
    while True:
        end = text.find("\n", end)
        end = len(text) if end < 0 else end
        try:
            tomllib.loads(f"x = {text[begin:end]}")
        except tomllib.TOMLDecodeError:
            if end == len(text):
                return end
            end += 1
            continue
        return begin + len(text[begin:end].rstrip())


def project_error(message: str, at: Location, source_map: SourceMap, source: str, hint: str | None) -> ProjectError:
    """Build a ProjectError that points to a location in the project file `source`."""
    return ProjectError(message, hint=hint, span=source_map.span(at), text=source_map.text, source=source)
