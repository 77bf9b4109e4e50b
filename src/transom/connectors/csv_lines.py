"""Parse one line of CSV into cells. `csv_lines_spark` implements exactly the same rules on Spark."""

from __future__ import annotations

import re

CELL_SEPARATOR = "\0"
"""Separates cells while a line is parsed; a line that contains it is rejected."""


def parse_csv_line(text: str, delimiter: str = ",") -> list[str | None]:
    """Parse a line of CSV into the texts of its fields; an empty field is None.

    Blanks after a `delimiter` are ignored. A quoted cell may contain delimiters, and two quotes for one, but no line
    break.
    ValueError if the line is empty, has a line break or an unclosed quote, or a quote inside an unquoted cell.

    >>> parse_csv_line('a, "b, c",')
    ['a', 'b, c', None]
    """
    line = text.removesuffix("\n").removesuffix("\r")
    if not line:
        raise ValueError("there is nothing")
    if re.search(f"[\r\n{CELL_SEPARATOR}]", line):
        raise ValueError("more than one line")
    parts = line.split('"')
    if len(parts) % 2 == 0:
        raise ValueError("a quote is not closed")
    last = len(parts) - 1
    parts[0] = parts[0].lstrip(" ")
    for index, part in enumerate(parts):
        if index % 2:
            continue
        if part == "" and 0 < index < last:
            parts[index] = '"'
            continue
        closed = index == 0 or part.startswith(delimiter) or (part == "" and index == last)
        if not closed or not (index == last or part.strip(" ") == "" or part.rstrip(" ").endswith(delimiter)):
            raise ValueError("a quote inside a cell that does not begin and end with one")
        parts[index] = re.sub(f"{re.escape(delimiter)} *", CELL_SEPARATOR, part)
    return [cell or None for cell in "".join(parts).split(CELL_SEPARATOR)]
