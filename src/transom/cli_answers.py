"""Answers on a terminal."""

from __future__ import annotations

import sys

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from transom.cli_lines import write_data
from transom.model.answer import Answer, show
from transom.printable import escape, escape_json, escape_lines


def print_answer(answer: Answer, form: str, *, guard: bool) -> None:
    """An answer as a table, as lines of CSV or as lines of JSON; `guard` keeps spreadsheets from computing its text."""
    if form == "table":
        print_table(answer)
    elif form == "csv":
        for line in answer.csv_lines(guard=guard):
            write_data(line, escape_lines)
    else:
        for line in answer.json_lines():
            write_data(line, escape_json)


def print_table(answer: Answer) -> None:
    """An answer for people: tags once per window, empty windows named."""
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
    for name in answer.tags + answer.columns:
        table.add_column(Text(escape(name)), overflow="fold")
    for element in answer.elements:
        table.add_row(*map(Text, (*map(str, answer.tag(element)), *map(cell, element.row))))
    for seq, window in answer.numbered_windows():
        tag = (str(window.tick), str(seq))
        for row in window.rows:
            table.add_row(*map(Text, (*tag, *map(cell, row))))
            tag = ("", "")
        if not window.rows:
            table.add_row(*tag, *(Text("(empty)", style="dim") if i == 0 else "" for i in range(len(answer.columns))))
    terminal = sys.stdout.isatty()
    console = Console(width=None if terminal else 200, highlight=False)
    console.print(table)


def cell(value: object) -> str:
    """A value in a table, in one line; NULL is said."""
    return "NULL" if value is None else escape(show(value))  # type: ignore[arg-type]
