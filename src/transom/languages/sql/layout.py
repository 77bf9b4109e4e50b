"""Canonical layout of queries: one clause per line, each comment before the clause that follows it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol, TypeAlias

from transom.errors import Span
from transom.languages.sql.syntax import Node, SelectItem
from transom.languages.sql.unparse import Printer

INDENT = "  "
Line: TypeAlias = tuple[str, int | None]
"""A line of canonical text, and the offset in the original text of the clause that it begins, if any."""

_COMMENT_OR_TEXT = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|[‘’][^‘’']*[‘’]|--[^\n]*")


class SelectClauses(Protocol):
    """The clauses after FROM that SELECT has in every SQL-like language."""

    @property
    def where(self) -> Node | None:
        """The condition of WHERE, or None if the query has no WHERE."""
        ...

    @property
    def group_by(self) -> tuple[Node, ...]:
        """The expressions of GROUP BY, empty without GROUP BY."""
        ...

    @property
    def having(self) -> Node | None:
        """The condition of HAVING, or None if the query has no HAVING."""
        ...

    @property
    def starts(self) -> tuple[int, ...]:
        """The offsets of the clauses in the original text, in order; empty if there is no original text."""
        ...


def with_comments(text: str, lines: Sequence[Line]) -> str:
    """Join the lines of a canonical text, with each comment of `text` before the clause that followed it."""
    comments = list(comments_of(text))
    output: list[str] = []
    for line, start in lines:
        while start is not None and comments and comments[0][0].start < start:
            indent = line[: len(line) - len(line.lstrip())]
            output.append(indent + comments.pop(0)[1])
        output.append(line)
    return "\n".join([*output, *(comment for _, comment in comments)]) + "\n"


def comments_of(text: str) -> Iterator[tuple[Span, str]]:
    """Yield the `--` comments of a SQL-like query with their spans; `--` inside quotes does not begin a comment."""
    for match in _COMMENT_OR_TEXT.finditer(text):
        if match[0].startswith("--"):
            yield Span(match.start(), match.end()), match[0].rstrip()


def clause_lines(
    head: str, source_lines: list[Line], select: SelectClauses, printer: Printer, final_clauses: Sequence[str] = ()
) -> list[Line]:
    """Return the lines of a SELECT: `head`, the FROM lines `source_lines`, WHERE to HAVING, and `final_clauses`."""
    clauses: list[list[Line]] = [[(head, None)], source_lines]
    if select.where is not None:
        clauses.append([("WHERE " + printer.unparse(select.where), None)])
    if select.group_by:
        clauses.append([("GROUP BY " + ", ".join(map(printer.unparse, select.group_by)), None)])
    if select.having is not None:
        clauses.append([("HAVING " + printer.unparse(select.having), None)])
    clauses += [[(text, None)] for text in final_clauses]
    starts: tuple[int | None, ...] = select.starts or (None,) * len(clauses)
    return [
        (text, start if line_number == 0 else inner)
        for clause, start in zip(clauses, starts, strict=True)
        for line_number, (text, inner) in enumerate(clause)
    ]


def item_text(item: SelectItem, printer: Printer) -> str:
    """Return the canonical text of a select item, with its alias if it has one."""
    text = printer.unparse(item.expression)
    return text if item.alias is None else f"{text} AS {printer.identifier(item.alias)}"
