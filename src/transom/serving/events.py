"""What happens in a project, as a bounded list of numbered events that any number of readers follow."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import islice
from typing import Any

from transom.serving.json_text import frame

KEPT_EVENTS = 1000
"""The number of events that a slow reader may lag behind before it misses some."""


@dataclass(frozen=True)
class Event:
    """One event: its number from 1, its kind, the query that it is about (None: the project), and its fields."""

    number: int
    kind: str
    query: str | None
    fields: Mapping[str, Any]

    @cached_property
    def frame(self) -> bytes:
        """The event as a server-sent event, which is the same for all readers."""
        return frame(self.kind, {"query": self.query, **self.fields}, self.number)


class Events:
    """The newest events of a project. Readers keep the number of the last event that they have read."""

    def __init__(self, kept: int = KEPT_EVENTS) -> None:
        """Create an empty list that keeps this number of events."""
        self._events: deque[Event] = deque(maxlen=kept)
        self._lock = threading.Lock()
        self._last = 0

    @property
    def last(self) -> int:
        """The number of the newest event; 0 before the first one."""
        return self._last

    def add(self, kind: str, query: str | None, **fields: Any) -> Event:
        """Add an event with the present time, and return it; the oldest one is dropped if there are too many."""
        with self._lock:
            self._last += 1
            at = datetime.now(UTC).isoformat(timespec="milliseconds")
            event = Event(self._last, kind, query, {"at": at, **fields})
            self._events.append(event)
        return event

    def since(self, number: int, most: int = KEPT_EVENTS) -> tuple[int, list[Event]]:
        """Return how many of the events after `number` are dropped already, and at most `most` others in order.

        A number that is larger than the last one comes from an earlier process; it counts as 0.
        """
        with self._lock:
            number = number if number <= self._last else 0
            if number == self._last:
                return 0, []
            first = self._events[0].number if self._events else self._last + 1
            missed = max(first - number - 1, 0)
            skipped = max(number + 1 - first, 0)
            return missed, list(islice(self._events, skipped, skipped + most))
