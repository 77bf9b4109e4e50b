"""A line on stderr that shows how far a long evaluation is."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from transom.cli import output

if TYPE_CHECKING:
    from rich.progress import Progress

DELAY = 2.0
"""Seconds before progress is shown; quicker commands show none."""


class _DelayedLine:
    """A line with a step and the elapsed time, which appears after a delay and disappears at the end."""

    def __init__(self) -> None:
        """Start the timer after which the status line appears."""
        self._lock = threading.Lock()
        self._step = "starting"
        self._bar: Progress | None = None
        self._ended = False
        self._timer = threading.Timer(DELAY, self._show)
        self._timer.daemon = True
        self._timer.start()

    def update(self, step: str) -> None:
        """Set the text of the status line, which names the current step."""
        with self._lock:
            self._step = step
            if self._bar is not None:
                self._bar.update(self._bar.task_ids[0], description=step)

    def end(self) -> None:
        """Remove the status line, or cancel its timer if it has not appeared yet."""
        self._timer.cancel()
        with self._lock:
            self._ended = True
            if self._bar is not None:
                self._bar.stop()

    def _show(self) -> None:
        """Show the status line, which a thread of Rich refreshes; the timer calls this after the delay."""
        from rich.console import Console
        from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
        from rich.text import Text

        class ElapsedColumn(TimeElapsedColumn):
            """The seconds since the command began, which is `DELAY` before the line appears."""

            def render(self, task: object) -> Text:
                """Return the seconds since the command began, as text such as `12 s`."""
                return Text(f"{(task.elapsed or 0) + DELAY:.0f} s")  # type: ignore[attr-defined]

        with self._lock:
            if self._ended:
                return
            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), ElapsedColumn())
            self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
            self._bar.add_task(self._step, total=None)
            self._bar.start()


@contextmanager
def show_progress() -> Iterator[Callable[[str], None] | None]:
    """Show a status line on stderr if the block takes over 2 s; yield the function that sets its text, or None.

    Nothing is shown, and None is yielded, if stderr is no terminal or the command is quiet.
    """
    if output.is_quiet() or not sys.stderr.isatty():
        yield None
        return
    line = _DelayedLine()
    try:
        yield line.update
    finally:
        line.end()
