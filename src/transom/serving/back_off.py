"""How long a failed query waits before it is started again."""

from __future__ import annotations


class BackOff:
    """Pauses that double from `first` to `longest` seconds, and begin anew after a success."""

    def __init__(self, first: float, longest: float) -> None:
        """Create the pauses; the first one is never longer than the longest."""
        self._first = min(first, longest)
        self._longest = longest
        self._failures = 0

    @property
    def failures(self) -> int:
        """The number of failures since the last success."""
        return self._failures

    def pause(self) -> float:
        """Count a failure, and return the seconds until the next attempt."""
        seconds = min(self._first * 2.0 ** min(self._failures, 60), self._longest)
        self._failures += 1
        return seconds

    def reset(self) -> None:
        """Forget the failures, because the query has processed a micro-batch."""
        self._failures = 0
