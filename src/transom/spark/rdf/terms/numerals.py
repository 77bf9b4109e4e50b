"""Format numbers as XML Schema does, on Spark: plain decimals, and floats with the fewest digits."""

from __future__ import annotations

from transom.model.rdf.terms import DECIMAL, DOUBLE, FLOAT, INTEGER
from transom.model.rdf.values import PLACES, NumericKind
from transom.spark.expressions.sql import F, Sql, SqlCase, let, let_interpreted
from transom.spark.rdf.terms.spelling import TermText, datatype_suffix, literal_term
from transom.spark.rdf.terms.values import NumberStruct

_DATATYPES = {
    NumericKind.INTEGER: INTEGER,
    NumericKind.DECIMAL: DECIMAL,
    NumericKind.FLOAT: FLOAT,
    NumericKind.DOUBLE: DOUBLE,
}

_EXACT_DIGITS = 15
"""Up to this number of digits a decimal identifies at most one float, so Java cannot have written a digit too many."""

_SINGLE_DIGITS = 9
"""Digits that distinguish any two 32-bit floats."""

_SMALLEST_NORMAL = 2.3e-308
"""Below this, floats are subnormal and have fewer significant digits."""


def number_term(value: NumberStruct) -> TermText:
    """Write a number struct (kind, exact value, float value) as its canonical literal in N-Triples text."""
    kind = value["k"]
    suffixes = {int(number_kind): datatype_suffix(datatype) for number_kind, datatype in _DATATYPES.items()}
    suffix = F.when(kind == int(NumericKind.INTEGER), F.lit(suffixes[1]))
    for number_kind in (NumericKind.DECIMAL, NumericKind.FLOAT, NumericKind.DOUBLE):
        suffix = suffix.when(kind == int(number_kind), F.lit(suffixes[number_kind]))
    digits = (
        F.when(kind == int(NumericKind.INTEGER), value["n"].cast("string"))
        .when(kind == int(NumericKind.DECIMAL), decimal_text(value["n"]))
        .otherwise(let_interpreted([value["f"], kind == int(NumericKind.FLOAT)], canonical_float_text))
    )
    return literal_term(digits, suffix, needs_escape=False)


def decimal_text(units: Sql, scale: int = PLACES) -> Sql:
    """Format a decimal, given in units of 10^-scale, without trailing zeros: 2.5, 2, 0."""
    size = F.replace(units.cast("string"), F.lit("-"), F.lit(""))
    filled = F.when(F.length(size) <= scale, F.lpad(size, scale + 1, "0")).otherwise(size)

    def format_digits(digits: Sql) -> Sql:
        """Format the enclosing decimal from its unsigned digits, of which the last `scale` are decimal places."""
        decimals = F.rtrim(F.substring(digits, F.length(digits) - F.lit(scale - 1), F.lit(scale)), F.lit("0"))
        integer = F.substring(digits, F.lit(1), F.length(digits) - F.lit(scale))
        separator = F.when(decimals == "", F.lit("")).otherwise(F.lit("."))
        return F.concat(F.when(units < F.lit(0), F.lit("-")).otherwise(F.lit("")), integer, separator, decimals)

    return let([filled], format_digits)


def canonical_float_text(value: Sql, single: Sql) -> Sql:
    """Format a float in canonical form, such as 1.5E2; `single` is true for 32-bit floats."""

    def format_digits(sign: Sql, shortest: Sql) -> Sql:
        """Write a float as text such as 1.5E2; `shortest` is a struct of its digits and power of ten.

        `shortest` is a struct of the digits and the first digit's power of ten.
        """
        digits, power = shortest["figures"], shortest["power"]
        decimals = F.substring(digits, F.lit(2), F.length(digits))
        shown_decimals = F.when(decimals == "", F.lit("0")).otherwise(decimals)
        return F.concat(sign, F.substring(digits, 1, 1), F.lit("."), shown_decimals, F.lit("E"), power.cast("string"))

    return _special_float_text(value).otherwise(let([_sign_text(value), shortest_digits(value, single)], format_digits))


def cast_float_text(value: Sql, single: Sql) -> Sql:
    """Format a float as a cast to string does: without exponent from 1e-6 to below 1e6.

    `single` is true for 32-bit floats.
    """
    size = F.abs(value)

    def format_digits(sign: Sql, shortest: Sql) -> Sql:
        """Format a float without exponent, from its sign and `shortest`, a struct of digits and power of ten.

        `shortest` is a struct of the digits and the first digit's power of ten.
        """
        digits, power = shortest["figures"], shortest["power"].cast("int")
        small = F.concat(F.lit("0."), F.repeat(F.lit("0"), -power - F.lit(1)), digits)
        length = F.length(digits)
        large = F.rpad(digits, 7, "0")
        integer = F.substring(large, F.lit(1), power + F.lit(1))
        decimals = F.when(
            length > power + F.lit(1), F.concat(F.lit("."), F.substring(digits, power + F.lit(2), length))
        ).otherwise(F.lit(""))
        return F.concat(sign, F.when(power < 0, small).otherwise(F.concat(integer, decimals)))

    is_plain = (size >= F.lit(1e-6)) & (size < F.lit(1e6))
    plain = let([_sign_text(value), shortest_digits(value, single)], format_digits)
    return (
        F.when(value == 0, F.concat(_sign_text(value), F.lit("0")))
        .when(is_plain, plain)
        .otherwise(canonical_float_text(value, single))
    )


