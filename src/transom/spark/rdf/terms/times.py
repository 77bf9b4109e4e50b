"""Parse and format dates, times and durations of XML Schema on Spark.

An instant is a struct of its parts as written, with the nanoseconds since 1970; without a time zone, UTC is assumed. A
duration is a struct of months and nanoseconds.
"""

from __future__ import annotations

import re

from transom.model.rdf.terms import DATE, DATE_TIME, DAY_TIME, DURATION, TIME, YEAR_MONTH
from transom.model.rdf.times import CLOCK, DAY, SPAN, ZONE
from transom.spark.expressions.sql import F, Sql, let, let_interpreted
from transom.spark.rdf.terms.spelling import LiteralSuffix, datatype_suffix

DURATIONS = (DURATION, DAY_TIME, YEAR_MONTH)
WIDE = "decimal(38,0)"


def _java_groups(pattern: str) -> str:
    """Turn the named groups of a Python regular expression into numbered ones, for Java."""
    return re.sub(r"\(\?P<[a-z]+>", "(", pattern)


_INSTANT = rf"\A(?:{_java_groups(DAY)})?(T)?(?:{_java_groups(CLOCK)})?{_java_groups(ZONE)}\z"
_DURATION = rf"\A{_java_groups(SPAN)}\z"


def _groups(text: Sql, pattern: str, count: int) -> Sql:
    """Match a regular expression; return its `count` groups as an array ('' if unused), or NULL without a match."""
    joined = F.regexp_replace(text, pattern, "|".join(f"${n}" for n in range(1, count + 1)))
    return F.when(F.rlike(text, F.lit(pattern)), F.split(joined, r"\|", -1))


def read_instant(text: Sql, suffix: LiteralSuffix) -> Sql:
    """Parse a date, time or dateTime (datatype in `suffix`) to a struct of year, ..., zone, nanos; NULL if invalid.

    `suffix` is the literal's suffix, `^^<datatype>`.
    """
    return let_interpreted([_groups(text, _INSTANT, 8), suffix], _instant_of_groups)


