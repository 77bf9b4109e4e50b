"""Windows in words: as the language writes them, and in a sentence for people who do not know it."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.sources import StoredTable
from transom.algebra.windows import Between, Coordinate, Every, Once, Window
from transom.model.time import Calendar

_SECOND = 1_000_000
_UNITS = (("HOUR", "hour", 3600 * _SECOND), ("MIN", "minute", 60 * _SECOND), ("SEC", "second", _SECOND))
_CLOCK = (("d", 86_400 * _SECOND), ("h", 3600 * _SECOND), ("min", 60 * _SECOND), ("s", _SECOND), ("ms", 1000))


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit that windows are written in: its keyword, its name, and how many of the coordinate make one."""

    keyword: str
    name: str
    size: int

    def count(self, amount: int) -> str:
        """An amount in this unit, in words.

        >>> Unit("MIN", "minute", 60).count(300)
        '5 minutes'
        """
        number = amount // self.size
        return f"{number} {self.name}" if number == 1 else f"{number} {self.name}s"

    def each(self, step: int) -> str:
        """`every second`, `every 5 seconds`."""
        return f"every {self.name}" if step == self.size else f"every {self.count(step)}"

    def now(self, offset: int) -> str:
        """An end of a range as the language writes it: `NOW-20`."""
        return f"NOW{offset // self.size:+d}" if offset else "NOW"

    def at(self, offset: int) -> str:
        """The same with the unit, where that is not plain: `NOW-5 MIN`."""
        return f"{self.now(offset)} {self.keyword}" if offset and self.size > 1 else self.now(offset)


ROWS = Unit("ROWS", "row", 1)
TICKS = Unit("TICKS", "tick", 1)


@dataclass(frozen=True, slots=True)
class Reach:
    """A window whose bounds stand at fixed distances from its creation: `FROM NOW+low TO NOW+high SLIDE step`."""

    low: int
    high: int
    step: int
    unit: Unit


def reach(op: Window, calendar: Calendar) -> Reach | None:
    """The window in the form of the language; None if it is of another form."""
    slide, between = op.slide, op.range
    if not isinstance(slide, Every) or not isinstance(between, Between) or slide.coordinate is not between.coordinate:
        return None
    if any(slide.step % bound.step or slide.first % bound.step for bound in (between.low, between.high)):
        return None
    low, high, step = between.low.offset, between.high.offset, slide.step
    match slide.coordinate:
        case Coordinate.TICK:
            return Reach(low, high, step, unit_of((low, high, step), calendar))
        case Coordinate.INDEX:
            return Reach(low, high, step, ROWS)
        case _:
            return None


def unit_of(amounts: tuple[int, ...], calendar: Calendar) -> Unit:
    """The largest unit of time that gives all amounts as whole numbers."""
    for keyword, name, length in _UNITS:
        size = calendar.ticks(length)
        if size and not any(amount % size for amount in amounts):
            return Unit(keyword, name, size)
    return TICKS


def written(op: Window, calendar: Calendar) -> str:
    """The window as the language writes it, such as `FROM NOW-20 TO NOW-10 SLIDE 5 SEC`."""
    if isinstance(op.slide, Once):
        return "SCAN once"
    if isinstance(op.input, StoredTable) and isinstance(op.slide, Every):
        unit = unit_of((op.slide.step,), calendar)
        return f"SCAN {op.slide.step // unit.size} {unit.keyword}"
    form = reach(op, calendar)
    if form is None:
        return f"{op.range}, {op.slide}"
    unit = form.unit
    return f"FROM {unit.now(form.low)} TO {unit.now(form.high)} SLIDE {_amount(form.step, unit)}"


def _amount(step: int, unit: Unit) -> str:
    number = step // unit.size
    return "1 ROW" if unit is ROWS and number == 1 else f"{number} {unit.keyword}"


def sentence(op: Window, calendar: Calendar) -> str:
    """What the window means, for a person who has never met one; empty where no words were found."""
    if isinstance(op.slide, Once):
        return "the whole table, read once at the start"
    if isinstance(op.input, StoredTable) and isinstance(op.slide, Every):
        return f"the whole table, read {unit_of((op.slide.step,), calendar).each(op.slide.step)}"
    form = reach(op, calendar)
    if form is None or form.high > 0:
        return ""
    if form.low > form.high:
        return "FROM is later than TO, so every window is empty"
    return _of_rows(form) if form.unit is ROWS else _of_time(form)


def _of_time(form: Reach) -> str:
    old, young, unit = -form.low, -form.high, form.unit
    if old == 0:
        held = "the tuples of that very tick"
    elif young == 0:
        held = f"the tuples of the last {unit.count(old)}, both ends included"
    elif old == young:
        held = f"the tuples of exactly {unit.count(old)} before"
    else:
        held = f"the tuples that are {young // unit.size} to {unit.count(old)} old, both ends included"
    return f"{unit.each(form.step)} a window with {held}"


def _of_rows(form: Reach) -> str:
    old, young = -form.low, -form.high
    if old == 0:
        held = "that row alone"
    elif young == 0:
        held = f"that row and the {'row' if old == 1 else f'{old} rows'} before it"
    elif old == young:
        held = f"the row {old} before it"
    else:
        held = f"the rows from {old} to {young} before it"
    every = "every row" if form.step == 1 else f"every {ordinal(form.step)} row"
    return f"at {every} a window with {held}"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`."""
    teens = 10 <= number % 100 <= 20
    return f"{number}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"


def clock(ticks: int, calendar: Calendar) -> str:
    """A number of ticks as a length of time with at most two units.

    >>> clock(90, Calendar())
    '1 min 30 s'
    """
    rest, words = abs(ticks) * calendar.length, []
    for name, length in _CLOCK:
        count, rest = divmod(rest, length)
        if count:
            words.append(f"{count} {name}")
    if rest or not words:
        words.append(f"{rest} us" if rest else "0")
    return ("-" if ticks < 0 else "") + " ".join(words[:2])


def plural(number: int, name: str) -> str:
    """`1 tuple`, `2 tuples`."""
    return f"{number} {name}" if number == 1 else f"{number} {name}s"
