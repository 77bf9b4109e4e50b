"""How an answer is printed: which parts of it, and its times as ticks or as instants."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from math import gcd

from transom.model.time import Calendar
from transom.record import Record

_MILLISECOND = 1_000
_PRECISIONS = {1_000_000: "seconds", _MILLISECOND: "milliseconds", 1: "microseconds"}
"""How `isoformat` calls each unit of time, by its microseconds, the coarsest first."""


@dataclass(frozen=True, repr=False, eq=False, slots=True)
class PrintOptions(Record):
    """What is printed of an answer, and its times: instants of a `calendar`, or ticks if that is None.

    What belongs to a tick before `first` is left out, and so are empty windows unless `empty`. The instant of a tick is
    its beginning, which is the time of its rows; the event time on Spark is its end (E2).
    """

    calendar: Calendar | None = None
    first: int = 0
    empty: bool = True

    def shows(self, tick: int) -> bool:
        """Whether tuples and windows of this tick are printed; those before the view's first tick are not."""
        return tick >= self.first

    def cell(self, tick: int) -> str:
        """Format a tick for a text table: as `1970-01-01 00:01:00`, or as its number if there is no calendar.

        >>> PrintOptions().cell(60), PrintOptions(Calendar()).cell(60), PrintOptions(Calendar(1000)).cell(60)
        ('60', '1970-01-01 00:01:00', '1970-01-01 00:00:00.060')
        """
        instant = self._instant(tick)
        if isinstance(instant, str):
            return instant
        return instant.replace(tzinfo=None).isoformat(" ", _PRECISIONS[self._unit()])

    def value(self, tick: int) -> int | str:
        """A tick as data: its number, or its instant in ISO 8601 if the view has a calendar.

        >>> PrintOptions().value(60), PrintOptions(Calendar()).value(60)
        (60, '1970-01-01T00:01:00.000Z')
        """
        if self.calendar is None:
            return tick
        instant = self._instant(tick)
        if isinstance(instant, str):
            return instant
        return f"{instant.replace(tzinfo=None).isoformat(timespec=_PRECISIONS[min(self._unit(), _MILLISECOND)])}Z"

    def _instant(self, tick: int) -> datetime | str:
        """The instant of a tick; its number as text if there is no calendar or the year is beyond 9999."""
        if self.calendar is None:
            return str(tick)
        try:
            return self.calendar.instant_of(tick)
        except OverflowError:
            return f"tick {tick}"

    def _unit(self) -> int:
        """The microseconds of the coarsest unit, at most a second, of which all ticks' instants are multiples."""
        assert self.calendar is not None  # noqa: S101 - callers have a calendar
        step = gcd(self.calendar.length, self.calendar.epoch.microsecond)
        return next(unit for unit in _PRECISIONS if step % unit == 0)


PRINT_ALL = PrintOptions()
"""The view of a whole answer, with ticks."""