def _instant_of_groups(groups: Sql, suffix: LiteralSuffix) -> Sql:
    """Build the struct of an instant from the groups of a match; NULL if they do not fit the datatype in `suffix`."""
    year, month, day, mark, hour, minute, second, zone = (F.get(groups, F.lit(n)) for n in range(8))
    has_day, has_clock, has_mark = year != "", hour != "", mark != ""
    shape = (
        F.when(suffix == F.lit(datatype_suffix(DATE)), has_day & ~has_mark & ~has_clock)
        .when(suffix == F.lit(datatype_suffix(TIME)), ~has_day & ~has_mark & has_clock)
        .when(suffix == F.lit(datatype_suffix(DATE_TIME)), has_day & has_mark & has_clock)
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
    return let(parts, _validated_instant)


def _number(digits: Sql, otherwise: int = 0) -> Sql:
    """Convert a string of digits to a bigint; return `otherwise` for an empty string."""
    return F.coalesce(digits.try_cast("bigint"), F.lit(otherwise))


def _zone(text: Sql) -> Sql:
    """Parse a time zone, such as Z or +02:00, to its offset in minutes; NULL for an empty text."""
    minutes = F.substring(text, 2, 2).try_cast("bigint") * F.lit(60) + F.substring(text, 5, 2).try_cast("bigint")
    return F.when(text == "Z", F.lit(0)).when(F.startswith(text, F.lit("-")), -minutes).when(text != "", minutes)


def _validated_instant(
    year: Sql,
    month_and_day: Sql,
    hour: Sql,
    minute: Sql,
    second: Sql,
    nano: Sql,
    zone: Sql,
    fits_datatype: Sql,
    has_day: Sql,
) -> Sql:
    """Build an instant struct from parts, such as '-02-28', `zone` in minutes; NULL if invalid or not `fits_datatype`.

    It is also NULL if `fits_datatype` is false: if the parts do not fit the datatype.

    Spark validates the day in the corresponding year of 2000 to 2399, because its dates do not cover all years of XML
    Schema; the calendar repeats every 400 years.
    """
    of_cycle = F.pmod(year, F.lit(400)) + F.lit(2000)
    date = F.concat(of_cycle.cast("string"), month_and_day).try_cast("date")
    midnight = (hour == 24) & (minute + second + nano == 0)
    is_valid = fits_datatype & (minute < 60) & (second < 60) & ((hour < 24) | midnight)
    day = F.date_add(date, F.when(midnight & has_day, 1).otherwise(0))
    return F.when(is_valid, let([year - of_cycle, day, hour % F.lit(24), minute, second, nano, zone], _instant_struct))


def _instant_struct(cycles: Sql, date: Sql, hour: Sql, minute: Sql, second: Sql, nano: Sql, zone: Sql) -> Sql:
    """Build an instant's struct: fields and nanoseconds since 1970, `cycles` years (a multiple of 400) after `date`.

    `cycles` is the number of years to add to `date`, which Spark's dates cannot reach.
    """
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
    fields = (part.cast("bigint").alias(name) for name, part in parts.items())
    return F.when(date.isNotNull(), F.struct(*fields, nanos.cast(WIDE).alias("nanos")))


def _floor_div(number: Sql, divisor: int) -> Sql:
    """Divide an integer expression by a positive constant, and round down."""
    return F.div(number - F.pmod(number, F.lit(divisor)), F.lit(divisor).cast("bigint"))


def read_duration(text: Sql, suffix: LiteralSuffix) -> Sql:
    """Parse a duration's text to a struct (months, nanos); `suffix` is its datatype, `^^<...>`; NULL if invalid.

    `suffix` is the literal's suffix, `^^<datatype>`.
    """
    is_complete = ~F.endswith(text, F.lit("P")) & ~F.endswith(text, F.lit("T"))
    return let_interpreted([F.when(is_complete, _groups(text, _DURATION, 8)), suffix], _duration_of_groups)


def _duration_of_groups(groups: Sql, suffix: LiteralSuffix) -> Sql:
    """Build a duration struct from regex groups; NULL if these do not fit the datatype in `suffix`."""
    sign, years, months, days, clock, hours, minutes, seconds = (F.get(groups, F.lit(n)) for n in range(8))

    def count(text: Sql) -> Sql:
        """Convert the digits in a group of the match to a number; 0 if the group is empty."""
        return F.coalesce(text.try_cast("bigint"), F.lit(0))

    allowed = (
        F.when(suffix == F.lit(datatype_suffix(YEAR_MONTH)), (clock == "") & (days == ""))
        .when(suffix == F.lit(datatype_suffix(DAY_TIME)), (years == "") & (months == ""))
        .otherwise(groups.isNotNull())
    )
    decimals = F.when(F.contains(seconds, F.lit(".")), F.substring_index(seconds, ".", -1)).otherwise(F.lit(""))
    full_minutes = count(days) * F.lit(86400) + count(hours) * F.lit(3600) + count(minutes) * F.lit(60)
    total = full_minutes + count(F.substring_index(seconds, ".", 1))
    nanos = total.cast(WIDE) * F.lit(10**9).cast("decimal(10,0)") + count(
        F.rpad(F.substring(decimals, 1, 9), 9, "0")
    ).cast(WIDE)
    total_months = count(years) * F.lit(12) + count(months)
    negative = sign == "-"
    return F.when(
        allowed,
        F.struct(
            F.when(negative, -total_months).otherwise(total_months).cast("bigint").alias("months"),
            F.when(negative, -nanos).otherwise(nanos).cast(WIDE).alias("nanos"),
        ),
    )


def _two_digits(number: Sql) -> Sql:
    """Format a number with at least two digits."""
    return F.lpad(number.cast("string"), 2, "0")


def _fraction(nano: Sql) -> Sql:
    """Format nanoseconds as the fraction of a second, such as .25, without trailing zeros; empty for 0."""
    figures = F.rtrim(F.lpad(nano.cast("string"), 9, "0"), F.lit("0"))
    return F.when(nano > 0, F.concat(F.lit("."), figures)).otherwise(F.lit(""))


def instant_text(instant: Sql, datatype: str) -> Sql:
    """Format an instant struct as text of the datatype xsd:dateTime, xsd:date or xsd:time."""
    year_digits = F.abs(instant["year"]).cast("string")
    year = F.when(F.length(year_digits) < 4, F.lpad(year_digits, 4, "0")).otherwise(year_digits)
    sign = F.when(instant["year"] < 0, F.lit("-")).otherwise(F.lit(""))
    day = F.concat(sign, year, F.lit("-"), _two_digits(instant["month"]), F.lit("-"), _two_digits(instant["day"]))
    parts = (part for name in ("hour", "minute", "second") for part in (F.lit(":"), _two_digits(instant[name])))
    clock = F.concat(*list(parts)[1:], _fraction(instant["nano"]))
    pieces = {DATE_TIME: [day, F.lit("T"), clock], DATE: [day], TIME: [clock]}[datatype]
    return F.concat(*pieces, zone_text(instant["zone"]))


def zone_text(zone: Sql) -> Sql:
    """Format a time zone offset in minutes as Z or +02:00; empty for NULL."""
    size = F.abs(zone)
    sign = F.when(zone < 0, F.lit("-")).otherwise(F.lit("+"))
    offset = F.concat(sign, _two_digits(_floor_div(size, 60)), F.lit(":"), _two_digits(size % F.lit(60)))
    return F.when(zone.isNull(), F.lit("")).when(zone == 0, F.lit("Z")).otherwise(offset)


def duration_text(months: Sql, nanos: Sql, datatype: str) -> Sql:
    """Format a duration of months and nanoseconds in the canonical form of its datatype, such as P1DT2H."""

    def named(number: Sql, unit: str) -> Sql:
        """Format a number with its unit letter, such as 2H; empty for 0."""
        return F.when(number > 0, F.concat(number.cast("string"), F.lit(unit))).otherwise(F.lit(""))

    def format_parts(month_count: Sql, seconds: Sql, nano: Sql) -> Sql:
        """Format the duration without its sign and P, from absolute months, seconds and nanoseconds."""
        seconds_of_day = seconds % F.lit(86400)
        second = seconds_of_day % F.lit(60)
        date = F.concat(
            named(_floor_div(month_count, 12), "Y"),
            named(month_count % F.lit(12), "M"),
            named(_floor_div(seconds, 86400), "D"),
        )
        seconds_text = F.when(
            (second > 0) | (nano > 0), F.concat(second.cast("string"), _fraction(nano), F.lit("S"))
        ).otherwise(F.lit(""))
        clock = F.concat(
            named(_floor_div(seconds_of_day, 3600), "H"),
            named(_floor_div(seconds_of_day % F.lit(3600), 60), "M"),
            seconds_text,
        )
        return let([date, clock], join_parts)

    def join_parts(date: Sql, clock: Sql) -> Sql:
        """Return a duration's text: date and time part joined by T; if both are empty the zero, such as T0S."""
        empty_text = F.lit("0M" if datatype == YEAR_MONTH else "T0S")
        clock_text = F.when(clock != "", F.concat(F.lit("T"), clock)).otherwise(F.lit(""))
        return F.when((date == "") & (clock == ""), empty_text).otherwise(F.concat(date, clock_text))

    zero = F.lit(0).cast(WIDE)
    total_nanos = F.abs(nanos)
    nanos_of_second = F.pmod(total_nanos, F.lit(10**9).cast(WIDE))
    whole_seconds = F.try_divide(total_nanos - nanos_of_second, F.lit(10**9).cast(WIDE)).cast("bigint")
    sign = F.when((months < 0) | (nanos < zero), F.lit("-")).otherwise(F.lit(""))
    return F.concat(sign, F.lit("P"), let([F.abs(months), whole_seconds, nanos_of_second.cast("bigint")], format_parts))
