"""Generated cases of calendar windows around changes of clocks."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any
from zoneinfo import ZoneInfo

import transom
from tests.calendar_windows.brute import Form
from transom.catalog.catalog import Catalog

ZONES = (
    "Europe/Berlin",
    "America/New_York",
    "America/Sao_Paulo",  # midnight was skipped until 2018
    "Africa/Cairo",  # clocks change at midnight, in some years four times
    "Pacific/Apia",  # skipped 2011-12-30
    "Australia/Lord_Howe",  # half an hour
    "Asia/Beirut",  # clocks go forward at midnight
    "Asia/Kathmandu",  # never changes them: 5:45
)
YEARS = (2009, 2016)
HOUR = timedelta(hours=1)

FORMS = (
    Form("DAY", 1, 1),
    Form("DAY", 1, 3),
    Form("DAY", 2, 3, 1),
    Form("WEEK", 1, 1),
    Form("WEEK", 2, 3),
    Form("MONTH", 1, 1),
    Form("MONTH", 1, 3),
    Form("WEEK", 1, 10, 0, "DAY"),
    Form("MONTH", 1, 7, 0, "DAY"),
    Form("YEAR", 1, 1),
)


@cache
def changes(zone: str) -> tuple[datetime, ...]:
    """The instants at which a zone changed its clocks, to the quarter of an hour; some days if it never did."""
    place, found = ZoneInfo(zone), []
    instant = datetime(YEARS[0], 1, 1, tzinfo=UTC)
    while instant.year < YEARS[1]:
        later = instant + timedelta(days=1)
        if instant.astimezone(place).utcoffset() != later.astimezone(place).utcoffset():
            moment = instant
            while moment.astimezone(place).utcoffset() == instant.astimezone(place).utcoffset():
                moment += timedelta(minutes=15)
            found.append(moment)
        instant = later
    return tuple(found) or tuple(datetime(year, 3, 29, 18, 15, tzinfo=UTC) for year in range(*YEARS))


@dataclass(frozen=True)
class CalendarCase:
    """A window of a zone over rows around a change of clocks."""

    zone: str
    form: Form
    language: str
    epoch: datetime
    start: datetime
    end: datetime
    rows: tuple[datetime, ...]
    minutes: int

    def __str__(self) -> str:
        return f"{self.zone}: {self.form}, epoch {self.epoch}, {self.minutes} min, {self.language}"

    @property
    def catalog(self) -> Catalog:
        return catalog(self.epoch, self.minutes)

    def tick(self, instant: datetime) -> int:
        return (instant - self.epoch) // timedelta(minutes=self.minutes)


@cache
def catalog(epoch: datetime, minutes: int) -> Catalog:
    """A catalog with a stream of numbered rows of cases."""
    return Catalog.from_dict(
        {"tick": f"{minutes} min", "epoch": epoch.isoformat(), "extents": {"s": "pushed (k:integer, v:integer)"}}
    )


def text(zone: str, form: Form, language: str, select: str = "SELECT k, v") -> str:
    """A query over one window; only SNEEql has ranges that end before the boundary."""
    if language == "sneeql":
        bounds = " TO ".join(f"NOW-{back}" if back else "NOW" for back in (form.past, form.until))
        return f"{select} FROM s [FROM {bounds} SLIDE {form.step} {form.unit} AT '{zone}']"
    unit = form.range_unit or form.unit
    window = f"RANGE '{form.past} {unit.lower()}s', SLIDE '{form.step} {unit_of(form)}' AT '{zone}'"
    return f"{select} FROM s [{window}]"


def unit_of(form: Form) -> str:
    return form.unit.lower() + ("s" if form.step > 1 else "")


def language_of(form: Form, draw: random.Random) -> str:
    if form.range_unit:
        return "cql"
    return "sneeql" if form.until else draw.choice(["sneeql", "cql"])


def generated(count: int, seed: int) -> Iterator[CalendarCase]:
    """Cases in turn over zones and forms, each around a change of clocks that is drawn."""
    draw = random.Random(seed)
    for n in range(count):
        zone, form = ZONES[n % len(ZONES)], FORMS[n // len(ZONES) % len(FORMS)]
        change = draw.choice(changes(zone))
        span = {"DAY": 6, "WEEK": 40, "MONTH": 130, "YEAR": 800}[form.unit]
        minutes = draw.choice([1, 5, 15])
        epoch = change - timedelta(days=draw.randint(1, span // 2), minutes=15 * draw.randint(0, 95))
        start = epoch + timedelta(days=draw.choice([0, 0, 0, 1, 2]))
        end = change + timedelta(days=draw.randint(2, span // 2 + 2))
        rows = around(change, minutes, draw) + spread(epoch, end, minutes, draw)
        inside = sorted(row for row in set(rows) if start <= row <= end)
        yield CalendarCase(zone, form, language_of(form, draw), epoch, start, end, tuple(inside), minutes)


def around(change: datetime, minutes: int, draw: random.Random) -> list[datetime]:
    """Instants at, right before and right after a change of clocks, and in the hours around it."""
    step = timedelta(minutes=minutes)
    near = [change + n * step for n in (-2, -1, 0, 1, 2)]
    return near + [change + hours * HOUR + n * step for hours in range(-26, 27, draw.choice([1, 2])) for n in (-1, 0)]


def spread(begin: datetime, end: datetime, minutes: int, draw: random.Random) -> list[datetime]:
    """Instants anywhere between two others, a third of them near full hours."""
    step, found = timedelta(minutes=minutes), []
    for _ in range(24):
        moment = begin + timedelta(hours=draw.randint(0, (end - begin) // HOUR))
        found.append(moment + draw.choice([-1, 0, draw.randint(0, 60)]) * step)
    return [moment for moment in found if moment >= begin]


def rows_of(case: CalendarCase) -> list[tuple[Any, ...]]:
    """The rows of a case as `simulate` takes them."""
    return [(case.tick(row), 0, n) for n, row in enumerate(case.rows)]


def compiled(case: CalendarCase) -> transom.Query:
    return transom.compile(text(case.zone, case.form, case.language), case.catalog, language=case.language)


def seen_changes(cases: Sequence[CalendarCase]) -> int:
    """How many cases have a change of clocks between their first and their last row."""
    return sum(
        any(case.rows[0] < change <= case.rows[-1] for change in changes(case.zone)) for case in cases if case.rows
    )
