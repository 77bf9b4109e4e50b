"""Translates CQL windows of calendar periods, such as [RANGE '1 day', SLIDE '1 day' AT 'Europe/Berlin'] (E15)."""

from __future__ import annotations

from transom.algebra.operator import Stream
from transom.algebra.windows import Window
from transom.errors import LanguageRule
from transom.languages.cql.syntax import Domain, Quantity, RangeClause, SlideClause, WindowClause
from transom.languages.sql.calendar_windows import (
    CALENDAR_UNITS,
    UNITS_HINT,
    Amount,
    local_days,
    range_of,
    slide_by,
)
from transom.languages.sql.syntax import TimeZone
from transom.languages.sql.type_messages import shorten
from transom.model.schema import Attribute
from transom.model.time import Calendar


def period_window(
    window: WindowClause, zone: TimeZone, calendar: Calendar, input: Stream, key: tuple[Attribute, ...]
) -> Window:
    """Translate a window of calendar periods over the stream `input`; `key` has the attributes of PARTITION BY.

    Raises LanguageRule unless the window has one range and a slide, both in calendar units.
    """
    if len(window.ranges) != 1:
        raise LanguageRule(
            "a window AT a time zone has one range",
            span=window.ranges[1].span if window.ranges else window.span,
            hint=f"write for example [RANGE '1 day', SLIDE '1 day' AT '{zone.name}']",
        )
    if window.slide is None:
        raise LanguageRule(
            "a window AT a time zone needs a slide",
            span=window.ranges[0].span,
            hint=f"write for example SLIDE '1 day' AT '{shorten(zone.name)}'",
        )
    slide_amount, range_amount = _amount(window.slide), _amount(window.ranges[0])
    slide = slide_by(slide_amount, local_days(calendar, zone))
    if range_amount.count == 0:
        raise LanguageRule("a range cannot be 0", span=range_amount.span, hint="write a range of at least 1")
    until = Amount(0, range_amount.unit, range_amount.span)
    return Window(input, slide, range_of(range_amount, until, slide), key)


def _amount(clause: RangeClause | SlideClause) -> Amount:
    """Return a range or slide as a number of calendar units; raises LanguageRule if it is something else."""
    value = clause.value
    kind = "range" if isinstance(clause, RangeClause) else "slide"
    if not isinstance(value, Quantity):
        raise LanguageRule(f"a window AT a time zone has a {kind} of time", span=clause.span, hint=UNITS_HINT)
    text = f"{value.amount:f} {shorten(value.unit)}"
    if value.unit not in CALENDAR_UNITS:
        raise LanguageRule(f"{text} is not a number of calendar periods", span=value.span, hint=UNITS_HINT)
    if clause.domain is Domain.SPACE:
        keyword = "RATTR" if kind == "range" else "SATTR"
        raise LanguageRule(f"{text} is not a distance", span=clause.span, hint=f"write {keyword} TIME")
    if value.amount != int(value.amount):
        raise LanguageRule(
            f"{text} is not a whole number of calendar periods", span=value.span, hint="write a whole number"
        )
    return Amount(int(value.amount), value.unit, value.span)
