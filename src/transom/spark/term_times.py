"""Dates, times and durations of XML Schema on Spark: reading them and writing them.

An instant is a struct of its parts as they are written, with the nanoseconds since 1970, as if in the middle time zone
where none is given. A duration is months and nanoseconds.
"""

from __future__ import annotations

import re

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.model.rdf.terms import DATE, DATE_TIME, DAY_TIME, DURATION, TIME, YEAR_MONTH
from transom.model.rdf.times import CLOCK, DAY, SPAN, ZONE
from transom.spark.term_spelling import ending
from transom.spark.types import aside, let

SPANS = (DURATION, DAY_TIME, YEAR_MONTH)
WIDE = "decimal(38,0)"


def _java(pattern: str) -> str:
    """A pattern with its groups numbered, for Java."""
    return re.sub(r"\(\?P<[a-z]+>", "(", pattern)


_INSTANT = rf"\A(?:{_java(DAY)})?(T)?(?:{_java(CLOCK)})?{_java(ZONE)}\z"
_SPAN = rf"\A{_java(SPAN)}\z"


def _groups(said: Column, pattern: str, count: int) -> Column:
    """The groups of a pattern as an array, empty where one took no part; NULL where the pattern does not fit."""
    spelled = F.regexp_replace(said, pattern, "|".join(f"${place}" for place in range(1, count + 1)))
    return F.when(F.rlike(said, F.lit(pattern)), F.split(spelled, r"\|", -1))


def instant(said: Column, ended: Column) -> Column:
    """An instant from its characters, by the end of its literal; NULL where there is none."""
    return aside([_groups(said, _INSTANT, 8), ended], _of_parts)


def _of_parts(found: Column, ended: Column) -> Column:
    year, month, day, mark, hour, minute, second, zone = (F.get(found, F.lit(place)) for place in range(8))
    has_day, has_clock, has_mark = year != "", hour != "", mark != ""
    shape = (
        F.when(ended == F.lit(ending(DATE)), has_day & ~has_mark & ~has_clock)
        .when(ended == F.lit(ending(TIME)), ~has_day & ~has_mark & has_clock)
        .when(ended == F.lit(ending(DATE_TIME)), has_day & has_mark & has_clock)
    )
    places = F.rpad(F.substring(second, 4, 9), 9, "0").try_cast("bigint")
    parts = [
        *(F.when(has_day, part.try_cast("bigint")).otherwise(F.lit(other)) for part, other in _days(year, month, day)),
        *(F.when(has_clock, part.try_cast("bigint")).otherwise(F.lit(0)) for part in (hour, minute)),
        F.when(has_clock, F.substring(second, 1, 2).try_cast("bigint")).otherwise(F.lit(0)),
        F.coalesce(places, F.lit(0)),
        _zone(zone),
        shape,
        has_day,
    ]
    return let(parts, _checked)


def _days(year: Column, month: Column, day: Column) -> list[tuple[Column, int]]:
    return [(year, 1972), (month, 12), (day, 31)]


def _zone(text: Column) -> Column:
    """A time zone in minutes, NULL where none is given."""
    size = F.substring(text, 2, 2).try_cast("bigint") * F.lit(60) + F.substring(text, 5, 2).try_cast("bigint")
    return F.when(text == "Z", F.lit(0)).when(F.startswith(text, F.lit("-")), -size).when(text != "", size)


def _checked(
    year: Column,
    month: Column,
    day: Column,
    hour: Column,
    minute: Column,
    second: Column,
    nano: Column,
    zone: Column,
    shape: Column,
    has_day: Column,
) -> Column:
    """The instant of these parts where there is such a day and time; 24:00:00 is the next midnight."""
    midnight = (hour == 24) & (minute == 0) & (second == 0) & (nano == 0)
    good = shape & month.between(1, 12) & (day >= 1) & (day <= days_in(year, month)) & (minute < 60) & (second < 60)
    moved = midnight & has_day
    last_day = day == days_in(year, month)
    last = last_day & (month == 12)
    new_day = F.when(moved, F.when(last_day, F.lit(1)).otherwise(day + 1)).otherwise(day)
    new_month = F.when(moved & last_day, F.when(last, F.lit(1)).otherwise(month + 1)).otherwise(month)
    new_year = F.when(moved & last, year + 1).otherwise(year)
    new_hour = F.when(midnight, F.lit(0)).otherwise(hour)
    parts = [new_year, new_month, new_day, new_hour, minute, second, nano, zone]
    return F.when(good & ((hour < 24) | midnight), let(parts, made))


