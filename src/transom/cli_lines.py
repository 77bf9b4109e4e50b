"""Lines on a terminal. Rich takes as long to import as a small catalog to read: only colour and layout import it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import typer

from transom.printable import escape_json, escape_lines


def say(words: str, style: str = "", *, err: bool = False, json: bool = False) -> None:
    """Print words, in a style of Rich where the terminal has colours; control characters of data are escaped."""
    words = escape_json(words) if json else escape_lines(words)
    if not style:
        typer.echo(words, err=err)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=err, highlight=False, soft_wrap=True).print(Text(words, style=style))


def write_data(line: str, escape: Callable[[str], str]) -> None:
    """Write a line of data as it is; if the output is a terminal, escaped."""
    sys.stdout.write((escape(line) if sys.stdout.isatty() else line) + "\n")
    sys.stdout.flush()
