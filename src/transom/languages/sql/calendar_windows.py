"""Calendar windows of the SQL-like languages: units, time zones, and what a catalog must declare for them (E15)."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from transom.algebra.periods import EveryPeriod, PeriodRange
from transom.errors import LanguageRule, NameProblem, Span
from transom.languages.sql.syntax import TimeZone
from transom.languages.sql.type_messages import shorten
from transom.model.periods import FIRST_YEAR, LAST_EPOCH_YEAR, LocalDays, PeriodUnit, UnalignedDayError
from transom.model.time import Calendar

UNITS_HINT = "with AT, write days, weeks, months or years; without AT, a window has a fixed length"

_EXAMPLES = "zones have names such as 'Europe/Berlin', 'America/New_York' or 'UTC'"
_NO_ZONES = {"localtime", "posixrules", "Factory"}
_UNITS = {
    "day": (PeriodUnit.DAY, 1),
    "week": (PeriodUnit.WEEK, 1),
    "month": (PeriodUnit.MONTH, 1),
    "year": (PeriodUnit.MONTH, 12),
}
CALENDAR_UNITS = {spelling: unit for name, unit in _UNITS.items() for spelling in (name, f"{name}s")}
"""Every spelling of a calendar unit, with the period that it counts and how many of these it is."""

_PER_YEAR = {PeriodUnit.DAY: 365, PeriodUnit.WEEK: 52, PeriodUnit.MONTH: 12}
MAX_YEARS = 100
"""The most years of a range or a slide."""


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of calendar units in a query, such as 1 DAY."""

    count: int
    unit: str
    span: Span

    @property
    def period(self) -> PeriodUnit:
        """The unit in which the amount is counted: day, week or month; a year is twelve months."""
        return CALENDAR_UNITS[self.unit.lower()][0]

    @property
    def periods(self) -> int:
        """The amount as a number of days, weeks or months; raises LanguageRule if it is over MAX_YEARS years."""
        periods = self.count * CALENDAR_UNITS[self.unit.lower()][1]
        if periods > MAX_YEARS * _PER_YEAR[self.period]:
            raise LanguageRule(
                f"a calendar window spans at most {MAX_YEARS} years", span=self.span, hint="write a shorter one"
            )
        return periods


def local_days(calendar: Calendar, zone: TimeZone) -> LocalDays:
    """Return when the days of a time zone begin, in the catalog's ticks (its units of time), as a LocalDays.

    Raises NameProblem for an unknown zone, and LanguageRule if the catalog has no epoch, or ticks do not fit the days.
    """
    check_zone(zone)
    if not calendar.has_epoch:
        raise LanguageRule(
            "this catalog does not declare when tick 0 begins, so its ticks have no dates",
            span=zone.span,
            hint="declare `epoch` in the catalog, for example epoch: 1970-01-01T00:00:00Z",
        )
    if not FIRST_YEAR <= calendar.epoch.year <= LAST_EPOCH_YEAR:
        raise LanguageRule(
            f"calendar windows need an epoch from {FIRST_YEAR} to {LAST_EPOCH_YEAR}",
            span=zone.span,
            hint=f"the epoch of this catalog is in the year {calendar.epoch.year}; declare another `epoch`",
        )
    try:
        return LocalDays.of(zone.name, calendar)
    except UnalignedDayError as error:
        raise LanguageRule(
            f"a day of {zone.name} begins within a tick, at {error.instant:%Y-%m-%dT%H:%M:%SZ}",
            span=zone.span,
            hint=f"a tick of this catalog lasts {calendar.describe(1)}; declare a shorter `tick`, or an `epoch` at "
            "which a tick of this length begins",
        ) from error


def check_zone(zone: TimeZone) -> None:
    """Raise NameProblem unless a time zone has a known IANA name; `localtime` and the like are not accepted."""
    if zone.name in _NO_ZONES or not _exists(zone.name):
        names = sorted(available_timezones() - _NO_ZONES)
        matches = difflib.get_close_matches(zone.name, names, 1, 0.7)
        hint = f"did you mean {matches[0]}?" if matches else _EXAMPLES
        raise NameProblem(
            f"no time zone is called {shorten(zone.name)!r}",
            span=zone.span,
            hint=hint if names else "this computer has no time zones: install tzdata",
        )


def _exists(name: str) -> bool:
    """Whether the computer's time zone database has a zone called `name`."""
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):  # a path out of the folder of zones, or a folder in it
        return False
    return True


def slide_by(amount: Amount, days: LocalDays) -> EveryPeriod:
    """Return the slide of a window by `amount` days, weeks or months; raises LanguageRule if it is 0."""
    if amount.periods == 0:
        raise LanguageRule("a slide cannot be 0", span=amount.span, hint="write a slide of at least 1")
    return EveryPeriod(amount.period, amount.periods, days)


def range_of(past: Amount, until: Amount, slide: EveryPeriod) -> PeriodRange:
    """Return the range from `past` to `until` before a slide boundary; LanguageRule unless in days or the slide's unit.

    A range counts the periods of the slide, or days.
    """
    if past.period not in (slide.unit, PeriodUnit.DAY):
        allowed = "days" if slide.unit is PeriodUnit.DAY else f"days or {_plural(slide.unit)}"
        raise LanguageRule(
            f"a slide in {_plural(slide.unit)} cannot have a range in {_plural(past.period)}",
            span=past.span,
            hint=f"write the range in {allowed}",
        )
    return PeriodRange(past.period, past.periods, until.periods, slide.days)


def _plural(unit: PeriodUnit) -> str:
    """Return the plural of a unit for messages: `days`, `weeks`, or for MONTH `months or years`."""
    return "months or years" if unit is PeriodUnit.MONTH else f"{unit.value}s"


def leaves_gaps(window_range: PeriodRange, slide: EveryPeriod) -> bool:
    """Whether a range that is not empty is shorter than the slide, so that some rows are in no window."""
    count = window_range.past - window_range.until
    if window_range.unit is slide.unit:
        return 0 < count < slide.step
    return 0 < window_range.width < slide.shortest
