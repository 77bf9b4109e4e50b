"""Handle SIGINT and SIGTERM: a run ends between two micro-batches, without a traceback.

The exit code is 0, or 75 if the command should have ended by itself (`--once`), since a restart can finish its work.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from transom.cli.output import say
from transom.errors import TransomError, Unavailable

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(TransomError):
    """A signal has stopped a command that should have ended by itself; a restart finishes its work."""

    exit_code = Unavailable.exit_code

    def __init__(self) -> None:
        """Create the error of a run with `--once` that a signal stopped before it had processed all rows."""
        super().__init__(
            "a signal stopped the run before it had processed all available rows",
            hint="start it again with the same arguments, and it goes on",
        )


class StopRequest:
    """Whether a signal has asked the command to stop."""

    def __init__(self) -> None:
        """Create the flag that a signal handler sets to ask the command to stop; it is not set yet."""
        self.requested = False
        self.polled = False
        """Whether the command polls `requested`; if not, a signal ends it at once."""
        self.must_finish = False
        """Whether the command should end by itself; a signal then makes it fail with `Interrupted`."""

    def listen(self) -> None:
        """Install the signal handlers; call it again after Spark has started, because PySpark replaces one of them.

        It is that of SIGINT.
        """
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                signal.signal(number, self._handle)

    def _handle(self, number: int, frame: Any) -> None:
        """Request the stop at the first signal; KeyboardInterrupt at the next, or if nobody polls the request."""
        if self.requested or not self.polled:
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def stop_on_signal() -> Iterator[StopRequest]:
    """Yield a stop request that SIGINT or SIGTERM sets during the block; restore the earlier handlers after it.

    A signal ends the block, without an error unless the command must finish.
    """
    previous = {number: signal.getsignal(number) for number in SIGNALS}
    stop = StopRequest()
    stop.listen()
    try:
        yield stop
    except KeyboardInterrupt:
        if stop.must_finish:
            raise Interrupted from None
        say("stopped", err=True)
    finally:
        if threading.current_thread() is threading.main_thread():
            for number, handler in previous.items():
                signal.signal(number, handler)
