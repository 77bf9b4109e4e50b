"""The clock source (E3): ticks of a schedule as rows, up to a fixed end or following the wall clock.

A clock that knows the commit log of its query emits a tick in the micro-batch whose watermark closes the tick. So ticks
never wait in state, however far the wall clock is ahead of the rows. Other clocks emit a tick when it is over.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import reduce
from itertools import islice
from pathlib import Path

import pyarrow
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.types import StructType

from transom.errors import UsageError
from transom.model.time import Calendar
from transom.spark.columns import IS_HEARTBEAT, TICK_NUMBER
from transom.spark.event_time import TickTime
from transom.spark.input.available_now import SUPPORTED, SupportsTriggerAvailableNow, register
from transom.spark.stateful.kernel import load_clock as kernel_clock

_NAME = "transom_clock"
_TICKS = pyarrow.schema([(TICK_NUMBER, pyarrow.int64()), (IS_HEARTBEAT, pyarrow.bool_())])
_ROWS = 100_000


@dataclass(frozen=True, slots=True)
class _ClockSetting:
    """Settings of a clock; `behind` is set for heartbeats, which are the newest tick only, that many ticks ago.

    `commits` is the folder of the query's commit log; without it, ticks do not wait until the watermark closes them.
    """

    first: int
    periods: tuple[int, ...]
    until: int | None
    length: int
    epoch: str
    behind: int | None = None
    commits: str | None = None

    @property
    def calendar(self) -> Calendar:
        """The calendar of the clock: the length of a tick and the epoch."""
        return Calendar(self.length, datetime.fromisoformat(self.epoch))


@dataclass(frozen=True, slots=True)
class TickRange(InputPartition):
    """The ticks of a micro-batch: those after `start`, up to and including `end`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ClockRange(TickRange):
    """The ticks of a micro-batch of the clock, and the tick `last` of its heartbeat."""

    last: int


