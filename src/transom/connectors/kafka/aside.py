"""What does not count of a live topic, put aside by the task that reads it: late rows, and messages that are no rows.

A task reads one partition, in the order of its offsets. `transom.spark.lateness` says which rows are late or ahead. All
that the rule depends on is settled before a task begins: the topic; how far the partition had come, which a small file
of the checkpoint says; and the watermark and time of the micro-batch, which Spark writes down before it computes one.
So whoever is killed, or computes a micro-batch again for another reason, finds the same rows, and puts them under the
same name: that of the query, the micro-batch, the extent and the partition. A file is there as a whole or not at all.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from transom.catalog.extents import Extent
from transom.catalog.servers import Kafka
from transom.connectors.private import make_folder, open_private
from transom.errors import UsageError
from transom.model.reasons import Reason
from transom.model.time import Calendar
from transom.spark.lateness import BATCH_ID, NEVER, QUERY_ID, SPARK, ahead, batch_times, late, task_property
from transom.spark.marks import TickTime

_LATEST = "latest"
_TAKEN = ("partition", "offset", "n", "reason", "timestamp", "key", "value")
MESSAGE = ("partition", "offset", "timestamp", "key", "value")
"""The columns of a message that its dead letter has."""
LETTERS = pa.schema(
    {
        "source": pa.string(),
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "timestamp": pa.timestamp("us", "UTC"),
        "key": pa.binary(),
        "value": pa.binary(),
        "reason": pa.string(),
    }
)


@dataclass(frozen=True, slots=True)
class Aside:
    """Where what does not count of one topic goes, and what a task must know; without a `lateness` nothing is late."""

    extent: str
    topic: str
    lateness: int | None
    calendar: Calendar
    folder: str
    checkpoint: str
    max_ahead: int

    @staticmethod
    def of(
        extent: Extent, source: Kafka, calendar: Calendar, folder: Path | None, checkpoint: Path, *, waits: bool
    ) -> Aside | None:
        """That of an extent, if its source names a folder; where nothing `waits` for ticks to close, no row is late."""
        if source.dead is None:
            return None
        place = ((folder or Path()) / source.dead).absolute()
        if (place / "_spark_metadata").exists():
            raise UsageError(
                f"{place} was begun by another version, and Spark would not see what is added",
                hint="name a new folder for dead letters",
            )
        own = checkpoint.absolute()
        lateness = extent.lateness if waits else None
        return Aside(extent.name, source.topic, lateness, calendar, str(place), str(own), extent.most_ahead(calendar))

    def sifted(self, read: DataFrame) -> DataFrame:
        """Messages with their `reason`, which now is given for late rows as well; it must be near to the topic.

        Nothing may be left out below, and nothing is: Spark moves no filter below what is not deterministic.
        """
        find = F.arrow_udf(_finding(self), "string").asNondeterministic()
        return read.withColumn("reason", find(*_TAKEN))


@contextmanager
def dead_letters(aside: Aside | None) -> Iterator[Callable[[pa.RecordBatch, pa.Array], None]]:
    """A function for batches of `MESSAGE` and their reasons: messages with one become dead letters of this task."""
    task: _Task | None = None

    def keep(batch: pa.RecordBatch, reasons: pa.Array) -> None:
        nonlocal task
        if aside is not None and batch.num_rows:
            task = task or _Task(aside, batch.column("partition")[0].as_py())
            task.take({**{name: batch.column(name) for name in MESSAGE}, "reason": reasons})

    try:
        yield keep
        if task is not None:
            task.finish()
    finally:
        if task is not None:
            task.close()


def _finding(aside: Aside) -> Any:
    def reasons(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        task: _Task | None = None
        try:
            for columns in batches:
                if not len(columns[0]):
                    yield columns[3]
                    continue
                task = task or _Task(aside, columns[0][0].as_py())
                yield task.take(dict(zip(_TAKEN, columns)))
            if task is not None:
                task.finish()
        finally:
            if task is not None:
                task.close()

    return reasons


class _Task:
    """What one task does: one partition in one micro-batch."""

    def __init__(self, aside: Aside, partition: int) -> None:
        self.aside = aside
        self.partition = partition
        self.query, self.batch = task_property(QUERY_ID), int(task_property(BATCH_ID))
        self.offset = -1
        if aside.lateness is not None:
            checkpoint = Path(aside.checkpoint)
            self.ledger = checkpoint / _LATEST / self.query / f"{aside.extent}-{partition}.json"
            self.before = _before(self.ledger, self.batch)
            self.latest = max((tick for _, tick in self.before), default=NEVER)
            began, watermark = batch_times(checkpoint / SPARK / "offsets" / str(self.batch))
            self.present = aside.calendar.tick_of(datetime.fromtimestamp(began / 1000, UTC))
            self.closed = TickTime(aside.calendar).closed(watermark)
        name = f"part-{self.query[:13]}-{self.batch:09}-{aside.extent}-{partition:05}.parquet"
        self.whole = Path(aside.folder) / name
        self.half = self.whole.with_name(f".{name}.{TaskContext.get().taskAttemptId()}")
        self.writer: pq.ParquetWriter | None = None

    def take(self, rows: dict[str, pa.Array]) -> pa.Array:
        """The reasons of some more messages; those that have one are written."""
        self._check(rows)
        reason = rows["reason"]
        if self.aside.lateness is not None:
            nothing = pa.scalar(None, pa.int64())
            ticks = pc.if_else(pc.is_null(reason), rows["n"], nothing)
            early = ahead(ticks, self.present, self.aside.max_ahead)
            reason, ticks = pc.if_else(early, Reason.AHEAD.value, reason), pc.if_else(early, nothing, ticks)
            found, self.latest = late(ticks, self.latest, self.aside.lateness, self.closed)
            reason = pc.if_else(found, Reason.LATE.value, reason)
        dead = pc.is_valid(reason)
        if pc.any(dead).as_py():
            self._write({name: column.filter(dead) for name, column in {**rows, "reason": reason}.items()})
        return reason

    def _check(self, rows: dict[str, pa.Array]) -> None:
        """Fail rather than decide in another order than that of the partition."""
        offsets = rows["offset"]
        ascending = len(offsets) < 2 or pc.all(pc.less(offsets[:-1], offsets[1:])).as_py()
        alike = pc.all(pc.equal(rows["partition"], self.partition)).as_py()
        if not ascending or not alike or offsets[0].as_py() <= self.offset:
            raise RuntimeError(f"{self.aside.extent}: Spark did not read partition {self.partition} in its order")
        self.offset = offsets[-1].as_py()

    def _write(self, dead: dict[str, pa.Array]) -> None:
        if self.writer is None:
            make_folder(self.half.parent)
            self.file = open_private(self.half)
            self.writer = pq.ParquetWriter(self.file, LETTERS, compression="zstd")
        told = {"source": self.aside.extent, "topic": self.aside.topic}
        found = dead | {name: pa.repeat(word, len(dead["offset"])) for name, word in told.items()}
        columns = [found[field.name].cast(field.type) for field in LETTERS]
        self.writer.write_batch(pa.record_batch(columns, schema=LETTERS))

    def finish(self) -> None:
        """Show what was put aside, and keep how far the partition came."""
        if self.writer is not None:
            self.writer.close()
            self.file.close()
            os.replace(self.half, self.whole)
        if self.aside.lateness is None:
            return
        kept = [*self.before[-1:], (self.batch, self.latest)]
        self.ledger.parent.mkdir(parents=True, exist_ok=True)
        half = self.ledger.with_name(self.half.name)
        half.write_text(json.dumps(kept), "utf-8")
        os.replace(half, self.ledger)

    def close(self) -> None:
        """Leave nothing half behind."""
        if self.writer is not None:
            self.writer.close()
            self.file.close()
            self.half.unlink(missing_ok=True)


def _before(ledger: Path, batch: int) -> list[tuple[int, int]]:
    """How far a partition came, by micro-batch, in those before this one; the last two are kept."""
    try:
        kept = json.loads(ledger.read_text("utf-8"))
    except FileNotFoundError:
        return []
    return [(number, tick) for number, tick in kept if number < batch]
