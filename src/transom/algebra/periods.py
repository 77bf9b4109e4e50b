"""Windows of calendar periods: slides at the beginning of a day, week or month, and ranges of whole periods (E15)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from transom.errors import PlanError
from transom.record import Record

if TYPE_CHECKING:
    from transom.model.periods import LocalDays, PeriodUnit


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class EveryPeriod(Record):
    """A slide event at the first tick of every `step`-th calendar period of a time zone.

    Periods are counted from that of 1970-01-01, regardless of the epoch.
    """

    unit: PeriodUnit
    step: int
    days: LocalDays

    def __post_init__(self) -> None:
        """Raise PlanError unless the step, a number of periods, is at least 1."""
        if self.step < 1:
            raise PlanError("a slide needs a step of at least 1")

    def at_or_after(self, tick: int) -> int:
        """Return the first boundary, that is the first tick of every `step`-th period, at or after a tick."""
        number = self.days.period_at(self.unit, tick - 1) + 1
        return self.days.begin_of(self.unit, -(-number // self.step) * self.step)

    def boundaries(self, start: int, until: int) -> Iterator[int]:
        """Yield the boundaries from tick `start` to `until`; raise DataError beyond the known calendar days."""
        if start > until:
            return
        self.days.period_at(self.unit, until)
        boundary = self.at_or_after(start)
        number = self.days.period_at(self.unit, boundary)
        while boundary <= until:
            yield boundary
            number += self.step
            boundary = self.days.begin_of(self.unit, number)

    @property
    def shortest(self) -> int:
        """The fewest ticks between two consecutive boundaries, at which windows are created."""
        return self.days.shortest(self.unit, self.step)

    @property
    def longest(self) -> int:
        """The most ticks between two consecutive boundaries, at which windows are created."""
        return self.days.longest(self.unit, self.step)

    def __str__(self) -> str:
        """The slide as text for `explain`: `every 1 day of Europe/Berlin`."""
        return f"every {self.unit.count(self.step)} of {self.days.zone}"


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class PeriodRange(Record):
    """The elements of calendar periods before a boundary: from `past` periods back to before `until` periods back.

    The first and the last tick of each period belong to it, so a tick is in one period only.
    """

    unit: PeriodUnit
    past: int
    until: int
    days: LocalDays

    def bounds(self, boundary: int) -> tuple[int, int]:
        """Return the first and last tick of a window created at a boundary; empty if the first is larger."""
        number = self.days.period_at(self.unit, boundary)
        begin_of = self.days.begin_of
        return begin_of(self.unit, number - self.past), begin_of(self.unit, number - self.until) - 1

    @property
    def width(self) -> int:
        """The largest number of ticks in the range, since calendar days and months differ in length."""
        return self.days.longest(self.unit, max(0, self.past - self.until))

    @property
    def reach(self) -> int:
        """The most ticks from the range's start to the boundary of a day, week or month that creates the window."""
        return self.days.longest(self.unit, self.past)

    def __str__(self) -> str:
        """The range as text for `explain`, such as `tick the 1 day before now (at most 90000 ticks)`."""
        end = "now" if not self.until else f"now-{self.unit.count(self.until)}"
        count = self.unit.count(max(0, self.past - self.until))
        return f"tick the {count} before {end} (at most {self.width} ticks)"
