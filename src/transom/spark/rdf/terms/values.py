"""The values of literals on Spark: one struct for values of all classes, for native comparison and arithmetic.

`c` is the class of the value. A number has its kind in `k`; its value is in `n`, unscaled for an integer and times
10^18 for a decimal, or in `f` for a float. A string is in `s`, its language in `l`. A boolean is 0 or 1 in `n`. An
instant has nanoseconds in `n` and its zone in minutes in `k`; a duration has nanoseconds in `n` and months in `k`.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import TypeAlias

from transom.model.rdf.terms import BOOLEAN, DATE, DATE_TIME, DECIMAL, DOUBLE, FLOAT, INTEGER, TIME, Literal, Term
from transom.model.rdf.times import Instant, XsdDuration
from transom.model.rdf.values import (
    FLOATING,
    PLACES,
    POINT,
    RANGES,
    WHOLE,
    NumericKind,
    NumericValue,
    StringValue,
    value_of,
)
from transom.spark.expressions.sql import F, Sql, let
from transom.spark.rdf.terms.spelling import (
    LiteralSuffix,
    TermText,
    datatype_suffix,
    has_datatype,
    is_literal,
    is_string,
    language_tag,
    lexical,
    literal_suffix,
)
from transom.spark.rdf.terms.times import DURATIONS, read_duration, read_instant

ValueStruct: TypeAlias = Sql
"""A parsed value of any class, as the struct described above."""
NumberStruct: TypeAlias = Sql
"""A parsed number: the struct with its kind in `k`, and its value in `n` (exact) or `f` (float)."""
TextStruct: TypeAlias = Sql
"""A parsed string: the struct with its characters in `s` and its language tag in `l`."""
ScaledDecimal: TypeAlias = Sql
"""A decimal as an integer of type decimal(38,0), in units of 10^-18."""

EXACT = "decimal(38,0)"
UNIT = 10**PLACES
NANO = 10**9
_FARTHEST = 10**38 - 1
_BLANKS = " \t\r\n"


class ValueClass(IntEnum):
    """The class of a term's value; instants are in the order of their datatype names."""

    NO_LITERAL = 0
    NUMBER = 1
    TEXT = 2
    TRUTH = 3
    DATE = 4
    DATE_TIME = 5
    TIME = 6
    SPAN = 7
    UNKNOWN = 8


INSTANTS = {DATE: ValueClass.DATE, DATE_TIME: ValueClass.DATE_TIME, TIME: ValueClass.TIME}


def exact(value: int) -> Sql:
    """Convert an integer constant of up to 38 digits to decimal(38,0)."""
    return F.lit(str(value)).cast(EXACT)


def opposite(number: Sql) -> Sql:
    """Negate a decimal(38,0) number; Spark's own negation keeps only 34 digits."""
    return F.try_subtract(exact(0), number).try_cast(EXACT)


def magnitude(number: Sql) -> Sql:
    """The absolute value of a decimal(38,0) number; Spark's own function keeps only 34 digits."""
    return F.when(number < exact(0), opposite(number)).otherwise(number)


def value_struct(
    value_class: ValueClass | Sql,
    *,
    kind: Sql | int | None = None,
    number: Sql | int | None = None,
    float_number: Sql | float | None = None,
    string: Sql | str | None = None,
    language: Sql | str | None = None,
) -> ValueStruct:
    """Build a parsed value, a struct of class, kind, exact number, float, string, language; None: unused, NULL.

    A number has its `kind` and a `number` (exact) or `float_number`, a string has `string` and `language`.
    """
    exact_column = exact(number) if isinstance(number, int) else F.lit(number).cast(EXACT)
    return F.struct(
        F.lit(int(value_class) if isinstance(value_class, ValueClass) else value_class).cast("int").alias("c"),
        F.lit(kind).cast("bigint").alias("k"),
        exact_column.alias("n"),
        F.lit(float_number).cast("double").alias("f"),
        F.lit(string).cast("string").alias("s"),
        F.lit(language).cast("string").alias("l"),
    )


def constant_value(term: Term) -> ValueStruct:
    """Convert a constant term of the query to a parsed value, an SQL struct."""
    value = value_of(term) if isinstance(term, Literal) else None
    match value:
        case NumericValue(kind=kind, value=number):
            return constant_number(kind, number)
        case StringValue(text=text, language=language):
            return value_struct(ValueClass.TEXT, string=text, language=language)
        case bool():
            return value_struct(ValueClass.TRUTH, number=int(value))
        case Instant(datatype=datatype, zone=zone):
            return value_struct(INSTANTS[datatype], kind=zone, number=int(value.seconds * NANO))
        case XsdDuration(months=months, seconds=seconds):
            return value_struct(ValueClass.SPAN, kind=months, number=int(seconds * NANO))
        case None:
            return value_struct(ValueClass.UNKNOWN if isinstance(term, Literal) else ValueClass.NO_LITERAL)