def made(
    year: Column,
    month: Column,
    day: Column,
    hour: Column,
    minute: Column,
    second: Column,
    nano: Column,
    zone: Column,
) -> Column:
    """An instant of its parts, with where it lies in time."""
    clock = hour * F.lit(3600) + minute * F.lit(60) + second - F.coalesce(zone, F.lit(0)) * F.lit(60)
    seconds = days_before(year, month, day) * F.lit(86400) + clock
    nanos = seconds.cast(WIDE) * F.lit(10**9).cast("decimal(10,0)") + nano.cast(WIDE)
    names = ("year", "month", "day", "hour", "minute", "second", "nano", "zone")
    parts = (year, month, day, hour, minute, second, nano, zone)
    return F.struct(
        *(part.cast("bigint").alias(name) for name, part in zip(names, parts, strict=True)),
        nanos.cast(WIDE).alias("nanos"),
    )


def _down(number: Column, divisor: int) -> Column:
    """Division that rounds down."""
    return F.call_function("div", number - F.pmod(number, F.lit(divisor)), F.lit(divisor).cast("bigint"))


def days_before(year: Column, month: Column, day: Column) -> Column:
    """Days from the first of January 1970 to a day, in the calendar of today for all times."""

    def counted(shifted: Column) -> Column:
        of_era = F.pmod(shifted, F.lit(400))
        of_year = _down((month + F.when(month > 2, -3).otherwise(9)) * F.lit(153) + F.lit(2), 5) + day - F.lit(1)
        years = of_era * F.lit(365) + _down(of_era, 4) - _down(of_era, 100)
        return _down(shifted, 400) * F.lit(146097) + years + of_year - F.lit(719468)

    return let([year - F.when(month <= 2, F.lit(1)).otherwise(F.lit(0))], counted)


def days_in(year: Column, month: Column) -> Column:
    """How many days a month has."""
    leap = (F.pmod(year, F.lit(4)) == 0) & ((F.pmod(year, F.lit(100)) != 0) | (F.pmod(year, F.lit(400)) == 0))
    february = F.when(leap, F.lit(29)).otherwise(F.lit(28))
    return F.when(month == 2, february).when(month.isin(4, 6, 9, 11), F.lit(30)).otherwise(F.lit(31))


def span(said: Column, ended: Column) -> Column:
    """A duration from its characters, by the end of its literal; NULL where they say none of the datatype."""
    whole = ~F.endswith(said, F.lit("P")) & ~F.endswith(said, F.lit("T"))
    return aside([F.when(whole, _groups(said, _SPAN, 8)), ended], _of_span)


def _of_span(found: Column, ended: Column) -> Column:
    sign, years, months, days, clock, hours, minutes, seconds = (F.get(found, F.lit(place)) for place in range(8))

    def count(text: Column) -> Column:
        return F.coalesce(text.try_cast("bigint"), F.lit(0))

    allowed = (
        F.when(ended == F.lit(ending(YEAR_MONTH)), (clock == "") & (days == ""))
        .when(ended == F.lit(ending(DAY_TIME)), (years == "") & (months == ""))
        .otherwise(found.isNotNull())
    )
    behind = F.when(F.contains(seconds, F.lit(".")), F.substring_index(seconds, ".", -1)).otherwise(F.lit(""))
    whole = count(days) * F.lit(86400) + count(hours) * F.lit(3600) + count(minutes) * F.lit(60)
    total = whole + count(F.substring_index(seconds, ".", 1))
    nanos = total.cast(WIDE) * F.lit(10**9).cast("decimal(10,0)") + count(
        F.rpad(F.substring(behind, 1, 9), 9, "0")
    ).cast(WIDE)
    month = count(years) * F.lit(12) + count(months)
    negative = sign == "-"
    return F.when(
        allowed,
        F.struct(
            F.when(negative, -month).otherwise(month).cast("bigint").alias("months"),
            F.when(negative, -nanos).otherwise(nanos).cast(WIDE).alias("nanos"),
        ),
    )
