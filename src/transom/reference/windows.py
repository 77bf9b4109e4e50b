"""Figures 5 and 6 for any coordinate: when windows are created and which tuples they hold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import assert_never

from transom.algebra.sources import StoredTable
from transom.algebra.windows import (
    Arrival,
    Between,
    Content,
    Coordinate,
    Every,
    Inside,
    Once,
    Slide,
    Window,
)
from transom.errors import Unsupported
from transom.model.bag import Bag, Element, Row
from transom.reference.sources import Inputs, scan_table

NOT_YET = "elements carry no distance and no place until the spatial language comes"


def scan(op: Window, table: StoredTable, inputs: Inputs) -> list[Bag]:
    """Figure 5: the content of the table at every scan tick."""
    return [Bag(now, scan_table(table, now, inputs)) for now in scan_ticks(op.slide, inputs)]


def scan_ticks(slide: Slide, inputs: Inputs) -> Sequence[int]:
    """The ticks at which a table is scanned: once at the start (S17), or at every boundary up to the end."""
    match slide:
        case Once():
            return [inputs.start] if inputs.start <= inputs.until else []
        case Every():
            return boundaries(slide, inputs)
        case Arrival():
            raise Unsupported("Window", "nothing arrives at a table", "never")
        case _:
            assert_never(slide)


def boundaries(slide: Every, inputs: Inputs) -> Sequence[int]:
    """The boundaries on the tick coordinate between start and end; they stay multiples of the step (S38)."""
    skipped = max(0, -(-(inputs.start - slide.first) // slide.step))
    return range(slide.first + skipped * slide.step, inputs.until + 1, slide.step)


def window(op: Window, elements: Sequence[Element], inputs: Inputs) -> list[Bag]:
    """Figure 6 for any coordinate: one window per slide event, with the elements in range."""
    if op.key or isinstance(op.range, Inside):
        raise Unsupported("Window", "partitions and regions come with the spatial language")
    return [
        Bag(now, tuple(with_tags(op, e) for e in elements if seen(e, at) and in_range(op, e, at)))
        for now, at in slide_events(op.slide, elements, inputs)
    ]


def slide_events(slide: Slide, elements: Sequence[Element], inputs: Inputs) -> list[tuple[int, dict[Coordinate, int]]]:
    """When windows are created: the tick of each, and where each coordinate stands then.

    On the tick coordinate a window comes at every boundary, whether anything arrived or not (S5, S22). On the index
    coordinate it comes when the row of that number does, with its tick (S6, S7).
    """
    match slide:
        case Every(coordinate=Coordinate.TICK):
            return [
                (now, {Coordinate.TICK: now, Coordinate.INDEX: rows_until(now, elements)})
                for now in boundaries(slide, inputs)
            ]
        case Every(coordinate=Coordinate.INDEX, step=step, first=first):
            return [
                (e.tick, {Coordinate.TICK: e.tick, Coordinate.INDEX: e.index})
                for e in elements
                if e.index >= first and (e.index - first) % step == 0
            ]
        case Arrival():
            ticks = sorted({e.tick for e in elements})
            return [(now, {Coordinate.TICK: now, Coordinate.INDEX: rows_until(now, elements)}) for now in ticks]
        case Every(coordinate=Coordinate.DISTANCE):
            raise Unsupported("Window", NOT_YET)
        case Once():
            raise Unsupported("Window", "only a table is scanned once", "never")
        case _:
            raise Unsupported("Window", f"no such slide: {slide}", "never")


def seen(element: Element, at: dict[Coordinate, int]) -> bool:
    """Whether an element had arrived when the window was created."""
    return element.index <= at[Coordinate.INDEX]


def rows_until(now: int, elements: Sequence[Element]) -> int:
    """How many rows have arrived at the end of a tick."""
    return max((e.index for e in elements if e.tick <= now), default=0)


def in_range(op: Window, element: Element, at: dict[Coordinate, int]) -> bool:
    """Whether an element lies between the bounds; both ends belong (S4)."""
    match op.range:
        case Between(coordinate=Coordinate.DISTANCE):
            raise Unsupported("Window", NOT_YET)
        case Between(coordinate=coordinate, low=low, high=high):
            base = at[coordinate]
            where = element.tick if coordinate is Coordinate.TICK else element.index
            return low.at(base) <= where <= high.at(base)
        case Inside() | Content():
            raise Unsupported("Window", "this range is not a range on a coordinate", "never")
        case _:
            assert_never(op.range)


def with_tags(op: Window, element: Element) -> Row:
    """The tuple without its tags, except those that the query reads (S35)."""
    return element.row + tuple(element.tick if a.name == "tick" else element.index for a in op.tags)
