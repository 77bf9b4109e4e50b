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
        """Create a stop request that no signal has made yet."""
        self.requested = False
        self.polled = False
        """Whether the command polls `requested`; if not, a signal ends it at once."""

    def listen(self) -> None:
        """Install the signal handlers; call it again after Spark has started, because PySpark replaces one of them.

        It is that of SIGINT.
        """
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        """Request the stop at the first signal; raise KeyboardInterrupt at the second, or if nobody polls it."""
        if self.requested or not self.polled:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Yield a stop request that signals make while the block runs, and then restore the earlier signal handlers.

    A signal ends the block without an error.
    """
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
