"""A table of PostgreSQL, read every so many ticks in one snapshot: its log holds changes, not copies."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from transom.catalog.extents import Extent
from transom.catalog.extras import needed
from transom.catalog.references import resolved
from transom.catalog.servers import Postgres
from transom.catalog.ticks import read_value
from transom.collector.feed import now
from transom.connectors.log.columns import Entered, Entry
from transom.connectors.log.read import read_changes
from transom.connectors.log.writing import Writer
from transom.connectors.payloads import kept
from transom.model.bag import Row, row_identity
from transom.model.reasons import Reason
from transom.model.time import Calendar


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
        self._psycopg = needed("psycopg", "postgresql", "postgresql")
        before = read_changes(extent, log.place, None)[-1].rows if log.latest >= 0 else ()
        self._held: dict[object, list[Row]] = {}
        for row in before:
            self._held.setdefault(row_identity(row), []).append(row)
        self._dead: set[str] = set()

    async def run(self, stop: asyncio.Event) -> None:
        """Scan at every tick of the schedule until told to stop; the first scan of a new log is at once."""
        every = self.source.every
        while not stop.is_set():
            tick = self.calendar.tick_of(self.clock())
            if self.log.latest >= 0:
                tick = max(tick // every + 1, self.log.latest // every + 1) * every
            wait = (self.calendar.instant_of(tick) - self.clock()).total_seconds()
            try:
                await asyncio.wait_for(stop.wait(), max(wait, 0.0))
                return
            except TimeoutError:
                pass
            written = await asyncio.to_thread(self.scan, tick)
            if not written:
                await asyncio.sleep(1.0)

    def scan(self, tick: int) -> bool:
        """One scan into the log; a database that does not answer leaves the table as it was."""
        moment = self.clock()
        try:
            found = self._read()
        except self._psycopg.Error as error:
            self.counts[Reason.REFUSED.value] += 1
            words = f"{type(error).__name__}: {error}"[:1000]
            self.log.append(
                [Entry(Entered.GAP, tick, moment, None, self.source.table, reason=Reason.REFUSED, words=words)]
            )
            return False
        entries, rows = self._rows(found, tick, moment)
        entries += self._changes(rows, tick, moment)
        entries.append(Entry(Entered.BEAT, tick, self.clock()))
        self.log.append(entries)
        self._held = rows
        return True

    def _read(self) -> Sequence[tuple[object, ...]]:
        """The whole table, as one statement sees it."""
        sql = self._psycopg.sql
        columns = sql.SQL(", ").join(sql.Identifier(column) for _, column in self.source.columns)
        words = sql.SQL("SELECT {} FROM {}").format(columns, sql.Identifier(*self.source.table.split(".")))
        password = {} if self.source.password is None else {"password": resolved(self.source.password)}
        with self._psycopg.connect(resolved(self.source.url), connect_timeout=5, **password) as one:
            found: list[tuple[object, ...]] = one.execute(words).fetchall()
        return found

    def _rows(
        self, found: Sequence[tuple[object, ...]], tick: int, moment: datetime
    ) -> tuple[list[Entry], dict[object, list[Row]]]:
        """The rows by what makes them equal, and an entry for each that is none, once as long as it stays."""
        rows: dict[object, list[Row]] = {}
        entries: list[Entry] = []
        dead: set[str] = set()
        for given in found:
            try:
                row = tuple(kept(read_value(_plain(v), a.type), a) for v, a in zip(given, self.extent.schema))
            except ValueError as error:
                text = repr(given)
                if text not in self._dead | dead:
                    self.counts[Reason.TYPE.value] += 1
                    raw = text.encode("utf-8", "replace")
                    origin = self.source.table
                    entries.append(
                        Entry(Entered.DEAD, tick, moment, None, origin, None, raw, Reason.TYPE, str(error)[:1000])
                    )
                dead.add(text)
                continue
            rows.setdefault(row_identity(row), []).append(row)
        self._dead = dead
        return entries, rows

    def _changes(self, rows: dict[object, list[Row]], tick: int, moment: datetime) -> list[Entry]:
        """What left since the last scan, and what appeared."""
        left = [
            Entry(Entered.LEFT, tick, moment, row)
            for key, held in self._held.items()
            for row in held[: max(0, len(held) - len(rows.get(key, ())))]
        ]
        came = [
            Entry(Entered.ROW, tick, moment, row)
            for key, some in rows.items()
            for row in some[: max(0, len(some) - len(self._held.get(key, ())))]
        ]
        self.counts["rows"] += len(came)
        self.counts["rows that left"] += len(left)
        return [*left, *came]


def _plain(value: Any) -> object:
    """A value of the database as files have it: dates and unknown types by their text."""
    return value if value is None or isinstance(value, bool | int | float | str | datetime) else _text(value)


def _text(value: Any) -> object:
    from decimal import Decimal

    return value if isinstance(value, Decimal) else str(value)
