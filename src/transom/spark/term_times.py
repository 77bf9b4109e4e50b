"""Dates, times and durations of XML Schema on Spark: reading them and writing them.

An instant is a struct of its parts as they are written, with the nanoseconds since 1970, as if in the middle time zone
where none is given. A duration is months and nanoseconds.
"""

from __future__ import annotations

import re

from transom.model.rdf.terms import DATE, DATE_TIME, DAY_TIME, DURATION, TIME, YEAR_MONTH
from transom.model.rdf.times import CLOCK, DAY, SPAN, ZONE
from transom.spark.sql import F, Sql, aside, let
from transom.spark.term_spelling import ending

SPANS = (DURATION, DAY_TIME, YEAR_MONTH)
WIDE = "decimal(38,0)"


def _java(pattern: str) -> str:
    """A pattern with its groups numbered, for Java."""
    return re.sub(r"\(\?P<[a-z]+>", "(", pattern)


_INSTANT = rf"\A(?:{_java(DAY)})?(T)?(?:{_java(CLOCK)})?{_java(ZONE)}\z"
_SPAN = rf"\A{_java(SPAN)}\z"


def _groups(said: Sql, pattern: str, count: int) -> Sql:
    """The groups of a pattern as an array, empty where one took no part; NULL where the pattern does not fit."""
    spelled = F.regexp_replace(said, pattern, "|".join(f"${place}" for place in range(1, count + 1)))
    return F.when(F.rlike(said, F.lit(pattern)), F.split(spelled, r"\|", -1))


def instant(said: Sql, ended: Sql) -> Sql:
    """An instant from its characters, by the end of its literal; NULL where there is none."""
    return aside([_groups(said, _INSTANT, 8), ended], _of_parts)


def _of_parts(found: Sql, ended: Sql) -> Sql:
    year, month, day, mark, hour, minute, second, zone = (F.get(found, F.lit(place)) for place in range(8))
    has_day, has_clock, has_mark = year != "", hour != "", mark != ""
    shape = (
        F.when(ended == F.lit(ending(DATE)), has_day & ~has_mark & ~has_clock)
        .when(ended == F.lit(ending(TIME)), ~has_day & ~has_mark & has_clock)
        .when(ended == F.lit(ending(DATE_TIME)), has_day & has_mark & has_clock)
    )
    parts = [
        _number(year, 1972),
        F.when(has_day, F.concat(F.lit("-"), month, F.lit("-"), day)).otherwise(F.lit("-12-31")),
        _number(hour),
        _number(minute),
        _number(F.substring(second, 1, 2)),
        _number(F.rpad(F.substring(second, 4, 9), 9, "0")),
        _zone(zone),
        shape,
        has_day,
    ]
    return let(parts, _checked)


def _number(figures: Sql, otherwise: int = 0) -> Sql:
    return F.coalesce(figures.try_cast("bigint"), F.lit(otherwise))


def _zone(text: Sql) -> Sql:
    """A time zone in minutes, NULL where none is given."""
    size = F.substring(text, 2, 2).try_cast("bigint") * F.lit(60) + F.substring(text, 5, 2).try_cast("bigint")
    return F.when(text == "Z", F.lit(0)).when(F.startswith(text, F.lit("-")), -size).when(text != "", size)


def _checked(
    year: Sql,
    month_and_day: Sql,
    hour: Sql,
    minute: Sql,
    second: Sql,
    nano: Sql,
    zone: Sql,
    shape: Sql,
    has_day: Sql,
) -> Sql:
    """The instant of these parts, NULL where there is no such day or time; 24:00:00 is the next midnight.

    Spark checks the day in the same year of the cycle of 400 years that begins in 2000: its dates end before our years.
    """
    of_cycle = F.pmod(year, F.lit(400)) + F.lit(2000)
    date = F.concat(of_cycle.cast("string"), month_and_day).try_cast("date")
    midnight = (hour == 24) & (minute + second + nano == 0)
    good = shape & (minute < 60) & (second < 60) & ((hour < 24) | midnight)
    moved = F.date_add(date, F.when(midnight & has_day, 1).otherwise(0))
    return F.when(good, let([year - of_cycle, moved, hour % F.lit(24), minute, second, nano, zone], _made))


def _made(cycles: Sql, date: Sql, hour: Sql, minute: Sql, second: Sql, nano: Sql, zone: Sql) -> Sql:
    """An instant of its parts, with where it lies in time; `cycles` are the years to add to a date."""
    clock = hour * F.lit(3600) + minute * F.lit(60) + second - F.coalesce(zone, F.lit(0)) * F.lit(60)
    days = F.unix_date(date) + F.div(cycles, F.lit(400)) * F.lit(146097)
    nanos = (days * F.lit(86400) + clock).cast(WIDE) * F.lit(10**9).cast("decimal(10,0)") + nano.cast(WIDE)
    parts = {
        "year": cycles + F.year(date),
        "month": F.month(date),
        "day": F.day(date),
        "hour": hour,
        "minute": minute,
        "second": second,
        "nano": nano,
        "zone": zone,
    }
    named = (part.cast("bigint").alias(name) for name, part in parts.items())
    return F.when(date.isNotNull(), F.struct(*named, nanos.cast(WIDE).alias("nanos")))


