"""Prints SNEEql as canonical text: one clause per line, each comment before the clause that follows it."""

from __future__ import annotations

from transom.languages.sneeql.syntax import CalendarWindow, Convert, FromToWindow, Query, ScanWindow, Source
from transom.languages.sql.layout import INDENT, Line, clause_lines, item_text, with_comments
from transom.languages.sql.unparse import PRINTER, identifier


def unparse(query: Query) -> str:
    """Return the canonical text of a SNEEql query, without comments."""
    return "\n".join(text for text, _ in lines(query))


def format_text(text: str, query: Query) -> str:
    """Return the canonical text of a query, with the comments of `text`, each before the clause that followed it."""
    return with_comments(text, lines(query))


def lines(query: Query) -> list[Line]:
    """Return the lines of a query's canonical text, each with its clause's offset in the original text, or None."""
    if isinstance(query, Convert):
        inner = [(INDENT + text, start) for text, start in lines(query.query)]
        return [(f"{query.converter.value}(", query.span.start), *inner, (")", None)]
    head = "SELECT " + (", ".join(item_text(item, PRINTER) for item in query.items) or "*")
    return clause_lines(head, from_lines(query.sources), query, PRINTER)


def from_lines(sources: tuple[Source, ...]) -> list[Line]:
    """Return the lines of the FROM clause: a line for each source, several for a subquery."""
    output: list[Line] = []
    for index, source in enumerate(sources):
        head = "FROM " if index == 0 else "     "
        tail = window_and_alias(source) + ("," if index < len(sources) - 1 else "")
        begin = None if index == 0 else source.span.start
        if isinstance(source.input, str):
            output.append((head + identifier(source.input) + tail, begin))
        else:
            margin = "" if index == 0 else head
            inner = [(margin + INDENT + text, start) for text, start in lines(source.input)]
            output += [(head + "(", begin), *inner, (margin + ")" + tail, None)]
    return output


def window_and_alias(source: Source) -> str:
    """Return the text after a source's name, ` [window] AS alias`; it is empty if the source has neither."""
    text = ""
    match source.window:
        case FromToWindow(past=past, until=until, slide=slide, unit=unit):
            text = f" [FROM {now_text(past)} TO {now_text(until)} SLIDE {slide} {unit.value}]"
        case CalendarWindow(past=past, until=until, slide=slide, unit=unit_name, zone=zone):
            text = f" [FROM {now_text(past)} TO {now_text(until)} SLIDE {slide} {unit_name} AT '{zone.name}']"
        case ScanWindow(every=every, unit=unit):
            text = f" [SCAN {every} {unit.value}]"
    return text if source.alias is None else f"{text} AS {identifier(source.alias)}"


def now_text(offset: int) -> str:
    """Return the canonical text of a window bound: NOW, or NOW-n if the offset n is not 0."""
    return f"NOW-{offset}" if offset else "NOW"
