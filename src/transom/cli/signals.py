"""Handle SIGINT and SIGTERM: a run ends between two micro-batches, without a traceback, with exit code 0."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transom.cli.output import say

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether a signal has asked the command to stop."""

    def __init__(self) -> None:
        """A stop request that no signal has made yet."""
        self.requested = False
        self.polled = False
        """Whether the command polls `requested`; if not, a signal ends it at once."""

    def listen(self) -> None:
        """Install the signal handlers; call it again after Spark has started, as PySpark replaces that of SIGINT."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        """Signal handler: request the stop; the second signal, or one that is not polled, raises KeyboardInterrupt."""
        if self.requested or not self.polled:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Let a signal end the block with exit code 0: yields the request to poll; restores the earlier signal handlers."""
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    stop = StopRequest()
    stop.listen()
    try:
        yield stop
    except KeyboardInterrupt:
        say("stopped", err=True)
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in previous.items():
                signal.signal(number, handler)
