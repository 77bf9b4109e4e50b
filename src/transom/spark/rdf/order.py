"""Sort keys for ORDER BY over RDF terms, in the order that the model defines."""

from __future__ import annotations

from transom.model.rdf.values import NumericKind
from transom.spark.expressions.sql import F, Sql, let, let_interpreted
from transom.spark.rdf.terms import arithmetic as numbers
from transom.spark.rdf.terms.spelling import TermText, datatype_term, iri_text, is_iri, lexical, literal_suffix
from transom.spark.rdf.terms.values import (
    EXACT,
    UNIT,
    NumberStruct,
    ScaledDecimal,
    ValueClass,
    ValueStruct,
    exact,
    term_value,
)

_BITS = 54
"""Binary places after the leading bit that make every float an integer when shifted, with one to spare."""

_SHORT = 2.0**62
_LONGEST = 1e38
_TINY = 2.0**-60
"""A bound below 10^-18: smaller values have no digit in 18 decimal places."""


def sort_key(term: TermText) -> Sql:
    """Build a struct that sorts terms as ORDER BY does: unbound, blank nodes, IRIs, then literals by value.

    Terms are N-Triples texts.
    """
    return F.when(term.isNotNull(), let_interpreted([term, term_value(term)], _sort_key))


def _sort_key(term: TermText, value: ValueStruct) -> Sql:
    """Build a struct that sorts a term as ORDER BY does, from its N-Triples text and its parsed value."""

    def is_class(*classes: ValueClass) -> Sql:
        """Whether the parsed value of `_sort_key`'s term has one of these classes, such as NUMBER or TEXT."""
        return value["c"].isin([int(value_class) for value_class in classes])

    nan = is_class(ValueClass.NUMBER) & F.coalesce(F.isnan(value["f"]), F.lit(False))
    tagged = is_class(ValueClass.TEXT) & (value["l"] != "")
    instants = (
        F.when(is_class(ValueClass.DATE), 351)
        .when(is_class(ValueClass.DATE_TIME), 352)
        .when(is_class(ValueClass.TIME), 353)
    )
    rank = (
        F.when(is_class(ValueClass.NO_LITERAL), F.when(is_iri(term), 200).otherwise(100))
        .when(nan, 300)
        .when(is_class(ValueClass.NUMBER), 310)
        .when(tagged, 330)
        .when(is_class(ValueClass.TEXT), 320)
        .when(is_class(ValueClass.TRUTH), 340)
        .when(is_class(ValueClass.DATE, ValueClass.DATE_TIME, ValueClass.TIME), instants)
        .when(is_class(ValueClass.SPAN), 360)
        .otherwise(370)
    )
    is_number = is_class(ValueClass.NUMBER) & ~nan
    months = F.when(is_class(ValueClass.SPAN), value["k"].cast("double"))
    unknown = is_class(ValueClass.UNKNOWN)
    text = (
        F.when(is_class(ValueClass.NO_LITERAL), F.when(is_iri(term), iri_text(term)).otherwise(term))
        .when(is_class(ValueClass.TEXT), value["s"])
        .when(unknown, iri_text(datatype_term(literal_suffix(term))))
    )
    return F.struct(
        rank.cast("int").alias("place"),
        F.coalesce(months, F.when(is_number, numbers.double(value) + F.lit(0.0))).alias("about"),
        F.when(is_number, let_interpreted([value], _exact_key)).otherwise(_key_struct(value["n"])).alias("exactly"),
        text.alias("text"),
        F.coalesce(value["l"], F.when(unknown, lexical(term, literal_suffix(term)))).alias("rest"),
    )


def _key_struct(integer: Sql, fraction: Sql | None = None, has_more: Sql | None = None) -> Sql:
    """Build a struct that sorts numbers: integer part, 18 decimal places, 1 if more follow (else 0); None means 0.

    Without `fraction` and `has_more`, the number is an integer.
    """
    return F.struct(
        integer.try_cast(EXACT).alias("whole"),
        (exact(0) if fraction is None else fraction.try_cast(EXACT)).alias("part"),
        (F.lit(0) if has_more is None else has_more).cast("int").alias("beyond"),
    )


