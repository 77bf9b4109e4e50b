"""One line of CSV and its cells, by rules that Spark's reader of topics follows to the letter."""

from __future__ import annotations

import re

_COMMA = re.compile(", *")
_OPEN = re.compile(r"(\A|,) *\Z")
BREAK = "\0"
"""Stands between two cells while a line is taken apart; a line that has one is none."""


def line_cells(text: str) -> list[str | None]:
    """The cells of one line, with or without its end; an empty one is None. ValueError says what is wrong.

    Blanks after a comma do not count. A cell in double quotes may hold commas, and two quotes for one; it holds no line
    break. A quote in a cell without quotes is refused.

    >>> line_cells('a, "b, c",')
    ['a', 'b, c', None]
    """
    line = text.removesuffix("\n").removesuffix("\r")
    if not line:
        raise ValueError("there is nothing")
    if re.search(f"[\r\n{BREAK}]", line):
        raise ValueError("more than one line")
    parts = line.split('"')
    if len(parts) % 2 == 0:
        raise ValueError("a quote is not closed")
    last = len(parts) - 1
    parts[0] = parts[0].lstrip(" ")
    for place, part in enumerate(parts):
        if place % 2:
            continue
        if part == "" and 0 < place < last:
            parts[place] = '"'
            continue
        closed = place == 0 or part.startswith(",") or (part == "" and place == last)
        if not closed or not (place == last or _OPEN.search(part)):
            raise ValueError("a quote inside a cell that does not begin and end with one")
        parts[place] = _COMMA.sub(BREAK, part)
    return [cell or None for cell in "".join(parts).split(BREAK)]