def _down(number: Sql, divisor: int) -> Sql:
    """Division that rounds down."""
    return F.div(number - F.pmod(number, F.lit(divisor)), F.lit(divisor).cast("bigint"))


def span(said: Sql, ended: Sql) -> Sql:
    """A duration from its characters, by the end of its literal; NULL where they say none of the datatype."""
    whole = ~F.endswith(said, F.lit("P")) & ~F.endswith(said, F.lit("T"))
    return aside([F.when(whole, _groups(said, _SPAN, 8)), ended], _of_span)


def _of_span(found: Sql, ended: Sql) -> Sql:
    sign, years, months, days, clock, hours, minutes, seconds = (F.get(found, F.lit(place)) for place in range(8))

    def count(text: Sql) -> Sql:
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


def _two_digits(number: Sql) -> Sql:
    return F.lpad(number.cast("string"), 2, "0")


def _fraction(nano: Sql) -> Sql:
    """Nanoseconds as places of a second, without needless zeros."""
    figures = F.rtrim(F.lpad(nano.cast("string"), 9, "0"), F.lit("0"))
    return F.when(nano > 0, F.concat(F.lit("."), figures)).otherwise(F.lit(""))


def instant_text(found: Sql, datatype: str) -> Sql:
    """An instant as it is written as one of a datatype."""
    size = F.abs(found["year"]).cast("string")
    year = F.when(F.length(size) < 4, F.lpad(size, 4, "0")).otherwise(size)
    minus = F.when(found["year"] < 0, F.lit("-")).otherwise(F.lit(""))
    day = F.concat(minus, year, F.lit("-"), _two_digits(found["month"]), F.lit("-"), _two_digits(found["day"]))
    parts = (part for name in ("hour", "minute", "second") for part in (F.lit(":"), _two_digits(found[name])))
    clock = F.concat(*list(parts)[1:], _fraction(found["nano"]))
    shown = {DATE_TIME: [day, F.lit("T"), clock], DATE: [day], TIME: [clock]}[datatype]
    return F.concat(*shown, zone_text(found["zone"]))


def zone_text(zone: Sql) -> Sql:
    """A time zone as it is written; nothing where there is none."""
    size = F.abs(zone)
    sign = F.when(zone < 0, F.lit("-")).otherwise(F.lit("+"))
    written = F.concat(sign, _two_digits(_down(size, 60)), F.lit(":"), _two_digits(size % F.lit(60)))
    return F.when(zone.isNull(), F.lit("")).when(zone == 0, F.lit("Z")).otherwise(written)


def span_text(months: Sql, nanos: Sql, datatype: str) -> Sql:
    """A duration as it is written."""

    def named(number: Sql, unit: str) -> Sql:
        return F.when(number > 0, F.concat(number.cast("string"), F.lit(unit))).otherwise(F.lit(""))

    def written(size: Sql, seconds: Sql, nano: Sql) -> Sql:
        of_day = seconds % F.lit(86400)
        second = of_day % F.lit(60)
        date = F.concat(named(_down(size, 12), "Y"), named(size % F.lit(12), "M"), named(_down(seconds, 86400), "D"))
        rest = F.when(
            (second > 0) | (nano > 0), F.concat(second.cast("string"), _fraction(nano), F.lit("S"))
        ).otherwise(F.lit(""))
        clock = F.concat(named(_down(of_day, 3600), "H"), named(_down(of_day % F.lit(3600), 60), "M"), rest)
        return let([date, clock], _joined)

    def _joined(date: Sql, clock: Sql) -> Sql:
        nothing = F.lit("0M" if datatype == YEAR_MONTH else "T0S")
        timed = F.when(clock != "", F.concat(F.lit("T"), clock)).otherwise(F.lit(""))
        return F.when((date == "") & (clock == ""), nothing).otherwise(F.concat(date, timed))

    zero = F.lit(0).cast(WIDE)
    size = F.abs(nanos)
    rest = F.pmod(size, F.lit(10**9).cast(WIDE))
    whole = F.try_divide(size - rest, F.lit(10**9).cast(WIDE)).cast("bigint")
    sign = F.when((months < 0) | (nanos < zero), F.lit("-")).otherwise(F.lit(""))
    return F.concat(sign, F.lit("P"), let([F.abs(months), whole, rest.cast("bigint")], written))