def constant_number(kind: NumericKind, number: int | Decimal | float) -> NumberStruct:
    """Convert a constant number of the query to a parsed value, an SQL struct."""
    match number:
        case float():
            return value_struct(ValueClass.NUMBER, kind=int(kind), float_number=number)
        case int():
            return value_struct(ValueClass.NUMBER, kind=int(kind), number=number)
        case Decimal():
            return value_struct(ValueClass.NUMBER, kind=int(kind), number=int(Fraction(number) * UNIT))


def term_value(term: TermText) -> ValueStruct:
    """Parse a term in N-Triples text to its value; an unreadable literal is of class UNKNOWN, NULL stays NULL."""
    return F.when(is_literal(term), let([literal_suffix(term)], lambda suffix: _literal_value(term, suffix))).when(
        term.isNotNull(), value_struct(ValueClass.NO_LITERAL)
    )


def _literal_value(term: TermText, suffix: LiteralSuffix) -> ValueStruct:
    """Parse a literal to its value, of class UNKNOWN if it is invalid; `suffix` is the text after its closing quote."""
    text = value_struct(ValueClass.TEXT, string=lexical(term, suffix), language=language_tag(suffix))
    parsed = let([trimmed_lexical(term, suffix)], lambda lexical_form: _lexical_value(lexical_form, suffix))
    return F.when(is_string(suffix), text).otherwise(F.coalesce(parsed, value_struct(ValueClass.UNKNOWN)))


def _lexical_value(text: Sql, suffix: LiteralSuffix) -> ValueStruct:
    """Parse a literal's text by the datatype in `suffix` (`^^<...>`); NULL for an invalid text or unknown datatype."""
    return (
        F.when(numeric_kind(suffix).isNotNull(), number_value(text, suffix))
        .when(has_datatype(suffix, [BOOLEAN]), boolean_value(text))
        .when(has_datatype(suffix, INSTANTS), instant_value(text, suffix))
        .when(has_datatype(suffix, DURATIONS), duration_value(text, suffix))
    )


def trimmed_lexical(term: TermText, suffix: LiteralSuffix) -> Sql:
    """The unescaped characters of a literal without outer whitespace; `suffix` is the text after its closing quote."""
    return F.btrim(lexical(term, suffix), F.lit(_BLANKS))


def boolean_value(text: Sql) -> ValueStruct:
    """Parse the text of a boolean to a parsed value; NULL if invalid."""
    is_true, is_false = text.isin("true", "1"), text.isin("false", "0")
    return F.when(is_true, value_struct(ValueClass.TRUTH, number=1)).when(
        is_false, value_struct(ValueClass.TRUTH, number=0)
    )


def instant_value(text: Sql, suffix: LiteralSuffix) -> ValueStruct:
    """Parse an instant's text, of the datatype in `suffix` (`^^<...>`), to a parsed value; NULL if invalid."""
    instant_class = F.when(suffix == datatype_suffix(DATE), int(ValueClass.DATE)).when(
        suffix == datatype_suffix(TIME), int(ValueClass.TIME)
    )
    kind = instant_class.otherwise(int(ValueClass.DATE_TIME))
    return let(
        [read_instant(text, suffix), kind],
        lambda instant, value_class: F.when(
            instant.isNotNull(), value_struct(value_class, kind=instant["zone"], number=instant["nanos"])
        ),
    )


def duration_value(text: Sql, suffix: LiteralSuffix) -> ValueStruct:
    """Parse a duration's text, of the datatype in `suffix` (`^^<...>`), to a parsed value; NULL if invalid."""
    return let(
        [read_duration(text, suffix)],
        lambda duration: F.when(
            duration.isNotNull(), value_struct(ValueClass.SPAN, kind=duration["months"], number=duration["nanos"])
        ),
    )


def term_number(term: TermText) -> NumberStruct:
    """Read a term (N-Triples text) as a number struct (kind, exact value, float value); NULL if it is no number."""
    suffix = literal_suffix(term)
    return F.when(is_literal(term), let([trimmed_lexical(term, suffix), suffix, numeric_kind(suffix)], _number_of_kind))


def numeric_kind(suffix: LiteralSuffix) -> Sql:
    """The kind of number, such as integer, that a literal's suffix `^^<datatype>` means; NULL if it means none."""
    kinds = dict.fromkeys(RANGES, NumericKind.INTEGER) | {
        DECIMAL: NumericKind.DECIMAL,
        FLOAT: NumericKind.FLOAT,
        DOUBLE: NumericKind.DOUBLE,
    }
    return F.try_element_at(_map_by_suffix({name: int(kind) for name, kind in kinds.items()}), suffix).try_cast("int")


