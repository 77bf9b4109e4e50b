"""Arrival times of generated rows, and which rows are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from transom.catalog.sources import Gaps, PoissonArrivals, RegularArrivals
from transom.connectors.generate.draws import Draw, exponential


def arrival_ticks(setting: PoissonArrivals | RegularArrivals, draw: Draw, until: int) -> Iterator[int]:
    """Yield the ticks up to `until` at which generated rows arrive; a tick is repeated if several rows arrive."""
    match setting:
        case RegularArrivals(every=every):
            yield from range(0, until + 1, every)
        case PoissonArrivals(rate=rate):
            mean_gap = rate.ticks / rate.rows
            time = exponential(draw, mean_gap)
            while time < until + 1:
                yield int(time)
                time += exponential(draw, mean_gap)
        case _:
            assert_never(setting)


def is_missing(gaps: Gaps, draw: Draw, tick: int) -> bool:
    """Whether the next generated row is left out, at random or because its tick is in a declared gap.

    Draws once per row if the chance is above 0.
    """
    lost = gaps.chance > 0 and draw() < gaps.chance
    return lost or gaps.in_gap(tick)
