"""Calendar periods as columns: from ticks to local dates and back, by the same table as the reference engine (E15).

Days without a change of clocks have equal lengths. So the table is sent as blocks of days: the shift of the first day
of a block against days of equal length, and the days of the block at which the shift changes. Spark's session time zone
and the JVM's own rules of time zones are not used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.model.periods import DayTable, LocalDays, PeriodUnit, end_message
from transom.physical.schedule import Schedule
from transom.spark.event_time import div

BLOCK = 32
"""The days of a block; `_NEVER` is a day of a block that no block has."""

_NEVER = BLOCK


@dataclass(frozen=True, slots=True)
class _Shifts:
    """The shift of each day: `base` plus that of its block, plus the changes of the block up to that day."""

    base: int
    spread: int
    blocks: tuple[int, ...]
    changes: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    """For the first, second, ... change of the blocks: its day and the difference."""


@lru_cache(maxsize=64)
def _shifts(days: LocalDays) -> _Shifts:
    """Compress a zone's table of day starts: each one's deviation, in ticks, from days of equal length, in blocks."""
    table = days.table
    shifts = [begin - (table.first + n) * table.day for n, begin in enumerate(table.begins)]
    base = min(shifts)
    blocks, changes = [], []
    for start in range(0, len(shifts), BLOCK):
        block = shifts[start : start + BLOCK]
        blocks.append(block[0] - base)
        steps = [(n, block[n] - block[n - 1]) for n in range(1, len(block)) if block[n] != block[n - 1]]
        changes.append(steps)
    most = max(map(len, changes))
    filled = [[*steps, *[(_NEVER, 0)] * (most - len(steps))] for steps in changes]
    columns = tuple(
        (tuple(steps[n][0] for steps in filled), tuple(steps[n][1] for steps in filled)) for n in range(most)
    )
    return _Shifts(base, -(-(max(shifts) - base) // table.day), tuple(blocks), columns)


def begin_of_date(days: LocalDays, date: Column) -> Column:
    """The first tick of a local date (days since 1970-01-01); days beyond the zone's table have equal lengths."""
    table, shifts = days.table, _shifts(days)
    last_shift = table.begins[-1] - (table.first + len(table.begins) - 1) * table.day

    def begin(value: Column) -> Column:
        """The first tick of a local date, which is given as days since 1970-01-01."""
        shift = F.coalesce(_shift_of(table, shifts, value), F.lit(last_shift - shifts.base))
        return value * F.lit(table.day) + F.lit(shifts.base) + shift

    return _bind(date, begin)


def _bind(value: Column, body: Callable[[Column], Column]) -> Column:
    """Apply `body` to a lambda variable for a value, so that Spark computes the value once.

    Without it, expressions within expressions would have thousands of nodes.
    """
    return F.get(F.transform(F.array(value), body), F.lit(0))


def _shift_of(table: DayTable, shifts: _Shifts, date: Column) -> Column:
    """Return a date's delay against equally long days, in ticks above the zone's least; NULL after `table`'s end."""
    position = date - F.lit(table.first)
    block = div(position, BLOCK).cast("int")
    in_block = position - block.cast("bigint") * F.lit(BLOCK)
    shift = F.get(_array(shifts.blocks), block)
    for day, difference in shifts.changes:
        shift = shift + F.when(in_block >= F.get(_array(day), block), F.get(_array(difference), block)).otherwise(0)
    return F.when(position < F.lit(len(table.begins)), shift)


def _array(values: Sequence[int]) -> Column:
    """Build a constant array from one string, because a literal per value would be thousands of expressions."""
    return F.split(F.lit(",".join(map(str, values))), ",").cast("array<bigint>")


def date_of_tick(days: LocalDays, tick: Column) -> Column:
    """The local date (days since 1970-01-01) of a tick; the query fails for ticks beyond the zone's table."""
    table, shifts = days.table, _shifts(days)
    error = F.raise_error(F.lit(end_message(days.zone))).cast("bigint")

    def date_of(value: Column) -> Column:
        """Return the local date of a tick: the last date that begins at or before the tick."""
        guess = F.lit(table.first) + div(value - F.lit(shifts.base + table.first * table.day), table.day)
        date = guess
        for back in range(shifts.spread):
            later = begin_of_date(days, guess - F.lit(back)) > value
            date = date - F.when(later, F.lit(1)).otherwise(F.lit(0))
        return F.when(value < F.lit(table.begins[-1]), date).otherwise(error)

    return _bind(tick, date_of)


