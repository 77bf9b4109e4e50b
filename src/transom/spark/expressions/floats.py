"""The shortest decimal digits of a float, on Spark."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from transom.spark.expressions.types import let, let_interpreted

LARGE = 2.0**50
"""From this value on, Java before 19 does not always print the shortest digits (JDK-4511638)."""

LIMIT = 1e28
"""Below this value, Spark's decimals can compute the digits of a float."""


_UNEVEN = (-128, -127, *range(-115, -110), *range(-97, -93), -78, -77, -72, -71, -62, -61, -45, -44, -31, -24, 89)

UNEVEN = [(2.0**exponent, repr(2.0**exponent)) for exponent in _UNEVEN]
"""Powers of two whose nearest digits are not the shortest: the next lower float is closer than the next higher one.

Java before 19 prints one digit too many for them; a test checks all powers.
"""


def printed_digits(number: Column) -> Column:
    """The shortest decimal text that parses to the same float; the float must be below 1e28 (LIMIT) in size."""
    size = F.abs(number)
    uneven = F.create_map(*(F.lit(part) for pair in UNEVEN for part in pair))
    fewest = F.when(size >= LARGE, let_interpreted([size], _large_digits)).otherwise(size.cast("string"))
    sign = F.when(number < 0, F.lit("-")).otherwise(F.lit(""))
    return F.concat(sign, F.coalesce(F.try_element_at(uneven, size), fewest))


def _large_digits(size: Column) -> Column:
    """The shortest digits, 15 to 17, that parse to the same float, for a size from 2^50 (LARGE) to 1e28 (LIMIT)."""
    step = F.lit(2.0**48)

    def exact_decimal(upper: Column) -> Column:
        """Return the enclosing float `size` as an exact decimal: `upper` * 2^48 plus the remainder."""
        remainder = ((size - upper.cast("double") * step) * 8.0).cast("bigint")
        multiple = upper.cast("decimal(14,0)") * F.lit(2**48).cast("decimal(15,0)")
        return (multiple + remainder.cast("decimal(16,0)") * F.lit("0.125").cast("decimal(3,3)")).cast("decimal(31,3)")

    def fewest(digits_15: Column, digits_16: Column, digits_17: Column) -> Column:
        """Return the first of a float's roundings, to 15, 16 and 17 digits, that parses to the float (`size`) again."""
        return (
            F.when(digits_15.cast("double") == size, digits_15)
            .when(digits_16.cast("double") == size, digits_16)
            .otherwise(digits_17)
        )

    def rounded(value: Column) -> Column:
        """Round the exact decimal of the float `size` to the fewest digits (15 to 17) that parse to this float."""
        digit_count = F.length(F.floor(value).cast("string"))
        return let(
            [digit_count],
            lambda length: let([_round_half_even(value, length - count) for count in (15, 16, 17)], fewest),
        )

    return let([F.floor(size / step)], lambda upper: let([exact_decimal(upper)], rounded))


def _round_half_even(value: Column, dropped: Column) -> Column:
    """Round a decimal to a multiple of 10^dropped, halves to even; returns text such as 123E5."""
    power = F.concat(F.lit("E"), dropped.cast("string"))

    def even(unit: Column, count: Column, twice: Column) -> Column:
        """Round a quotient half to even: `count` is its floor, `twice` the doubled remainder, `unit` the divisor."""
        up = (twice > unit) | ((twice == unit) & (count % F.lit(2) == F.lit(1)))
        return F.when(up, count + F.lit(1)).otherwise(count)

    def divided(unit: Column) -> Column:
        """Return the decimal to be rounded, divided by `unit` (a power of ten), as an integer, half to even."""
        return let([unit, F.call_function("div", value, unit), (value % unit) * F.lit(2).cast("decimal(1,0)")], even)

    return F.concat(let([F.concat(F.lit("1"), power).cast("decimal(16,1)")], divided).cast("string"), power)
