"""How many rows each operator must remember, and how fast it can produce: computed from the plan alone (E8)."""

from __future__ import annotations

import math
from typing import assert_never

from transom.algebra.relations import (
    WindowAggregation,
    WindowCrossProduct,
    WindowJoin,
    WindowProject,
    WindowSelect,
)
from transom.algebra.sources import StoredTable, StreamAcquire, StreamReceive
from transom.algebra.state import (
    NOTHING,
    ONE,
    Arrivals,
    Formula,
    Number,
    TableRows,
    Unbounded,
    least,
    plus,
    share,
    times,
)
from transom.algebra.streams import DStream, IStream, Renumber, RStream, StreamProject, StreamSelect
from transom.algebra.tree import Operator, Stream, Windows, walk
from transom.algebra.windows import Arrival, Between, Bound, Coordinate, Every, Once, Window

NO_END = "a range in space holds rows for as long as an object stays in it"
SPACE_HINTS = ("declare `max_rows_per_key` and `keys`", "declare `max_dwell`")


def arrivals(op: Stream, span: int) -> Formula:
    """The most rows that a stream delivers in any span of ticks."""
    match op:
        case StreamAcquire(extent=extent) | StreamReceive(extent=extent):
            return Arrivals(extent, span) if span > 0 else NOTHING
        case StreamSelect(input=input) | StreamProject(input=input) | Renumber(input=input):
            return arrivals(input, span)
        case RStream(input=input) | IStream(input=input) | DStream(input=input):
            return times(windows_within(input, span), size(input))
        case _:
            assert_never(op)


def size(op: Windows) -> Formula:
    """The most rows in one window."""
    match op:
        case Window(input=StoredTable(extent=extent)):
            return TableRows(extent)
        case Window():
            return _held(op, _width(op))
        case WindowSelect(input=input) | WindowProject(input=input):
            return size(input)
        case WindowAggregation(input=input, groups=groups):
            return size(input) if groups else ONE
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(size(left), size(right))
        case _:
            assert_never(op)


def windows_per_tick(op: Windows) -> Formula:
    """The most windows that are created at one tick."""
    match op:
        case Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input) if not isinstance(
            input, StoredTable
        ):
            return share(arrivals(input, 1), step)
        case Window():
            return ONE
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return windows_per_tick(below)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return times(windows_per_tick(left), windows_per_tick(right))
        case _:
            assert_never(op)


def window_ticks(op: Windows, span: int) -> Formula:
    """The most ticks with windows in any span of ticks."""
    match op:
        case Window(slide=Once()):
            return ONE
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step)):
            return Number(-(-span // step))
        case Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input) if not isinstance(
            input, StoredTable
        ):
            return least(Number(span), share(arrivals(input, span), step))
        case Window(slide=Arrival(), input=input) if not isinstance(input, StoredTable):
            return least(Number(span), arrivals(input, span))
        case Window():
            return Number(span)
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return window_ticks(below, span)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            first, second = window_ticks(left, span), window_ticks(right, span)
            shared = _slide_step(left), _slide_step(right)
            if None not in shared and (shared[0] % shared[1] == 0 or shared[1] % shared[0] == 0):  # type: ignore[operator]
                return Number(max(first.value, second.value))  # type: ignore[union-attr]
            return least(Number(span), plus(first, second))
        case _:
            assert_never(op)


def _slide_step(op: Windows) -> int | None:
    """The ticks between windows, where they come at multiples of one number; one-off scans come at none of them."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return _slide_step(below)
        case Window(slide=Every(coordinate=Coordinate.TICK, step=step, first=0)):
            return step
        case _:
            return None


def windows_within(op: Windows, span: int) -> Formula:
    """The most windows in any span of ticks."""
    match op:
        case WindowSelect(input=below) | WindowProject(input=below) | WindowAggregation(input=below):
            return windows_within(below, span)
        case Window(slide=Every(coordinate=Coordinate.INDEX, step=step), input=input) if not isinstance(
            input, StoredTable
        ):
            return share(arrivals(input, span), step)
        case _:
            return times(window_ticks(op, span), windows_per_tick(op))


def remembered(op: Operator) -> Formula:
    """The most rows that this operator alone must remember, those below it not counted."""
    match op:
        case StreamAcquire() | StreamReceive() | StoredTable():
            return NOTHING
        case StreamSelect() | StreamProject() | Renumber() | RStream():
            return NOTHING
        case WindowSelect() | WindowProject() | WindowAggregation():
            return NOTHING
        case Window(input=StoredTable()):
            return NOTHING
        case Window():
            return NOTHING if _width(op) == 0 else _held(op, _reach(op) + 1)
        case WindowCrossProduct(left=left, right=right) | WindowJoin(left=left, right=right):
            return plus(times(windows_per_tick(left), size(left)), times(windows_per_tick(right), size(right)))
        case IStream(input=input) | DStream(input=input):
            return size(input)
        case _:
            assert_never(op)


def total(op: Operator) -> Formula:
    """The most rows that a whole plan must remember."""
    return plus(*(remembered(part) for part in walk(op)))


def at_most_one_window_per_tick(op: Windows) -> bool:
    """Whether no tick can hold several windows: all but row windows, and what stands on them."""
    return windows_per_tick(op) == ONE


def _held(op: Window, span: int) -> Formula:
    """The most rows of the input in a span of the range's coordinate."""
    assert not isinstance(op.input, StoredTable)  # noqa: S101 - callers take tables first
    match op.range:
        case Between(coordinate=Coordinate.TICK):
            return arrivals(op.input, span)
        case Between(coordinate=Coordinate.INDEX):
            return Number(span)
        case _:
            return Unbounded(NO_END, SPACE_HINTS)


def _reach(op: Window) -> int:
    """How far the lower bound lies behind the present, at most."""
    return _behind(op, op.range.low) if isinstance(op.range, Between) else 0


def _width(op: Window) -> int:
    """How many values of its coordinate a window spans, at most; 0 if its bounds are inverted."""
    if not isinstance(op.range, Between):
        return 1
    nearest = max(0, -_ahead(op.range.high))
    return max(0, _behind(op, op.range.low) - nearest + 1)


def _behind(op: Window, bound: Bound) -> int:
    """The largest distance from a base down to the bound there."""
    step, first = (op.slide.step, op.slide.first) if isinstance(op.slide, Every) else (1, 0)
    if isinstance(op.slide, Every) and isinstance(op.range, Between) and op.slide.coordinate is not op.range.coordinate:
        step, first = 1, 0
    common = math.gcd(bound.step, step)
    remainder = bound.step - common + first % common
    return remainder - bound.offset


def _ahead(bound: Bound) -> int:
    """The bound at a base that is a multiple of its step, seen from that base."""
    return bound.offset
