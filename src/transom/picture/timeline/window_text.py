"""Windows as text: in the syntax of the language, and as a sentence for readers who do not know it."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.algebra.sources import StoredTable
from transom.algebra.windows import (
    AtStart,
    Coordinate,
    CoordinateRange,
    Every,
    OnArrival,
    OnRowCount,
    Range,
    RegionRange,
    Slide,
    UnboundedRange,
    Window,
    range_parts,
)
from transom.model.time import Calendar
from transom.picture.quantities import format_length

_SECOND = 1_000_000
_TIME_UNITS = (("HOUR", "hour", 3600 * _SECOND), ("MIN", "minute", 60 * _SECOND), ("SEC", "second", _SECOND))


@dataclass(frozen=True, slots=True)
class DisplayUnit:
    """A unit of window bounds: its keyword, its name, and its size in units of the coordinate."""

    keyword: str
    name: str
    size: int

    def count(self, amount: int) -> str:
        """Format an amount of ticks or rows in this unit: `5 minutes`.

        >>> DisplayUnit("MIN", "minute", 60).count(300)
        '5 minutes'
        """
        number = amount // self.size
        return f"{number} {self.name}" if number == 1 else f"{number} {self.name}s"

    def each(self, step: int) -> str:
        """Format a period of `step` ticks or rows in this unit: `every second`, `every 5 seconds`."""
        return f"every {self.name}" if step == self.size else f"every {self.count(step)}"

    def now(self, offset: int) -> str:
        """Format the bound of a window at an `offset` from NOW, without its unit: `NOW-20`."""
        return f"NOW{offset // self.size:+d}" if offset else "NOW"

    def at(self, offset: int) -> str:
        """Format the bound of a window at an `offset` from NOW: `NOW-5 MIN`, or `NOW-5` for ticks and rows."""
        return f"{self.now(offset)} {self.keyword}" if offset and self.size > 1 else self.now(offset)


ROW_UNIT = DisplayUnit("ROWS", "row", 1)
TICK_UNIT = DisplayUnit("TICKS", "tick", 1)


@dataclass(frozen=True, slots=True)
class WindowBounds:
    """A window with bounds at fixed offsets from its creation: `FROM NOW+low TO NOW+high SLIDE step`."""

    low: int
    high: int
    step: int
    unit: DisplayUnit


def window_bounds(op: Window, calendar: Calendar) -> WindowBounds | None:
    """Return the bounds and slide of a window operator; None if it cannot be written as FROM .. TO .. SLIDE."""
    slide, window_range = op.slide, op.range
    if (
        not isinstance(slide, Every)
        or not isinstance(window_range, CoordinateRange)
        or slide.coordinate is not window_range.coordinate
    ):
        return None
    if any(slide.step % bound.step or slide.first % bound.step for bound in (window_range.low, window_range.high)):
        return None
    low, high, step = window_range.low.offset, window_range.high.offset, slide.step
    match slide.coordinate:
        case Coordinate.TICK:
            return WindowBounds(low, high, step, largest_unit((low, high, step), calendar))
        case Coordinate.INDEX:
            return WindowBounds(low, high, step, ROW_UNIT)
        case _:
            return None


def largest_unit(amounts: tuple[int, ...], calendar: Calendar) -> DisplayUnit:
    """Return the largest time unit in which all amounts (in ticks) are integers; ticks if there is none."""
    for keyword, name, length in _TIME_UNITS:
        size = calendar.ticks(length)
        if size and not any(amount % size for amount in amounts):
            return DisplayUnit(keyword, name, size)
    return TICK_UNIT


def window_syntax(op: Window, calendar: Calendar) -> str:
    """Write a window operator in the query language: `FROM NOW-20 TO NOW-10 SLIDE 5 SEC` or `SCAN 1 MIN`."""
    if isinstance(op.slide, AtStart):
        return "SCAN once"
    if isinstance(op.input, StoredTable) and isinstance(op.slide, Every):
        unit = largest_unit((op.slide.step,), calendar)
        return f"SCAN {op.slide.step // unit.size} {unit.keyword}"
    bounds = window_bounds(op, calendar)
    if bounds is None:
        return f"{op.range}, {op.slide}"
    unit = bounds.unit
    return f"FROM {unit.now(bounds.low)} TO {unit.now(bounds.high)} SLIDE {_slide_amount(bounds.step, unit)}"


def _slide_amount(step: int, unit: DisplayUnit) -> str:
    """Write the step of a slide in the query language: `5 SEC`, `1 ROW`."""
    number = step // unit.size
    return "1 ROW" if unit is ROW_UNIT and number == 1 else f"{number} {unit.keyword}"


def window_sentence(op: Window, calendar: Calendar) -> str:
    """Describe a window operator in an English sentence; empty if its bounds are too complicated for one.

    That is so if its range ends after NOW, or has bounds that move unevenly.
    """
    if isinstance(op.slide, AtStart):
        return "the whole table, read once at the start"
    if isinstance(op.input, StoredTable):
        period = "whenever it changes"
        if isinstance(op.slide, Every):
            period = largest_unit((op.slide.step,), calendar).each(op.slide.step)
        return f"the whole table, read {period}"
    bounds = window_bounds(op, calendar)
    if bounds is None:
        sentence = _mixed_sentence(op, calendar)
    elif bounds.high > 0:
        return ""
    elif bounds.low > bounds.high:
        return "FROM is later than TO, so every window is empty"
    else:
        sentence = _row_sentence(bounds) if bounds.unit is ROW_UNIT else _time_sentence(bounds, calendar)
    keys = " and ".join(attribute.name for attribute in op.key)
    return f"{sentence}, for each {keys}" if keys and sentence else sentence


def _mixed_sentence(op: Window, calendar: Calendar) -> str:
    """Describe in a sentence a window that regions limit, or whose slide and range use different coordinates.

    It is empty if a bound is not simple.
    """
    regions = " and ".join(part.region.name for part in range_parts(op.range) if isinstance(part, RegionRange))
    parts = [_range_text(part, calendar) for part in range_parts(op.range) if not isinstance(part, RegionRange)]
    if not all(parts):
        return ""
    content = " and ".join(parts) or "all tuples so far"
    if isinstance(op.slide, OnArrival) and regions:
        return f"at every arrival inside {regions} a window with {content} from there"
    return f"{_slide_text(op.slide, calendar)} a window with {content}{f' from inside {regions}' if regions else ''}"


def _slide_text(slide: Slide, calendar: Calendar) -> str:
    """Describe when a window operator makes windows, such as `every 5 seconds` or `at every arrival`."""
    match slide:
        case Every(coordinate=Coordinate.TICK, step=step):
            return largest_unit((step,), calendar).each(step)
        case Every(coordinate=Coordinate.DISTANCE, step=step):
            return f"every {format_length(step)} of path"
        case Every(step=step) | OnRowCount(step=step):
            return "at every row" if step == 1 else f"at every {ordinal(step)} row"
        case OnArrival():
            return "at every arrival"
        case EveryPeriod(unit=unit, step=step, days=days):
            return f"every {unit.count(step).removeprefix('1 ')} of {days.zone}"
        case _:
            return "whenever it changes"


def _range_text(part: Range, calendar: Calendar) -> str:
    """Describe what a window's range holds, such as `the latest 3 rows`; empty if it does not end at NOW.

    It is also empty if its two bounds move in different steps.
    """
    match part:
        case UnboundedRange():
            return "all tuples so far"
        case CoordinateRange(coordinate=coordinate, low=low, high=high) if low.step == high.step and not high.offset:
            if coordinate is Coordinate.INDEX:
                return "the latest row" if not low.offset else f"the latest {1 - low.offset} rows"
            if coordinate is Coordinate.DISTANCE:
                return f"the tuples of the last {format_length(-low.offset)} of path"
            return _latest_ticks(-low.offset, calendar)
        case PeriodRange(unit=unit, past=past, until=0):
            return f"the tuples of the {unit.count(past)} before"
        case _:
            return ""


def _time_sentence(bounds: WindowBounds, calendar: Calendar) -> str:
    """Describe a window by time: `every minute a window with the tuples of the last 5 minutes (ticks ...)`."""
    oldest, newest = -bounds.low, -bounds.high
    unit = largest_unit((oldest, newest), calendar)
    if newest == 0:
        content = _latest_ticks(oldest, calendar)
    elif oldest == newest:
        content = f"the tuples of exactly {unit.count(oldest)} before"
    else:
        content = (
            f"the tuples that are {newest // unit.size} to {unit.count(oldest)} old ({_tick_range(oldest, newest)})"
        )
    return f"{largest_unit((bounds.step,), calendar).each(bounds.step)} a window with {content}"


def _latest_ticks(oldest: int, calendar: Calendar) -> str:
    """Describe the tuples from tick now-`oldest` to now: `the tuples of the last minute (ticks now-59 to now)`.

    Both ends belong to a window, so it is a tick longer than the distance of its ends.
    """
    if oldest == 0:
        return "the tuples of that very tick"
    unit = largest_unit((oldest + 1,), calendar)
    ticks = oldest + 1
    length = calendar.describe(ticks) if unit is TICK_UNIT else unit.each(ticks).removeprefix("every ")
    return f"the tuples of the last {length} ({_tick_range(oldest, 0)})"


def _tick_range(oldest: int, newest: int) -> str:
    """Write the first and the last tick of a window: `ticks now-59 to now`."""
    return f"ticks now-{oldest} to {f'now-{newest}' if newest else 'now'}"


def _row_sentence(bounds: WindowBounds) -> str:
    """Describe a window by rows: `at every 2nd row a window with that row and the 2 rows before it`."""
    oldest, newest = -bounds.low, -bounds.high
    if oldest == 0:
        content = "that row alone"
    elif newest == 0:
        content = f"that row and the {'row' if oldest == 1 else f'{oldest} rows'} before it"
    elif oldest == newest:
        content = f"the row {oldest} before it"
    else:
        content = f"the rows from {oldest} to {newest} before it"
    every = "every row" if bounds.step == 1 else f"every {ordinal(bounds.step)} row"
    return f"at {every} a window with {content}"


def ordinal(number: int) -> str:
    """Format a number as an ordinal: `1st`, `2nd`, `3rd`, `4th`."""
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def plural(number: int, noun: str) -> str:
    """Format a number with a noun, which gets an s unless the number is 1: `1 tuple`, `2 tuples`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
