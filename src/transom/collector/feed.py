"""What comes in for one pushed extent, on its way into the log: read, judged, kept, and only then acknowledged."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime

from transom.catalog.extents import Extent
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.writing import Writer
from transom.connectors.payloads import LARGEST, Dead, Reader
from transom.model.reasons import Reason
from transom.model.time import Calendar


def now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)


class Feed:
    """The messages of one extent; `take` may be called in any thread, `flush` in one.

    A row that comes more than `lateness` ticks behind the latest one is dead here, in the order of the log, so that no
    reader of the log has to drop any. Without a time of its own a row has the tick at which it came.
    """

    def __init__(
        self, extent: Extent, log: Writer, calendar: Calendar, reader: Reader, clock: Callable[[], datetime] = now
    ) -> None:
        self.extent = extent
        self.log = log
        self.calendar = calendar
        self.reader = reader
        self.clock = clock
        self.counts: Counter[str] = Counter()
        self._latest = log.latest
        self._entries: list[Entry] = []
        self._done: list[Callable[[], None]] = []
        self._guard = threading.Lock()

    def take(
        self,
        raw: bytes,
        known: Mapping[str, object] | Dead,
        origin: str,
        token: str | None,
        done: Callable[[], None] | None = None,
    ) -> Dead | None:
        """Take one message; `done` is called when it is in the log. What is wrong with it, if it is dead."""
        moment = self.clock()
        with self._guard:
            dead = known if isinstance(known, Dead) else None
            if not isinstance(known, Dead):
                try:
                    self._rows(raw, known, origin, token, moment)
                except Dead as found:
                    dead = found
            if dead is not None:
                self._dead(dead, None, raw, origin, token, moment)
            if done is not None:
                self._done.append(done)
        return dead

    def _rows(self, raw: bytes, known: Mapping[str, object], origin: str, token: str | None, moment: datetime) -> None:
        for tick, row in self.reader.rows(raw, known, moment):
            if tick is None:
                tick = max(self.calendar.tick_of(moment), self._latest, 0)
            if tick < self._latest - self.extent.lateness:
                words = f"tick {tick}, {self._latest - tick} behind the latest; {self.extent.lateness} are allowed"
                self._dead(Dead(Reason.LATE, words), tick, raw, origin, token, moment)
                continue
            self._latest = max(self._latest, tick)
            self.counts["rows"] += 1
            self._entries.append(Entry(Entered.ROW, tick, moment, row, origin, token))

    def _dead(self, dead: Dead, tick: int | None, raw: bytes, origin: str, token: str | None, moment: datetime) -> None:
        self.counts[dead.reason.value] += 1
        kept = raw[:LARGEST]
        self._entries.append(
            Entry(Entered.DEAD, tick, moment, None, origin, token, kept, dead.reason, dead.words[:1000])
        )

    def again(self, done: Callable[[], None]) -> None:
        """A message that was taken before came again: acknowledge it once what was taken is in the log."""
        with self._guard:
            self.counts["came again"] += 1
            self._done.append(done)

    def flush(self) -> None:
        """Write what was taken, with a beat if time has moved on, and acknowledge it."""
        with self._guard:
            self._beat()
            entries, done = self._entries, self._done
            self._entries, self._done = [], []
        self.log.append(entries)
        for one in done:
            one()

    def _beat(self) -> None:
        """Time moves on without rows: by the clock where rows have its time, else after `idle_after` (E12)."""
        moment = self.clock()
        tick = self.calendar.tick_of(moment)
        if self.reader.timed:
            if self.extent.idle_after is None:
                return
            tick -= self.extent.idle_after
        if tick > self._latest:
            self._latest = tick
            self._entries.append(Entry(Entered.BEAT, tick, moment))