def _special_float_text(value: Sql) -> SqlCase:
    """Begin a CASE expression with the texts of NaN and the infinities; NULL stays NULL; callers add branches."""
    infinity = F.lit(float("inf"))
    return (
        F.when(F.isnan(value), F.lit("NaN"))
        .when(value == infinity, F.lit("INF"))
        .when(value == -infinity, F.lit("-INF"))
        .when(value.isNull(), F.lit(None).cast("string"))
    )


def _sign_text(value: Sql) -> Sql:
    """Return a minus sign for a negative float and for -0.0, and an empty text for all others."""
    return F.when(F.startswith(value.cast("string"), F.lit("-")), F.lit("-")).otherwise(F.lit(""))


def shortest_digits(value: Sql, single: Sql) -> Sql:
    """The fewest digits that parse to the same float (`single`: 32-bit), and the power of ten of the first digit.

    `single` is true for 32-bit floats.
    """
    size = F.abs(value)

    def shorten_if_needed(java_digits: Sql) -> Sql:
        """Return the struct of Java's digits of the float, shortened where Java prints more than needed."""
        long = F.length(java_digits["figures"]) > F.when(single, F.lit(6)).otherwise(F.lit(_EXACT_DIGITS))
        doubtful = (size > F.lit(0.0)) & (single | long | (size < F.lit(_SMALLEST_NORMAL)))
        return F.when(doubtful, _fewest_digits(size, single, java_digits)).otherwise(java_digits)

    return let([_java_digits(size)], shorten_if_needed)


def _java_digits(size: Sql) -> Sql:
    """Return a struct of the digits in Java's text of a float >= 0, and the first digit's power of ten."""
    text = size.cast("string")
    mantissa = F.substring_index(text, "E", 1)
    power = F.when(F.contains(text, F.lit("E")), F.substring_index(text, "E", -1).try_cast("int")).otherwise(F.lit(0))
    integer = F.substring_index(mantissa, ".", 1)
    digits = F.replace(mantissa, F.lit("."), F.lit(""))

    def normalise(all_digits: Sql, integer_digits: Sql, exponent: Sql) -> Sql:
        """Build the struct of the digits without outer zeros, and the power of ten of the first remaining digit."""
        leading = F.length(all_digits) - F.length(F.ltrim(all_digits, F.lit("0")))
        significant = F.btrim(all_digits, F.lit("0"))
        return _digits_struct(
            F.when(significant == "", F.lit("0")).otherwise(significant),
            F.when(significant == "", F.lit(0)).otherwise(exponent + F.length(integer_digits) - F.lit(1) - leading),
        )

    return let([digits, integer, power], normalise)


def _digits_struct(digits: Sql, power: Sql) -> Sql:
    """Build a struct of digits (`figures`) and the power of ten of the first digit (`power`)."""
    return F.struct(digits.alias("figures"), power.cast("int").alias("power"))


def _fewest_digits(size: Sql, single: Sql, java_digits: Sql) -> Sql:
    """The fewest digits that parse to the float `size`, a 32-bit one if `single`; never more than Java prints."""
    digits, power = java_digits["figures"], java_digits["power"]
    length = F.length(digits)
    few = F.when(single | (size < F.lit(_SMALLEST_NORMAL)), F.lit(1)).otherwise(F.lit(_EXACT_DIGITS))
    most = F.when(single, F.least(F.lit(_SINGLE_DIGITS), length)).otherwise(length)

    def candidates(count: Sql) -> Sql:
        """Return the float as decimal texts of `count` digits: the nearest and, for 64 bits, the second nearest."""

        def nearest_two(quotient: Sql, unit: Sql, remainder: Sql) -> Sql:
            """Round `quotient` + `remainder` / `unit` and, for 64-bit floats, also the other way; return texts."""
            up = (remainder * F.lit(2) > unit) | ((remainder * F.lit(2) == unit) & (quotient % F.lit(2) == F.lit(1)))
            nearest = F.when(up, quotient + F.lit(1)).otherwise(quotient)
            second_nearest = F.when(up, quotient).otherwise(quotient + F.lit(1))
            spell = [
                F.concat(n.cast("string"), F.lit("E"), (power - count + 1).cast("string"))
                for n in (nearest, second_nearest)
            ]
            return F.when(single, F.array(spell[0])).otherwise(F.array(*spell))

        unit = F.rpad(F.lit("1"), length - count + F.lit(1), F.lit("0")).cast("bigint")
        return let(
            [unit],
            lambda power_of_ten: let(
                [F.div(digits.cast("bigint"), power_of_ten), power_of_ten, digits.cast("bigint") % power_of_ten],
                nearest_two,
            ),
        )

    def parses_to_float(text: Sql) -> Sql:
        """Whether a text parses to the float to be formatted (outer `size`); as a 32-bit float if `single`."""
        read = text.try_cast("double")
        return F.when(single, read.cast("float").cast("double")).otherwise(read) == size

    spelled = F.flatten(F.transform(F.sequence(few, F.greatest(few, most)), candidates))
    first = F.get(F.filter(F.when(length >= few, spelled), parses_to_float), F.lit(0))

    def normalise(text: Sql) -> Sql:
        """Split text such as 12300E5 into its digits (123) and the power of ten of the first digit (9)."""
        number, exponent = F.substring_index(text, "E", 1), F.substring_index(text, "E", -1).cast("int")
        return _digits_struct(F.rtrim(number, F.lit("0")), exponent + F.length(number) - F.lit(1))

    return let([first], lambda text: F.when(text.isNotNull(), normalise(text)).otherwise(java_digits))
