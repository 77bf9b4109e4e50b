"""The takeover of a PostgreSQL sink: a run goes on after an older run, which answers until then.

The newer run leaves its rows out until it has caught up with the older one. Then one transaction reads from the ledger
what the older run has delivered, records the tick of the hand-over, and takes the next epoch of the older run. From
then on the older run is fenced, so the later ticks are only the newer run's. The transaction is short, and comes before
the one with the newer run's first rows: nobody waits while they are written, and a kill between the two loses nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from transom.errors import Fenced
from transom.runtime.sinks.postgresql_epochs import (
    HANDOVER_TABLE,
    TableHandover,
    last_delivered,
    lock_run,
    next_epoch,
    read_handover,
)


def announce_takeover(connection: Any, older_run: str, newer_checkpoint: str) -> TableHandover:
    """Record that `newer_checkpoint` will continue a run; if another one already did, return its record instead.

    Returns the hand-over, which is that to another checkpoint if the run was handed over before.
    """
    connection.execute(f"CREATE TABLE IF NOT EXISTS {HANDOVER_TABLE} (run text PRIMARY KEY, newer text, tick bigint)")
    connection.commit()
    connection.execute(
        f"INSERT INTO {HANDOVER_TABLE} VALUES (%s, %s) "  # noqa: S608
        f"ON CONFLICT (run) DO UPDATE SET newer = excluded.newer WHERE {HANDOVER_TABLE}.tick IS NULL",
        (older_run, newer_checkpoint),
    )
    return read_handover(connection, older_run) or TableHandover(newer_checkpoint, None)


class TableTakeover:
    """The takeover of a run from an older one, which may still be running."""

    def __init__(
        self,
        older_run: str,
        newer_checkpoint: str,
        older_closed: Callable[[int], int],
        closed: Callable[[int], int],
        end_of_tick: Callable[[int], datetime],
        on_taken_over: Callable[[int], None],
    ) -> None:
        """Prepare to replace `older_run`; `older_closed` and `closed` map a micro-batch to its last complete tick.

        `older_closed` and `closed` return the last tick that a micro-batch of the older and of this run answers, -1 for
        none. `on_taken_over` is called once with the tick of the hand-over, after it was committed.
        """
        self._told = False
        self._older_run = older_run
        self._newer = newer_checkpoint
        self._older_closed = older_closed
        self._closed = closed
        self._end_of_tick = end_of_tick
        self._on_taken_over = on_taken_over

    def answered_until(self, connection: Any, batch: int) -> datetime | None:
        """Return the end of the last tick that the older run delivers; None until this run has caught up.

        Takes over, and commits this, if the micro-batch has caught up with the older run. Raises Fenced if another
        checkpoint has been told to go on after the older run.
        """
        tick = self._read_tick(connection)
        if tick is None and self._has_caught_up(connection, batch):
            lock_run(connection, self._older_run)
            tick = self._read_tick(connection)
            if tick is None and self._has_caught_up(connection, batch):
                tick = self._take_over(connection)
            connection.commit()
        if tick is None:
            return None
        if not self._told:
            self._on_taken_over(tick)
            self._told = True
        return self._end_of_tick(tick)

    def _read_tick(self, connection: Any) -> int | None:
        """Return the tick after which this run replaces the older, None if not set; Fenced if another run does."""
        handover = read_handover(connection, self._older_run)
        if handover is None or handover.newer != self._newer:
            raise Fenced(
                f"this run no longer goes on after the run {self._older_run}",
                detail=f"{HANDOVER_TABLE} names {handover.newer if handover else 'no run'}, and not {self._newer}",
                hint="leave this run stopped",
            )
        return handover.tick

    def _has_caught_up(self, connection: Any, batch: int) -> bool:
        """Whether micro-batch `batch` of this run reaches the last tick that the older run has delivered."""
        return self._closed(batch) >= self._older_closed(last_delivered(connection, self._older_run))

    def _take_over(self, connection: Any) -> int:
        """Fix the tick after which this run replaces the older one, whose lock the transaction holds; return it."""
        tick = self._older_closed(last_delivered(connection, self._older_run))
        connection.execute(
            f"UPDATE {HANDOVER_TABLE} SET tick = %s WHERE run = %s",  # noqa: S608
            (tick, self._older_run),
        )
        next_epoch(connection, self._older_run)
        return tick
