"""Dates, times and durations of XML Schema: parsing, formatting, and comparison.

Years have at most nine digits, seconds nine decimal places, and the fields of a duration nine digits (XML Schema lets
every processor set such limits): a literal beyond them has no known value.
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
MAX_ZONE_OFFSET = 14 * 3600
"""The largest offset of a time zone from UTC, in seconds."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A dateTime, date or time as written; `zone` is the offset from UTC in minutes, None if missing."""

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
        """The seconds since the beginning of 1970 in UTC; an instant without a time zone counts as UTC."""
        seconds_of_day = self.hour * 3600 + self.minute * 60 + self.second
        return days_before(self.year, self.month, self.day) * 86400 + seconds_of_day - (self.zone or 0) * 60

    def __str__(self) -> str:
        """The canonical text of the xsd:dateTime, xsd:date or xsd:time."""
        day = f"{'-' if self.year < 0 else ''}{abs(self.year):04d}-{self.month:02d}-{self.day:02d}"
        second = f"{self.second:f}".partition(".")
        fraction = second[2].rstrip("0")
        clock = f"{self.hour:02d}:{self.minute:02d}:{second[0]:0>2}{'.' + fraction if fraction else ''}"
        return {DATE_TIME: f"{day}T{clock}", DATE: day, TIME: clock}[self.datatype] + zone_text(self.zone)


@dataclass(frozen=True, slots=True)
class XsdDuration:
    """A duration in months and seconds, which are independent of each other."""

    datatype: str
    months: int
    seconds: Decimal

    def __str__(self) -> str:
        """The canonical text of the xsd:duration, such as `P1Y2M` or `-PT0.5S`."""
        sign = "-" if self.months < 0 or self.seconds < 0 else ""
        years, months = divmod(abs(self.months), 12)
        days, remainder = divmod(abs(self.seconds), 86400)
        hours, remainder = divmod(remainder, 3600)
        minutes, second = divmod(remainder, 60)
        date = _duration_fields((years, "Y"), (months, "M"), (days, "D"))
        clock = _duration_fields((hours, "H"), (minutes, "M")) + (f"{_plain_seconds(second)}S" if second else "")
        zero = "0M" if self.datatype == YEAR_MONTH else "T0S"
        return f"{sign}P{date}{'T' + clock if clock else ''}{'' if date or clock else zero}"


def _duration_fields(*fields: tuple[int | Decimal, str]) -> str:
    """Join the (count, unit) pairs that are not zero to the text of a duration, such as `1Y2M`."""
    return "".join(f"{int(count)}{unit}" for count, unit in fields if count)


def _plain_seconds(seconds: Decimal) -> str:
    """Format a number of seconds without trailing zeros."""
    text = f"{seconds:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def zone_text(zone: int | None) -> str:
    """Format a time zone, given in minutes from UTC, as `Z` or `+02:00`; the empty string for None."""
    if zone is None:
        return ""
    if zone == 0:
        return "Z"
    return f"{'-' if zone < 0 else '+'}{abs(zone) // 60:02d}:{abs(zone) % 60:02d}"


def days_before(year: int, month: int, day: int) -> int:
    """Count the days from 1 January 1970 to a date in the proleptic Gregorian calendar; negative before 1970."""
    shifted = year - (month <= 2)
    era, year_of_era = divmod(shifted, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    return era * 146097 + year_of_era * 365 + year_of_era // 4 - year_of_era // 100 + day_of_year - 719468


def days_in(year: int, month: int) -> int:
    """The number of days in a month of this year, which may be a leap year."""
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def read_instant(text: str, datatype: str) -> Instant | None:
    """Parse an xsd:dateTime, xsd:date or xsd:time; return None if it is malformed.

    24:00:00 is midnight of the next day.
    """
    match = _FORMS[datatype].fullmatch(text)
    if not match:
        return None
    defaults = {"year": "1972", "month": "12", "day": "31", "hour": "0", "minute": "0", "second": "0"}
    fields = {**defaults, **match.groupdict()}
    year, month, day = int(fields["year"]), int(fields["month"]), int(fields["day"])
    hour, minute, second = int(fields["hour"]), int(fields["minute"]), Decimal(fields["second"])
    if not (1 <= month <= 12 and 1 <= day <= days_in(year, month) and minute < 60 and second < 60):
        return None
    if hour > 23:
        if hour > 24 or minute or second:
            return None
        hour = 0
        if datatype == DATE_TIME:
            year, month, day = next_day(year, month, day)
    return Instant(datatype, year, month, day, hour, minute, second, read_zone(fields["zone"]))


def next_day(year: int, month: int, day: int) -> tuple[int, int, int]:
    """Return the date of the following day, as year, month and day."""
    if day < days_in(year, month):
        return year, month, day + 1
    return (year, month + 1, 1) if month < 12 else (year + 1, 1, 1)


def read_zone(text: str | None) -> int | None:
    """Parse a time zone such as `+02:00` to minutes from UTC; None for no text, that is, no time zone."""
    if text is None:
        return None
    if text == "Z":
        return 0
    return (1 if text[0] == "+" else -1) * (int(text[1:3]) * 60 + int(text[4:6]))


def read_xsd_duration(text: str, datatype: str) -> XsdDuration | None:
    """Parse an xsd:duration or a subtype; None if the text is malformed or has fields that the subtype excludes."""
    match = _SPAN.fullmatch(text)
    if not match or text.endswith(("P", "T")):
        return None
    fields = match.groupdict()
    date_fields, clock_fields = ("years", "months"), ("days", "hours", "minutes", "seconds")
    if datatype == YEAR_MONTH and (fields["clock"] or fields["days"]):
        return None
    if datatype == DAY_TIME and any(fields[name] for name in date_fields):
        return None
    sign = -1 if fields["sign"] else 1
    months = int(fields["years"] or 0) * 12 + int(fields["months"] or 0)
    weights = (86400, 3600, 60, 1)
    seconds = sum((Decimal(fields[name] or 0) * weight for name, weight in zip(clock_fields, weights)), Decimal(0))
    return XsdDuration(datatype, sign * months, sign * seconds)


def is_before(left: Instant, right: Instant) -> bool | None:
    """Whether an instant is before another of the same datatype; None if that depends on a missing time zone."""
    gap = right.seconds - left.seconds
    if (left.zone is None) != (right.zone is None) and abs(gap) <= MAX_ZONE_OFFSET:
        return None
    return gap > 0


def is_same_instant(left: Instant, right: Instant) -> bool | None:
    """Whether two instants of one datatype are the same; None if that depends on a missing time zone."""
    gap = right.seconds - left.seconds
    if (left.zone is None) != (right.zone is None) and abs(gap) <= MAX_ZONE_OFFSET:
        return None
    return gap == 0
