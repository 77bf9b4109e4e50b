"""How many rows a speed limit rejects in a replay; a live run counts them with all others (`balance`)."""

from __future__ import annotations

import threading

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as F

PATIENCE = 10.0
"""Seconds to wait for a count after the answer: Spark never tells one of a part that it found out not to need."""


class Rejected:
    """The rows that speed limits reject in a replay, by extent; known when the answer has been computed."""

    def __init__(self) -> None:
        self._observed: list[tuple[str, Observation]] = []

    def counts(self) -> dict[str, int | None]:
        """How many rows of each extent, None where Spark does not tell; wait for the answer first.

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
