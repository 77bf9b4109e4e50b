"""Lines on a terminal or in a log. Rich takes as long to import as a small catalog to read: only colour needs it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import typer

_json = False
"""Whether lines on the standard error are JSON."""


def say(words: str, style: str = "", *, err: bool = False) -> None:
    """Print words as they are, in a style of Rich where the terminal has colours."""
    if _json and err:
        log("message", message=words)
        return
    if not style:
        typer.echo(words, err=err)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=err, highlight=False, soft_wrap=True).print(Text(words, style=style))


def log(event: str, **fields: Any) -> None:
    """Print one line of JSON on the standard error."""
    typer.echo(json.dumps({"event": event, **fields}, ensure_ascii=False), err=True)


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
