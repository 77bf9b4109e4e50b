"""Dead letters of a live topic: the task that reads a partition writes rejected messages and late rows.

A task reads one partition in offset order. `spark.input.lateness` defines which rows are late or ahead. Everything that
this rule depends on is fixed before a task begins: the topic; the latest tick of the partition, from a small file in
the checkpoint; and the watermark and time of the micro-batch, which Spark records before it computes the batch. So a
micro-batch that is computed again finds the same rows, and writes them to a file of the same name: query, micro-batch,
extent and partition. Files appear atomically.
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

from transom.catalog.extent import Extent
from transom.catalog.servers import Kafka
from transom.connectors.dead_letters.files import file_name, schema_of_run
from transom.connectors.private_files import make_folder, open_private
from transom.errors import UsageError
from transom.model.reject_reason import RejectReason
from transom.model.time import Calendar
from transom.spark.columns import TICK_NUMBER
from transom.spark.event_time import TickTime
from transom.spark.input.lateness import (
    BATCH_ID,
    BEFORE_ALL_TICKS,
    QUERY_ID,
    SPARK_FOLDER,
    ahead_mask,
    batch_times,
    late_mask,
    task_property,
)

_LATEST = "latest"
_INPUT_COLUMNS = ("partition", "offset", TICK_NUMBER, "reason", "timestamp", "key", "value", "headers")
MESSAGE_COLUMNS = ("partition", "offset", "timestamp", "key", "value", "headers")
"""The columns of a message that are copied to its dead letter."""


@dataclass(frozen=True, slots=True)
class DeadLetterSink:
    """The dead letter folder of a topic, and the rule for late rows; if `lateness` is None, no row is late."""

    extent: str
    topic: str
    lateness: int | None
    calendar: Calendar
    folder: str
    checkpoint: str
    max_ahead: int

    @staticmethod
    def for_extent(
        extent: Extent,
        source: Kafka,
        calendar: Calendar,
        catalog_folder: Path | None,
        checkpoint: Path,
        *,
        reject_late: bool,
    ) -> DeadLetterSink | None:
        """Create the dead letter sink of the run at `checkpoint`, late rows too if `reject_late`; None if undeclared.

        It takes late rows, too, if `reject_late`. UsageError if the folder was written by an earlier version.
        """
        if source.dead is None:
            return None
        dead_letter_folder = ((catalog_folder or Path()) / source.dead).absolute()
        if (dead_letter_folder / "_spark_metadata").exists():
            raise UsageError(
                f"{dead_letter_folder} was begun by another version, and Spark would not see what is added",
                hint="name a new folder for dead letters",
            )
        checkpoint_folder = checkpoint.absolute()
        lateness = extent.lateness if reject_late else None
        return DeadLetterSink(
            extent.name,
            source.topic,
            lateness,
            calendar,
            str(dead_letter_folder),
            str(checkpoint_folder),
            extent.max_ahead_ticks(calendar),
        )

    def with_reject_reasons(self, read: DataFrame) -> DataFrame:
        """Fill the column `reason` of rows that are late or ahead of time; rejected rows are written as dead letters.

        Every message must arrive here. None is filtered out before, because Spark pushes no filter below a
        nondeterministic expression. Apply it directly above the topic.
        """
        find = F.arrow_udf(_reject_reasons(self), "string").asNondeterministic()
        return read.withColumn("reason", find(*_INPUT_COLUMNS))


@contextmanager
def dead_letter_writer(sink: DeadLetterSink | None) -> Iterator[Callable[[pa.RecordBatch, pa.Array], None]]:
    """Open a context for one Spark task: a function that writes rejected messages, or nothing if `sink` is None.

    The function takes a batch with `MESSAGE_COLUMNS` and the reasons of its messages. Without a sink it does nothing.
    """
    task: _PartitionTask | None = None

    def write(batch: pa.RecordBatch, reasons: pa.Array) -> None:
        """Write the messages in a batch that have a reject reason as dead letters."""
        nonlocal task
        if sink is not None and batch.num_rows:
            task = task or _PartitionTask(sink, batch.column("partition")[0].as_py())
            task.process({**{name: batch.column(name) for name in MESSAGE_COLUMNS}, "reason": reasons})

    try:
        yield write
        if task is not None:
            task.finish()
    finally:
        if task is not None:
            task.close()


def _reject_reasons(sink: DeadLetterSink) -> Any:
    """Create the Arrow UDF that returns the reject reason of each message, and writes rejected ones as dead letters."""

    def add_reasons(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
        """Yield, for each batch of a partition's messages, an array of reject reasons; NULL if accepted.

        The batches are of one partition.
        """
        task: _PartitionTask | None = None
        try:
            for columns in batches:
                if not len(columns[0]):
                    yield columns[3]
                    continue
                task = task or _PartitionTask(sink, columns[0][0].as_py())
                yield task.process(dict(zip(_INPUT_COLUMNS, columns)))
            if task is not None:
                task.finish()
        finally:
            if task is not None:
                task.close()

    return add_reasons


class _PartitionTask:
    """The dead letters of one Spark task, which reads one partition in one micro-batch."""

    def __init__(self, sink: DeadLetterSink, partition: int) -> None:
        """Prepare a partition's dead letters (rejected messages); restore its latest tick for finding late rows."""
        self.sink = sink
        self.partition = partition
        self.query, self.batch = task_property(QUERY_ID), int(task_property(BATCH_ID))
        self.offset = -1
        if sink.lateness is not None:
            checkpoint = Path(sink.checkpoint)
            self.tick_file = checkpoint / _LATEST / self.query / f"{sink.extent}-{partition}.json"
            self.earlier_ticks = _read_ticks(self.tick_file, self.batch)
            self.latest_tick = max((tick for _, tick in self.earlier_ticks), default=BEFORE_ALL_TICKS)
            started, watermark = batch_times(checkpoint / SPARK_FOLDER / "offsets" / str(self.batch))
            self.current_tick = sink.calendar.tick_of(datetime.fromtimestamp(started / 1000, UTC))
            self.closed_tick = TickTime(sink.calendar).last_closed_tick(watermark)
        self.schema = schema_of_run(sink.checkpoint)
        name = file_name(self.query, self.batch, sink.extent, partition)
        self.final_path = Path(sink.folder) / name
        self.temporary_path = self.final_path.with_name(f".{name}.{TaskContext.get().taskAttemptId()}")
        self.writer: pq.ParquetWriter | None = None

    def process(self, messages: dict[str, pa.Array]) -> pa.Array:
        """Return the reject reasons of the next messages (NULL if accepted), and write the rejected ones.

        `messages` are columns by name.
        """
        self._check(messages)
        reasons = messages["reason"]
        if self.sink.lateness is not None:
            null = pa.scalar(None, pa.int64())
            ticks = pc.if_else(pc.is_null(reasons), messages[TICK_NUMBER], null)
            is_ahead = ahead_mask(ticks, self.current_tick, self.sink.max_ahead)
            reasons, ticks = pc.if_else(is_ahead, RejectReason.AHEAD.value, reasons), pc.if_else(is_ahead, null, ticks)
            is_late, self.latest_tick = late_mask(ticks, self.latest_tick, self.sink.lateness, self.closed_tick)
            reasons = pc.if_else(is_late, RejectReason.LATE.value, reasons)
        is_rejected = pc.is_valid(reasons)
        if pc.any(is_rejected).as_py():
            self._write({name: column.filter(is_rejected) for name, column in {**messages, "reason": reasons}.items()})
        return reasons

    def _check(self, messages: dict[str, pa.Array]) -> None:
        """Raise RuntimeError if messages belong to another partition or are not in the order of their offsets."""
        offsets = messages["offset"]
        ascending = len(offsets) < 2 or pc.all(pc.less(offsets[:-1], offsets[1:])).as_py()
        same_partition = pc.all(pc.equal(messages["partition"], self.partition)).as_py()
        if not ascending or not same_partition or offsets[0].as_py() <= self.offset:
            raise RuntimeError(f"{self.sink.extent}: Spark did not read partition {self.partition} in its order")
        self.offset = offsets[-1].as_py()

    def _write(self, rejected: dict[str, pa.Array]) -> None:
        """Append rejected messages, given by columns, to the task's dead letter file, which is not published yet."""
        if self.writer is None:
            make_folder(self.temporary_path.parent)
            self.file = open_private(self.temporary_path)
            self.writer = pq.ParquetWriter(self.file, self.schema, compression="zstd")
        constants = {"source": self.sink.extent, "topic": self.sink.topic}
        columns_by_name = rejected | {
            name: pa.repeat(value, len(rejected["offset"])) for name, value in constants.items()
        }
        columns = [columns_by_name[field.name].cast(field.type) for field in self.schema]
        self.writer.write_batch(pa.record_batch(columns, schema=self.schema))

    def finish(self) -> None:
        """Publish the task's dead letter file, and save the partition's latest tick for the next batch."""
        if self.writer is not None:
            self.writer.close()
            self.file.close()
            os.replace(self.temporary_path, self.final_path)
        if self.sink.lateness is None:
            return
        ticks = [*self.earlier_ticks[-1:], (self.batch, self.latest_tick)]
        self.tick_file.parent.mkdir(parents=True, exist_ok=True)
        temporary = self.tick_file.with_name(self.temporary_path.name)
        temporary.write_text(json.dumps(ticks), "utf-8")
        os.replace(temporary, self.tick_file)

    def close(self) -> None:
        """Remove the task's dead letter file if it was not published.

        Otherwise this has no effect.
        """
        if self.writer is not None:
            self.writer.close()
            self.file.close()
            self.temporary_path.unlink(missing_ok=True)


def _read_ticks(path: Path, batch: int) -> list[tuple[int, int]]:
    """Return a partition's latest ticks, saved in `path` before micro-batch `batch`, as pairs (micro-batch, tick).

    There are none without a file. The file keeps the last two, because a micro-batch may be computed again.
    """
    try:
        ticks = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        return []
    return [(number, tick) for number, tick in ticks if number < batch]
