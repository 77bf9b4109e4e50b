"""Event time on Spark: the rules that fail silently when broken, each in one place.

    R1  a derived column is marked as event time by metadata, in a select
    R2  a marked value is never below the event time of the rows it was made from
    R3  at most one marked column goes into an operator
    R4  the delay of a watermark is at least one millisecond
    R5  filters stay above a barrier, so that the rows they drop still move the watermark
    R6  a stream meets a table in an outer join, so that its rows move the watermark even if the table is empty

The marked column of every frame is `tick`: the instant at which a tick ends (E2). A tick is closed when the watermark
has reached that instant. (The beginning would not do: tick 0 may begin in 1970, where Spark's watermark begins, and be
late.)
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from transom.model.time import Calendar

TICK = "tick"
DELAY_KEY = "spark.watermarkDelayMs"
"""Spark's own name for the mark; internal, so a test of its own fails if a release changes it."""

MARK = {DELAY_KEY: 0}
LEAST_DELAY_MS = 1
EPOCH = datetime.fromisoformat("1970-01-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True)
class TickTime:
    """Ticks as instants and back, as columns."""

    calendar: Calendar

    @property
    def zero(self) -> int:
        """The instant at which tick 0 ends, in microseconds since 1970."""
        return (self.calendar.epoch - EPOCH) // timedelta(microseconds=1) + self.calendar.length

    def instant(self, tick: Column) -> Column:
        """The instant at which a tick ends."""
        return F.timestamp_micros(F.lit(self.zero) + tick * F.lit(self.calendar.length))

    def marked(self, tick: Column) -> Column:
        """A tick as the event time of a frame (R1); the caller answers for R2."""
        return self.instant(tick).alias(TICK, metadata=MARK)

    def number(self, instant: Column | None = None) -> Column:
        """The number of the tick that ends at an instant."""
        moment = F.col(TICK) if instant is None else instant
        return div(F.unix_micros(moment) - F.lit(self.zero), self.calendar.length)

    def milliseconds(self, tick: int) -> int:
        """The least whole millisecond at which the watermark has reached a tick."""
        return -(-(self.zero + tick * self.calendar.length) // 1000)

    def closed(self, watermark: int) -> int:
        """The last tick that a watermark in milliseconds has reached."""
        return (watermark * 1000 - self.zero) // self.calendar.length


def div(value: Column, by: int) -> Column:
    """Whole-number quotient; right for values from 0 on, and for multiples."""
    return value if by == 1 else F.call_function("div", value, F.lit(by))


def floor_to(value: Column, step: int) -> Column:
    """The largest multiple of a step that is not above a value from 0 on."""
    return value if step == 1 else div(value, step) * F.lit(step)


def ceil_to(value: Column, step: int) -> Column:
    """The smallest multiple of a step that is not below a value from 0 on."""
    return value if step == 1 else div(value + F.lit(step - 1), step) * F.lit(step)


def watermarked(frame: DataFrame, delay_ms: int, name: str) -> DataFrame:
    """A source with its watermark (R4) and the barrier above it (R5)."""
    return frame.withWatermark(TICK, watermark_delay(delay_ms)).observe(name, F.max(TICK).alias("latest"))


def watermark_delay(delay_ms: int) -> str:
    """The delay of a watermark as Spark takes it (R4).

    A row at the watermark itself is late, so a row that is late by exactly the delay needs the millisecond as well.
    """
    delay = delay_ms + LEAST_DELAY_MS
    return f"{delay} milliseconds"


def with_table(stream: DataFrame, table: DataFrame, condition: Column, found: str, name: str) -> DataFrame:
    """A stream joined with a table (R6), of which the column `found` is never NULL.

    In an inner join Spark does not even read the stream when the table is empty. The outer join reads every row, and
    the barrier above it keeps the optimizer from making it an inner one again.
    """
    pairs = stream.join(table, condition, "left")
    return pairs.observe(name, F.count(F.lit(1)).alias("pairs")).where(F.col(found).isNotNull())


def unmarked(name: str) -> Column:
    """A column that is no longer event time (R3)."""
    return F.col(name).alias(name, metadata={})
