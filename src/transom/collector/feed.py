"""What comes in for one pushed extent, on its way into the log: read, judged, kept, and only then acknowledged."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime

from transom.catalog.extents import Extent
from transom.collector.clock import ClockWatch, now
from transom.collector.health import counted
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.writing import Writer
from transom.connectors.payloads import LARGEST, Dead, Read, Reader
from transom.errors import TransomError
from transom.model.reasons import Reason
from transom.model.time import Calendar

WAITING = 64 << 20
"""Bytes that wait for a log that cannot be written, before messages that nobody would send again are lost."""
LOST = "lost while the log could not be written"


class Feed:
    """The messages of one extent; `take` may be called in any thread, `flush` in one.

    A row that comes more than `lateness` ticks behind the latest one is dead here, in the order of the log, so that no
    reader of the log has to drop any. A row that is more than `max_ahead` ticks ahead of the clock is dead, too: all
    rows after it would be late. Without a time of its own a row has the tick at which it came.

    While the log cannot be written, what was taken waits, and `writable` is false.
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
        self._bytes = 0
        self._done: list[Callable[[], None]] = []
        self._guard = threading.Lock()
        self._watch = ClockWatch(extent, log, calendar, self.counts)
        self.writable = not self._watch.too_far(clock())

    def take(
        self,
        raw: bytes,
        known: Mapping[str, object] | Dead,
        origin: str,
        token: str | None,
        done: Callable[[], None] | None = None,
    ) -> Dead | None:
        """Take one message; `done` is called when it is in the log. What is wrong with it, if a row of it is dead."""
        moment = self.clock()
        try:
            if isinstance(known, Dead):
                raise known
            rows = self.reader.rows(raw, known, moment)
        except Dead as problem:
            found: list[Read] | Dead = problem
        else:
            found = rows
        with self._guard:
            if done is None and not self.writable and self._bytes >= WAITING:
                self.counts[LOST] += 1
                return None
            self._bytes += len(raw)
            dead = self._judge(found, raw, origin, token, moment)
            if done is not None:
                self._done.append(done)
        return dead

    def _judge(
        self, found: list[Read] | Dead, raw: bytes, origin: str, token: str | None, moment: datetime
    ) -> Dead | None:
        """Queue the entries of one message; the first of its rows that is dead, or the whole message."""
        if isinstance(found, Dead):
            self._entries.append(_letter(found, None, raw, origin, token, moment))
            return found
        first: Dead | None = None
        present = self.calendar.tick_of(moment)
        for tick, row in found:
            if tick is None:
                tick = max(present, self._latest, 0)
            else:
                dead = self._misplaced(tick, present)
                if dead is not None:
                    self._entries.append(_letter(dead, tick, raw, origin, token, moment))
                    first = first or dead
                    continue
            self._latest = max(self._latest, tick)
            self._entries.append(Entry(Entered.ROW, tick, moment, row, origin, token))
        return first

    def _misplaced(self, tick: int, present: int) -> Dead | None:
        """Why a row of this tick cannot be taken now."""
        most = self.extent.most_ahead(self.calendar)
        if tick > present + most:
            return Dead(Reason.AHEAD, f"tick {tick}, {tick - present} ahead of the clock; {most} are allowed")
        if tick < self._latest - self.extent.lateness:
            behind = self._latest - tick
            return Dead(Reason.LATE, f"tick {tick}, {behind} behind the latest; {self.extent.lateness} are allowed")
        return None

    def acknowledge_duplicate(self, done: Callable[[], None]) -> None:
        """A message that was taken before came again: acknowledge it once what was taken is in the log."""
        with self._guard:
            self.counts["came again"] += 1
            self._done.append(done)

    def flush(self) -> None:
        """Write what was taken, with a beat if time has moved on, and acknowledge it.

        If the log cannot be written, everything waits for the next call.
        """
        try:
            self._watch.check(self.clock())
        except TransomError:
            self.writable = False
            raise
        with self._guard:
            self._beat()
            entries, done = self._entries, self._done
            self._entries, self._done = [], []
        first = self.log.next
        try:
            self.log.append(entries)
        except TransomError:
            with self._guard:
                self.writable = False
                if self.log.next == first:
                    self._entries[:0] = entries
                else:
                    self.counts.update(counted(entries))
                self._done[:0] = done
            raise
        with self._guard:
            self.writable = True
            self._bytes = 0
            self.counts.update(counted(entries))
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


def _letter(dead: Dead, tick: int | None, raw: bytes, origin: str, token: str | None, moment: datetime) -> Entry:
    words = dead.words[:1000]
    return Entry(Entered.DEAD, tick, moment, None, origin, token, raw[:LARGEST], dead.reason, words)
