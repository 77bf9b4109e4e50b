"""Print errors and exit with a code that tells a supervisor whether a restart can help."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from transom.cli.output import is_json, log_event, use_text_lines
from transom.errors import TransomError, Unavailable, UsageError

TEMPORARY_ERRNOS = frozenset(
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
"""Operating system errors that may be gone after a restart of the command."""


@contextmanager
def report_errors() -> Iterator[None]:
    """Print errors that the block raises (of Transom, Spark or the operating system) without a traceback, and exit."""
    try:
        yield
    except TransomError as error:
        exit_with_error(error)
    except BrokenPipeError:
        raise
    except OSError as error:
        exit_with_error(wrap_os_error(error))
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pyspark", "py4j"):
            raise
        from transom.runtime.failures import translate_error, unknown_error

        exit_with_error(translate_error(error) or unknown_error(error))


def wrap_os_error(error: OSError) -> TransomError:
    """Convert an OSError to an error of Transom: Unavailable if a restart may help, else UsageError."""
    if error.errno in TEMPORARY_ERRNOS:
        return Unavailable((error.strerror or "not available").lower(), detail=str(error))
    return UsageError("cannot write the output", detail=str(error))


def exit_with_error(error: TransomError) -> NoReturn:
    """Print an error, as text or JSON, and exit with its exit code."""
    if is_json():
        fields = {"message": error.render().partition("\n")[0], "detail": error.detail, "hint": error.hint}
        log_event("error", error=type(error).__name__, **fields, exit_code=error.exit_code)
        use_text_lines()
        raise SystemExit(error.exit_code)
    print_error(error)
    raise SystemExit(error.exit_code)


def print_error(error: TransomError) -> None:
    """Print an error on stderr, in colours on a terminal."""
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True, highlight=False)
    lines = error.render().split("\n")
    console.print(Text(f"error: {lines[0]}", style="bold red"))
    for line in lines[1:]:
        style = "red" if line.strip().startswith("| ") and set(line.split("| ", 1)[1].strip()) == {"^"} else ""
        console.print(Text(line, style="green" if line.startswith("  hint:") else style))