def number_of_date(unit: PeriodUnit, days: LocalDays, date: Column) -> Column:
    """The number of the day, week or month (`unit`) that contains a date; that of 1970-01-01 has number 0."""
    match unit:
        case PeriodUnit.DAY:
            if not (skipped := days.table.skipped):
                return date
            dates = F.array(*map(F.lit, skipped))
            return _bind(date, lambda day: day - F.size(F.filter(dates, lambda skip: skip < day)))
        case PeriodUnit.WEEK:
            return _floor_div(date + F.lit(3), 7)
        case PeriodUnit.MONTH:
            return _bind(
                F.date_from_unix_date(date.cast("int")),
                lambda day: ((F.year(day) - F.lit(1970)) * F.lit(12) + F.month(day) - F.lit(1)).cast("bigint"),
            )


def first_date_of(unit: PeriodUnit, days: LocalDays, number: Column) -> Column:
    """The first date (days since 1970-01-01) of the day, week or month (`unit`) with this number."""
    match unit:
        case PeriodUnit.DAY:
            date = number
            for n, skipped in enumerate(days.table.skipped):
                date = date + F.when(F.lit(skipped - n) <= number, F.lit(1)).otherwise(F.lit(0))
            return date
        case PeriodUnit.WEEK:
            return number * F.lit(7) - F.lit(3)
        case PeriodUnit.MONTH:
            return F.unix_date(F.add_months(F.lit("1970-01-01").cast("date"), number.cast("int"))).cast("bigint")


def begin_of_period(unit: PeriodUnit, days: LocalDays, number: Column) -> Column:
    """Return the column of the first tick of the day, week or month (`unit`) whose running number is `number`."""
    return begin_of_date(days, first_date_of(unit, days, number))


def validity(slide: EveryPeriod, window_range: PeriodRange, tick: Column) -> tuple[Column, Column]:
    """The first window boundary (tick) whose window holds a row of `tick`, and the first later one without it."""
    days, unit = slide.days, window_range.unit
    period = number_of_date(unit, days, date_of_tick(days, tick))

    def boundary(periods: int) -> Column:
        """The first window boundary once the calendar period that is `periods` after the tick's has ended."""
        later = period + F.lit(periods)
        if unit is not slide.unit:
            later = number_of_date(slide.unit, days, first_date_of(unit, days, later))
        return begin_of_period(slide.unit, days, _ceil_to(later + F.lit(1), slide.step))

    return boundary(window_range.until), boundary(window_range.past)


def boundary_number(slide: EveryPeriod, tick: Column) -> Column:
    """The number (1970-01-01: 0) of the calendar period at the first window boundary at or after a tick."""
    number = number_of_date(slide.unit, slide.days, date_of_tick(slide.days, tick - F.lit(1)))
    return _ceil_to(number + F.lit(1), slide.step)


def at_or_after(slide: EveryPeriod, tick: Column) -> Column:
    """The tick of the first window boundary (start of a calendar period) that is not before a tick."""
    return begin_of_period(slide.unit, slide.days, boundary_number(slide, tick))


def boundaries_in_range(slide: EveryPeriod, first: Column, end: Column) -> Column:
    """An array of the window boundaries (starts of calendar periods) from tick `first` to before tick `end`."""
    low, high = boundary_number(slide, first), boundary_number(slide, end)
    numbers = F.sequence(low, high - F.lit(1), F.lit(slide.step).cast("bigint"))
    ticks = F.transform(numbers, lambda number: begin_of_period(slide.unit, slide.days, number))
    return F.when(low < high, ticks).otherwise(F.array().cast("array<bigint>"))


def on_schedule(tick: Column, schedule: Schedule) -> Column:
    """Whether a tick is on a schedule: a multiple of a period, or a start of one of its calendar periods."""
    condition = F.lit(False)
    for period in schedule.periods:
        condition = condition | (tick % F.lit(period) == F.lit(0))
    for slide in schedule.calendars:
        condition = condition | (at_or_after(slide, tick) == tick)
    return condition


def _floor_div(value: Column, by: int) -> Column:
    """Divide an integer column by a constant, rounding down."""
    return _bind(value, lambda number: div(number - F.pmod(number, F.lit(by)), by))


def _ceil_to(value: Column, step: int) -> Column:
    """Round an integer column up to a multiple of `step`."""
    return value if step == 1 else _floor_div(value + F.lit(step - 1), step) * F.lit(step)