def _map_by_suffix(entries: Mapping[str, int]) -> Sql:
    """Build an SQL map from suffixes `^^<datatype>` to constants, by parsing one string, which is cheap in Spark."""
    text = " ".join(f"{datatype_suffix(name)}={value}" for name, value in entries.items())
    return F.str_to_map(F.lit(text), F.lit(" "), F.lit("="))


def number_value(text: Sql, suffix: LiteralSuffix) -> NumberStruct:
    """Parse a number's text to a number struct (kind, exact value, float value); NULL if it is invalid.

    `suffix` (`^^<...>`) names the datatype.
    """
    return let([text, suffix, numeric_kind(suffix)], _number_of_kind)


def _number_of_kind(text: Sql, suffix: LiteralSuffix, kind: Sql) -> NumberStruct:
    """Parse a number's text to a number struct of `kind`; NULL if invalid or outside the range of type `suffix`.

    `suffix` gives the range of an integer.
    """
    exact_value = F.when(kind == int(NumericKind.INTEGER), read_bounded_integer(text, suffix)).when(
        kind == int(NumericKind.DECIMAL), read_decimal(text)
    )
    single = kind == int(NumericKind.FLOAT)
    float_value = F.when(
        kind >= int(NumericKind.FLOAT), let([read_float(text)], lambda parsed: _round_if_single(parsed, single))
    )
    return let(
        [exact_value, float_value], lambda n, f: F.when(n.isNotNull() | f.isNotNull(), _number_struct(kind, n, f))
    )


def _number_struct(kind: Sql, exact_value: Sql, float_value: Sql) -> NumberStruct:
    """Build a number struct of `kind`: integers and decimals have an exact value, others a float value."""
    return value_struct(ValueClass.NUMBER, kind=kind, number=exact_value, float_number=float_value)


def _round_if_single(value: Sql, single: Sql) -> Sql:
    """Round a 64-bit float to 32 bits where `single` is true."""
    return F.when(single, value.cast("float").cast("double")).otherwise(value)


def exact_number(kind: NumericKind, number: Sql) -> NumberStruct:
    """Build a number struct of an integer, or of a decimal in units of 10^-18; NULL if `number` is NULL."""
    return F.when(number.isNotNull(), value_struct(ValueClass.NUMBER, kind=int(kind), number=number))


def read_bounded_integer(text: Sql, suffix: LiteralSuffix) -> Sql:
    """Parse an integer's text, of the datatype in `suffix`; NULL if invalid or out of the datatype's range."""

    def inside(integer: Sql) -> Sql:
        """Return an integer unchanged if it is in the range of its XSD datatype, such as xsd:byte, else NULL."""
        derived = {name: bounds for name, bounds in RANGES.items() if name != INTEGER}
        lows, highs = (
            _map_by_suffix({name: _integer_bound(bounds, side) for name, bounds in derived.items()}) for side in (0, 1)
        )
        low, high = (F.try_element_at(table, suffix).try_cast(EXACT) for table in (lows, highs))
        return F.when((suffix == F.lit(datatype_suffix(INTEGER))) | ((integer >= low) & (integer <= high)), integer)

    return let([read_integer(text)], inside)


def _integer_bound(bounds: tuple[int | None, int | None], side: int) -> int:
    """The smallest (`side` 0) or largest (1) integer in `bounds`; where these have None, the one of 38 digits."""
    bound = bounds[side]
    return bound if bound is not None else (-_FARTHEST, _FARTHEST)[side]


def read_integer(text: Sql) -> Sql:
    """Parse the text of an integer of up to 38 digits; NULL if invalid."""
    return F.when(F.rlike(text, F.lit(rf"\A{WHOLE}\z")), text.try_cast(EXACT))


def read_decimal(text: Sql) -> ScaledDecimal:
    """Parse the text of a decimal to an integer in units of 10^-18, truncated; NULL if invalid."""
    decimals = F.when(F.contains(text, F.lit(".")), F.substring_index(text, ".", -1)).otherwise(F.lit(""))
    digits = F.concat(F.substring_index(text, ".", 1), F.rpad(F.substring(decimals, 1, PLACES), PLACES, "0"))
    return F.when(F.rlike(text, F.lit(rf"\A(?:{POINT})\z")), digits.try_cast(EXACT))


def read_float(text: Sql) -> Sql:
    """Parse the text of a float or double, also INF and NaN, to a 64-bit float; NULL if invalid."""
    return F.when(
        F.rlike(text, F.lit(rf"\A(?:{FLOATING})\z")),
        F.replace(text, F.lit("INF"), F.lit("Infinity")).try_cast("double"),
    )
