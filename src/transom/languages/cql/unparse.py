"""CQL syntax to canonical text: one clause per line, comments kept before the clause they stand in front of."""

from __future__ import annotations

from typing import assert_never

from transom.languages.cql.syntax import (
    Combination,
    Combine,
    Convert,
    First,
    Join,
    Place,
    Quantity,
    Query,
    Reach,
    Rows,
    Select,
    Slide,
    Source,
    Table,
    Window,
)
from transom.languages.sql.layout import INDENT, Line, clause_lines, item_text, with_comments
from transom.languages.sql.unparse import Printer

KEYWORDS = frozenset({"distinct", "exists", "partition", "range", "row", "rows", "slide", "now", "unbounded"})
"""Words that are taken for keywords where a name could stand."""


class _Printer(Printer):
    """Expressions of CQL, with their subqueries on one line."""

    reserved = Printer.reserved | KEYWORDS

    def query(self, query: object) -> str:
        if not isinstance(query, Select | Convert | Combine):
            raise TypeError(f"{type(query).__name__} is no query of CQL")
        return " ".join(text.strip() for text, _ in lines(query))


PRINTER = _Printer()
identifier = PRINTER.identifier


def unparse(query: Query) -> str:
    """The canonical text of a query, without comments."""
    return "\n".join(text for text, _ in lines(query))


def format_text(text: str, query: Query) -> str:
    """The canonical text of a query with the comments of the text that it was parsed from."""
    return with_comments(text, lines(query))


def lines(query: Query) -> list[Line]:
    """The lines of the canonical text; a line that begins a clause comes with the place of that clause."""
    match query:
        case Convert():
            return wrapped(f"{query.converter.value}(", query.span.start, query.query)
        case Combine():
            own = tightness(query)
            word = query.combination.value + (" ALL" if query.every else "")
            left, right = operand(query.left, own), operand(query.right, own + 1)
            return [*left, (word, query.word_span.start or None), *right]
        case Select():
            last = [] if query.first is None else [first_text(query.first)]
            return clause_lines(head(query), from_lines(query.tables), query, PRINTER, last)
        case _:
            assert_never(query)


def wrapped(opening: str, start: int | None, query: Query) -> list[Line]:
    """A query in parentheses, indented."""
    return [(opening, start), *((INDENT + text, inner) for text, inner in lines(query)), (")", None)]


def tightness(query: Query) -> int:
    """How tightly a query binds: INTERSECT before UNION and EXCEPT."""
    if isinstance(query, Combine):
        return 1 if query.combination is Combination.INTERSECT else 0
    return 2


def operand(query: Query, least: int) -> list[Line]:
    """A query where something at least that tight is needed."""
    return lines(query) if tightness(query) >= least else wrapped("(", None, query)


def head(query: Select) -> str:
    """SELECT and its list."""
    items = ", ".join(item_text(item, PRINTER) for item in query.items) or "*"
    if query.distinct:
        items = f"DISTINCT {items}"
    return f"SELECT {items}" if query.converter is None else f"SELECT {query.converter.value}({items})"


def first_text(first: First) -> str:
    """FIRST n PER expressions BY expression."""
    per = f" PER {', '.join(map(PRINTER.unparse, first.per))}" if first.per else ""
    return f"FIRST {first.count}{per} BY {PRINTER.unparse(first.by)}"


def from_lines(tables: tuple[Table, ...]) -> list[Line]:
    """The FROM clause: one line per source, more for a subquery."""
    output: list[Line] = []
    for place, table in enumerate(tables):
        tail = "," if place < len(tables) - 1 else ""
        output += table_lines(table, "FROM " if place == 0 else "     ", tail, None if place == 0 else table.span.start)
    return output


def table_lines(table: Table, head: str, tail: str, begin: int | None) -> list[Line]:
    """One item of FROM; a join has a line for each source that it adds."""
    if isinstance(table, Join):
        word = "LEFT JOIN " if table.outer else "JOIN "
        condition = f" ON {PRINTER.unparse(table.on)}{tail}"
        right = source_lines(table.right, "     " + word, condition, table.right.span.start or None)
        return [*table_lines(table.left, head, "", begin), *right]
    return source_lines(table, head, tail, begin)


def source_lines(source: Source, head: str, tail: str, begin: int | None) -> list[Line]:
    """An extent or a subquery with its window and alias."""
    tail = decorations(source) + tail
    if isinstance(source.input, str):
        return [(head + identifier(source.input) + tail, begin)]
    margin = "" if head == "FROM " else "     "
    inner = [(margin + INDENT + text, start) for text, start in lines(source.input)]
    return [(head + "(", begin), *inner, (margin + ")" + tail, None)]


def decorations(source: Source) -> str:
    """The window and the alias of a source."""
    words = "" if source.window is None else f" [{window_text(source.window)}]"
    return words if source.alias is None else f"{words} AS {identifier(source.alias)}"


def window_text(window: Window) -> str:
    """A window without its brackets."""
    keys = ", ".join(map(PRINTER.unparse, window.partition))
    parts = [reach_text(reach) for reach in window.reaches]
    if not parts:
        parts = ["NOW" if window.now else "UNBOUNDED"]
    if window.slide is not None:
        parts.append(slide_text(window.slide))
    return (f"PARTITION BY {keys} " if keys else "") + ", ".join(parts)


def reach_text(reach: Reach) -> str:
    """ROWS n, RANGE value, or RANGE BY value RATTR domain."""
    match reach.value:
        case Rows(count=count):
            return f"ROWS {count}"
        case Place(name=name):
            words = identifier(name)
        case Quantity():
            words = quantity_text(reach.value)
        case _:
            assert_never(reach.value)
    if reach.domain is None:
        return f"RANGE BY {words}" if isinstance(reach.value, Place) else f"RANGE {words}"
    return f"RANGE BY {words} RATTR {reach.domain.value}"


def slide_text(slide: Slide) -> str:
    """SLIDE n, SLIDE value, or SLIDE BY value SATTR domain."""
    if isinstance(slide.value, Rows):
        return f"SLIDE {slide.value.count}"
    words = quantity_text(slide.value)
    return f"SLIDE {words}" if slide.domain is None else f"SLIDE BY {words} SATTR {slide.domain.value}"


def quantity_text(quantity: Quantity) -> str:
    """A number and its unit in quotes."""
    return f"'{quantity.amount:f} {quantity.unit}'"
