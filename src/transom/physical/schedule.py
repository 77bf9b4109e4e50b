"""The ticks of the windows of a relation: multiples of periods or beginnings of calendar periods, from a tick on."""

from __future__ import annotations

from dataclasses import dataclass

from transom.algebra.periods import EveryPeriod


@dataclass(frozen=True, slots=True)
class Schedule:
    """The ticks from `first` on that are a multiple of one of the periods; without periods, `first` alone.

    No period divides another. Boundaries count from the epoch, regardless of where a query starts (S38). The boundaries
    of calendar periods (`calendars`) are ticks of the schedule, too.
    """

    periods: tuple[int, ...]
    first: int
    calendars: tuple[EveryPeriod, ...] = ()

    @staticmethod
    def every(period: int, start: int) -> Schedule:
        """The schedule of all multiples of `period` from tick `start` on."""
        return Schedule((period,), -(-start // period) * period)

    @staticmethod
    def every_period(slide: EveryPeriod, start: int) -> Schedule:
        """Return a schedule of all boundaries of the calendar periods in `slide`, such as days, from `start`."""
        return Schedule((), slide.at_or_after(start), (slide,))

    @property
    def is_single(self) -> bool:
        """Whether the schedule has a single tick."""
        return not self.periods and not self.calendars

    @property
    def clock_periods(self) -> tuple[int, ...]:
        """Periods in ticks whose multiples include all scheduled ticks; calendar schedules have others, too."""
        return (*self.periods, *(slide.days.table.stride for slide in self.calendars))

    @property
    def shortest(self) -> int:
        """The length in ticks of the schedule's shortest period; not for a schedule of a single tick."""
        return min((*self.periods, *(slide.shortest for slide in self.calendars)))

    def merge(self, other: Schedule) -> Schedule:
        """Combine the window schedules of two joined inputs: the ticks of either, once both have begun (S8, S9)."""
        periods = sorted({*self.periods, *other.periods})
        minimal_periods = tuple(
            period for period in periods if not any(period % divisor == 0 for divisor in periods if divisor < period)
        )
        calendars = (*self.calendars, *(slide for slide in other.calendars if slide not in self.calendars))
        return Schedule(minimal_periods, max(self.first, other.first), calendars)

    def next_after(self, tick: int) -> int | None:
        """The first multiple of a period, or calendar boundary, after `tick`; None for a schedule of one tick."""
        boundaries = [(tick // p + 1) * p for p in self.periods]
        boundaries += [slide.at_or_after(tick + 1) for slide in self.calendars]
        return min(boundaries, default=None)

    def max_ticks_in(self, span: int) -> int:
        """The most scheduled ticks that any `span` consecutive ticks can contain."""
        if self.is_single:
            return 1
        steps = (*self.periods, *(slide.shortest for slide in self.calendars))
        return min(span, sum(-(-span // step) for step in steps))

    def __str__(self) -> str:
        """Describe the schedule as `explain` prints it, such as "every 10 and 15 from 0"."""
        if self.is_single:
            return f"once at {self.first}"
        parts = [f"every {' and '.join(map(str, self.periods))}"] if self.periods else []
        return f"{' and '.join([*parts, *map(str, self.calendars)])} from {self.first}"
