"""When the windows of a relation come: at multiples of a few periods, from a first tick on."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Schedule:
    """The ticks >= first that are a multiple of one of the periods; without periods, `first` alone.

    No period divides another. All boundaries are counted from the epoch, wherever a query starts (S38).
    """

    periods: tuple[int, ...]
    first: int

    @staticmethod
    def every(period: int, start: int) -> Schedule:
        """The multiples of a period, from the first at or after the start."""
        return Schedule((period,), -(-start // period) * period)

    def with_other(self, other: Schedule) -> Schedule:
        """The ticks of a product: those of both sides, from when both have a window (S8, S9)."""
        both = sorted({*self.periods, *other.periods})
        kept = tuple(p for p in both if not any(p % q == 0 for q in both if q < p))
        return Schedule(kept, max(self.first, other.first))

    def after(self, tick: int) -> int | None:
        """The next tick after one; None where there is no other."""
        return min(((tick // p + 1) * p for p in self.periods), default=None)

    def within(self, span: int) -> int:
        """The most ticks in a span."""
        return min(span, sum(-(-span // p) for p in self.periods)) if self.periods else 1

    def __str__(self) -> str:
        if not self.periods:
            return f"once at {self.first}"
        return f"every {' and '.join(map(str, self.periods))} from {self.first}"
