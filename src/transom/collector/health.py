"""What the collector reports of an extent: what keeps it from working, and what was written to its log."""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Iterable

from transom.connectors.log.columns import Entered, Entry
from transom.errors import TransomError

RETRY = 5.0
"""Seconds after which an extent that cannot work tries again."""
Tell = Callable[[str], None]


class Health:
    """The problem of one extent, told once when it appears, when it changes and when it is over.

    `failed` says whether the log of the extent takes nothing now; a device or broker that is away is no failure of the
    collector.
    """

    def __init__(self, name: str = "", tell: Tell = lambda words: None) -> None:
        self.name = name
        self.failed = False
        self._problem: str | None = None
        self._tell = tell

    def fail(self, error: TransomError) -> None:
        """The log takes nothing."""
        self.failed = True
        self._report(one_line(error))

    def report(self, problem: str | None, over: str = "goes on") -> None:
        """The log takes entries; `problem` is what is wrong with the source, `over` is told if nothing is any more."""
        self.failed = False
        self._report(problem, over)

    def _report(self, problem: str | None, over: str = "") -> None:
        if problem != self._problem:
            self._problem = problem
            self._tell(f"{self.name}: {problem or over}")


def one_line(error: TransomError) -> str:
    """An error on one line."""
    detail = f" ({error.detail})" if error.detail else ""
    hint = f"; {error.hint}" if error.hint else ""
    return " ".join(f"{error.message}{detail}{hint}".split())


def counted(entries: Iterable[Entry]) -> Counter[str]:
    """How many rows there are, and what is missing or dead by reason."""
    found = [entry for entry in entries if entry.kind is not Entered.BEAT]
    return Counter("rows" if entry.reason is None else entry.reason.value for entry in found)


async def stopped(stop: asyncio.Event, seconds: float) -> bool:
    """Wait; whether the collector was stopped in the meantime."""
    with contextlib.suppress(TimeoutError):
        await asyncio.wait_for(stop.wait(), max(seconds, 0.0))
    return stop.is_set()
