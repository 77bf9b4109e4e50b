"""What a replay rejects: rows beyond a speed limit, and messages that are not RDF.

A live run counts them with all others (`balance`).
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

PATIENCE = 10.0
"""Seconds to wait for a count after the answer: Spark never tells one of a part that it found out not to need."""


@dataclass(frozen=True)
class RejectedMessages:
    """The messages of one stream that gave no statements: how many by reason, and where the first is and why."""

    counts: dict[str, int]
    first: str


class Rejected:
    """What a replay rejects, by extent."""

    def __init__(self) -> None:
        self._observed: list[tuple[str, Observation]] = []
        self._kept: dict[str, DataFrame] = {}
        self._messages: dict[str, RejectedMessages] = {}

    def keep(self, frame: DataFrame, extent: str) -> DataFrame:
        """The messages of a batch, read once for the answer and for `messages`."""
        self._kept[extent] = frame.persist()
        return self._kept[extent]

    def messages(self) -> dict[str, RejectedMessages]:
        """The rejected messages of each stream that has any; `dead`, `words` and `at` say why and where."""
        for name, frame in self._kept.items():
            dead = frame.where(F.col("dead").isNotNull())
            counts = {row["dead"]: row["count"] for row in dead.groupBy("dead").count().collect()}
            if counts:
                first = dead.orderBy("o").first()
                self._messages[name] = RejectedMessages(
                    dict(sorted(counts.items())), f"{first['at']}: {first['words']}"
                )
        return self._messages

    def forget(self) -> None:
        """Let go of what was kept; the answer must have been computed."""
        for frame in self._kept.values():
            frame.unpersist()
        self._kept = {}

    def counts(self) -> dict[str, int | None]:
        """How many rows of each extent beyond a speed limit, None where Spark does not tell; get the answer first.

        An extent that is read twice is counted once.
        """
        found: dict[str, list[int | None]] = {}
        for extent, observation in self._observed:
            found.setdefault(extent, []).append(_rows(observation))
        most = {extent: max((n for n in told if n is not None), default=None) for extent, told in found.items()}
        return {extent: count for extent, count in most.items() if count != 0}

    def watch(self, frame: DataFrame, extent: str, number: int) -> DataFrame:
        """The same batch, counted."""
        self._observed.append((extent, observation := Observation(f"transom_{extent}_too_fast_{number}")))
        return frame.observe(observation, too_fast().alias("rows"))


def too_fast() -> Column:
    """How many rows a speed limit rejects: `n` of a row without `p`."""
    return F.sum(F.when(~F.col("p"), F.col("n")))


def _rows(observation: Observation) -> int | None:
    """What was counted; None for what Spark did not tell."""
    told: list[int] = []
    asking = threading.Thread(target=lambda: told.append(int(observation.get["rows"] or 0)), daemon=True)
    asking.start()
    asking.join(PATIENCE)
    return told[0] if told else None
