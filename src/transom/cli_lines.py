"""Lines on a terminal or in a log. Rich takes as long to import as a small catalog to read: only colour needs it."""

from __future__ import annotations

import json as json_module
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

from transom.printable import escape_json, escape_lines

_json = False
"""Whether lines on the standard error are JSON."""


def say(words: str, style: str = "", *, err: bool = False, json: bool = False) -> None:
    """Print words, in a style of Rich where the terminal has colours; control characters of data are escaped."""
    if _json and err:
        log("message", message=words)
        return
    words = escape_json(words) if json else escape_lines(words)
    if not style:
        typer.echo(words, err=err)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=err, highlight=False, soft_wrap=True).print(Text(words, style=style))


def log(event: str, **fields: Any) -> None:
    """Print one line of JSON on the standard error."""
    typer.echo(escape_json(json_module.dumps({"event": event, **fields}, ensure_ascii=False)), err=True)


def is_json() -> bool:
    """Whether lines on the standard error are JSON."""
    return _json


@contextmanager
def json_lines(wanted: bool) -> Iterator[None]:
    """Make every line on the standard error JSON, and after an error also the one that says what it was."""
    global _json
    _json = wanted
    yield
    text_lines()


def text_lines() -> None:
    """Make lines on the standard error text again."""
    global _json
    _json = False


def write_data(line: str, escape: Callable[[str], str]) -> None:
    """Write a line of data as it is; if the output is a terminal, escaped."""
    sys.stdout.write((escape(line) if sys.stdout.isatty() else line) + "\n")
    sys.stdout.flush()
