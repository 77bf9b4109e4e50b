"""The time scale: the pixel of a tick, and which ticks get a number on the axis."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import dropwhile, takewhile

from transom.model.time import Calendar
from transom.picture.quantities import axis_steps


@dataclass(frozen=True, slots=True)
class Scale:
    """Maps ticks `left` to `right` to pixels `start` to `end`; `first` is the first tick of the run."""

    left: int
    first: int
    right: int
    start: float
    end: float

    @property
    def cell(self) -> float:
        """The width of one tick on the time axis in pixels."""
        return (self.end - self.start) / max(self.right - self.left, 1)

    @property
    def pad(self) -> float:
        """The pixels by which a bar extends beyond its end ticks, to show that they are included."""
        return min(max(self.cell / 2, 6.0), 9.0)

    def at(self, tick: int) -> float:
        """Return the x pixel of a tick."""
        return self.start + (tick - self.left) * self.cell

    def numbers(self, calendar: Calendar, spacing: float, rhythm: int) -> list[int]:
        """Return ticks to label, at least `spacing` pixels apart, preferably multiples or divisors of `rhythm` ticks.

        Multiples of `rhythm` are preferred. A divisor of `rhythm` serves as well. So the ticks at which windows are
        created have numbers.
        """
        wide_steps = dropwhile(lambda step: step * self.cell < spacing, axis_steps(calendar))
        steps = list(takewhile(lambda step: step * self.cell < 3.2 * spacing, wide_steps))
        aligned = [step for step in steps if rhythm and (step % rhythm == 0 or rhythm % step == 0)]
        step = next(iter(aligned + steps), None) or next(
            step for step in axis_steps(calendar) if step * self.cell >= spacing
        )
        return list(range(-(-self.left // step) * step, self.right + 1, step))


def make_scale(
    window_lows: Iterable[int], first_tick: int, last_tick: int, start_pixel: float, end_pixel: float
) -> Scale:
    """Create the scale of the ticks of a run; it begins earlier if windows (lower bounds `window_lows`) do.

    `window_lows` are the first ticks of windows. Time before the first tick is shown where windows reach into it: all
    of it if it fits, else a short part.
    """
    lowest = min(window_lows, default=first_tick)
    length = max(last_tick - first_tick, 1)
    if lowest >= first_tick:
        left = first_tick
    elif first_tick - lowest <= length * 0.8:
        left = lowest
    else:
        left = first_tick - max(round(length * 0.09), 1)
    return Scale(left, first_tick, max(last_tick, first_tick + 1), start_pixel, end_pixel)
