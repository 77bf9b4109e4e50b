"""Health of an extent: the problem that it reports."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable

from transom.errors import Fenced, TransomError

RETRY = 5.0
"""Seconds until an extent that failed tries again."""
Notify = Callable[[str], None]


class Health:
    """The problem of one extent, reported once when it appears, changes or is resolved.

    `failed` is whether the extent's log accepts no entries now; a device or broker that is down is not a failure of the
    collector.
    """

    def __init__(self, name: str = "", notify: Notify = lambda message: None) -> None:
        """Track the health of the extent `name`; `notify` receives a line when a problem appears or ends."""
        self.name = name
        self.failed = False
        self.fenced: Fenced | None = None
        """The error, if a newer collector has taken over the log."""
        self._problem: str | None = None
        self._notify = notify

    @property
    def problem(self) -> str | None:
        """The problem of the extent as one line; None if there is none."""
        return self._problem

    def fail(self, error: TransomError) -> None:
        """Record that the extent's log cannot be written; call `notify` unless this error was already reported."""
        self.failed = True
        self._report(one_line(error))

    def fence(self, error: Fenced) -> None:
        """Record that a newer collector has taken the next epoch of the extent's log, and call `notify`."""
        self.fenced = error
        self.fail(error)

    def report(self, problem: str | None, message_when_resolved: str = "goes on") -> None:
        """Record that the log is writable and the source has a `problem` (None: none); notify only of changes."""
        self.failed = False
        self._report(problem, message_when_resolved)

    def _report(self, problem: str | None, message_when_resolved: str = "") -> None:
        """Call `notify` once for a new or changed problem, or with `message_when_resolved` when it is over."""
        if problem != self._problem:
            self._problem = problem
            self._notify(f"{self.name}: {problem or message_when_resolved}")


def one_line(error: TransomError) -> str:
    """Return an error as one line of text for the operator: message, detail and hint."""
    detail = f" ({error.detail})" if error.detail else ""
    hint = f"; {error.hint}" if error.hint else ""
    return " ".join(f"{error.message}{detail}{hint}".split())


async def wait_for_stop(stop: asyncio.Event, seconds: float) -> bool:
    """Wait for some seconds or until the event `stop` is set; return whether it is set."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), max(seconds, 0.0))
    return stop.is_set()
