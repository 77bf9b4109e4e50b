"""The clock as a source (E3): ticks that no row carries, from a range, a given end, or the wall clock."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from itertools import islice

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from transom.errors import UsageError
from transom.model.time import Calendar
from transom.spark.available_now import SupportsTriggerAvailableNow, register
from transom.spark.kernel import clock as kernel_clock

_NAME = "transom_clock"
_TICKS = pyarrow.schema([("t", pyarrow.int64()), ("beat", pyarrow.bool_())])
_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class _Setting:
    """What the clock shows. `behind` is set for heartbeats: only the newest tick of a batch, so far behind."""

    first: int
    periods: tuple[int, ...]
    until: int | None
    length: int
    epoch: str
    behind: int | None = None

    @property
    def calendar(self) -> Calendar:
        return Calendar(self.length, datetime.fromisoformat(self.epoch))


@dataclass(frozen=True, slots=True)
class Span(InputPartition):
    """Offsets of a micro-batch: ticks after `start`, up to and including `end`."""

    start: int
    end: int


def ticks(
    spark: SparkSession,
    *,
    first: int,
    periods: tuple[int, ...],
    until: int | None,
    live: bool,
    calendar: Calendar,
    kernel: bool = False,
) -> DataFrame:
    """Every tick from `first` to `until` that is a multiple of one of `periods`, once each, in a column `t`.

    Without periods it is `first` alone. Without `until` a live frame follows the wall clock and holds only ticks that
    are over. A live frame has a column `beat` besides, true in rows that only move the watermark: `until + 1`, or the
    last tick that is over. Filter them out above the watermark.
    """
    if live:
        return _clock(spark, _setting(first, tuple(sorted(set(periods))), until, calendar), kernel)
    if until is None:
        raise UsageError("a batch over the clock has no end", hint="say until which tick, with until=600")
    if not periods:
        return spark.range(first, min(first, until) + 1).select(F.col("id").alias("t"))
    ranges = [spark.range(-(-first // period) * period, until + 1, period) for period in _apart(periods)]
    united = reduce(DataFrame.union, ranges)
    return (united.distinct() if len(ranges) > 1 else united).select(F.col("id").alias("t"))


def beats(
    spark: SparkSession, *, behind: int, calendar: Calendar, live: bool, first: int, kernel: bool = False
) -> DataFrame:
    """Heartbeats for silent sources (E12): in each micro-batch the last tick that is over, `behind` ticks ago, in `t`.

    There are none before `first`, and none at all in a batch.
    """
    if not live:
        return spark.range(0).select(F.col("id").alias("t"))
    return _clock(spark, _setting(first, (1,), None, calendar, behind), kernel)


def completed(calendar: Calendar, now: datetime | None = None) -> int:
    """The last tick that is over: epoch + (tick + 1) * length has passed."""
    return calendar.tick_of(datetime.now(UTC) if now is None else now) - 1


def in_span(periods: Sequence[int], first: int, start: int, end: int) -> Iterator[int]:
    """The ticks after `start` up to `end` that the periods show, in order; `first` alone if there are none."""
    if not periods:
        yield from (first,) if start < first <= end else ()
        return
    tick = max(start + 1, first)
    tick = min(_next(tick, period) for period in periods)
    while tick <= end:
        yield tick
        tick = min(_next(tick + 1, period) for period in periods)


def _next(tick: int, period: int) -> int:
    return -(-tick // period) * period


def _apart(periods: Sequence[int]) -> list[int]:
    """The periods without those that are multiples of another."""
    kept: list[int] = []
    for period in sorted(set(periods)):
        if all(period % other for other in kept):
            kept.append(period)
    return kept


def _setting(
    first: int, periods: tuple[int, ...], until: int | None, calendar: Calendar, behind: int | None = None
) -> _Setting:
    return _Setting(first, periods, until, calendar.length, calendar.epoch.isoformat(), behind)


def _clock(spark: SparkSession, setting: _Setting, kernel: bool) -> DataFrame:
    words = json.dumps({name: getattr(setting, name) for name in _Setting.__slots__})
    if kernel:
        return kernel_clock(spark, words)
    register(spark, ClockSource)
    return spark.readStream.format(_NAME).option("setting", words).load()


class ClockSource(DataSource):
    """Spark's way to the clock; `ticks` and `beats` make it."""

    @classmethod
    def name(cls) -> str:
        """What the source is called in a format."""
        return _NAME

    def schema(self) -> str:
        """A tick, and whether the row only moves the watermark."""
        return "t long, beat boolean"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """The reader of a live frame."""
        fields = json.loads(self.options["setting"])
        return ClockReader(_Setting(**{**fields, "periods": tuple(fields["periods"])}))


class ClockReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Offsets are ticks; what lies between two offsets never changes.

    After a restart Spark knows the watermark of a source only from rows that come again. A clock with an end has none
    to come, and one with long periods none for long: it would hold up all other sources. So every start is part of
    the offset, and each micro-batch ends with a heartbeat: the tick after the end, or the last tick that is over.

    Trigger.AvailableNow pins the last tick when the query starts.
    """

    def __init__(self, setting: _Setting) -> None:
        self._setting = setting
        self._started = time.time_ns() // 1000
        self._target: int | None = None

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """The tick before the first."""
        return {"tick": self._setting.first - 1}

    def latestOffset(  # noqa: N802 - Spark's name
        self, start: Mapping[str, int] | None = None, limit: object = None
    ) -> dict[str, int]:
        """The tick after the end, or the last tick that is over by the wall clock; never back (4.1 gives no start)."""
        least = self._setting.first - 1
        latest = self._last() if self._target is None else self._target
        return {"tick": max(latest, least, start["tick"] if start else least), "started": self._started}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Pin the last tick: ticks that end while the query runs belong to the next run."""
        self._target = self._last()

    def _last(self) -> int:
        """The tick after the end, or the last tick that is over by the wall clock."""
        setting = self._setting
        return completed(setting.calendar) - (setting.behind or 0) if setting.until is None else setting.until + 1

    def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[Span]:
        """One partition, or none where nothing is new."""
        again = start.get("started") != end.get("started")
        return [Span(start["tick"], end["tick"])] if start["tick"] < end["tick"] or again else []

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """The ticks of a span, and the heartbeat after them."""
        shown = self._shown(partition)
        while rows := list(islice(shown, _ROWS)):
            ticks, heartbeats = zip(*rows, strict=True)
            cells = [pyarrow.array(ticks, pyarrow.int64()), pyarrow.array(heartbeats, pyarrow.bool_())]
            yield pyarrow.RecordBatch.from_arrays(cells, schema=_TICKS)

    def _shown(self, span: Span) -> Iterator[tuple[int, bool]]:
        setting = self._setting
        last = span.end if setting.until is None else min(span.end, setting.until)
        if setting.behind is None:
            yield from ((tick, False) for tick in in_span(setting.periods, setting.first, span.start, last))
        if setting.until is None and setting.first <= span.end:
            yield span.end, True
        elif setting.until is not None and setting.until < span.end:
            yield setting.until + 1, True