def ticks(
    spark: SparkSession,
    *,
    first_tick: int,
    periods: tuple[int, ...],
    until: int | None,
    live: bool,
    calendar: Calendar,
    use_kernel: bool = False,
    commit_log: Path | None = None,
) -> DataFrame:
    """Build a frame of all multiples of `periods` from `first_tick` to `until`; `live`: a stream, maybe without end.

    Without periods it is `first_tick` alone. Without `until` a live frame follows the wall clock and holds only ticks
    that are over. With `commit_log`, the folder of the query's commit log, a tick also waits until the watermark closes
    it. In a live frame `is_heartbeat` is true in rows that only move the watermark: `until + 1`, or the last tick that
    is over. Filter these rows out above the watermark. Raises UsageError for a batch without `until`.
    """
    if live:
        log = str(commit_log) if commit_log is not None and (use_kernel or SUPPORTED) else None
        return _load_clock(
            spark, _clock_setting(first_tick, tuple(sorted(set(periods))), until, calendar, commit_log=log), use_kernel
        )
    if until is None:
        raise UsageError("a batch over the clock has no end", hint="say until which tick, with --until 600 (until=600)")
    if not periods:
        return spark.range(first_tick, min(first_tick, until) + 1).select(F.col("id").alias(TICK_NUMBER))
    ranges = [
        spark.range(-(-first_tick // period) * period, until + 1, period) for period in _independent_periods(periods)
    ]
    united = reduce(DataFrame.union, ranges)
    return (united.distinct() if len(ranges) > 1 else united).select(F.col("id").alias(TICK_NUMBER))


def heartbeats(
    spark: SparkSession, *, lag_ticks: int, calendar: Calendar, live: bool, first_tick: int, use_kernel: bool = False
) -> DataFrame:
    """Build a stream of rows that only move the watermark, to `lag_ticks` before now; empty unless `live`.

    There are none before `first_tick`, and none if not live.
    """
    if not live:
        return spark.range(0).select(F.col("id").alias(TICK_NUMBER))
    return _load_clock(spark, _clock_setting(first_tick, (1,), None, calendar, lag_ticks), use_kernel)


def last_completed_tick(calendar: Calendar, now: datetime | None = None) -> int:
    """The last tick that has ended at the time `now`, by default at the current time."""
    return calendar.tick_of(datetime.now(UTC) if now is None else now) - 1


def ticks_in_span(periods: Sequence[int], first: int, start: int, end: int) -> Iterator[int]:
    """Yield the ticks after `start`, up to `end`, that are multiples of a period; without periods only `first`.

    No tick is before `first`.
    """
    if not periods:
        yield from (first,) if start < first <= end else ()
        return
    tick = max(start + 1, first)
    tick = min(_next_multiple(tick, period) for period in periods)
    while tick <= end:
        yield tick
        tick = min(_next_multiple(tick + 1, period) for period in periods)


def _next_multiple(tick: int, period: int) -> int:
    """The smallest multiple of a period that is not below `tick`."""
    return -(-tick // period) * period


def _independent_periods(periods: Sequence[int]) -> list[int]:
    """Drop the periods of a clock that are multiples of other periods, because they add no ticks."""
    periods_left: list[int] = []
    for period in sorted(set(periods)):
        if all(period % other for other in periods_left):
            periods_left.append(period)
    return periods_left


def _clock_setting(
    first_tick: int,
    periods: tuple[int, ...],
    until: int | None,
    calendar: Calendar,
    lag_ticks: int | None = None,
    commit_log: str | None = None,
) -> _ClockSetting:
    """Return a clock's settings: multiples of `periods` or, unless `lag_ticks` is None, heartbeats with this lag.

    JSON can represent all settings.

    With `lag_ticks`, the clock emits heartbeats, that many ticks ago. `commit_log` is the folder of the query's commit
    log.
    """
    return _ClockSetting(first_tick, periods, until, calendar.length, calendar.epoch.isoformat(), lag_ticks, commit_log)


def _load_clock(spark: SparkSession, setting: _ClockSetting, use_kernel: bool) -> DataFrame:
    """Load a clock as a streaming DataFrame of ticks, from the Java kernel or from the Python data source."""
    setting_json = json.dumps({name: getattr(setting, name) for name in _ClockSetting.__slots__})
    if use_kernel:
        return kernel_clock(spark, setting_json)
    register(spark, ClockSource)
    return spark.readStream.format(_NAME).option("setting", setting_json).load()


class ClockSource(DataSource):
    """The clock as a Spark data source; use `ticks` and `heartbeats` to read it."""

    @classmethod
    def name(cls) -> str:
        """The name of the clock source for `readStream.format`."""
        return _NAME

    def schema(self) -> str:
        """The schema of the clock source: a tick, and whether the row is a heartbeat (only moves the watermark)."""
        return f"{TICK_NUMBER} long, {IS_HEARTBEAT} boolean"

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:  # noqa: N802 - Spark's name
        """Create the stream reader, from the JSON text in the option `setting`."""
        fields = json.loads(self.options["setting"])
        return ClockReader(_ClockSetting(**{**fields, "periods": tuple(fields["periods"])}))


class CommittedWatermark:
    """The watermark of the next micro-batch, read from the commit log of the query, one file per micro-batch."""

    def __init__(self, commits: Path, calendar: Calendar) -> None:
        """Create a reader of the commit log in the folder `commits`, which need not exist yet."""
        self._commits = commits
        self._time = TickTime(calendar)
        self._last = -1
        self._closed: int | None = None

    def closed(self, *, has_committed: bool) -> int | None:
        """Return the last tick that the committed watermark closes; without commits None (error if `has_committed`).

        Raises RuntimeError if there is no commit although the query `has_committed` a micro-batch.
        """
        last = self._last
        if last < 0 and self._commits.is_dir():
            last = max((int(file.name) for file in self._commits.iterdir() if file.name.isdecimal()), default=-1)
        while (self._commits / str(last + 1)).exists():
            last += 1
        if last > self._last:
            metadata = json.loads((self._commits / str(last)).read_text("utf-8").splitlines()[1])
            self._closed = self._time.last_closed_tick(int(metadata["nextBatchWatermarkMs"]))
            self._last = last
        if has_committed and last < 0:
            raise RuntimeError(
                f"{self._commits} cannot be read: the driver of Spark must be able to read the checkpoint"
            )
        return self._closed


class ClockReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Stream reader of the clock. Offsets are ticks; the rows between two offsets never change.

    The offset `tick` is the last heartbeat. With a commit log, the offset `closed` is the last tick that the watermark
    of the micro-batch closes, and ticks up to `closed` have been emitted. Otherwise, ticks up to `tick` have been
    emitted. The watermark of a micro-batch is in the commit log before Spark asks for the offset. So each tick arrives
    in the micro-batch that closes it: not late, and not early.

    After a restart Spark knows the watermark of a source only from new rows. A clock that has reached its end produces
    none, and one with long periods none for a long time: it would hold back the watermark of all other sources. So the
    start time of the query is part of the offset, and each micro-batch ends with a heartbeat: the tick after the end,
    or the last tick that is over.

    Trigger.AvailableNow pins the last tick when the query starts.
    """

    def __init__(self, setting: _ClockSetting) -> None:
        """Create a reader of a clock's ticks; its creation time is part of its offsets, which reveals restarts."""
        self._setting = setting
        self._started = time.time_ns() // 1000
        self._target: int | None = None
        self._watermark = (
            None if setting.commits is None else CommittedWatermark(Path(setting.commits), setting.calendar)
        )

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Return the offset before the first tick."""
        return {"tick": self._setting.first - 1}

    def latestOffset(  # noqa: N802 - Spark's name
        self, start: Mapping[str, int] | None = None, limit: object = None
    ) -> dict[str, int]:
        """Return the latest offset: the last completed tick, or the tick after the clock's end; at least `start`.

        Spark 4.1 does not pass `start`.
        """
        least = self._setting.first - 1
        latest = self._last() if self._target is None else self._target
        tick = max(latest, least, start["tick"] if start else least)
        if self._watermark is None:
            return {"tick": tick, "started": self._started}
        emitted = _emitted(start) if start else least
        closed = self._watermark.closed(has_committed=start is not None and "started" in start)
        return {"tick": tick, "closed": emitted if closed is None else max(closed, emitted), "started": self._started}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Determine the last tick to read in this run; ticks that end later are left to the next run."""
        self._target = self._last()

    def _last(self) -> int:
        """The last tick to read now: `until` + 1 (a heartbeat), or the last completed tick minus `behind`."""
        setting = self._setting
        return (
            last_completed_tick(setting.calendar) - (setting.behind or 0)
            if setting.until is None
            else setting.until + 1
        )

    def partitions(self, start: Mapping[str, int], end: Mapping[str, int]) -> list[ClockRange]:
        """Return one partition of the ticks between two offsets; none if there is no new tick and no restart."""
        is_restart = start.get("started") != end.get("started")
        has_rows = is_restart or start["tick"] < end["tick"] or _emitted(start) < _emitted(end)
        return [ClockRange(_emitted(start), _emitted(end), end["tick"])] if has_rows else []

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Yield the ticks of a partition, then a row that only moves the watermark, in Arrow batches."""
        rows_to_read = self._rows_of_range(partition)
        while rows := list(islice(rows_to_read, _ROWS)):
            ticks, heartbeats = zip(*rows, strict=True)
            cells = [pyarrow.array(ticks, pyarrow.int64()), pyarrow.array(heartbeats, pyarrow.bool_())]
            yield pyarrow.RecordBatch.from_arrays(cells, schema=_TICKS)

    def _rows_of_range(self, tick_range: ClockRange) -> Iterator[tuple[int, bool]]:
        """Yield the ticks of a partition, then its heartbeat, as pairs of a tick and whether it is a heartbeat."""
        setting = self._setting
        last = tick_range.end if setting.until is None else min(tick_range.end, setting.until)
        if setting.behind is None:
            yield from ((tick, False) for tick in ticks_in_span(setting.periods, setting.first, tick_range.start, last))
        if setting.until is None and setting.first <= tick_range.last:
            yield tick_range.last, True
        elif setting.until is not None and setting.until < tick_range.last:
            yield setting.until + 1, True


def _emitted(offset: Mapping[str, int]) -> int:
    """Return the tick up to which a clock has emitted all its ticks, according to a stream offset."""
    return offset.get("closed", offset["tick"])
