"""The limit on the number of windows in a run of the reference engine."""

from __future__ import annotations

from transom.algebra.operator import Plan
from transom.algebra.tree import walk
from transom.algebra.windows import Coordinate, Every, Window
from transom.errors import DataError

MAX_WINDOWS = 1_000_000
"""The most windows of one operator in a run."""


def check_windows(plan: Plan, start: int, until: int) -> None:
    """Raise DataError if a time window of a plan would create over a million windows from tick `start` to `until`.

    A run has too many, for example, if the epoch is long before the rows.
    """
    for op in walk(plan):
        slide = op.slide if isinstance(op, Window) else None
        if isinstance(slide, Every) and slide.coordinate is Coordinate.TICK:
            windows = (until - start) // slide.step
            if windows > MAX_WINDOWS:
                raise DataError(
                    f"a run from tick {start} to {until} has {windows:,} windows",
                    detail="an integer in a row counts ticks from the epoch; an instant is written in ISO 8601",
                    hint="set `epoch` near the first instant, or give a later start or an earlier until",
                )
