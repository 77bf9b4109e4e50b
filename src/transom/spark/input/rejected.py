"""Rows and messages that a replay rejects: rows beyond a speed limit, and messages that are not valid RDF.

A live run counts them in `balance`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

from transom.spark.columns import COUNT, IS_ROW, ORDER, REJECT_REASON

OBSERVATION_TIMEOUT = 10.0
"""Seconds to wait for a count after the result: Spark reports none for a part of the plan that it skipped."""


@dataclass(frozen=True)
class RejectedMessages:
    """The rejected messages of one stream: counts by reason, and the location of the first with its details."""

    counts: dict[str, int]
    first: str


class RejectedRows:
    """Collects the rows and messages that a replay rejects, by extent."""

    def __init__(self) -> None:
        """Start without observed speed limits and without cached messages."""
        self._observed: list[tuple[str, Observation]] = []
        self._cached: dict[str, DataFrame] = {}
        self._messages: dict[str, RejectedMessages] = {}

    def cache_messages(self, frame: DataFrame, extent: str) -> DataFrame:
        """Cache the frame of a source's messages, so that the query and `messages` read the source once."""
        self._cached[extent] = frame.persist()
        return self._cached[extent]

    def messages(self) -> dict[str, RejectedMessages]:
        """Count each source's rejected messages by reason, with the first one as example, from the cached frames."""
        for name, frame in self._cached.items():
            dead = frame.where(F.col(REJECT_REASON).isNotNull())
            counts = {row[REJECT_REASON]: row["count"] for row in dead.groupBy(REJECT_REASON).count().collect()}
            if counts:
                first = dead.orderBy(ORDER).first()
                self._messages[name] = RejectedMessages(
                    dict(sorted(counts.items())), f"{first['origin']}: {first['detail']}"
                )
        return self._messages

    def release(self) -> None:
        """Unpersist the frames of messages that `cache_messages` cached; to be called after the result is computed."""
        for frame in self._cached.values():
            frame.unpersist()
        self._cached = {}

    def counts(self) -> dict[str, int | None]:
        """Count the rows that speed limits rejected, by source; None if Spark reports no count.

        To be called after the result is computed.

        An extent that is read twice is counted once. Extents with no such rows are left out.
        """
        counts_by_extent: dict[str, list[int | None]] = {}
        for extent, observation in self._observed:
            counts_by_extent.setdefault(extent, []).append(_observed_rows(observation))
        most = {
            extent: max((n for n in counts if n is not None), default=None)
            for extent, counts in counts_by_extent.items()
        }
        return {extent: count for extent, count in most.items() if count != 0}

    def observe(self, frame: DataFrame, extent: str, number: int) -> DataFrame:
        """Count, as a Spark metric, the rows that a speed limit rejects in a replay; `number` makes its name unique."""
        self._observed.append((extent, observation := Observation(f"transom_{extent}_too_fast_{number}")))
        return frame.observe(observation, speed_limit_count().alias("rows"))


def speed_limit_count() -> Column:
    """Build the aggregation that counts a speed limit's rejected rows: the sum of `count` where `is_row` is false."""
    return F.sum(F.when(~F.col(IS_ROW), F.col(COUNT)))


def _observed_rows(observation: Observation) -> int | None:
    """Wait for the row count of a Spark Observation; None if Spark does not report it within ten seconds."""
    counts: list[int] = []
    waiter = threading.Thread(target=lambda: counts.append(int(observation.get["rows"] or 0)), daemon=True)
    waiter.start()
    waiter.join(OBSERVATION_TIMEOUT)
    return counts[0] if counts else None
