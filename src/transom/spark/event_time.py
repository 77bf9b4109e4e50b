"""Event time on Spark: rules whose violation fails silently, each implemented in one place.

    R1  a derived column is marked as event time by metadata, in a select
    R2  a marked value is never below the event time of the rows it was computed from
    R3  an operator's input has at most one marked column
    R4  the delay of a watermark is at least one millisecond
    R5  filters stay above a barrier, so that the rows they drop still move the watermark
    R6  a stream joins a table by an outer join, so that its rows move the watermark even if the table is empty

The marked column of every frame is `tick`: the instant at which a tick ends (E2). A tick is closed when the watermark
has reached that instant. (The beginning of a tick does not work: tick 0 may begin in 1970, where Spark's watermark
begins, and would then be late.)
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.model.time import Calendar
from transom.spark.columns import TICK

DELAY_KEY = "spark.watermarkDelayMs"
"""Spark's metadata key for event time. It is internal; a test fails if a release changes it."""

EVENT_TIME_METADATA = {DELAY_KEY: 0}
LEAST_DELAY_MS = 1
EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True)
class TickTime:
    """Conversions between tick numbers and the instants at which ticks end, as columns."""

    calendar: Calendar

    @property
    def origin_micros(self) -> int:
        """The instant at which tick 0 ends, in microseconds since 1970."""
        return (self.calendar.epoch - EPOCH) // timedelta(microseconds=1) + self.calendar.length

    def end_of_tick(self, tick: Column) -> Column:
        """The timestamp at which a tick, given by its number, ends."""
        return F.timestamp_micros(F.lit(self.origin_micros) + tick * F.lit(self.calendar.length))

    def as_event_time(self, tick: Column) -> Column:
        """Build the column `tick`: the end of a tick, marked as Spark's event time (R1).

        It is never below the input's event time (R2).
        """
        return self.end_of_tick(tick).alias(TICK, metadata=EVENT_TIME_METADATA)

    def tick_number(self, instant: Column | None = None) -> Column:
        """The number of the tick that ends at `instant`, by default at the event time of the row (column `tick`)."""
        moment = F.col(TICK) if instant is None else instant
        return div(F.unix_micros(moment) - F.lit(self.origin_micros), self.calendar.length)

    def begin_of_tick(self) -> Column:
        """The timestamp at which the tick of the event-time column `tick` begins, without the mark of event time."""
        return F.timestamp_micros(F.unix_micros(F.col(TICK)) - F.lit(self.calendar.length))

    def watermark_ms_of(self, tick: int) -> int:
        """The smallest watermark, in whole milliseconds, that closes a tick."""
        return -(-(self.origin_micros + tick * self.calendar.length) // 1000)

    def last_closed_tick(self, watermark_ms: int) -> int:
        """The last tick that is complete when the watermark, given in milliseconds, has this value."""
        return (watermark_ms * 1000 - self.origin_micros) // self.calendar.length


def div(value: Column, by: int) -> Column:
    """Divide an integer column by a constant, truncating towards 0; this is floor division for values >= 0."""
    return value if by == 1 else F.call_function("div", value, F.lit(by))


def floor_to(value: Column, step: int) -> Column:
    """Round a column of values >= 0 down to a multiple of `step`."""
    return value if step == 1 else div(value, step) * F.lit(step)


def ceil_to(value: Column, step: int) -> Column:
    """Round a column of values >= 0 up to a multiple of `step`."""
    return value if step == 1 else div(value + F.lit(step - 1), step) * F.lit(step)


def with_watermark(frame: DataFrame, delay_ms: int, metric_name: str) -> DataFrame:
    """Set a source's watermark; observe `metric_name` above it, so that Spark moves no filter below (R4, R5)."""
    return frame.withWatermark(TICK, watermark_delay(delay_ms)).observe(metric_name, F.max(TICK).alias("latest"))


def watermark_delay(delay_ms: int) -> str:
    """Return the delay for `withWatermark`: a millisecond more than `delay_ms`, to keep rows that are exactly so late.

    Spark drops a row whose event time equals the watermark. The extra millisecond keeps a row that is delayed by
    exactly `delay_ms`.
    """
    delay = delay_ms + LEAST_DELAY_MS
    return f"{delay} milliseconds"


def join_table(
    stream: DataFrame, table: DataFrame, condition: Column, never_null_column: str, metric_name: str
) -> DataFrame:
    """Inner-join a stream and a table; an empty table does not stop the watermark; `never_null_column`: of the table.

    `never_null_column` names a column of the table that is never NULL. With Spark's inner join, an empty table means
    that the stream is not read at all. The outer join reads every row, and the barrier above it, the metric
    `metric_name`, keeps the optimizer from turning it back into an inner join.
    """
    pairs = stream.join(table, condition, "left")
    return pairs.observe(metric_name, F.count(F.lit(1)).alias("pairs")).where(F.col(never_null_column).isNotNull())


def without_event_time(name: str) -> Column:
    """Return the column `name` without event-time metadata, since a frame may have only one event-time column (R3)."""
    return F.col(name).alias(name, metadata={})
