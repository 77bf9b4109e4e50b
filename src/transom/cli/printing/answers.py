"""Print answers: as a table for people, or as lines of data."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transom.cli.output import write_data
from transom.model.answer import EMPTY
from transom.printable import escape, escape_json, escape_lines

if TYPE_CHECKING:
    from transom.model.view import PrintOptions
    from transom.query import Query

TABLE_WIDTH = 200
"""The width of a table in characters if stdout is no terminal; longer lines are folded."""
MAX_STYLED_ROWS = 1000
"""The most rows of a table that Rich lays out."""
COLUMN_GAP = 3
"""The blanks between two columns of a table."""


def print_answer(
    query: Query[Any],
    answer: Any,
    answer_format: str,
    start: int,
    until: int | None,
    view: PrintOptions,
    *,
    escape_formulas: bool,
) -> None:
    """Print an answer in a format, RDF from tick `start` to `until`; `escape_formulas` makes CSV safe for spreadsheets.

    An RDF answer is printed from tick `start` to `until`.
    """
    if answer_format == "table":
        print_table(query.semantics.table(answer, start, until, view))
        return
    for line in query.semantics.lines(answer, answer_format, start, until, view, escape_formulas=escape_formulas):
        write_data(line, escape_lines if answer_format == "csv" else escape_json)


def print_table(rows: Iterable[tuple[str, ...]]) -> None:
    """Print rows as a table; the first row is the header.

    Rich takes seconds for thousands of rows, so a long table that fits on the screen is laid out here, without colours.
    """
    header, *content = rows
    if len(content) > MAX_STYLED_ROWS and print_long_table(header, content):
        return
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in header:
        table.add_column(Text(escape(name)), overflow="fold")
    for row in content:
        table.add_row(*(Text(escape(cell), style="dim" if cell is EMPTY else "") for cell in row))
    Console(width=None if sys.stdout.isatty() else TABLE_WIDTH, highlight=False).print(table)


def print_long_table(header: tuple[str, ...], content: list[tuple[str, ...]]) -> bool:
    """Print a table as Rich would, but without styles; return False, and print nothing, if a line would be too long."""
    table = [[escape(cell) for cell in row] for row in (header, *content)]
    widths = [max(map(cell_len, column)) for column in zip(*table)]
    if any("\n" in cell for row in table for cell in row):
        return False
    total = sum(widths) + COLUMN_GAP * (len(widths) - 1)
    if total > (Console().width if sys.stdout.isatty() else TABLE_WIDTH):
        return False
    gap = " " * COLUMN_GAP
    lines = (gap.join(cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths)) for row in table)
    sys.stdout.write(next(lines) + "\n" + "─" * total + "\n")
    sys.stdout.writelines(line + "\n" for line in lines)
    sys.stdout.flush()
    return True
