"""Print answers: as a table for people, or as lines of data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transom.cli.output import write_data
from transom.model.answer import EMPTY
from transom.printable import escape, escape_json, escape_lines

if TYPE_CHECKING:
    from transom.model.view import View
    from transom.query import Query


def print_answer(
    query: Query[Any],
    answer: Any,
    answer_format: str,
    start: int,
    until: int | None,
    view: View,
    *,
    escape_formulas: bool,
) -> None:
    """Print an answer in a format; `escape_formulas` disarms texts in CSV that spreadsheets would run as formulas.

    An RDF answer is printed from tick `start` to `until`.
    """
    if answer_format == "table":
        print_table(query.semantics.table(answer, start, until, view))
        return
    for line in query.semantics.lines(answer, answer_format, start, until, view, escape_formulas=escape_formulas):
        write_data(line, escape_lines if answer_format == "csv" else escape_json)


def print_table(rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows as a table; the first row is the header."""
    header, *content = rows
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in header:
        table.add_column(Text(escape(name)), overflow="fold")
    for row in content:
        table.add_row(*(Text(escape(cell), style="dim" if cell is EMPTY else "") for cell in row))
    Console(width=None if sys.stdout.isatty() else 200, highlight=False).print(table)
