"""How many windows the reference engine makes in one run."""

from __future__ import annotations

from transom.algebra.operator import Plan
from transom.algebra.tree import walk
from transom.algebra.windows import Coordinate, Every, Window
from transom.errors import DataError

MOST_WINDOWS = 1_000_000
"""Windows that one operator makes in a simulation."""


def check_windows(plan: Plan, start: int, until: int) -> None:
    """Refuse a run of more windows than anyone means, for example over rows of today with an epoch long ago."""
    for op in walk(plan):
        slide = op.slide if isinstance(op, Window) else None
        if isinstance(slide, Every) and slide.coordinate is Coordinate.TICK:
            windows = (until - start) // slide.step
            if windows > MOST_WINDOWS:
                raise DataError(
                    f"a run from tick {start} to {until} has {windows:,} windows",
                    detail="an integer in a row counts ticks from the epoch; an instant is written in ISO 8601",
                    hint="set `epoch` near the first instant, or give a later start or an earlier until",
                )
