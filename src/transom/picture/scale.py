"""Time to the right: where a tick lies, and which ticks are worth a number on the axis."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from transom.model.time import Calendar

_CLOCK_STEPS = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200, 86_400)


@dataclass(frozen=True, slots=True)
class Scale:
    """Ticks from `left` to `right` on the pixels from `start` to `end`; `first` is the first tick of the run."""

    left: int
    first: int
    right: int
    start: float
    end: float

    @property
    def cell(self) -> float:
        """How wide one tick is."""
        return (self.end - self.start) / max(self.right - self.left, 1)

    @property
    def pad(self) -> float:
        """How far a bar reaches over its end ticks, so that one sees that they belong to it."""
        return min(max(self.cell / 2, 6.0), 9.0)

    def at(self, tick: int) -> float:
        """Where a tick lies."""
        return self.start + (tick - self.left) * self.cell

    def numbers(self, calendar: Calendar, room: float, rhythm: int) -> list[int]:
        """The ticks that get a number, at least so many pixels apart, and in the rhythm of the windows if it fits."""
        wide = dropwhile(lambda step: step * self.cell < room, _steps(calendar))
        steps = list(takewhile(lambda step: step * self.cell < 3.2 * room, wide))
        in_rhythm = [step for step in steps if rhythm and (step % rhythm == 0 or rhythm % step == 0)]
        step = next(iter(in_rhythm + steps), None) or next(s for s in _steps(calendar) if s * self.cell >= room)
        return list(range(-(-self.left // step) * step, self.right + 1, step))


def _steps(calendar: Calendar) -> Iterator[int]:
    """Round numbers, from the smallest; whole minutes and hours where a tick is a second."""
    unit = 1
    if calendar.length == 1_000_000:
        yield from _CLOCK_STEPS
        unit = _CLOCK_STEPS[-1]
    while True:
        yield from (unit, 2 * unit, 5 * unit)
        unit *= 10


def scale_of(lows: Iterable[int], first: int, last: int, start: float, end: float) -> Scale:
    """The scale of a picture. The time before the first tick is shown where windows reach into it, if they fit."""
    lowest = min(lows, default=first)
    length = max(last - first, 1)
    if lowest >= first:
        left = first
    elif first - lowest <= length * 0.8:
        left = lowest
    else:
        left = first - max(round(length * 0.09), 1)
    return Scale(left, first, max(last, first + 1), start, end)
