"""What happens in a project, as a bounded list of numbered events that any number of readers follow."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

KEPT_EVENTS = 1000
"""The number of events that a slow reader may lag behind before it misses some."""


@dataclass(frozen=True)
class Event:
    """One event: its number from 1, its kind, the query that it is about (None: the project), and its fields."""

    number: int
    kind: str
    query: str | None
    fields: Mapping[str, Any]


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

    def since(self, number: int) -> tuple[int, list[Event]]:
        """Return how many of the events after `number` are dropped already, and the others in order.

        A number that is larger than the last one comes from an earlier process; it counts as 0.
        """
        with self._lock:
            number = number if number <= self._last else 0
            kept = [event for event in self._events if event.number > number]
            return self._last - number - len(kept), kept
