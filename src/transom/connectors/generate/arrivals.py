"""When made-up rows come, and which of them are missing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from transom.catalog.sources import Gaps, Poisson, Regular
from transom.connectors.generate.draws import Draw, waiting


def arrival_ticks(setting: Poisson | Regular, draw: Draw, until: int) -> Iterator[int]:
    """The ticks of arrivals up to and including `until`; a tick once for every arrival in it."""
    match setting:
        case Regular(every=every):
            yield from range(0, until + 1, every)
        case Poisson(rate=rate):
            mean = rate.ticks / rate.rows
            time = waiting(draw, mean)
            while time < until + 1:
                yield int(time)
                time += waiting(draw, mean)
        case _:
            assert_never(setting)


def is_missing(gaps: Gaps, draw: Draw, tick: int) -> bool:
    """Whether the row that comes next is lost; one draw per row where there is a chance of it."""
    lost = gaps.chance > 0 and draw() < gaps.chance
    return lost or gaps.hide(tick)
