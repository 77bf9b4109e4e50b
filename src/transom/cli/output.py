"""Print lines as text or JSON. Rich is imported only for colour, as it loads slowly."""

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


def say(text: str, style: str = "", *, err: bool = False, json: bool = False) -> None:
    """Print `text` in a Rich `style`, escaped (for JSON if `json`); `err`: on stderr, in JSON mode as an event."""
    if _json and err:
        log_event("message", message=text)
        return
    text = escape_json(text) if json else escape_lines(text)
    if not style:
        typer.echo(text, err=err)
        return
    from rich.console import Console
    from rich.text import Text

    Console(stderr=err, highlight=False, soft_wrap=True).print(Text(text, style=style))


def log_event(event: str, **fields: Any) -> None:
    """Print an event with its fields as a line of JSON on stderr."""
    typer.echo(escape_json(json_module.dumps({"event": event, **fields}, ensure_ascii=False)), err=True)


def is_json() -> bool:
    """Whether the command line writes messages and events to stderr as JSON lines."""
    return _json


@contextmanager
def use_json_lines(enabled: bool) -> Iterator[None]:
    """If `enabled`, write stderr as JSON inside the block; after an exception too, so that the error is JSON."""
    global _json
    _json = enabled
    yield
    use_text_lines()


def use_text_lines() -> None:
    """End JSON mode: print text on stderr again."""
    global _json
    _json = False


def write_data(line: str, escape: Callable[[str], str]) -> None:
    """Write a line of an answer to stdout; if stdout is a terminal, `escape` first replaces control characters."""
    sys.stdout.write((escape(line) if sys.stdout.isatty() else line) + "\n")
    sys.stdout.flush()
