"""Print lines as text or JSON, and count warnings. Rich is imported only for colour, as it loads slowly."""

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


STRICT_MESSAGE = "warnings fail with --strict"


class Verbosity:
    """What a command prints beside its answer (`quiet`: no remarks), and whether a warning fails it (`strict`)."""

    def __init__(self, quiet: bool = False, strict: bool = False) -> None:
        """Store the options `--quiet` and `--strict` of a command, with no warning counted yet."""
        self.quiet = quiet
        self.strict = strict
        self.warnings = 0


_verbosity = Verbosity()
"""The options `--quiet` and `--strict` of the command that runs, and the number of its warnings so far."""


def set_verbosity(*, quiet: bool = False, strict: bool = False) -> None:
    """Set `--quiet` and `--strict` for the command that begins, and forget earlier warnings."""
    global _verbosity
    _verbosity = Verbosity(quiet, strict)


def is_quiet() -> bool:
    """Whether the command prints only answers, warnings and errors."""
    return _verbosity.quiet


def is_strict() -> bool:
    """Whether the command fails if it prints a warning."""
    return _verbosity.strict


def warn(text: str, *, err: bool = True) -> None:
    """Print a warning on stderr (stdout unless `err`), and count it for `--strict`."""
    _verbosity.warnings += 1
    say(text, "yellow", err=err)


def remark(text: str, style: str = "", *, err: bool = False) -> None:
    """Print a line that is no answer, warning or error, on stdout (stderr if `err`), unless the command is quiet."""
    if not _verbosity.quiet:
        say(text, style, err=err)


def fail_on_warnings() -> None:
    """With `--strict`, exit with code 1 if the command has printed a warning."""
    if _verbosity.strict and _verbosity.warnings:
        say(f"error: {STRICT_MESSAGE}", "bold red", err=True)
        raise SystemExit(1)


def say(text: str, style: str = "", *, err: bool = False, json: bool = False) -> None:
    """Print a text on stdout (stderr if `err`) in a Rich style; control characters are escaped, as in JSON if `json`.

    Escapes are those of JSON if `json`. In JSON mode, a text on stderr is an event.
    """
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
    """Write messages on stderr as JSON lines in the block, if `enabled`.

    That goes on after an exception, so that the error is JSON too.
    """
    global _json
    _json = enabled
    yield
    use_text_lines()


def use_text_lines() -> None:
    """End JSON mode, in which messages on stderr are JSON lines: print them as text again."""
    global _json
    _json = False


def write_data(line: str, escape: Callable[[str], str]) -> None:
    """Write a line of an answer to stdout; if stdout is a terminal, `escape` first replaces control characters."""
    sys.stdout.write((escape(line) if sys.stdout.isatty() else line) + "\n")
    sys.stdout.flush()
