"""Canonical text in lines: one clause per line, comments kept before the clause they stand in front of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from transom.errors import Span
from transom.languages.sql.syntax import Node, SelectItem
from transom.languages.sql.unparse import Printer

INDENT = "  "
Line: TypeAlias = tuple[str, int | None]
"""A line of canonical text; one that begins a clause comes with the place of that clause in the text."""

_COMMENT_OR_TEXT = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[‘’][^‘’']*[‘’]|--[^\n]*")


class Clauses(Protocol):
    """What the SELECT of every language has behind FROM."""

    @property
    def where(self) -> Node | None:
        """The condition of WHERE."""
        ...

    @property
    def group_by(self) -> tuple[Node, ...]:
        """The expressions of GROUP BY."""
        ...

    @property
    def having(self) -> Node | None:
        """The condition of HAVING."""
        ...

    @property
    def starts(self) -> tuple[int, ...]:
        """Where each clause begins."""
        ...


def with_comments(text: str, lines: Sequence[Line]) -> str:
    """Lines of canonical text with the comments of the text that they come from."""
    comments = list(comments_of(text))
    output: list[str] = []
    for line, start in lines:
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


def clause_lines(
    head: str, source_lines: list[Line], select: Clauses, printer: Printer, last: Sequence[str] = ()
) -> list[Line]:
    """The lines of a SELECT: its head, FROM and what follows, each with its place; `last` is a language's own."""
    clauses: list[list[Line]] = [[(head, None)], source_lines]
    if select.where is not None:
        clauses.append([("WHERE " + printer.unparse(select.where), None)])
    if select.group_by:
        clauses.append([("GROUP BY " + ", ".join(map(printer.unparse, select.group_by)), None)])
    if select.having is not None:
        clauses.append([("HAVING " + printer.unparse(select.having), None)])
    clauses += [[(text, None)] for text in last]
    starts: tuple[int | None, ...] = select.starts or (None,) * len(clauses)
    return [
        (text, start if place == 0 else inner)
        for clause, start in zip(clauses, starts, strict=True)
        for place, (text, inner) in enumerate(clause)
    ]


def item_text(one: SelectItem, printer: Printer) -> str:
    """One item of a select list."""
    text = printer.unparse(one.expression)
    return text if one.alias is None else f"{text} AS {printer.identifier(one.alias)}"
