"""The feed of one pushed extent: decodes messages, checks them, logs them, and only then acknowledges them."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime

from transom.catalog.extent import Extent
from transom.collector.clock import ClockWatch, now
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.totals import count_entries
from transom.connectors.log.writer import LogWriter
from transom.connectors.payloads import MAX_MESSAGE_BYTES, DecodedRow, MessageReader, RejectError
from transom.errors import TransomError
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

MAX_QUEUED_BYTES = 64 << 20
"""Bytes queued while the log is not writable, before messages without redelivery are dropped."""
LOST_DETAIL = "lost while the log could not be written"


class Feed:
    """The message queue of one extent; `take` is thread-safe, `flush` must be called from one thread.

    A row more than `lateness` ticks behind the latest one is rejected here, in log order, so that no reader of the log
    has to drop any. A row more than `max_ahead` ticks ahead of the clock is rejected as well, because all rows after it
    would be late. A row without a time gets its arrival tick. While the log cannot be written, messages are queued, and
    `writable` is false.
    """

    def __init__(
        self,
        extent: Extent,
        log: LogWriter,
        calendar: Calendar,
        reader: MessageReader,
        clock: Callable[[], datetime] = now,
    ) -> None:
        """Create the queue of messages, decoded by `reader`, for the log of a pushed extent; `clock` returns the time.

        `clock` returns the current time.
        """
        self.extent = extent
        self.log = log
        self.calendar = calendar
        self.reader = reader
        self.clock = clock
        self.counts: Counter[str] = Counter()
        self._latest = log.latest
        self._entries: list[LogRecord] = []
        self._bytes = 0
        self._read = 0
        """The rows that arrived and are not in the log yet; a message that cannot be decoded counts as one."""
        self._on_logged: list[Callable[[], None]] = []
        self._guard = threading.Lock()
        self._watch = ClockWatch(extent, log, calendar, self.counts)
        self.writable = not self._watch.too_far(clock())

    def enqueue(
        self,
        raw: bytes,
        attributes_outside_payload: Mapping[str, object] | RejectError,
        sender: str,
        message_id: str | None,
        on_logged: Callable[[], None] | None = None,
    ) -> RejectError | None:
        """Queue a message for the log; return why it is rejected, or None; `on_logged` is called once it is in the log.

        `attributes_outside_payload` has the attributes outside the payload, or the reason why they are invalid.
        `on_logged` is called when the message is in the log. A message without it, which nobody would redeliver, is
        dropped if the queue is full. If only some of its rows are rejected, the first reason counts. `sender` names the
        sender in the log; `message_id` identifies the message if it is sent again.
        """
        arrival = self.clock()
        try:
            if isinstance(attributes_outside_payload, RejectError):
                raise attributes_outside_payload
            rows = self.reader.rows(raw, attributes_outside_payload, arrival)
        except RejectError as rejection:
            decoded: list[DecodedRow] | RejectError = rejection
        else:
            decoded = rows
        with self._guard:
            if on_logged is None and not self.writable and self._bytes >= MAX_QUEUED_BYTES:
                self.counts[LOST_DETAIL] += 1
                return None
            self._bytes += len(raw)
            self._read += 1 if isinstance(decoded, RejectError) else len(decoded)
            first_rejection = self._queue_records(decoded, raw, sender, message_id, arrival)
            if on_logged is not None:
                self._on_logged.append(on_logged)
        return first_rejection

    def _queue_records(
        self,
        decoded: list[DecodedRow] | RejectError,
        raw: bytes,
        sender: str,
        message_id: str | None,
        arrival: datetime,
    ) -> RejectError | None:
        """Queue a message's rows, or its rejection, for the log; return the first rejection, None without one.

        `message_id` identifies the message `raw`, which comes from the sender `sender`.
        """
        if isinstance(decoded, RejectError):
            self._entries.append(_rejected_record(decoded, None, raw, sender, message_id, arrival))
            return decoded
        first_rejection: RejectError | None = None
        current_tick = self.calendar.tick_of(arrival)
        for tick, row in decoded:
            if tick is None:
                tick = max(current_tick, self._latest, 0)
            else:
                rejection = self._tick_problem(tick, current_tick)
                if rejection is not None:
                    self._entries.append(_rejected_record(rejection, tick, raw, sender, message_id, arrival))
                    first_rejection = first_rejection or rejection
                    continue
            self._latest = max(self._latest, tick)
            self._entries.append(LogRecord(LogRecordKind.ROW, tick, arrival, row, sender, message_id))
        return first_rejection

    def _tick_problem(self, tick: int, current_tick: int) -> RejectError | None:
        """Return why a row with this tick is rejected (it is late, or ahead of the clock); None if it is accepted."""
        max_ahead = self.extent.max_ahead_ticks(self.calendar)
        if tick > current_tick + max_ahead:
            return RejectError(
                RejectReason.AHEAD, f"tick {tick}, {tick - current_tick} ahead of the clock; {max_ahead} are allowed"
            )
        if tick < self._latest - self.extent.lateness:
            delay = self._latest - tick
            return RejectError(
                RejectReason.LATE, f"tick {tick}, {delay} behind the latest; {self.extent.lateness} are allowed"
            )
        return None

    def acknowledge_duplicate(self, on_logged: Callable[[], None]) -> None:
        """Call `on_logged` for a message that was sent again, once the first copy is in the log.

        The message is not logged a second time.
        """
        with self._guard:
            self.counts["came again"] += 1
            self._on_logged.append(on_logged)

    def flush(self) -> None:
        """Write the queued messages to the log, with a heartbeat if time has advanced, and acknowledge them.

        If the log cannot be written, the queue is kept for the next call, and the error is raised.
        """
        try:
            self._watch.check(self.clock())
        except TransomError:
            self.writable = False
            raise
        with self._guard:
            self._heartbeat()
            entries, callbacks = self._entries, self._on_logged
            read, self._read = self._read, 0
            self._entries, self._on_logged = [], []
        first = self.log.next
        try:
            self.log.append(entries, read)
        except TransomError:
            with self._guard:
                self.writable = False
                if self.log.next == first:
                    self._entries[:0] = entries
                    self._read += read
                else:
                    self.counts.update(count_entries(entries))
                self._on_logged[:0] = callbacks
            raise
        with self._guard:
            self.writable = True
            self._bytes = 0
            self.counts.update(count_entries(entries))
        for on_logged in callbacks:
            on_logged()

    def _heartbeat(self) -> None:
        """Queue a heartbeat, which advances event time in the log, if time has advanced but no row arrived.

        If rows carry no time, time advances with the clock. Otherwise it follows the clock by `idle_after`, if that is
        set.
        """
        moment = self.clock()
        tick = self.calendar.tick_of(moment)
        if self.reader.timed:
            if self.extent.idle_after is None:
                return
            tick -= self.extent.idle_after
        if tick > self._latest:
            self._latest = tick
            self._entries.append(LogRecord(LogRecordKind.HEARTBEAT, tick, moment))


def _rejected_record(
    rejection: RejectError, tick: int | None, raw: bytes, sender: str, message_id: str | None, arrival: datetime
) -> LogRecord:
    """Build the dead letter of message `raw`; `tick` is None if it was not decoded, `message_id` if it has none.

    `message_id` identifies the message `raw`, which comes from the sender `sender`.
    """
    detail = rejection.detail[:1000]
    return LogRecord(
        LogRecordKind.DEAD, tick, arrival, None, sender, message_id, raw[:MAX_MESSAGE_BYTES], rejection.reason, detail
    )
