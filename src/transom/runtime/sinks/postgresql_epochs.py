"""Epochs of a run in PostgreSQL: each start takes the next one, and transactions of earlier starts are refused.

Every transaction of a run holds an advisory lock, and compares its epoch under this lock. A new start ends an open
transaction of an earlier one, whose process may be stopped or cut off, so that it cannot hold the lock forever.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from transom.errors import CheckpointError, Fenced, Unavailable

EPOCH_TABLE = "transom_epochs"
LEDGER_TABLE = "transom_batches"
HANDOVER_TABLE = "transom_handovers"
"""The table of the hand-overs from older runs to newer ones, with their ticks; `postgresql_takeover` writes it."""
GRACE = 1.0
"""Seconds that an open transaction of an earlier start has to end."""
_PATIENCE = 30.0
_PAUSE = 0.05
_HOLDERS = """
SELECT pg_terminate_backend(pid) FROM pg_locks
WHERE locktype = 'advisory' AND objsubid = 1 AND granted AND pid <> pg_backend_pid()
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
  AND classid = (%(key)s >> 32)::int8 AND objid = (%(key)s & 4294967295)::int8
"""


@dataclass(frozen=True)
class TableHandover:
    """The hand-over of a run: the checkpoint that goes on after it, and the tick, None while it still answers."""

    newer: str
    tick: int | None

    def __str__(self) -> str:
        """Say which checkpoint continues a run, and after which tick, for error messages."""
        return f"was handed over to {self.newer} after tick {self.tick}"


def claim_epoch(connection: Any, run_id: str) -> int:
    """Take a run's next epoch (number of a start) in PostgreSQL, after which earlier starts raise Fenced.

    Raises CheckpointError if a newer run has taken over from the run.
    """
    connection.execute(f"CREATE TABLE IF NOT EXISTS {EPOCH_TABLE} (run text PRIMARY KEY, epoch bigint)")
    connection.commit()
    lock_run(connection, run_id)
    handover = read_handover(connection, run_id)
    if handover is not None and handover.tick is not None:
        raise CheckpointError(f"the run {handover}", hint=f"start the query of {handover.newer}")
    claimed = next_epoch(connection, run_id)
    connection.commit()
    return claimed


def next_epoch(connection: Any, run_id: str) -> int:
    """Increment and return a run's epoch (number of a start), while this transaction holds the run's lock."""
    claimed: int = connection.execute(
        f"INSERT INTO {EPOCH_TABLE} VALUES (%s, 1) "  # noqa: S608
        f"ON CONFLICT (run) DO UPDATE SET epoch = {EPOCH_TABLE}.epoch + 1 RETURNING epoch",
        (run_id,),
    ).fetchone()[0]
    return claimed


def read_handover(connection: Any, run_id: str) -> TableHandover | None:
    """Return the record of the newer checkpoint that continues a run's query; None if no checkpoint does."""
    if not has_table(connection, HANDOVER_TABLE):
        return None
    row = connection.execute(f"SELECT newer, tick FROM {HANDOVER_TABLE} WHERE run = %s", (run_id,)).fetchone()  # noqa: S608
    return None if row is None else TableHandover(*row)


def last_delivered(connection: Any, run_id: str) -> int:
    """Return the number of the last micro-batch of a run in the ledger table; -1 if there is none."""
    if not has_table(connection, LEDGER_TABLE):
        return -1
    newest = f"SELECT coalesce(max(batch), -1) FROM {LEDGER_TABLE} WHERE run = %s"  # noqa: S608
    last: int = connection.execute(newest, (run_id,)).fetchone()[0]
    return last


def has_table(connection: Any, name: str) -> bool:
    """Whether the database has a table with this name."""
    return connection.execute("SELECT to_regclass(%s)", (name,)).fetchone()[0] is not None


def lock_run(connection: Any, run_id: str) -> None:
    """Take a run's advisory lock until the transaction ends; terminate other sessions that hold it too long."""
    _lock(connection, run_id, None)


def verify_epoch(connection: Any, run_id: str, epoch: int) -> None:
    """Lock a run until the transaction ends; raise Fenced if a later start of the run has a newer epoch."""
    _lock(connection, run_id, epoch)
    _compare(connection, run_id, epoch)


def _lock(connection: Any, run_id: str, own_epoch: int | None) -> None:
    """Take a run's advisory lock until the transaction ends; Fenced if `own_epoch` (None: unchecked) is outdated.

    `own_epoch` is that of the caller, None while it takes one.
    """
    key = int(run_id[:15], 16)
    began = time.monotonic()
    while not connection.execute("SELECT pg_try_advisory_xact_lock(%s)", (key,)).fetchone()[0]:
        if own_epoch is not None:
            _compare(connection, run_id, own_epoch)
        waited = time.monotonic() - began
        if waited > _PATIENCE:
            raise Unavailable(
                "an earlier start of the run has an open transaction in PostgreSQL",
                hint="end it, or let the user of this run do so: pg_signal_backend",
            )
        if waited > GRACE:
            connection.execute(_HOLDERS, {"key": key})
        time.sleep(_PAUSE)


def _compare(connection: Any, run_id: str, epoch: int) -> None:
    """Raise Fenced if the database has a newer epoch (start number) of a run than `epoch`."""
    newest = connection.execute(f"SELECT epoch FROM {EPOCH_TABLE} WHERE run = %s", (run_id,)).fetchone()  # noqa: S608
    if newest is not None and newest[0] > epoch:
        handover = read_handover(connection, run_id)
        if handover is not None and handover.tick is not None:
            raise Fenced(
                f"the run {handover}",
                detail="the newer query answers the later ticks",
                hint="leave this run stopped",
            )
        raise Fenced(
            "the table was taken over by a newer run of the same checkpoint",
            detail=f"epoch {newest[0]} in {EPOCH_TABLE}; this run has epoch {epoch}",
            hint="leave one of the two runs stopped: whichever is started again takes over",
        )
