"""Rows and messages that a replay rejects: rows beyond a speed limit, invalid rows of CSV, and invalid messages.

A live run counts them in `balance`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame, Observation, Row
from pyspark.sql import functions as F

from transom.model.balance import Balance
from transom.model.reject_reason import RejectReason, is_mostly_rejected, most_frequent
from transom.spark.columns import COUNT, IS_ROW, ORDER, ORIGIN_ORDER, REJECT_REASON, TICK_NUMBER

OBSERVATION_TIMEOUT = 10.0
"""Seconds to wait for a count after the result: Spark reports none for a part of the plan that it skipped."""


@dataclass(frozen=True)
class RejectedMessages:
    """The rejected messages of one stream by reason: their number, and the location of the first with its details.

    The reasons of `first` are in the order of the input. `unit` says in the plural what they are. `used` is the number
    of the others. `example` says what is wrong with the first one that has the most frequent reason; it is empty unless
    most are rejected.
    """

    counts: dict[str, int]
    first: dict[str, str]
    unit: str = "messages"
    used: int = 0
    example: str = ""


@dataclass(frozen=True)
class _CachedSource:
    """The persisted frame of a source; `unit`, `detail` and `until` are those of `RejectedRows.cache_messages`."""

    frame: DataFrame
    unit: str
    detail: Callable[[Row], str] | None
    until: int | None

    def reasons(self) -> tuple[list[Row], int]:
        """Return a row for each reason, in the order of the first row of the reason, and the number of used rows.

        The columns are the reason, `rows` (their number), and `first` with all columns of the first row.
        """
        in_time = F.lit(True) if self.until is None else F.col(TICK_NUMBER) <= F.lit(self.until)
        order = F.col(ORIGIN_ORDER if ORIGIN_ORDER in self.frame.columns else ORDER)
        counted = self.frame.groupBy(REJECT_REASON).agg(
            F.count("*").alias("rows"),
            F.count_if(in_time).alias("used"),
            F.min_by(F.struct("*"), order).alias("first"),
            F.min(order).alias("order"),
        )
        counts = counted.collect()
        rejected = sorted((row for row in counts if row[REJECT_REASON] is not None), key=lambda row: row["order"])
        return rejected, sum(row["used"] for row in counts if row[REJECT_REASON] is None)

    def detail_of(self, rejected: Row) -> str:
        """Say why a row of the source is rejected."""
        return rejected["detail"] if self.detail is None else self.detail(rejected)


class RejectedRows:
    """Collects the rows and messages that a replay rejects, by extent."""

    def __init__(self) -> None:
        """Create an empty collection of the rows and messages that a batch run rejects."""
        self._observed: list[tuple[str, Observation]] = []
        self._cached: dict[str, _CachedSource] = {}
        self._messages: dict[str, RejectedMessages] = {}

    def cache_messages(
        self,
        frame: DataFrame,
        extent: str,
        unit: str = "messages",
        detail: Callable[[Row], str] | None = None,
        until: int | None = None,
    ) -> DataFrame:
        """Persist a source's frame of rows, so that the query and the count of rejected ones read it once.

        `unit` says in the plural what is rejected. `detail` says why a row of the frame is rejected, where the column
        `detail` does not. Rows after tick `until` do not count as used.
        """
        self._cached[extent] = _CachedSource(frame.persist(), unit, detail, until)
        return self._cached[extent].frame

    def messages(self) -> dict[str, RejectedMessages]:
        """Count each source's rejected messages by reason, and keep the first of each, from the cached frames."""
        for name, cached in self._cached.items():
            reasons, used = cached.reasons()
            if not reasons:
                continue
            counts = {row[REJECT_REASON]: row["rows"] for row in sorted(reasons, key=lambda row: row[REJECT_REASON])}
            details = {row[REJECT_REASON]: cached.detail_of(row["first"]) for row in reasons}
            first = {row[REJECT_REASON]: f"{row['first']['origin']}: {details[row[REJECT_REASON]]}" for row in reasons}
            example = details[most_frequent(counts)] if is_mostly_rejected(counts, used) else ""
            self._messages[name] = RejectedMessages(counts, first, cached.unit, used, example)
        return self._messages

    def release(self) -> None:
        """Unpersist the frames of messages that `cache_messages` cached; to be called after the result is computed."""
        for cached in self._cached.values():
            cached.frame.unpersist()
        self._cached = {}

    def counts(self) -> dict[str, int | None]:
        """Count the rows that speed limits rejected, by source; None if Spark reports no count.

        To be called after the result is computed. Extents with no such rows are left out.
        """
        return {
            extent: None if balance is None else sum(balance.rejected.values())
            for extent, balance in self.balances().items()
        }

    def balances(self) -> dict[str, Balance | None]:
        """Return the row counts of sources with rows rejected by a speed limit; None if Spark has no count.

        To be called after the result is computed. An extent that is read twice is counted once.
        """
        balances_by_extent: dict[str, list[Balance]] = {}
        for extent, observation in self._observed:
            balance = _observed_balance(observation)
            balances_by_extent.setdefault(extent, []).extend([] if balance is None else [balance])
        most = {
            extent: max(balances, key=lambda balance: sum(balance.rejected.values()), default=None)
            for extent, balances in balances_by_extent.items()
        }
        return {extent: balance for extent, balance in most.items() if balance is None or balance.rejected}

    def observe(self, frame: DataFrame, extent: str, number: int) -> DataFrame:
        """Observe how many rows a speed limit accepts and rejects in a source; `number` makes metric names unique.

        `number` makes the name of the metrics unique.
        """
        self._observed.append((extent, observation := Observation(f"transom_{extent}_too_fast_{number}")))
        accepted = F.count_if(F.col(IS_ROW)).alias("accepted")
        return frame.observe(observation, speed_limit_count().alias("rows"), accepted)


def speed_limit_count() -> Column:
    """Build the aggregation that counts a speed limit's rejected rows: the sum of `count` where `is_row` is false."""
    return F.sum(F.when(~F.col(IS_ROW), F.col(COUNT)))


def _observed_balance(observation: Observation) -> Balance | None:
    """Wait for the row counts of a Spark Observation; None if Spark does not report them within ten seconds."""
    balances: list[Balance] = []
    waiter = threading.Thread(target=lambda: balances.append(_balance(observation.get)), daemon=True)
    waiter.start()
    waiter.join(OBSERVATION_TIMEOUT)
    return balances[0] if balances else None


def _balance(metrics: dict[str, Any]) -> Balance:
    """Build the row counts (read, accepted, rejected) of a speed-limit filter from Spark's metrics; NULL is 0."""
    accepted, rejected = int(metrics["accepted"] or 0), int(metrics["rows"] or 0)
    counts = {RejectReason.SPEED.value: rejected} if rejected else {}
    return Balance(accepted + rejected, accepted, rejected=counts)
