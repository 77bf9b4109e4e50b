"""Answers on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transom.cli_lines import write_data
from transom.model.answer import EMPTY
from transom.printable import escape, escape_json, escape_lines

if TYPE_CHECKING:
    from transom.query import Query


def print_answer(query: Query[Any], answer: Any, form: str, start: int, until: int | None, *, guard: bool) -> None:
    """A whole answer between two ticks as a table or as lines; `guard` keeps spreadsheets from computing its text."""
    if form == "table":
        print_table(query.semantics.table(answer, start, until))
        return
    for line in query.semantics.lines(answer, form, start, until, guard=guard):
        write_data(line, escape_lines if form == "csv" else escape_json)


def print_table(rows: Iterable[tuple[str, ...]]) -> None:
    """A header and rows for people."""
    header, *content = rows
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in header:
        table.add_column(Text(escape(name)), overflow="fold")
    for row in content:
        table.add_row(*(Text(escape(cell), style="dim" if cell is EMPTY else "") for cell in row))
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)
