"""The takeover from an older query that may still be running, in the transactions of a PostgreSQL sink.

The older query answers until the newer one has caught up with it. The table of hand-overs in the database decides; the
files of the two checkpoints tell later starts about it.
"""

from __future__ import annotations

import contextlib
import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from transom.errors import CheckpointError
from transom.physical.answer_times import answers_closed_ticks
from transom.runtime.checkpoint.checkpoint import LOST_ROWS_FILE, Checkpoint
from transom.runtime.checkpoint.fingerprint import RUN_ID_FILE
from transom.runtime.checkpoint.handover import (
    Handover,
    Predecessor,
    check_calendar,
    closed_tick,
    handover_after,
    is_handed_over,
    mark_handed_over,
    read_predecessor,
    write_predecessor,
)
from transom.runtime.checkpoint.logs.spark_logs import last_committed
from transom.runtime.checkpoint.remembered import PLAN_FILE
from transom.runtime.sinks.delivery import in_database
from transom.runtime.sinks.postgresql_epochs import TableHandover, last_delivered
from transom.runtime.sinks.postgresql_takeover import TableTakeover, announce_takeover
from transom.runtime.sinks.sink import Sink
from transom.spark.event_time import EPOCH, TickTime

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from transom.model.time import Calendar
    from transom.runtime.job import Job


def begin_takeover(spark: SparkSession, job: Job, older: Path) -> Handover | None:
    """Prepare to replace a running older query; return its last complete tick, or None if it must stop first.

    Returns up to which tick the older query has answered by now. None if it must be stopped for a hand-over: its
    answers are not in the database of the job's sink, or the new query answers ticks before they are closed.
    """
    sink, calendar = Sink.read(job.options.sink), job.catalog.calendar
    if sink.kind != "postgresql" or getattr(spark, "_jvm", None) is None or not answers_closed_ticks(job.plan):
        return None
    if not (older / PLAN_FILE).exists() or not (older / RUN_ID_FILE).exists() or is_handed_over(older):
        return None
    run = (older / RUN_ID_FILE).read_text("utf-8")
    checkpoint = Checkpoint.open(spark, older)
    committed, delivered = last_committed(checkpoint.files), _read_ledger(sink, run)
    if delivered < max(committed, 0):
        return None
    if (older / LOST_ROWS_FILE).exists():
        checkpoint.check()
    recorded: dict[str, Any] = json.loads((older / PLAN_FILE).read_bytes())
    check_calendar(older, recorded, calendar)
    handover, newer = handover_after(checkpoint, recorded, delivered, calendar), job.options.folder.resolve()
    announced = _announce(sink, run, str(newer))
    if announced.tick is not None or announced.newer != str(newer):
        raise CheckpointError(
            f"the run of {older} {announced}",
            hint="go on after that checkpoint, or give a new checkpoint, a new sink and --since",
        )
    write_predecessor(job.options.folder, Predecessor(run, older.resolve(), None, handover.first))
    mark_handed_over(older, newer, handover, announced=True)
    return handover


def _read_ledger(sink: Sink, run: str) -> int:
    """Return the number of the last micro-batch of a run in the database of a sink; -1 if there is none."""
    delivered: list[int] = []
    in_database(sink.address or "", lambda connection: delivered.append(last_delivered(connection, run)))
    return delivered[-1]


def _announce(sink: Sink, run: str, newer_checkpoint: str) -> TableHandover:
    """Record in a sink's database that `newer_checkpoint` is to continue a run; return the record."""
    announced: list[TableHandover] = []
    in_database(
        sink.address or "", lambda connection: announced.append(announce_takeover(connection, run, newer_checkpoint))
    )
    return announced[-1]


def table_takeover(spark: SparkSession, job: Job, checkpoint: Checkpoint) -> TableTakeover | None:
    """Return the unfinished replacement of an older run that this run has begun; None if there is none.

    Raises CheckpointError if the sink has changed since then: it would lack the rows that were left out.
    """
    predecessor, calendar = read_predecessor(checkpoint.folder), job.catalog.calendar
    if predecessor is None or predecessor.tick is not None:
        return None
    if Sink.read(job.options.sink).kind != "postgresql" or getattr(spark, "_jvm", None) is None:
        raise CheckpointError(
            f"the query of {checkpoint.folder} has not taken over from {predecessor.folder} yet",
            detail="it takes over in the PostgreSQL database in which it has begun, and not over Spark Connect",
            hint="keep the sink and the kind of session until it has taken over",
        )
    older = Checkpoint.open(spark, predecessor.folder)
    recorded: dict[str, Any] = json.loads((predecessor.folder / PLAN_FILE).read_bytes())
    newer = checkpoint.folder.resolve()

    def on_taken_over(tick: int) -> None:
        """Record in this run's checkpoint and in the older run's that this run continues it after tick `tick`."""
        write_predecessor(checkpoint.folder, Predecessor(predecessor.run, predecessor.folder, tick, predecessor.first))
        with contextlib.suppress(OSError):  # the database knows it, too
            mark_handed_over(predecessor.folder, newer, Handover(tick, predecessor.first))

    return TableTakeover(
        predecessor.run,
        str(newer),
        lambda batch: _closed(older, recorded, batch, calendar),
        lambda batch: _closed(checkpoint, {"until": job.options.until}, batch, calendar),
        lambda tick: _end_of_tick(tick, calendar),
        on_taken_over,
    )


def _closed(checkpoint: Checkpoint, plan_record: dict[str, Any], batch: int, calendar: Calendar) -> int:
    """Return the last tick fully answered after micro-batch `batch`, -1 if none; `plan_record`: JSON of plan.json."""
    closed = closed_tick(checkpoint, plan_record, batch, calendar)
    return -1 if closed is None else closed


def _end_of_tick(tick: int, calendar: Calendar) -> datetime:
    """Return the instant at which a tick ends, which is the event time of its rows in a sink."""
    return EPOCH + timedelta(microseconds=TickTime(calendar).origin_micros + tick * calendar.length)


def takeover_line(folder: Path) -> str | None:
    """Describe whether a checkpoint's run has replaced an older running one yet; None if it is to replace none."""
    predecessor = read_predecessor(folder)
    if predecessor is None:
        return None
    if predecessor.tick is None:
        return f"the query of {predecessor.folder} still answers: this one has not caught up with it yet"
    return f"took over from {predecessor.folder} after tick {predecessor.tick}"
