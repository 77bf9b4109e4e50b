"""Calendar windows by brute force: the local date of every quarter of an hour, from `zoneinfo` and nothing else."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

STEP = 15 * 60
"""No zone of these tests changes its clocks between two quarters of an hour."""

FIRST = date(1970, 1, 1)
WALK = [int(datetime(year, 6, 1, tzinfo=UTC).timestamp()) for year in (2007, 2018)]


@dataclass(frozen=True)
class Form:
    """A window: every `step` units, over the `past` to before the `until` periods before; the range may be in days."""

    unit: str
    step: int
    past: int
    until: int = 0
    range_unit: str = ""

    def __str__(self) -> str:
        return f"{self.step} {self.unit}, {self.past} to {self.until} {self.range_unit or self.unit}"


@cache
def days_that_exist(zone: str) -> dict[date, int]:
    """The number of each date that some instant has, from 1970 on: the others are skipped."""
    place, instant, found = ZoneInfo(zone), datetime(1969, 12, 1, tzinfo=UTC), set()
    while instant.year < 2031:
        found.add(instant.astimezone(place).date())
        instant += timedelta(hours=6)
    return {day: number for number, day in enumerate(sorted(day for day in found if day >= FIRST))}


@cache
def days(zone: str) -> tuple[list[datetime], list[date]]:
    """The first instant of each local day, and its date; clocks put back do not repeat a day."""
    place, instants, dates = ZoneInfo(zone), [], []
    latest = 0
    for seconds in range(WALK[0], WALK[1], STEP):
        local = datetime.fromtimestamp(seconds, place).toordinal()
        if local > latest:
            latest = local
            instants.append(datetime.fromtimestamp(seconds, UTC))
            dates.append(date.fromordinal(local))
    return instants, dates


def number(zone: str, unit: str, day: date) -> int:
    """The number of the period of a date."""
    match unit:
        case "DAY":
            return days_that_exist(zone)[day]
        case "WEEK":
            return (day - date(1969, 12, 29)).days // 7
        case "MONTH":
            return (day.year - 1970) * 12 + day.month - 1
        case _:
            return day.year - 1970


def windows(
    zone: str, form: Form, rows: list[datetime], start: datetime, end: datetime
) -> list[tuple[datetime, list[int]]]:
    """The windows from `start` to `end`: the instant of each, and the numbers of its rows."""
    firsts, dates = days(zone)
    range_unit = form.range_unit or form.unit
    members: dict[int, list[int]] = defaultdict(list)
    for n, row in enumerate(rows):
        members[number(zone, range_unit, dates[bisect_right(firsts, row) - 1])].append(n)
    found = []
    for n in range(bisect_left(firsts, start), bisect_right(firsts, end)):
        first, day, before = firsts[n], dates[n], dates[n - 1]
        period = number(zone, form.unit, day)
        if period == number(zone, form.unit, before) or period % form.step:
            continue
        now = number(zone, range_unit, day)
        found.append((first, sorted(row for one in range(now - form.past, now - form.until) for row in members[one])))
    return found
