"""How many windows a run of the reference engine creates: the limit, and how many of them are repetitions."""

from __future__ import annotations

from collections.abc import Iterator

from transom.algebra.operator import Plan
from transom.algebra.sources import StreamAcquire, StreamReceive
from transom.algebra.tree import walk
from transom.algebra.windows import Coordinate, Every, Window
from transom.errors import DataError
from transom.reference.sources import Inputs
from transom.reference.windows import boundaries

MAX_WINDOWS = 1_000_000
"""The most windows of one operator in a run."""


MANY_WINDOWS = 10_000
"""The fewest windows of an operator that are worth a hint."""


def unchanged_windows(plan: Plan, inputs: Inputs) -> Iterator[tuple[int, int, int]]:
    """For each time window of which most repeat the previous one, yield (windows, input rows, fewest repetitions).

    A row enters a time window once and leaves it once, so `n` rows change at most `2 * n` windows after the first one.
    """
    for op in walk(plan):
        if not (isinstance(op, Window) and isinstance(op.slide, Every) and op.slide.coordinate is Coordinate.TICK):
            continue
        sources = {leaf.extent for leaf in walk(op) if isinstance(leaf, StreamAcquire | StreamReceive)}
        if not sources:
            continue
        windows = len(boundaries(op.slide, inputs))
        rows = sum(len(inputs.elements_of(extent)) for extent in sources)
        unchanged = windows - 1 - 2 * rows
        if windows >= MANY_WINDOWS and unchanged > windows // 2:
            yield windows, rows, unchanged


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
