"""The ticks of the windows of a relation: multiples of one or more periods, from a first tick on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """The ticks from `first` on that are a multiple of one of the periods; without periods, `first` alone.

    No period divides another. Boundaries count from the epoch, regardless of where a query starts (S38).
    """

    periods: tuple[int, ...]
    first: int

    @staticmethod
    def every(period: int, start: int) -> Schedule:
        """The schedule of all multiples of `period` from tick `start` on."""
        return Schedule((period,), -(-start // period) * period)

    def merge(self, other: Schedule) -> Schedule:
        """Combine two schedules for a product: the ticks of either, from the tick where both have begun (S8, S9)."""
        periods = sorted({*self.periods, *other.periods})
        minimal_periods = tuple(
            period for period in periods if not any(period % divisor == 0 for divisor in periods if divisor < period)
        )
        return Schedule(minimal_periods, max(self.first, other.first))

    def next_after(self, tick: int) -> int | None:
        """The next multiple of one of the periods after `tick`; None if the schedule has a single tick."""
        return min(((tick // p + 1) * p for p in self.periods), default=None)

    def max_ticks_in(self, span: int) -> int:
        """The most scheduled ticks that any `span` consecutive ticks can contain."""
        return min(span, sum(-(-span // p) for p in self.periods)) if self.periods else 1

    def __str__(self) -> str:
        """Describe the schedule as `explain` prints it, such as "every 10 and 15 from 0"."""
        if not self.periods:
            return f"once at {self.first}"
        return f"every {' and '.join(map(str, self.periods))} from {self.first}"
