"""The decimal number that a float prints as, on Spark."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.spark.types import aside, let

LARGE = 2.0**50
"""From here on Java before 19 does not always print the shortest digits (JDK-4511638)."""

LIMIT = 1e28
"""Below this, a float's digits can be found with Spark's decimals."""


_UNEVEN = (-128, -127, *range(-115, -110), *range(-97, -93), -78, -77, -72, -71, -62, -61, -45, -44, -31, -24, 89)

UNEVEN = [(2.0**exponent, repr(2.0**exponent)) for exponent in _UNEVEN]
"""The powers of two whose nearest digits are not the fewest: the float below lies nearer than the one above.

Java before 19 prints a digit too many; a test goes through all powers.
"""


def digits(number: Column) -> Column:
    """The decimal number that a float prints as, as text that Spark reads as a decimal; the float is below LIMIT."""
    size = F.abs(number)
    uneven = F.create_map(*(F.lit(part) for pair in UNEVEN for part in pair))
    fewest = F.when(size >= LARGE, aside([size], _large)).otherwise(size.cast("string"))
    sign = F.when(number < 0, F.lit("-")).otherwise(F.lit(""))
    return F.concat(sign, F.coalesce(F.try_element_at(uneven, size), fewest))


def _large(size: Column) -> Column:
    """The same for floats from LARGE to LIMIT: the fewest digits from 15 to 17 that give the float again."""
    step = F.lit(2.0**48)

    def exactly(upper: Column) -> Column:
        lower = ((size - upper.cast("double") * step) * 8.0).cast("bigint")
        whole = upper.cast("decimal(14,0)") * F.lit(2**48).cast("decimal(15,0)")
        return (whole + lower.cast("decimal(16,0)") * F.lit("0.125").cast("decimal(3,3)")).cast("decimal(31,3)")

    def fewest(few: Column, more: Column, most: Column) -> Column:
        return F.when(few.cast("double") == size, few).when(more.cast("double") == size, more).otherwise(most)

    def rounded(value: Column) -> Column:
        places = F.length(F.floor(value).cast("string"))
        return let([places], lambda own: let([_nearest(value, own - count) for count in (15, 16, 17)], fewest))

    return let([F.floor(size / step)], lambda upper: let([exactly(upper)], rounded))


def _nearest(value: Column, dropped: Column) -> Column:
    """A decimal rounded to whole multiples of a power of ten, halves to even."""
    power = F.concat(F.lit("E"), dropped.cast("string"))

    def even(unit: Column, count: Column, twice: Column) -> Column:
        up = (twice > unit) | ((twice == unit) & (count % F.lit(2) == F.lit(1)))
        return F.when(up, count + F.lit(1)).otherwise(count)

    def divided(unit: Column) -> Column:
        return let([unit, F.call_function("div", value, unit), (value % unit) * F.lit(2).cast("decimal(1,0)")], even)

    return F.concat(let([F.concat(F.lit("1"), power).cast("decimal(16,1)")], divided).cast("string"), power)
