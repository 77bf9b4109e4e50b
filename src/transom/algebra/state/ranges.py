"""How far the range of a window reaches back from the current value of its coordinate."""

from __future__ import annotations

import math

from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.windows import Bound, CoordinateRange, Every, OnRowCount, Range, Window


def range_lookback(op: Window) -> int:
    """Return how many ticks, rows or micrometres a window's range reaches below NOW; 0 for ranges such as regions."""
    if isinstance(op.range, PeriodRange) and isinstance(op.slide, EveryPeriod):
        return op.range.reach + op.slide.longest - 1
    return lookback(op, op.range.low) if isinstance(op.range, CoordinateRange) else 0


def range_width(op: Window) -> int:
    """Return the most ticks, row numbers or micrometres in a window's range; 1 for other kinds, such as a region."""
    if isinstance(op.range, PeriodRange):
        return op.range.width
    if not isinstance(op.range, CoordinateRange):
        return 1
    nearest = max(0, -_offset_at_boundary(op.range.high))
    return max(0, lookback(op, op.range.low) - nearest + 1)


def lookback(op: Window, bound: Bound) -> int:
    """Return the most ticks, rows or micrometres by which `bound`, an end of a window's range, can be below NOW."""
    step, first = (op.slide.step, op.slide.first) if isinstance(op.slide, Every) else (1, 0)
    if isinstance(op.slide, OnRowCount):
        step, first = op.slide.step, op.slide.step
    if (
        isinstance(op.slide, Every)
        and isinstance(op.range, CoordinateRange)
        and op.slide.coordinate is not op.range.coordinate
    ):
        step, first = 1, 0
    common = math.gcd(bound.step, step)
    remainder = bound.step - common + first % common
    return remainder - bound.offset


def _offset_at_boundary(bound: Bound) -> int:
    """Return a range end's offset from NOW in ticks, rows or micrometres, where NOW is a multiple of its step."""
    return bound.offset


def range_span(op: Window, window_range: Range) -> int:
    """Return how many ticks, rows or micrometres a range covers, from its low end to NOW; 1 for other kinds."""
    return lookback(op, window_range.low) + 1 if isinstance(window_range, CoordinateRange) else 1
