"""SNEEql syntax to canonical text: one clause per line, comments kept before the clause they stand in front of."""

from __future__ import annotations

from transom.languages.sneeql.syntax import Convert, Query, RangeWindow, ScanWindow, Source
from transom.languages.sql.layout import INDENT, Line, clause_lines, item_text, with_comments
from transom.languages.sql.unparse import PRINTER, identifier


def unparse(query: Query) -> str:
    """The canonical text of a query, without comments."""
    return "\n".join(text for text, _ in lines(query))


def format_text(text: str, query: Query) -> str:
    """The canonical text of a query with the comments of the text that it was parsed from."""
    return with_comments(text, lines(query))


def lines(query: Query) -> list[Line]:
    """The lines of the canonical text; a line that begins a clause comes with the place of that clause."""
    if isinstance(query, Convert):
        inner = [(INDENT + text, start) for text, start in lines(query.query)]
        return [(f"{query.converter.value}(", query.span.start), *inner, (")", None)]
    head = "SELECT " + (", ".join(item_text(item, PRINTER) for item in query.items) or "*")
    return clause_lines(head, from_lines(query.sources), query, PRINTER)


def from_lines(sources: tuple[Source, ...]) -> list[Line]:
    """The FROM clause: one line per source, more for a subquery."""
    output: list[Line] = []
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
