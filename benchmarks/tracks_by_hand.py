"""Peer of the benchmark of many objects: the same windows by hand, in `transformWithStateInPandas`.

Written as an expert in Spark and NumPy would: objects are hashed into buckets, the state of a bucket is one value of
plain arrays, and all objects of a bucket are processed together, without a loop over rows or objects. As in ours, rows
wait until the watermark has passed them, so that they are processed in the order of event time.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming import StatefulProcessor

from benchmarks.tracks import SECONDS, Tracks

KILOMETRE = 1_000_000_000
"""A kilometre in micrometres; distances are whole micrometres, as in ours."""

RANGE, SLIDE = 50 * KILOMETRE, 10 * KILOMETRE
FAR = 1 << 44
"""More than any object travels (17,592 km): object number * FAR + distance is one sorted, searchable key."""

NEW = -1

ROW = np.dtype([("tick", "i8"), ("car", "i8"), ("x", "f8"), ("y", "f8")])
KEPT = np.dtype([("tick", "i8"), ("car", "i8"), ("x", "f8"), ("y", "f8"), ("way", "i8")])


class Windows(StatefulProcessor):
    """Computes the windows of all objects of a bucket."""

    def init(self, handle: Any) -> None:
        """Open the state: rows that windows may still hold, and rows that wait for the watermark with their timer."""
        self.handle = handle
        self.kept = handle.getValueState("kept", "body binary")
        self.waiting = handle.getValueState("waiting", "body binary, timer bigint")

    def handleInputRows(self, key: Any, rows: Any, timerValues: Any) -> Iterator[pd.DataFrame]:  # noqa: N802, N803
        """Add the rows of a micro-batch and emit the windows that the watermark has closed."""
        parts = []
        for frame in rows:
            part = np.empty(len(frame), ROW)
            part["tick"] = frame["tick"].to_numpy()
            for name in ("car", "x", "y"):
                part[name] = frame[name].to_numpy()
            parts.append(part)
        yield from self._go_on(parts, timerValues, None)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Any:  # noqa: N802, N803
        """Emit the windows that the watermark has closed when a timer expires."""
        yield from self._go_on([], timerValues, expiredTimerInfo.getExpiryTimeInMs())

    def close(self) -> None:
        """Nothing to close."""

    def _go_on(self, parts: list[np.ndarray], times: Any, fired: int | None) -> Iterator[pd.DataFrame]:
        timer = None
        if self.waiting.exists():
            body, timer = self.waiting.get()
            parts.insert(0, np.frombuffer(body, ROW))
        rows = np.concatenate(parts) if parts else np.empty(0, ROW)
        closed = times.getCurrentWatermarkInMs() // 1000 - SECONDS - 1
        ready = rows["tick"] <= closed
        rest = rows[~ready]
        if timer is not None and timer != fired:
            self.handle.deleteTimer(timer)
        if len(rest):
            wanted = (int(rest["tick"].min()) + 1 + SECONDS) * 1000
            self.handle.registerTimer(wanted)
            self.waiting.update((rest.tobytes(), wanted))
        elif timer is not None:
            self.waiting.clear()
        if ready.any():
            kept = np.frombuffer(self.kept.get()[0], KEPT) if self.kept.exists() else np.empty(0, KEPT)
            kept, answer = windows(kept, rows[ready])
            self.kept.update((kept.tobytes(),))
            if len(answer):
                yield answer


def windows(kept: np.ndarray, fresh: np.ndarray) -> tuple[np.ndarray, pd.DataFrame]:
    """The rows that later windows may still hold, and the average speeds of the windows that fresh rows complete."""
    rows = np.empty(len(kept) + len(fresh), KEPT)
    rows[: len(kept)] = kept
    for name in ROW.names or ():
        rows[name][len(kept) :] = fresh[name]
    rows["way"][len(kept) :] = NEW
    rows = rows[np.lexsort((rows["tick"], rows["car"]))]
    car, tick, x, y, way = (np.ascontiguousarray(rows[name]) for name in ("car", "tick", "x", "y", "way"))
    new = way == NEW
    starts = np.concatenate(([True], car[1:] != car[:-1]))
    first, rank = np.flatnonzero(starts), np.cumsum(starts) - 1
    dx, dy = np.diff(x), np.diff(y)
    steps = np.concatenate(([0], np.rint(np.sqrt(dx * dx + dy * dy) * 1e6).astype(np.int64)))
    steps[starts | ~new] = 0
    sums = np.cumsum(steps)
    known = np.maximum(np.maximum.reduceat(way, first), 0)
    way = np.where(new, known[rank] + sums - sums[first][rank], way)
    rows["way"] = way
    marks = way // SLIDE
    over = np.concatenate((starts[1:] | (tick[1:] != tick[:-1]), [True]))
    end = np.flatnonzero(over & new)
    begin = np.flatnonzero(np.concatenate(([True], over[:-1])) & new)
    end = end[marks[end] > np.where(starts[begin], -1, marks[begin - 1])]
    place, mark = rank * FAR + way, rank[end] * FAR + marks[end] * SLIDE
    low, high = np.searchsorted(place, mark - RANGE, "left"), np.searchsorted(place, mark, "right") - 1
    high = np.minimum(high, end)
    ticks = tick[high] - tick[low]
    some = ticks > 0
    speed = ((way[high] - way[low]) * 18)[some].astype(float) / (ticks[some] * 5_000_000).astype(float)
    answer = pd.DataFrame({"tick": tick[end][some], "car": car[end][some], "speed": speed})
    last = np.concatenate((first[1:], [len(rows)])) - 1
    return rows[way >= ((marks[last] + 1) * SLIDE - RANGE)[rank]], answer


def by_hand(spark: SparkSession, tracks: Tracks, buckets: int) -> DataFrame:
    """The query by hand: rows grouped by bucket, their windows, and ticks as the instants at which they end."""
    rows = tracks.stream(spark).withWatermark("ts", "1 millisecond")
    rows = rows.where(F.unix_seconds("ts") <= SECONDS + tracks.until)
    tick = (F.unix_seconds("ts") - SECONDS).alias("tick")
    spread = rows.select("ts", tick, "car", "x", "y", F.pmod(F.hash("car"), F.lit(buckets)).alias("bucket"))
    made = spread.groupBy("bucket").transformWithStateInPandas(
        statefulProcessor=Windows(),
        outputStructType="tick bigint, car bigint, speed double",
        outputMode="append",
        timeMode="EventTime",
    )
    return made.select(F.timestamp_seconds(F.col("tick") + F.lit(SECONDS + 1)).alias("tick"), "car", "speed")
