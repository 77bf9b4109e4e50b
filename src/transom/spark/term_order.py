"""The order of ORDER BY on Spark, as the model defines it: a key that sorts natively."""

from __future__ import annotations

from transom.model.rdf.values import Kind
from transom.spark import term_numbers as numbers
from transom.spark.sql import F, Sql, aside, let
from transom.spark.term_spelling import datatype, end, is_name, lexical, name_of
from transom.spark.term_values import EXACT, UNIT, Class, exact, parsed

_BITS = 54
"""So many binary places behind the first make every float whole, with one to spare."""

_SHORT = 2.0**62
_LONGEST = 1e38
_TINY = 2.0**-60
"""Less than one in the 18th place."""


def sort_key(term: Sql) -> Sql:
    """A struct whose order, NULL first, is that of ORDER BY: unbound, blank nodes, names, literals by their values."""
    return F.when(term.isNotNull(), aside([term, parsed(term)], _sort_key))


def _sort_key(term: Sql, value: Sql) -> Sql:
    def of(*classes: Class) -> Sql:
        return value["c"].isin([int(own) for own in classes])

    nan = of(Class.NUMBER) & F.coalesce(F.isnan(value["f"]), F.lit(False))
    tagged = of(Class.TEXT) & (value["l"] != "")
    instants = F.when(of(Class.DATE), 351).when(of(Class.DATE_TIME), 352).when(of(Class.TIME), 353)
    place = (
        F.when(of(Class.NO_LITERAL), F.when(is_name(term), 200).otherwise(100))
        .when(nan, 300)
        .when(of(Class.NUMBER), 310)
        .when(tagged, 330)
        .when(of(Class.TEXT), 320)
        .when(of(Class.TRUTH), 340)
        .when(of(Class.DATE, Class.DATE_TIME, Class.TIME), instants)
        .when(of(Class.SPAN), 360)
        .otherwise(370)
    )
    is_number = of(Class.NUMBER) & ~nan
    months = F.when(of(Class.SPAN), value["k"].cast("double"))
    unknown = of(Class.UNKNOWN)
    text = (
        F.when(of(Class.NO_LITERAL), F.when(is_name(term), name_of(term)).otherwise(term))
        .when(of(Class.TEXT), value["s"])
        .when(unknown, name_of(datatype(end(term))))
    )
    return F.struct(
        place.cast("int").alias("place"),
        F.coalesce(months, F.when(is_number, numbers.double(value) + F.lit(0.0))).alias("about"),
        F.when(is_number, aside([value], _exactly)).otherwise(_made(value["n"])).alias("exactly"),
        text.alias("text"),
        F.coalesce(value["l"], F.when(unknown, lexical(term, end(term)))).alias("rest"),
    )


def _made(whole: Sql, part: Sql | None = None, beyond: Sql | None = None) -> Sql:
    return F.struct(
        whole.try_cast(EXACT).alias("whole"),
        (exact(0) if part is None else part.try_cast(EXACT)).alias("part"),
        (F.lit(0) if beyond is None else beyond).cast("int").alias("beyond"),
    )


def _exactly(value: Sql) -> Sql:
    """Where a number lies among those that are the same as a float: its whole part, 18 places, and what is beyond.

    All three have its sign. Numbers are compared by their exact size, of which a float keeps 53 bits.
    """
    unit = exact(UNIT)

    def point(units: Sql) -> Sql:
        return let([F.try_mod(units, unit)], lambda rest: _made(F.try_divide(units - rest, unit), rest))

    return (
        F.when(value["k"] == int(Kind.INTEGER), _made(value["n"]))
        .when(value["k"] == int(Kind.DECIMAL), point(value["n"]))
        .otherwise(_of_float(value["f"]))
    )


def _of_float(value: Sql) -> Sql:
    size = F.abs(value)
    sign = F.when(value < 0, F.lit(-1)).otherwise(F.lit(1))
    whole = F.when(size < F.lit(_SHORT), F.when(size < F.lit(_SHORT), size).cast("bigint").cast(EXACT)).when(
        size <= F.lit(_LONGEST), aside([size], _large)
    )

    def signed(all_of_it: Sql, places: Sql, own: Sql) -> Sql:
        factor = own.cast(EXACT)
        return _made(
            F.try_multiply(F.coalesce(all_of_it, exact(0)), factor),
            F.try_multiply(places["part"], factor),
            places["beyond"] * own,
        )

    rest = F.when(size < F.lit(2.0**53), size - F.floor(F.when(size < F.lit(2.0**53), size)).cast("double"))
    return let([whole, aside([F.coalesce(rest, F.lit(0.0))], _places), sign], signed)


def _power_of_two(exponent: Sql) -> Sql:
    """A power of two below 10^38."""
    half = F.least(exponent, F.lit(57))
    first, second = (F.pow(F.lit(2.0), own).cast("bigint").cast(EXACT) for own in (half, exponent - half))
    return F.try_multiply(first, second).try_cast(EXACT)


def _large(size: Sql) -> Sql:
    """A whole float from 2^62 on, exactly."""

    def multiplied(exponent: Sql) -> Sql:
        mantissa = (size / F.pow(F.lit(2.0), exponent)).cast("bigint").cast(EXACT)
        return F.try_multiply(mantissa, _power_of_two(exponent)).try_cast(EXACT)

    return let([F.floor(F.log2(size)).cast("int") - F.lit(_BITS)], multiplied)


def _places(part: Sql) -> Sql:
    """18 places of a float below 1, and whether there is more."""

    def made(places: Sql, beyond: Sql) -> Sql:
        return F.struct(places.try_cast(EXACT).alias("part"), beyond.cast("int").alias("beyond"))

    def divided(over: Sql, under: Sql) -> Sql:
        def cut(rest: Sql) -> Sql:
            return made(F.try_divide(over - rest, under), F.when(rest > exact(0), F.lit(1)).otherwise(F.lit(0)))

        return let([F.try_mod(over, under).try_cast(EXACT)], cut)

    def shifted(exponent: Sql) -> Sql:
        over = (part * F.pow(F.lit(2.0), exponent)).cast("bigint").cast(EXACT)
        return let([F.try_multiply(over, exact(UNIT)).try_cast(EXACT), _power_of_two(exponent)], divided)

    some = F.when(part > 0, F.lit(1)).otherwise(F.lit(0))
    return F.when(part < F.lit(_TINY), made(exact(0), some)).otherwise(
        let([F.lit(_BITS) - F.floor(F.log2(part)).cast("int")], shifted)
    )
