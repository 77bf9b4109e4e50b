"""Scan a PostgreSQL table periodically, each time in one snapshot; its log holds changes, not copies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from transom.catalog.addresses import libpq_tls
from transom.catalog.extent import Extent
from transom.catalog.extras import require_library
from transom.catalog.reading.references import resolve_references
from transom.catalog.reading.ticks import read_value
from transom.catalog.servers import Postgres
from transom.collector.clock import ClockWatch, now
from transom.collector.health import RETRY, Health, wait_for_stop
from transom.connectors.log.columns import LogRecord, LogRecordKind
from transom.connectors.log.read import read_changes
from transom.connectors.log.totals import count_entries
from transom.connectors.log.writer import LogWriter
from transom.connectors.payloads import MAX_MESSAGE_BYTES, storable_value
from transom.errors import DataError
from transom.model.bag import Row
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar

PORTION = 20_000
"""Rows that the database returns at once."""


class Scanner:
    """Scans one stored extent. It restores the last scan from the log when it starts."""

    def __init__(
        self, extent: Extent, source: Postgres, log: LogWriter, calendar: Calendar, clock: Callable[[], datetime] = now
    ) -> None:
        """Create the scanner that logs a PostgreSQL table's changes; it restores the last content from its log."""
        self.extent = extent
        self.source = source
        self.log = log
        self.calendar = calendar
        self.clock = clock
        self.counts: Counter[str] = Counter()
        self._watch = ClockWatch(extent, log, calendar, self.counts, allowed_lead_ticks=source.every)
        self._psycopg = require_library("psycopg", "postgresql", "postgresql")
        last_rows = read_changes(extent, log.location, None)[-1].rows if log.latest >= 0 else ()
        self._current_rows = Counter(last_rows)
        self._rejected_texts: set[str] = set()
        self._dates_as_text = False
        self.problem: str | None = None
        if source.tls is not None:
            source.tls.check()

    async def run(self, stop: asyncio.Event, health: Health) -> None:
        """Log the table's changes at every scheduled tick until `stop` is set; if its log is empty, also at once.

        If the log cannot be written, it retries until it can.
        """
        while not stop.is_set():
            try:
                if self._watch.lead(self.clock()):  # skips the thread switch in the normal case
                    problem = await asyncio.to_thread(self._watch.wait_reason, self.clock())
                    if problem is not None:
                        health.fail(DataError(problem))
                tick = await asyncio.to_thread(self.next)
                wait = (self.calendar.instant_of(tick) - self.clock()).total_seconds()
                is_long = wait > 2 * RETRY  # check again soon, as the clock may be adjusted
                if await wait_for_stop(stop, RETRY if is_long else wait):
                    return
                if not is_long:
                    answered = await asyncio.to_thread(self.scan, tick)
                    health.report(self.problem)
                    if not answered:
                        await wait_for_stop(stop, 1.0)
            except DataError as error:
                health.fail(error)
                await wait_for_stop(stop, RETRY)

    def next(self) -> int:
        """Return the tick at which the table is read next; missed ticks are logged as a gap.

        So no reader waits for them.
        """
        tick, every, latest = self.calendar.tick_of(self.clock()), self.source.every, self.log.latest
        if latest < 0:
            return tick
        due = (latest // every + 1) * every
        tick = max((tick // every + 1) * every, due)
        if tick > due:
            missed_scans = f"scans of ticks {due} to {tick - every}"
            gap = LogRecord(
                LogRecordKind.GAP,
                None,
                self.clock(),
                None,
                self.source.table,
                reason=RejectReason.DOWN,
                detail=missed_scans,
                readings=(tick - due) // every,
            )
            self.log.append([gap, LogRecord(LogRecordKind.HEARTBEAT, tick - 1, self.clock())])
            self.counts[RejectReason.DOWN.value] += (tick - due) // every
        return tick

    def scan(self, tick: int) -> bool:
        """Read the table, and log its changes since it was last read; return whether the database answered.

        Readers of the log need not wait for ticks before the next scan, whether this one succeeds or not. Only a table
        that was never read is retried at once.
        """
        moment = self.clock()
        try:
            rejections, deleted, inserted, rejected_texts = self._compare_with_retry(tick, moment)
        except self._psycopg.Error as error:
            self.counts[RejectReason.REFUSED.value] += 1
            error_message = " ".join(f"{type(error).__name__}: {error}".split())[:1000]
            self.problem = f"the database cannot be read: {error_message}"
            gap = LogRecord(
                LogRecordKind.GAP,
                tick,
                moment,
                None,
                self.source.table,
                reason=RejectReason.REFUSED,
                detail=error_message,
            )
            heartbeat = LogRecord(LogRecordKind.HEARTBEAT, self._tick_before_next(tick), moment)
            self.log.append([gap, heartbeat] if self.log.latest >= 0 else [gap])
            return False
        self.problem = None
        changes = [
            LogRecord(LogRecordKind.LEFT, tick, moment, row) for row, count in deleted.items() for _ in range(count)
        ]
        changes += [LogRecord(LogRecordKind.ROW, tick, moment, row) for row in inserted]
        heartbeats = [
            LogRecord(LogRecordKind.HEARTBEAT, heartbeat, self.clock())
            for heartbeat in sorted({tick, self._tick_before_next(tick)})
        ]
        first = self.log.next
        try:
            self.log.append([*rejections, *changes, *heartbeats])
        finally:
            if self.log.next != first:  # the entries are in the log, even if the append failed afterwards
                self._apply_changes(deleted, inserted, rejected_texts)
                self.counts.update(count_entries(rejections))
        return True

    def _apply_changes(self, deleted: Mapping[Row, int], inserted: list[Row], rejected_texts: set[str]) -> None:
        """Apply logged changes to the remembered rows; `deleted` maps rows to how many of them left the table."""
        self._rejected_texts = rejected_texts
        self._current_rows.subtract(deleted)
        self._current_rows.update(inserted)
        for row in deleted:
            if not self._current_rows[row]:
                del self._current_rows[row]
        self.counts["rows"] += len(inserted)
        self.counts["rows that left"] += sum(deleted.values())

    def _tick_before_next(self, tick: int) -> int:
        """Return the last tick before the table's next reading; rows read at `tick` are valid until then."""
        return (tick // self.source.every + 1) * self.source.every - 1

    def _read(self) -> Iterator[tuple[object, ...]]:
        """Yield the rows of the database table as tuples, by one SELECT with a server-side cursor."""
        sql = self._psycopg.sql
        columns = sql.SQL(", ").join(sql.Identifier(column) for _, column in self.source.columns)
        query = sql.SQL("SELECT {} FROM {}").format(columns, sql.Identifier(*self.source.table.split(".")))
        password = {} if self.source.password is None else {"password": resolve_references(self.source.password)}
        options = {**password, **libpq_tls(self.source.tls)}
        with self._psycopg.connect(resolve_references(self.source.url), connect_timeout=5, **options) as connection:
            if self._dates_as_text:
                read_dates_as_text(connection)
            with connection.cursor(name="transom") as cursor:
                cursor.itersize = PORTION
                yield from cursor.execute(query)

    def _compare_with_retry(
        self, tick: int, moment: datetime
    ) -> tuple[list[LogRecord], dict[Row, int], list[Row], set[str]]:
        """Return what `_compare` returns; if a date is out of Python's range, read dates as text from now on."""
        try:
            return self._compare(tick, moment)
        except self._psycopg.DataError:
            if self._dates_as_text:
                raise
            self._dates_as_text = True
            return self._compare(tick, moment)

    def _compare(self, tick: int, moment: datetime) -> tuple[list[LogRecord], dict[Row, int], list[Row], set[str]]:
        """Read the table; return new rejections, deleted rows with counts, inserted rows, all rejected rows' texts.

        They are the changes since the table was last read; rejections are entries for the log. A rejected row is logged
        once as long as it remains. A row that is known in the database's representation is not converted again, because
        most rows of a table do not change.
        """
        deleted, inserted = dict(self._current_rows), []
        rejections: list[LogRecord] = []
        rejected_texts: set[str] = set()
        for source_row in self._read():
            row: Row = source_row  # type: ignore[assignment]
            if not _is_known(row, deleted):
                try:
                    row = tuple(
                        storable_value(read_value(_portable_value(v), a.type), a)
                        for v, a in zip(source_row, self.extent.schema)
                    )
                except ValueError as error:
                    text = repr(source_row)
                    if text not in self._rejected_texts and text not in rejected_texts:
                        rejections.append(self._rejected_record(text, str(error), tick, moment))
                    rejected_texts.add(text)
                    continue
            if row not in deleted:
                inserted.append(row)
            elif deleted[row] == 1:
                del deleted[row]
            else:
                deleted[row] -= 1
        return rejections, deleted, inserted, rejected_texts

    def _rejected_record(self, text: str, why: str, tick: int, moment: datetime) -> LogRecord:
        """Build the dead letter of a table row that does not fit the extent; `why` is the reason."""
        raw = text.encode("utf-8", "replace")[:MAX_MESSAGE_BYTES]
        return LogRecord(
            LogRecordKind.DEAD, tick, moment, None, self.source.table, None, raw, RejectReason.TYPE, why[:1000]
        )


def read_dates_as_text(connection: Any) -> None:
    """Make a psycopg connection return dates and times that Python cannot hold, like `infinity`, as text."""
    from psycopg.adapt import Loader
    from psycopg.errors import DataError
    from psycopg.types import datetime as dates

    def lenient(strict: type[Loader]) -> type[Loader]:
        """Derive a loader of psycopg that returns text when the loader `strict` refuses a value."""

        class Lenient(Loader):
            """Loads a value, or its text if Python cannot represent it."""

            def __init__(self, oid: int, context: Any = None) -> None:
                """Create the loader for the PostgreSQL type `oid`; it tries psycopg's strict loader first."""
                super().__init__(oid, context)
                self._strict = strict(oid, context)

            def load(self, data: Any) -> object:
                """Convert PostgreSQL's bytes of a date or time to Python, or to text if out of range."""
                try:
                    return self._strict.load(data)
                except DataError:
                    return bytes(data).decode("utf-8", "replace")

        return Lenient

    for name in ("date", "time", "timetz", "timestamp", "timestamptz", "interval"):
        connection.adapters.register_loader(name, lenient(getattr(dates, f"{name.capitalize()}Loader")))


def _is_known(row: Row, current_rows: Mapping[Row, int]) -> bool:
    """Whether the table had this row when it was last read; False if the row cannot be hashed."""
    try:
        return row in current_rows
    except TypeError:
        return False


def _portable_value(value: Any) -> object:
    """Convert a database value to a type that files also have: a date or an unusual type becomes text."""
    return value if value is None or isinstance(value, bool | int | float | str | datetime) else _text_value(value)


def _text_value(value: Any) -> object:
    """Convert a database value of a type that files do not have to text; a Decimal is returned unchanged."""
    from decimal import Decimal

    return value if isinstance(value, Decimal) else str(value)
