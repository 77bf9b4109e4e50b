"""A table of PostgreSQL, read every so many ticks in one snapshot: its log holds changes, not copies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any

from transom.catalog.addresses import libpq_tls
from transom.catalog.extents import Extent
from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Postgres
from transom.catalog.ticks import read_value
from transom.collector.clock import ClockWatch, now
from transom.collector.health import RETRY, Health, counted, stopped
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.read import read_changes
from transom.connectors.log.writing import Writer
from transom.connectors.payloads import LARGEST, kept
from transom.errors import DataError
from transom.model.bag import Row
from transom.model.reasons import Reason
from transom.model.time import Calendar

PORTION = 20_000
"""Rows that the database hands over at once."""


class Scanner:
    """The scans of one stored extent. What the log says is what the last scan saw, so a new start goes on from it."""

    def __init__(
        self, extent: Extent, source: Postgres, log: Writer, calendar: Calendar, clock: Callable[[], datetime] = now
    ) -> None:
        self.extent = extent
        self.source = source
        self.log = log
        self.calendar = calendar
        self.clock = clock
        self.counts: Counter[str] = Counter()
        self._watch = ClockWatch(extent, log, calendar, self.counts, usual=source.every)
        self._psycopg = needed("psycopg", "postgresql", "postgresql")
        before = read_changes(extent, log.place, None)[-1].rows if log.latest >= 0 else ()
        self._held = Counter(before)
        self._dead: set[str] = set()
        self._lenient = False
        self.problem: str | None = None
        if source.tls is not None:
            source.tls.check()

    async def run(self, stop: asyncio.Event, health: Health) -> None:
        """Scan at every tick of the schedule until told to stop; the first scan of a new log is at once.

        A log that cannot be written is tried again until it can.
        """
        while not stop.is_set():
            try:
                if self._watch.lead(self.clock()):  # else no thread is needed, and no time lost
                    words = await asyncio.to_thread(self._watch.wait, self.clock())
                    if words is not None:
                        health.fail(DataError(words))
                tick = await asyncio.to_thread(self.next)
                wait = (self.calendar.instant_of(tick) - self.clock()).total_seconds()
                long = wait > 2 * RETRY  # the clock may be set in the meantime
                if await stopped(stop, RETRY if long else wait):
                    return
                if not long:
                    written = await asyncio.to_thread(self.scan, tick)
                    health.report(self.problem)
                    if not written:
                        await stopped(stop, 1.0)
            except DataError as error:
                health.fail(error)
                await stopped(stop, RETRY)

    def next(self) -> int:
        """The tick of the next scan; those that were missed before it are put down, so that nobody waits for them."""
        tick, every, latest = self.calendar.tick_of(self.clock()), self.source.every, self.log.latest
        if latest < 0:
            return tick
        due = (latest // every + 1) * every
        tick = max((tick // every + 1) * every, due)
        if tick > due:
            words = f"scans of ticks {due} to {tick - every}"
            gap = Entry(Entered.GAP, None, self.clock(), None, self.source.table, reason=Reason.DOWN, words=words)
            self.log.append([gap, Entry(Entered.BEAT, tick - 1, self.clock())])
            self.counts[Reason.DOWN.value] += (tick - due) // every
        return tick

    def scan(self, tick: int) -> bool:
        """One scan into the log; a database that does not answer leaves the table as it was.

        Whoever follows the log need not wait for ticks before the next scan, whether this one succeeds or not. Only a
        table that was never read is tried again at once.
        """
        moment = self.clock()
        try:
            dead, left, came, seen = self._tried(tick, moment)
        except self._psycopg.Error as error:
            self.counts[Reason.REFUSED.value] += 1
            words = " ".join(f"{type(error).__name__}: {error}".split())[:1000]
            self.problem = f"the database cannot be read: {words}"
            gap = Entry(Entered.GAP, tick, moment, None, self.source.table, reason=Reason.REFUSED, words=words)
            beat = Entry(Entered.BEAT, self._before_next(tick), moment)
            self.log.append([gap, beat] if self.log.latest >= 0 else [gap])
            return False
        self.problem = None
        changes = [Entry(Entered.LEFT, tick, moment, row) for row, count in left.items() for _ in range(count)]
        changes += [Entry(Entered.ROW, tick, moment, row) for row in came]
        beats = [Entry(Entered.BEAT, beat, self.clock()) for beat in sorted({tick, self._before_next(tick)})]
        first = self.log.next
        try:
            self.log.append([*dead, *changes, *beats])
        finally:
            if self.log.next != first:  # they are in the log, even if the append failed after that
                self._keep(left, came, seen)
                self.counts.update(counted(dead))
        return True

    def _keep(self, left: Mapping[Row, int], came: list[Row], dead: set[str]) -> None:
        """Remember what the log now says of the table."""
        self._dead = dead
        self._held.subtract(left)
        self._held.update(came)
        for row in left:
            if not self._held[row]:
                del self._held[row]
        self.counts["rows"] += len(came)
        self.counts["rows that left"] += sum(left.values())

    def _before_next(self, tick: int) -> int:
        """The last tick before the next scan of the schedule."""
        return (tick // self.source.every + 1) * self.source.every - 1

    def _read(self) -> Iterator[tuple[object, ...]]:
        """The whole table, as one statement sees it, in portions."""
        sql = self._psycopg.sql
        columns = sql.SQL(", ").join(sql.Identifier(column) for _, column in self.source.columns)
        words = sql.SQL("SELECT {} FROM {}").format(columns, sql.Identifier(*self.source.table.split(".")))
        password = {} if self.source.password is None else {"password": resolved(self.source.password)}
        more = {**password, **libpq_tls(self.source.tls)}
        with self._psycopg.connect(resolved(self.source.url), connect_timeout=5, **more) as one:
            if self._lenient:
                take_all(one)
            with one.cursor(name="transom") as cursor:
                cursor.itersize = PORTION
                yield from cursor.execute(words)

    def _tried(self, tick: int, moment: datetime) -> tuple[list[Entry], dict[Row, int], list[Row], set[str]]:
        """`_compared`, once more with dates by their text where Python has none such: in a row that may be dead."""
        try:
            return self._compared(tick, moment)
        except self._psycopg.DataError:
            if self._lenient:
                raise
            self._lenient = True
            return self._compared(tick, moment)

    def _compared(self, tick: int, moment: datetime) -> tuple[list[Entry], dict[Row, int], list[Row], set[str]]:
        """What is no row, once as long as it stays; what left since the last scan; what appeared; all that is no row.

        A row that is known as the database gives it is not read again: most rows of a table stay as they are.
        """
        left, came = dict(self._held), []
        entries: list[Entry] = []
        dead: set[str] = set()
        for given in self._read():
            row: Row = given  # type: ignore[assignment]
            if not _is_known(row, left):
                try:
                    row = tuple(kept(read_value(_plain(v), a.type), a) for v, a in zip(given, self.extent.schema))
                except ValueError as error:
                    text = repr(given)
                    if text not in self._dead and text not in dead:
                        entries.append(self._no_row(text, str(error), tick, moment))
                    dead.add(text)
                    continue
            if row not in left:
                came.append(row)
            elif left[row] == 1:
                del left[row]
            else:
                left[row] -= 1
        return entries, left, came, dead

    def _no_row(self, text: str, why: str, tick: int, moment: datetime) -> Entry:
        raw = text.encode("utf-8", "replace")[:LARGEST]
        return Entry(Entered.DEAD, tick, moment, None, self.source.table, None, raw, Reason.TYPE, why[:1000])


def take_all(connection: Any) -> None:
    """Let a connection of psycopg give dates and times that Python cannot hold, such as `infinity`, as texts."""
    from psycopg.adapt import Loader
    from psycopg.errors import DataError
    from psycopg.types import datetime as dates

    def lenient(strict: type[Loader]) -> type[Loader]:
        class Lenient(Loader):
            """Gives the text where there is no value."""

            def __init__(self, oid: int, context: Any = None) -> None:
                super().__init__(oid, context)
                self._strict = strict(oid, context)

            def load(self, data: Any) -> object:
                """One value."""
                try:
                    return self._strict.load(data)
                except DataError:
                    return bytes(data).decode("utf-8", "replace")

        return Lenient

    for name in ("date", "time", "timetz", "timestamp", "timestamptz", "interval"):
        connection.adapters.register_loader(name, lenient(getattr(dates, f"{name.capitalize()}Loader")))


def _is_known(row: Row, held: Mapping[Row, int]) -> bool:
    """Whether a row as the database gives it is one of those; lists and documents are read first."""
    try:
        return row in held
    except TypeError:
        return False


def _plain(value: Any) -> object:
    """A value of the database as files have it: dates and unknown types by their text."""
    return value if value is None or isinstance(value, bool | int | float | str | datetime) else _text(value)


def _text(value: Any) -> object:
    from decimal import Decimal

    return value if isinstance(value, Decimal) else str(value)
