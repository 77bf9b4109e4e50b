"""SNEEql syntax to canonical text: one clause per line, comments kept before the clause they stand in front of."""

from __future__ import annotations

import re
from collections.abc import Iterator

from transom.errors import Span
from transom.languages.sneeql.syntax import Convert, Query, RangeWindow, ScanWindow, SelectItem, Source
from transom.languages.sql.unparse import identifier
from transom.languages.sql.unparse import unparse as unparse_expression

INDENT = "  "
_COMMENT_OR_TEXT = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|--[^\n]*")


def unparse(query: Query) -> str:
    """The canonical text of a query, without comments."""
    return "\n".join(text for text, _ in lines(query))


def format_text(text: str, query: Query) -> str:
    """The canonical text of a query with the comments of the text that it was parsed from."""
    comments = list(comments_of(text))
    output: list[str] = []
    for line, start in lines(query):
        while start is not None and comments and comments[0][0].start < start:
            indent = line[: len(line) - len(line.lstrip())]
            output.append(indent + comments.pop(0)[1])
        output.append(line)
    return "\n".join([*output, *(words for _, words in comments)]) + "\n"


def comments_of(text: str) -> Iterator[tuple[Span, str]]:
    """The comments of a text, with their places; what looks like one inside quotes is none."""
    for found in _COMMENT_OR_TEXT.finditer(text):
        if found[0].startswith("--"):
            yield Span(found.start(), found.end()), found[0].rstrip()


def lines(query: Query) -> list[tuple[str, int | None]]:
    """The lines of the canonical text; a line that begins a clause comes with the place of that clause."""
    if isinstance(query, Convert):
        inner = [(INDENT + text, start) for text, start in lines(query.query)]
        return [(f"{query.converter.value}(", query.span.start), *inner, (")", None)]
    clauses: list[list[tuple[str, int | None]]] = [
        [("SELECT " + (", ".join(map(item, query.items)) or "*"), None)],
        from_lines(query.sources),
    ]
    if query.where is not None:
        clauses.append([("WHERE " + unparse_expression(query.where), None)])
    if query.group_by:
        clauses.append([("GROUP BY " + ", ".join(map(unparse_expression, query.group_by)), None)])
    if query.having is not None:
        clauses.append([("HAVING " + unparse_expression(query.having), None)])
    starts: tuple[int | None, ...] = query.starts or (None,) * len(clauses)
    return [
        (text, start if place == 0 else inner)
        for clause, start in zip(clauses, starts, strict=True)
        for place, (text, inner) in enumerate(clause)
    ]


def item(one: SelectItem) -> str:
    """One item of the select list."""
    text = unparse_expression(one.expression)
    return text if one.alias is None else f"{text} AS {identifier(one.alias)}"


def from_lines(sources: tuple[Source, ...]) -> list[tuple[str, int | None]]:
    """The FROM clause: one line per source, more for a subquery."""
    output: list[tuple[str, int | None]] = []
    for place, source in enumerate(sources):
        head = "FROM " if place == 0 else "     "
        tail = decorations(source) + ("," if place < len(sources) - 1 else "")
        begin = None if place == 0 else source.span.start
        if isinstance(source.input, str):
            output.append((head + identifier(source.input) + tail, begin))
        else:
            margin = "" if place == 0 else head
            inner = [(margin + INDENT + text, start) for text, start in lines(source.input)]
            output += [(head + "(", begin), *inner, (margin + ")" + tail, None)]
    return output


def decorations(source: Source) -> str:
    """The window and the alias of a source."""
    words = ""
    match source.window:
        case RangeWindow(past=past, until=until, slide=slide, unit=unit):
            words = f" [FROM {now(past)} TO {now(until)} SLIDE {slide} {unit.value}]"
        case ScanWindow(every=every, unit=unit):
            words = f" [SCAN {every} {unit.value}]"
    return words if source.alias is None else f"{words} AS {identifier(source.alias)}"


def now(offset: int) -> str:
    """NOW, or so many units before it."""
    return f"NOW-{offset}" if offset else "NOW"
