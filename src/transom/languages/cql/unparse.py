"""Prints CQL as canonical text: one clause per line, each comment before the clause that follows it."""

from __future__ import annotations

from typing import assert_never

from transom.languages.cql.syntax import (
    Convert,
    FirstClause,
    Join,
    Quantity,
    Query,
    RangeClause,
    RegionName,
    RowQuantity,
    Select,
    SetOperation,
    SetOperator,
    SlideClause,
    Source,
    Table,
    WindowClause,
)
from transom.languages.sql.layout import INDENT, Line, clause_lines, item_text, with_comments
from transom.languages.sql.unparse import Printer

KEYWORDS = frozenset({"distinct", "exists", "partition", "range", "row", "rows", "slide", "now", "unbounded"})
"""Keywords that can occur where a name can; a name that is one needs double quotes."""


class _CqlPrinter(Printer):
    """Prints CQL expressions, with subqueries on one line."""

    reserved = Printer.reserved | KEYWORDS

    def query(self, query: object) -> str:
        """Return the text of a subquery on one line; raises TypeError if `query` is not a CQL query."""
        if not isinstance(query, Select | Convert | SetOperation):
            raise TypeError(f"{type(query).__name__} is no query of CQL")
        return " ".join(text.strip() for text, _ in lines(query))


PRINTER = _CqlPrinter()
identifier = PRINTER.identifier


def unparse(query: Query) -> str:
    """Return the canonical text of a CQL query, without comments."""
    return "\n".join(text for text, _ in lines(query))


def format_text(text: str, query: Query) -> str:
    """Return the canonical text of a query, with the comments of `text`, each before the clause that followed it."""
    return with_comments(text, lines(query))


def lines(query: Query) -> list[Line]:
    """Return the lines of a query's canonical text, each with its clause's offset in the original text, or None."""
    match query:
        case Convert():
            return parenthesized_lines(f"{query.converter.value}(", query.span.start, query.query)
        case SetOperation():
            level = query_precedence(query)
            operator = query.combination.value + (" ALL" if query.every else "")
            left, right = operand(query.left, level), operand(query.right, level + 1)
            return [*left, (operator, query.word_span.start or None), *right]
        case Select():
            last = [] if query.first is None else [first_text(query.first)]
            return clause_lines(select_head(query), from_lines(query.tables), query, PRINTER, last)
        case _:
            assert_never(query)


def parenthesized_lines(opening: str, opening_offset: int | None, query: Query) -> list[Line]:
    """Return the indented lines of a query in parentheses; the first is `opening`, at `opening_offset` of the text.

    `opening_offset` is the offset of that line in the original text.
    """
    return [(opening, opening_offset), *((INDENT + text, inner) for text, inner in lines(query)), (")", None)]


def query_precedence(query: Query) -> int:
    """Return the precedence of a query as an operand: 0 for UNION and EXCEPT, 1 for INTERSECT, 2 for SELECT."""
    if isinstance(query, SetOperation):
        return 1 if query.combination is SetOperator.INTERSECT else 0
    return 2


def operand(query: Query, min_precedence: int) -> list[Line]:
    """Return the lines of an operand of a set operation, in parentheses if it binds less than `min_precedence`."""
    return lines(query) if query_precedence(query) >= min_precedence else parenthesized_lines("(", None, query)


def select_head(query: Select) -> str:
    """Return the first line of a SELECT: SELECT, and its items with DISTINCT, inside a converter such as RSTREAM."""
    items = ", ".join(item_text(item, PRINTER) for item in query.items) or "*"
    if query.distinct:
        items = f"DISTINCT {items}"
    return f"SELECT {items}" if query.converter is None else f"SELECT {query.converter.value}({items})"


def first_text(first: FirstClause) -> str:
    """Return the canonical text of a FIRST clause: FIRST n PER expressions BY expression."""
    per = f" PER {', '.join(map(PRINTER.unparse, first.per))}" if first.per else ""
    return f"FIRST {first.count}{per} BY {PRINTER.unparse(first.by)}"


