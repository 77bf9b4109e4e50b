"""The types of values on Spark, and how values come in: from typed columns and from text."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DecimalType,
    DoubleType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from transom.errors import TypeProblem
from transom.model.types import Type

PRECISION, SCALE = 38, 18
"""A decimal on Spark: 38 digits, 18 of them behind the point."""

DECIMAL = f"decimal({PRECISION},{SCALE})"

FIRST_INSTANT = -62_135_596_800_000_000
LAST_INSTANT = 253_402_300_799_999_999
"""The years 1 to 9999 in microseconds since 1970."""

_DAY, _HOUR, _MINUTE, _SECOND = 86_400_000_000, 3_600_000_000, 60_000_000, 1_000_000

_BLANKS = "".join(chr(code) for code in range(0x3001) if chr(code).isspace())
_WHOLE = r"\A[+-]?[0-9]{1,40}\z"
_NUMBER = r"\A[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?\z"
_INSTANT = (
    r"\A([0-9]{4})(?:-([0-9]{2})-([0-9]{2})|([0-9]{2})([0-9]{2}))"
    r"(?:[Tt ]([0-9]{2})(?:(:?)([0-9]{2})(?:\7([0-9]{2})(?:[.,]([0-9]+))?)?)?"
    r"(?:Z|([+-])([0-9]{2})(?:(:?)([0-9]{2})(?:\13([0-9]{2})(?:[.,]([0-9]+))?)?)?)?)?\z"
)
_GROUPS = 16
_PLAIN = r"\A(?!0000)[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?Z\z"


def spark_type(kind: Type) -> DataType:
    """The type of a column that holds values of a type."""
    match kind:
        case Type.INTEGER | Type.TIME:
            return LongType()
        case Type.FLOAT:
            return DoubleType()
        case Type.DECIMAL:
            return DecimalType(PRECISION, SCALE)
        case Type.STRING | Type.TERM:
            return StringType()
        case Type.BOOLEAN:
            return BooleanType()
        case Type.TIMESTAMP:
            return TimestampType()
        case Type.POINT:
            return StructType([StructField("x", DoubleType()), StructField("y", DoubleType())])
        case Type.LINE:
            return ArrayType(spark_type(Type.POINT))
        case Type.NULL:
            raise TypeProblem("a column needs a type; NULL alone has none")
        case _:
            assert_never(kind)


def nothing(kind: Type) -> Column:
    """NULL as a value of a type."""
    return F.lit(None) if kind is Type.NULL else F.lit(None).cast(spark_type(kind))


def finite(number: Column) -> Column:
    """A float result as a value: NULL where it is not finite, and 0.0 for -0.0.

    An infinity modulo infinity is NaN, and a finite number is unchanged; so the operand is named once.
    """
    return F.nanvl(number % F.lit(float("inf")), F.lit(None).cast("double")) + F.lit(0.0)


def tidy(column: Column, kind: Type) -> Column:
    """A source column as values: NaN is NULL, -0.0 is 0.0, and an infinite float stops the query."""
    if kind is not Type.FLOAT:
        return column
    refused = F.raise_error(F.concat(F.lit("TRANSOM_INFINITE_FLOAT: "), column.cast("string"), F.lit(" is no value")))
    return (
        F.when(F.isnan(column), nothing(kind))
        .when(F.abs(column) == F.lit(float("inf")), refused)
        .otherwise(column + F.lit(0.0))
    )


def read_text(column: Column, kind: Type) -> Column:
    """A text as a value of a type, NULL where it says no such value."""
    words = F.btrim(column, F.lit(_BLANKS))
    match kind:
        case Type.STRING | Type.TERM:
            return column
        case Type.INTEGER | Type.TIME:
            return F.when(F.rlike(words, F.lit(_WHOLE)), words.try_cast("bigint"))
        case Type.FLOAT:
            return finite(F.when(F.rlike(words, F.lit(_NUMBER)), words.try_cast("double")))
        case Type.DECIMAL:
            return F.when(F.rlike(words, F.lit(_NUMBER)), words.try_cast(DECIMAL))
        case Type.BOOLEAN:
            lower = F.lower(words)
            return F.when(lower == "true", F.lit(True)).when(lower == "false", F.lit(False))
        case Type.TIMESTAMP:
            return _read_instant(words)
        case Type.NULL | Type.POINT | Type.LINE:
            return nothing(kind)
        case _:
            assert_never(kind)


def plain_instant(column: Column) -> Column:
    """The instant of a text that is written as most are, which Spark reads itself and quickly; NULL for all others.

    Where it gives one, `read_text` gives the same.
    """
    return F.when(F.rlike(column, F.lit(_PLAIN)), column.try_cast("timestamp"))


def instant(micros: Column) -> Column:
    """The timestamp so many microseconds after 1970; NULL outside the years 1 to 9999."""
    return F.when(micros.between(F.lit(FIRST_INSTANT), F.lit(LAST_INSTANT)), F.timestamp_micros(micros))


def let(columns: list[Column], body: Callable[..., Column]) -> Column:
    """What `body` makes of columns that it names more than once.

    Spark would copy them into every place, and nested expressions would grow without bound.
    """
    bound, named = _bound(columns, body)
    return F.get(F.transform(bound, named), F.lit(0))


def aside(columns: list[Column], body: Callable[..., Column]) -> Column:
    """The same for a body that is large and rarely run: Spark interprets it.

    Compiled with the rest, it would make methods that the JVM is not willing to optimise. Of Spark's functions that
    take a lambda, ZIP_WITH is one that no version compiles.
    """
    bound, named = _bound(columns, body)
    return F.get(F.zip_with(bound, F.array(F.lit(0)), lambda values, _: named(values)), F.lit(0))


def _bound(columns: list[Column], body: Callable[..., Column]) -> tuple[Column, Callable[[Column], Column]]:
    names = [f"v{place}" for place in range(len(columns))]
    values = F.struct(*(column.alias(name) for column, name in zip(columns, names, strict=True)))
    return F.array(values), lambda own: body(*(own[name] for name in names))


def _read_instant(words: Column) -> Column:
    """An ISO 8601 date, or date and time, with or without an offset; without one it is UTC."""
    spelled = F.regexp_replace(words, _INSTANT, "|".join(f"${place}" for place in range(1, _GROUPS + 1)))
    found = F.when(F.rlike(words, F.lit(_INSTANT)), F.split(spelled, r"\|", -1))
    return aside([found], _of_parts)


def _of_parts(found: Column) -> Column:
    """The instant that the parts of a text say."""
    (
        year, month, day, plain_month, plain_day, hour, _, minute, second, fraction,
        sign, off_hour, _, off_minute, off_second, off_fraction,
    ) = (F.get(found, F.lit(place)) for place in range(_GROUPS))  # fmt: skip

    def number(text: Column) -> Column:
        return F.coalesce(text.try_cast("bigint"), F.lit(0))

    def length(hours: Column, minutes: Column, seconds: Column, rest: Column) -> Column:
        micros = number(F.rpad(F.substring(rest, 1, 6), 6, "0"))
        return number(hours) * _HOUR + number(minutes) * _MINUTE + number(seconds) * _SECOND + micros

    date = F.concat(year, F.lit("-"), month, plain_month, F.lit("-"), day, plain_day).try_cast("date")
    offset = length(off_hour, off_minute, off_second, off_fraction)
    clock = (number(hour) < 24) & (number(minute) < 60) & (number(second) < 60)
    signed = F.when(sign == "-", -offset).otherwise(offset)
    total = F.unix_date(date).cast("bigint") * _DAY + length(hour, minute, second, fraction) - signed
    return F.when((year != "0000") & clock & (offset < _DAY), let([total], instant))