def _exact_key(value: NumberStruct) -> Sql:
    """Build a struct that orders numbers equal as floats: integer part, 18 decimal places, whether more follow.

    All three have its sign. The key orders numbers that are equal as floats, which keep only 53 bits.
    """
    unit = exact(UNIT)

    def decimal_key(units: ScaledDecimal) -> Sql:
        """Build the sort key struct of a decimal from `units`, its value as an integer in units of 10^-18."""
        return let([F.try_mod(units, unit)], lambda rest: _key_struct(F.try_divide(units - rest, unit), rest))

    return (
        F.when(value["k"] == int(NumericKind.INTEGER), _key_struct(value["n"]))
        .when(value["k"] == int(NumericKind.DECIMAL), decimal_key(value["n"]))
        .otherwise(_float_key(value["f"]))
    )


def _float_key(value: Sql) -> Sql:
    """Build a struct that sorts a float exactly: integer part, 18 decimal places, and whether more places follow.

    All three have the float's sign.
    """
    size = F.abs(value)
    sign = F.when(value < 0, F.lit(-1)).otherwise(F.lit(1))
    integer = F.when(size < F.lit(_SHORT), F.when(size < F.lit(_SHORT), size).cast("bigint").cast(EXACT)).when(
        size <= F.lit(_LONGEST), let_interpreted([size], _large_whole)
    )

    def apply_sign(integer_part: Sql, decimals: Sql, sign: Sql) -> Sql:
        """Build the sort key of the enclosing float from its sign, absolute integer part and decimal places."""
        factor = sign.cast(EXACT)
        return _key_struct(
            F.try_multiply(F.coalesce(integer_part, exact(0)), factor),
            F.try_multiply(decimals["part"], factor),
            decimals["beyond"] * sign,
        )

    fraction = F.when(size < F.lit(2.0**53), size - F.floor(F.when(size < F.lit(2.0**53), size)).cast("double"))
    return let([integer, let_interpreted([F.coalesce(fraction, F.lit(0.0))], _decimal_places), sign], apply_sign)


def _power_of_two(exponent: Sql) -> Sql:
    """Compute 2^exponent as an exact decimal of 38 digits; it must be below 10^38."""
    half = F.least(exponent, F.lit(57))
    first, second = (F.pow(F.lit(2.0), power).cast("bigint").cast(EXACT) for power in (half, exponent - half))
    return F.try_multiply(first, second).try_cast(EXACT)


def _large_whole(size: Sql) -> Sql:
    """The exact integer value of a float that is at least 2^62, as a decimal of 38 digits."""

    def from_exponent(exponent: Sql) -> Sql:
        """Convert the outer float `size` exactly: the integer `size` / 2^`exponent`, times 2^`exponent`."""
        mantissa = (size / F.pow(F.lit(2.0), exponent)).cast("bigint").cast(EXACT)
        return F.try_multiply(mantissa, _power_of_two(exponent)).try_cast(EXACT)

    return let([F.floor(F.log2(size)).cast("int") - F.lit(_BITS)], from_exponent)


def _decimal_places(fraction: Sql) -> Sql:
    """Build a struct of the first 18 decimal places of a float in [0, 1), as an integer, and whether there are more."""

    def places_struct(digits: Sql, has_more: Sql) -> Sql:
        """Build a struct: 18 decimal places as an integer, and 1 if further nonzero digits follow, else 0."""
        return F.struct(digits.try_cast(EXACT).alias("part"), has_more.cast("int").alias("beyond"))

    def divided(dividend: Sql, divisor: Sql) -> Sql:
        """Build the struct of the integer quotient (the decimal places), and 1 if a remainder is left, else 0."""

        def split_remainder(remainder: Sql) -> Sql:
            """Build the struct: (dividend - remainder) / divisor; 1 if `remainder` is not 0, else 0."""
            return places_struct(
                F.try_divide(dividend - remainder, divisor), F.when(remainder > exact(0), F.lit(1)).otherwise(F.lit(0))
            )

        return let([F.try_mod(dividend, divisor).try_cast(EXACT)], split_remainder)

    def shifted(exponent: Sql) -> Sql:
        """Build the struct of 18 decimal places of `fraction` from the integer `fraction` * 2^`exponent`."""
        mantissa = (fraction * F.pow(F.lit(2.0), exponent)).cast("bigint").cast(EXACT)
        return let([F.try_multiply(mantissa, exact(UNIT)).try_cast(EXACT), _power_of_two(exponent)], divided)

    has_more = F.when(fraction > 0, F.lit(1)).otherwise(F.lit(0))
    return F.when(fraction < F.lit(_TINY), places_struct(exact(0), has_more)).otherwise(
        let([F.lit(_BITS) - F.floor(F.log2(fraction)).cast("int")], shifted)
    )
