"""Dates, times and durations of XML Schema: reading them, writing them, and where they lie in time.

Years have at most nine digits, seconds nine places, and the counts of a duration nine digits (XML Schema lets every
processor set such limits): what goes beyond stands for nothing known.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from transom.model.rdf.terms import DATE, DATE_TIME, DAY_TIME, TIME, YEAR_MONTH

ZONE = r"(?P<zone>Z|[+-](?:0[0-9]|1[0-3]):[0-5][0-9]|[+-]14:00)?"
DAY = r"(?P<year>-?(?:[1-9][0-9]{3,8}|0[0-9]{3}))-(?P<month>[0-9]{2})-(?P<day>[0-9]{2})"
CLOCK = r"(?P<hour>[0-9]{2}):(?P<minute>[0-9]{2}):(?P<second>[0-9]{2}(?:\.[0-9]{1,9}0{0,99})?)"
_FORMS = {
    DATE_TIME: re.compile(f"{DAY}T{CLOCK}{ZONE}"),
    DATE: re.compile(f"{DAY}{ZONE}"),
    TIME: re.compile(f"{CLOCK}{ZONE}"),
}
SPAN = (
    r"(?P<sign>-)?P(?:(?P<years>[0-9]{1,9})Y)?(?:(?P<months>[0-9]{1,9})M)?(?:(?P<days>[0-9]{1,9})D)?"
    r"(?P<clock>T(?:(?P<hours>[0-9]{1,9})H)?(?:(?P<minutes>[0-9]{1,9})M)?"
    r"(?:(?P<seconds>[0-9]{1,9}(?:\.[0-9]{1,9}0{0,99})?)S)?)?"
)
_SPAN = re.compile(SPAN)
FARTHEST = 14 * 3600
"""The farthest time zone from the middle one, in seconds."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A dateTime, date or time as it is written; `zone` is in minutes, None where none is given."""

    datatype: str
    year: int
    month: int
    day: int
    hour: int
    minute: int
    second: Decimal
    zone: int | None

    @property
    def seconds(self) -> Decimal:
        """Seconds since the beginning of 1970, as if in the middle time zone where none is given."""
        of_day = self.hour * 3600 + self.minute * 60 + self.second
        return days_before(self.year, self.month, self.day) * 86400 + of_day - (self.zone or 0) * 60

    def __str__(self) -> str:
        day = f"{'-' if self.year < 0 else ''}{abs(self.year):04d}-{self.month:02d}-{self.day:02d}"
        second = f"{self.second:f}".partition(".")
        rest = second[2].rstrip("0")
        clock = f"{self.hour:02d}:{self.minute:02d}:{second[0]:0>2}{'.' + rest if rest else ''}"
        return {DATE_TIME: f"{day}T{clock}", DATE: day, TIME: clock}[self.datatype] + zone_text(self.zone)


@dataclass(frozen=True, slots=True)
class Span:
    """A duration: months, and seconds, which are no part of a month."""

    datatype: str
    months: int
    seconds: Decimal

    def __str__(self) -> str:
        sign = "-" if self.months < 0 or self.seconds < 0 else ""
        years, months = divmod(abs(self.months), 12)
        days, rest = divmod(abs(self.seconds), 86400)
        hours, rest = divmod(rest, 3600)
        minutes, second = divmod(rest, 60)
        date = _named((years, "Y"), (months, "M"), (days, "D"))
        clock = _named((hours, "H"), (minutes, "M")) + (f"{_plain(second)}S" if second else "")
        nothing = "0M" if self.datatype == YEAR_MONTH else "T0S"
        return f"{sign}P{date}{'T' + clock if clock else ''}{'' if date or clock else nothing}"


def _named(*parts: tuple[int | Decimal, str]) -> str:
    return "".join(f"{int(count)}{unit}" for count, unit in parts if count)


def _plain(seconds: Decimal) -> str:
    text = f"{seconds:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def zone_text(zone: int | None) -> str:
    """A time zone as it is written; nothing where there is none."""
    if zone is None:
        return ""
    if zone == 0:
        return "Z"
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 60:02d}:{abs(zone) % 60:02d}"


def days_before(year: int, month: int, day: int) -> int:
    """Days from the first of January 1970 to a day, in the calendar of today for all times."""
    shifted = year - (month <= 2)
    era, of_era = divmod(shifted, 400)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


def days_in(year: int, month: int) -> int:
    """How many days a month has."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def read_instant(words: str, datatype: str) -> Instant | None:
    """An instant from its characters, or None where there is no such instant; 24:00:00 is the next midnight."""
    found = _FORMS[datatype].fullmatch(words)
    if not found:
        return None
    part = {"year": "1972", "month": "12", "day": "31", "hour": "0", "minute": "0", "second": "0", **found.groupdict()}
    year, month, day = int(part["year"]), int(part["month"]), int(part["day"])
    hour, minute, second = int(part["hour"]), int(part["minute"]), Decimal(part["second"])
    if not (1 <= month <= 12 and 1 <= day <= days_in(year, month) and minute < 60 and second < 60):
        return None
    if hour > 23:
        if hour > 24 or minute or second:
            return None
        hour = 0
        if datatype == DATE_TIME:
            year, month, day = next_day(year, month, day)
    return Instant(datatype, year, month, day, hour, minute, second, read_zone(part["zone"]))


def next_day(year: int, month: int, day: int) -> tuple[int, int, int]:
    """The day after a day."""
    if day < days_in(year, month):
        return year, month, day + 1
    return (year, month + 1, 1) if month < 12 else (year + 1, 1, 1)


def read_zone(text: str | None) -> int | None:
    """A time zone in minutes."""
    if text is None:
        return None
    if text == "Z":
        return 0
    return (1 if text[0] == "+" else -1) * (int(text[1:3]) * 60 + int(text[4:6]))


def read_span(words: str, datatype: str) -> Span | None:
    """A duration from its characters, or None where they say none of the datatype."""
    found = _SPAN.fullmatch(words)
    if not found or words.endswith(("P", "T")):
        return None
    part = found.groupdict()
    of_date, of_clock = ("years", "months"), ("days", "hours", "minutes", "seconds")
    if datatype == YEAR_MONTH and (part["clock"] or part["days"]):
        return None
    if datatype == DAY_TIME and any(part[name] for name in of_date):
        return None
    sign = -1 if part["sign"] else 1
    months = int(part["years"] or 0) * 12 + int(part["months"] or 0)
    weights = (86400, 3600, 60, 1)
    seconds = sum((Decimal(part[name] or 0) * weight for name, weight in zip(of_clock, weights)), Decimal(0))
    return Span(datatype, sign * months, sign * seconds)


def earlier(one: Instant, other: Instant) -> bool | None:
    """Whether one instant of a datatype lies before another; None where that hangs on a time zone not given."""
    gap = other.seconds - one.seconds
    if (one.zone is None) != (other.zone is None) and abs(gap) <= FARTHEST:
        return None
    return gap > 0


def same_time(one: Instant, other: Instant) -> bool | None:
    """Whether two instants of a datatype are the same; None where that hangs on a time zone not given."""
    gap = other.seconds - one.seconds
    if (one.zone is None) != (other.zone is None) and abs(gap) <= FARTHEST:
        return None
    return gap == 0
