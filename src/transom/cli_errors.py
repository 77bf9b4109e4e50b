"""How a command ends: errors in words, and the exit code that tells a supervisor whether to start it again."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from transom.cli_lines import is_json, log, text_lines
from transom.errors import TransomError, Unavailable, UsageError

TEMPORARY = frozenset(
    {
        errno.EADDRINUSE,
        errno.EAGAIN,
        errno.ECONNREFUSED,
        errno.ECONNRESET,
        errno.EDQUOT,
        errno.EHOSTUNREACH,
        errno.EIO,
        errno.EMFILE,
        errno.ENETUNREACH,
        errno.ENFILE,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.ETIMEDOUT,
    }
)
"""Errors of the system that may be gone when a command is started again."""


@contextmanager
def errors_shown() -> Iterator[None]:
    """Show Transom's own errors, and those of the system and of Spark, without a traceback."""
    try:
        yield
    except TransomError as error:
        fail(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        fail(of_system(error))
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        from transom.runtime.failures import in_words, unknown

        fail(in_words(error) or unknown(error))


def of_system(error: OSError) -> TransomError:
    """An error of the system; one that may go away is Unavailable."""
    if error.errno in TEMPORARY:
        return Unavailable((error.strerror or "not available").lower(), detail=str(error))
    return UsageError("cannot write the output", detail=str(error))


def fail(error: TransomError) -> NoReturn:
    """Show an error and stop with its exit code."""
    if is_json():
        told = {"message": error.render().partition("\n")[0], "detail": error.detail, "hint": error.hint}
        log("error", error=type(error).__name__, **told, exit_code=error.exit_code)
        text_lines()
        raise SystemExit(error.exit_code)
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    lines = error.render().split("\n")
    console.print(Text(f"error: {lines[0]}", style="bold red"))
    for line in lines[1:]:
        style = "red" if line.strip().startswith("| ") and set(line.split("| ", 1)[1].strip()) == {"^"} else ""
        console.print(Text(line, style="green" if line.startswith("  hint:") else style))
    raise SystemExit(error.exit_code)