def from_lines(tables: tuple[Table, ...]) -> list[Line]:
    """Return the lines of the FROM clause: a line for each source, several for a subquery."""
    output: list[Line] = []
    for index, table in enumerate(tables):
        tail = "," if index < len(tables) - 1 else ""
        output += table_lines(table, "FROM " if index == 0 else "     ", tail, None if index == 0 else table.span.start)
    return output


def table_lines(table: Table, head: str, tail: str, offset_in_text: int | None) -> list[Line]:
    """Return the lines of a FROM item (at `offset_in_text`), from `head` (FROM or blanks) to `tail` (comma or empty).

    `offset_in_text` is the offset of the item in the original text.
    """
    if isinstance(table, Join):
        keyword = "LEFT JOIN " if table.outer else "JOIN "
        condition = f" ON {PRINTER.unparse(table.on)}{tail}"
        right = source_lines(table.right, "     " + keyword, condition, table.right.span.start or None)
        return [*table_lines(table.left, head, "", offset_in_text), *right]
    return source_lines(table, head, tail, offset_in_text)


def source_lines(source: Source, head: str, tail: str, offset_in_text: int | None) -> list[Line]:
    """Return the lines of a FROM source (at `offset_in_text`) with window and alias, between `head` and `tail`.

    `offset_in_text` is the offset of the source in the original text.
    """
    tail = window_and_alias(source) + tail
    if isinstance(source.input, str):
        return [(head + identifier(source.input) + tail, offset_in_text)]
    margin = "" if head == "FROM " else "     "
    inner = [(margin + INDENT + text, start) for text, start in lines(source.input)]
    return [(head + "(", offset_in_text), *inner, (margin + ")" + tail, None)]


def window_and_alias(source: Source) -> str:
    """Return the text after a source's name, ` [window] AS alias`; it is empty if the source has neither."""
    text = "" if source.window is None else f" [{window_text(source.window)}]"
    return text if source.alias is None else f"{text} AS {identifier(source.alias)}"


def window_text(window: WindowClause) -> str:
    """Return the canonical text of a window without its brackets, such as RANGE '5 minutes', SLIDE '1 minute'."""
    keys = ", ".join(map(PRINTER.unparse, window.partition))
    parts = [range_text(clause) for clause in window.ranges]
    if not parts:
        parts = ["NOW" if window.now else "UNBOUNDED"]
    if window.slide is not None:
        parts.append(slide_text(window.slide))
    zone = "" if window.zone is None else f" AT '{window.zone.name}'"
    return (f"PARTITION BY {keys} " if keys else "") + ", ".join(parts) + zone


def range_text(clause: RangeClause) -> str:
    """Return the canonical text of a range: ROWS n, RANGE value, or RANGE BY value RATTR domain."""
    match clause.value:
        case RowQuantity(count=count):
            return f"ROWS {count}"
        case RegionName(name=name):
            value_text = identifier(name)
        case Quantity():
            value_text = quantity_text(clause.value)
        case _:
            assert_never(clause.value)
    if clause.domain is None:
        return f"RANGE BY {value_text}" if isinstance(clause.value, RegionName) else f"RANGE {value_text}"
    return f"RANGE BY {value_text} RATTR {clause.domain.value}"


def slide_text(slide: SlideClause) -> str:
    """Return the canonical text of a slide: SLIDE n, SLIDE value, or SLIDE BY value SATTR domain."""
    if isinstance(slide.value, RowQuantity):
        return f"SLIDE {slide.value.count}"
    value_text = quantity_text(slide.value)
    return f"SLIDE {value_text}" if slide.domain is None else f"SLIDE BY {value_text} SATTR {slide.domain.value}"


def quantity_text(quantity: Quantity) -> str:
    """Return the canonical text of a quantity: a number and its unit in quotes."""
    return f"'{quantity.amount:f} {quantity.unit}'"
