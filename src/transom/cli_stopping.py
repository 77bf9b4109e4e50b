"""SIGINT and SIGTERM: a run ends between two micro-batches, without a trace, with the exit code 0."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transom.cli_lines import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Stop:
    """Whether somebody asked a command to stop."""

    def __init__(self) -> None:
        self.asked = False
        self.waits = False
        """Whether the command looks at `asked`; if not, a signal ends it at once."""

    def listen(self) -> None:
        """Install the signal handlers; once more after Spark has started, as it replaces the one of SIGINT."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                signal.signal(number, self._take)

    def _take(self, number: int, frame: Any) -> None:
        if self.asked or not self.waits:
            raise KeyboardInterrupt
        self.asked = True


@contextmanager
def stoppable() -> Iterator[Stop]:
    """A command that a signal stops with the exit code 0; the signals are given back afterwards."""
    before = {number: signal.getsignal(number) for number in SIGNALS}
    stop = Stop()
    stop.listen()
    try:
        yield stop
    except KeyboardInterrupt:
        say("stopped", err=True)
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in before.items():
                signal.signal(number, handler)
